"""Train a pair metric on ratings, and see on sources left out whether it agrees better than the best of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from textgauge.bench.learned.agreement import (
    MEASURES,
    EnsembleContrast,
    RatingAgreement,
    best_single,
    ensemble_contrast,
    rating_agreement,
)
from textgauge.bench.learned.features import RatedFeatures, Step
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.progress import Stage
from textgauge.core.tabular import plain_row
from textgauge.metrics.base import versions
from textgauge.metrics.ensemble_file import Model, Trained
from textgauge.metrics.numerics.regression import Ridge, fit_boosting, fit_ridge, fit_single, mixed, one_scale
from textgauge.metrics.text_sketch import sketch_of
from textgauge.stats.correlation import by_group, spearman

Kind = Literal["ridge", "boosting"]
KINDS: tuple[Kind, ...] = ("ridge", "boosting")
# How much of a model is learned; the rest is the best single metric. Trees are not mixed: a file holds one model.
_SHARES: dict[Kind, tuple[float, ...]] = {"ridge": (0.0, 0.25, 0.5, 0.75, 1.0), "boosting": (0.0, 1.0)}

_FIELDS = (
    "measure", "left_out", "ensemble", "best", "single", "difference", "pairs_low", "pairs_high", "sources_low",
    "sources_high", "better", "share", "n", "sources",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class LearnedMixture:
    """A model, the place of the best single metric, its line to the ratings, and the share of what was learned."""

    model: Model
    best: int
    single: Ridge
    share: float

    @property
    def mixture(self) -> Model:
        """What predicts: the model and the single metric's line, mixed by the share."""
        if self.share == 0.0:
            return self.single
        return mixed(self.model, self.single, self.share) if isinstance(self.model, Ridge) else self.model


@dataclass(frozen=True)
class SourceLeftOut:
    """Spearman's ρ within a source that was left out: of the metric learned on the others, and of their best single."""

    left_out: str
    n: int
    ensemble: float
    best: str
    single: float
    share: float

    def to_dict(self) -> dict[str, Any]:
        """A flat row."""
        return plain_row({"measure": "spearman", **asdict(self), "difference": self.difference})

    @property
    def difference(self) -> float:
        """Learned less single."""
        return self.ensemble - self.single


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """Predictions for left-out pairs on one scale, and how well they and each single metric agree with people.

    `contrasts` compare the learned metric with the best single one, measure by measure. That one is chosen with the
    ratings of all pairs in sight, which is in its favour. `left_out` has a row for each of several sources.
    """

    predictions: Floats
    stacked: RatingAgreement
    singles: tuple[RatingAgreement, ...]
    contrasts: tuple[EnsembleContrast, ...]
    left_out: tuple[SourceLeftOut, ...] = ()

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per measure, then one per source left out."""
        rows = [*(row.to_dict() for row in self.contrasts), *(row.to_dict() for row in self.left_out)]
        return [{name: row.get(name) for name in _FIELDS} for row in rows]


def train(
    rated: RatedFeatures, *, model: Kind = "ridge", scale: tuple[float, float] | None = None, seed: int = 0
) -> Trained:
    """A model trained on all pairs; `save` writes it to a file that `ensemble@FILE` scores pairs with.

    `scale` holds the ratings of texts with nothing in common and of texts that say the same; the smallest and the
    largest rating by default. Where small ratings mean closer, give the larger one first. Ratings of other data are
    moved so that their smallest and largest one lie on the ends of the scale.

    What is learned is drawn to the best single metric: its share is the smallest one of a grid that predicts sources
    left out in turn (texts, where there is one source) as well as the best share does, within one standard error.
    """
    worst, best = _scale(rated, scale)
    known = _on_scale(rated, worst, best)
    fitted = _fit(known, model, best > worst, seed)
    card = {
        "data": list(rated.cards),
        "pairs": len(rated),
        "sets": len(np.unique(rated.sets)),
        "sources": len(np.unique(rated.sources)),
        "single": rated.metrics[fitted.best].key,
        "share": fitted.share,
        "seed": seed,
        "versions": list(versions("textgauge", "numpy", "scikit-learn")),
    }
    used, mixture = list(range(len(rated.metrics))), fitted.mixture
    if fitted.share == 0.0:  # nothing else needs to be computed
        used, mixture = [fitted.best], fit_single(known.values[:, [fitted.best]], known.ratings, 0)
    metrics = tuple(rated.metrics[place] for place in used)
    sketch = None if rated.corpus is None else sketch_of(rated.corpus, np.tile(rated.sources, 2), seed)
    return Trained(metrics, tuple(metric.signature for metric in metrics), mixture, worst, best, card, sketch)


def cross_validated(
    rated: RatedFeatures,
    *,
    model: Kind = "ridge",
    scale: tuple[float, float] | None = None,
    seed: int = 0,
    resamples: int = 1_000,
    level: float = 0.95,
    on_step: Step = lambda _: None,
) -> CrossValidated:
    """Leave out one source after the other, train on the rest, predict what was left out.

    Where the pairs that are judged are of one source, the pairs of some of its left texts are left out in turn.
    Penalty, single metric and share come from the rest alone. The predictions of all models are brought to one scale
    before they are put together: the rank that each gives a pair among all pairs, from 0 to 1. An undefined value of a
    single metric counts as the mean of the others.
    """
    worst, best = _scale(rated, scale)
    known, up = _on_scale(rated, worst, best), best > worst
    own, gold = known.own, known.ratings if up else -known.ratings
    predictions, folds = np.empty(len(known)), known.folds
    rows: dict[int, SourceLeftOut] = {}
    by_source = bool((known.source_folds == folds)[own].all())
    if len(np.unique(known.source_folds)) > 1:
        sources = np.unique(known.source_folds)
        for number, fold in enumerate(sources):
            name = known.names[fold] if fold < len(known.names) else fold
            on_step(Stage(f"left out: {name}", number, len(sources), "leaving out sources"))
            here = known.source_folds == fold
            fitted = _fit(known.take(~here), model, up, seed)
            rows |= {source: _left_out(known, fitted, source) for source in np.unique(known.sources[here]).tolist()}
            if by_source:
                predictions[here & own] = _ranked(fitted, known, worst, best)[here[own]]
    if not by_source:
        parts = np.unique(folds[own])
        for number, fold in enumerate(parts):
            on_step(Stage(f"left out: part {number + 1}", number, len(parts), "leaving out parts"))
            here = folds == fold
            predictions[here & own] = _ranked(_fit(known.take(~here), model, up, seed), known, worst, best)[here[own]]
    judged = _judged(known.take(own), gold[own], predictions[own], resamples=resamples, level=level, seed=seed)
    return replace(judged, left_out=tuple(rows[source] for source in sorted(rows)))


def _judged(rated: RatedFeatures, gold: Floats, predictions: Floats, **options: Any) -> CrossValidated:
    columns = {metric.key: _filled(rated.values[:, i]) for i, metric in enumerate(rated.metrics)}
    singles = tuple(rating_agreement(name, gold, column, rated.sets) for name, column in columns.items())
    where: dict[str, Any] = {"sets": rated.sets, "sources": rated.sources, "texts": rated.texts}
    best = {measure: best_single(gold, columns, rated.sets, measure) for measure in MEASURES}
    contrasts = tuple(
        ensemble_contrast(measure, gold, predictions, (name, columns[name]), **where, **options)
        for measure, name in best.items()
        if name is not None
    )
    stacked = rating_agreement("ensemble", gold, predictions, rated.sets)
    return CrossValidated(predictions, stacked, singles, contrasts)


def _ranked(fitted: LearnedMixture, rated: RatedFeatures, worst: float, best: float) -> Floats:
    """Predictions for the pairs that are judged, as ranks; larger is closer."""
    clamped = np.clip(fitted.mixture.predict(rated.values[rated.own]), min(worst, best), max(worst, best))
    return one_scale(clamped if best > worst else -clamped)


def _left_out(rated: RatedFeatures, fitted: LearnedMixture, source: int) -> SourceLeftOut:
    here = rated.sources == source
    values, gold = rated.values[here], rated.ratings[here]
    found = (spearman(gold, part.predict(values)) for part in (fitted.mixture, fitted.single))
    name = rated.names[source] if rated.names else str(source)
    key = rated.metrics[fitted.best].key
    return SourceLeftOut(name, int(here.sum()), next(found), key, next(found), fitted.share)


def _fit(rated: RatedFeatures, model: Kind, up: bool, seed: int) -> LearnedMixture:
    """Penalty, single metric and share from these pairs alone."""
    if model not in KINDS:
        raise InputError(f"the model is one of {', '.join(KINDS)}, not {model!r}")
    whole = _model(rated, model, up, seed, None)
    penalty = whole.penalty if isinstance(whole, Ridge) else 0.0
    units = rated.source_folds if len(np.unique(rated.source_folds)) > 1 else rated.texts % 10
    found = []
    for unit in np.unique(units):
        rest, here = rated.take(units != unit), rated.take(units == unit)
        if len(rest) and len(here) > 2:
            part = _model(rest, model, up, seed, penalty)
            best = _best_single(rest, up)
            single = fit_single(rest.values, rest.ratings, best)
            mixtures = [LearnedMixture(part, best, single, share).mixture for share in _SHARES[model]]
            found.append([spearman(here.ratings, mixture.predict(here.values)) for mixture in mixtures])
    best = _best_single(rated, up)
    return LearnedMixture(
        whole, best, fit_single(rated.values, rated.ratings, best), _share(np.array(found), _SHARES[model])
    )


def _model(rated: RatedFeatures, model: Kind, up: bool, seed: int, penalty: float | None) -> Model:
    if model == "boosting":
        return fit_boosting(rated.values, rated.ratings, rising=up, seed=seed)
    if penalty is not None:
        return fit_ridge(rated.values, rated.ratings, rated.sets, None, penalty=penalty)
    folds = rated.folds if rated.own.any() else rated.texts % 10
    if len(np.unique(folds[folds >= 0])) < 2:  # nothing to choose a penalty by but halves of it
        folds = np.where(folds >= 0, np.arange(len(rated)) % 2, -1)
    return fit_ridge(rated.values, rated.ratings, rated.sets, folds)


def _best_single(rated: RatedFeatures, up: bool) -> int:
    """The metric of the largest mean ρ within sources."""
    gold = rated.ratings if up else -rated.ratings
    found = np.array([by_group(spearman, gold, _filled(column), rated.sources) for column in rated.values.T])
    known = np.isfinite(found)
    means = np.where(known, found, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return int(np.argmax(np.where(known.any(axis=1), means, -1.0)))


def _share(found: Floats, shares: Sequence[float]) -> float:
    """The smallest share whose ρ on what was left out is within one standard error of the best share's.

    >>> _share(np.array([[0.5, 0.6], [0.5, 0.7], [0.4, 0.5]]), (0.0, 1.0))
    1.0
    >>> _share(np.array([[0.5, 0.7], [0.5, 0.4], [0.4, 0.5]]), (0.0, 1.0))
    0.0
    """
    known = found[np.isfinite(found).all(axis=1)] if len(found) else found.reshape(0, len(shares))
    if len(known) < 2:
        return 0.0
    gaps = known[:, [int(known.mean(axis=0).argmax())]] - known
    near = gaps.mean(axis=0) <= gaps.std(axis=0, ddof=1) / np.sqrt(len(known))
    return shares[int(np.argmax(near))]


def _scale(rated: RatedFeatures, scale: tuple[float, float] | None) -> tuple[float, float]:
    ratings = rated.ratings[rated.own]
    worst, best = scale or (float(ratings.min()), float(ratings.max()))
    if not (np.isfinite([worst, best]).all() and worst != best):
        raise InputError(f"the scale needs two different numbers, not {worst:g} and {best:g}")
    if ratings.min() < min(worst, best) or ratings.max() > max(worst, best):
        raise InputError(f"there are ratings outside the scale from {worst:g} to {best:g}")
    return float(worst), float(best)


def _on_scale(rated: RatedFeatures, worst: float, best: float) -> RatedFeatures:
    """The ratings of other data moved to the ends of the scale."""
    ratings = rated.ratings.copy()
    for number in range(1, int(rated.data.max()) + 1):
        here = rated.data == number
        low, high = float(ratings[here].min()), float(ratings[here].max())
        ratings[here] = worst + (ratings[here] - low) * (best - worst) / (high - low)
    return replace(rated, ratings=ratings)


def _filled(column: Floats) -> Floats:
    known = column[~np.isnan(column)]
    return np.where(np.isnan(column), known.mean() if len(known) else 0.0, column)
