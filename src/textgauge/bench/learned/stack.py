"""A stack of pair metrics: trained on ratings, judged on sources left out against the best single metric."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any, ClassVar, TypeAlias

import numpy as np

from textgauge.bench.learned.agreement import (
    MEASURES,
    EnsembleContrast,
    RatingAgreement,
    contrast_ensemble,
    measure_agreement,
)
from textgauge.bench.learned.features import RatedFeatures, TrainingPairs, compute_rated_features
from textgauge.bench.learned.ridge import fit_ridge, fit_single, mix, rank_predictions
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.progress import Stage, Step
from textgauge.core.result import Column, Result
from textgauge.core.show import Row, drop_nonfinite_values, format_cell, format_interval
from textgauge.data.view import TextsLike
from textgauge.measure.scoring import References, make_pairs
from textgauge.metrics import Metric, PairMetric, get_metric
from textgauge.metrics.base import list_versions
from textgauge.metrics.cautions import EMBEDDER, make_sketch
from textgauge.metrics.pair.ensemble import Ridge, Trained
from textgauge.stats.correlation import correlate_groups, spearman
from textgauge.stats.decisions import judge_intervals

_Labels: TypeAlias = Iterable[Any] | None
Rated: TypeAlias = (
    tuple[TextsLike, References, Iterable[float], _Labels]
    | tuple[TextsLike, References, Iterable[float], _Labels, _Labels]
)

_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a model that are learned; the rest is the best single metric
_ONE_SOURCE = "all pairs are of one source: how it does on texts of other sources is not known"
_NO_SKETCH = (
    f"no embeddings of these texts are kept, so scoring cannot warn of texts far from them: it takes {EMBEDDER} "
    f"(textgauge resources fetch {EMBEDDER})"
)
_FIELDS = (
    "measure", "left_out", "ensemble", "best", "single", "difference", "pairs_low", "pairs_high", "sources_low",
    "sources_high", "better", "share", "n", "sources",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class LearnedMixture:
    """A model, the place of the best single metric, its line to the ratings, and the share of what was learned."""

    model: Ridge
    best: int
    single: Ridge
    share: float

    @property
    def mixture(self) -> Ridge:
        """What predicts: the model and the single metric's line, mixed by the share."""
        return self.single if self.share == 0.0 else mix(self.model, self.single, self.share)


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
        """Return a flat row."""
        return drop_nonfinite_values({"measure": "spearman", **asdict(self), "difference": self.ensemble - self.single})


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


@dataclass(frozen=True, eq=False, repr=False)
class Stack(Result):
    """A trained ensemble; its rows compare it with the best single metric on pairs that were left out.

    `trained` is the model of all pairs, `judged` holds the predictions for left-out pairs and all single metrics.
    """

    command: ClassVar[str] = "train ensemble"
    keys: ClassVar[Sequence[str]] = ("measure", "left_out")
    columns: ClassVar[Sequence[Column]] = (
        Column("left out", "left_out", lambda name: name or "each in turn"),
        Column("measure"),
        *(Column(name, form=format_cell) for name in ("ensemble", "best", "single", "difference")),
        Column("new pairs", "pairs_low pairs_high", format_interval),
        Column("new sources", "sources_low sources_high", format_interval),
        Column("n"),
    )

    trained: Trained
    judged: CrossValidated

    @property
    def rows(self) -> list[Row]:
        """One row per measure, then one per source left out."""
        rows = [row.to_dict() for row in self.judged.contrasts] + [row.to_dict() for row in self.judged.left_out]
        return [{name: row.get(name) for name in _FIELDS} for row in rows]

    @property
    def answer(self) -> str:
        """Whether the learned metric is better than the best single one on new sources, in one sentence."""
        row = self.judged.contrasts[0]
        where, judgement, ends, untested = "new sources", row.verdict, (row.sources_low, row.sources_high), ""
        if np.isnan(row.sources_low):
            where, untested = "new pairs of these sets", "new sources were not tested; "
            ends = row.pairs_low, row.pairs_high
            judgement = judge_intervals(ends)
        gap = f"(difference {format_cell(row.difference)}, {format_interval(*ends)})"
        learned = f"{self.trained.about['share']:.0%} of it is learned"
        return f"The learned metric is {judgement} {row.best} on {where} {gap}; {untested}{learned}."

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is not known of it, or speaks against it."""
        sources = () if self.judged.left_out else (_ONE_SOURCE,)
        return sources if self.trained.texts is not None else (*sources, _NO_SKETCH)

    @property
    def details(self) -> dict[str, Any]:
        """The card of the model: what it was trained on and how; and how much of it each metric has."""
        return {"card": dict(self.trained.about), "metrics": self.shares()}

    def shares(self) -> list[dict[str, Any]]:
        """Return each metric's share of the sum of |weights|, most first."""
        shares = zip(self.trained.metrics, self.trained.model.shares.tolist(), strict=True)
        rows = [drop_nonfinite_values({"metric": metric.key, "share": share}) for metric, share in shares]
        return sorted(rows, key=lambda row: -row["share"])

    def save(self, path: str | os.PathLike[str]) -> PairMetric:  # type: ignore[override]
        """Write the model to a JSON file and return the metric that scores with it, `ensemble@path`."""
        self.trained.save(path)
        metric: PairMetric = get_metric(f"ensemble@{os.fspath(path)}")
        return metric


def ensemble(
    *,
    left: TextsLike,
    right: References,
    target: Iterable[float],
    metrics: str | Iterable[str | Metric] | None = None,
    groups: Iterable[Any] | None = None,
    sources: Iterable[Any] | None = None,
    also: Rated | Sequence[Rated] | None = None,
    scale: tuple[float, float] | None = None,
    seed: int = 0,
    resamples: int = 1_000,
    columns: Mapping[str, Sequence[float] | Floats] | None = None,
    names: Sequence[str] = (),
    on_step: Step = lambda _: None,
) -> Stack:
    """Stack pair metrics into one that predicts people's ratings of the pairs.

    One source is left out after the other to see what was learned; where there is one, the pairs of some texts.

    Parameters
    ----------
    left, right
        The texts of the pairs; `right` may hold several references of each.
    target
        The ratings of the pairs.
    metrics
        Metrics to learn from, or parts such as rouge1.recall; by default all that can run here.
    groups
        The set of each pair; sets that share texts are one source.
    sources
        The source of each pair, where sets do not tell.
    also
        Other data to learn from: left texts, right texts, ratings, groups (or None) and, if known, sources; or a list
        of several such.
    scale
        The lowest and the highest rating, such as 1,5: of texts with nothing in common and of texts that say the same;
        by default those in the data.
    seed
        Random seed.
    resamples
        Number of resamples in the paired bootstrap.
    columns
        Scores of the pairs by name, for metrics `column:NAME`.
    names
        The names of all data.
    on_step
        Called with what is being done.

    Examples
    --------
    >>> left = ["a red cat sleeps", "the old house", "a stone in the river", "blue dogs run"] * 10
    >>> right = ["a red cat naps", "the new tree", "a stone in the stream", "cats sleep"] * 10
    >>> stack = ensemble(left=left, right=right, target=[4, 2, 5, 1] * 10, metrics="jaccard,chrf", resamples=100)
    >>> stack.warnings
    ('all pairs are of one source: how it does on texts of other sources is not known',)
    """
    others: Sequence[Any] = () if also is None else also if isinstance(also, list) else [also]
    given = [(left, right, target, groups, sources), *((*other, None)[:5] for other in others)]
    called = [*names, *(f"data {number + 1}" for number in range(len(names), len(given)))]
    data = [
        TrainingPairs(
            make_pairs(texts, references, columns=None if place else columns),
            list(ratings),
            name,
            *(None if cells is None else list(cells) for cells in labels),
        )
        for place, ((texts, references, ratings, *labels), name) in enumerate(zip(given, called, strict=True))
    ]
    rated = compute_rated_features(data, metrics=metrics, on_step=on_step)
    judged = cross_validate(rated, scale=scale, seed=seed, resamples=resamples, on_step=on_step)
    trained = train(rated, scale=scale, seed=seed)
    card = {**trained.about, "left_out": [row.to_dict() for row in judged.left_out]}
    return Stack(replace(trained, about=card), judged)


def train(rated: RatedFeatures, *, scale: tuple[float, float] | None = None, seed: int = 0) -> Trained:
    """Train a model on all pairs; `save` writes it to a file that `ensemble@FILE` scores pairs with.

    `scale` holds the ratings of texts with nothing in common and of texts that say the same; the smallest and the
    largest rating by default. Where small ratings mean closer, give the larger one first. Ratings of other data are
    moved so that their smallest and largest one lie on the ends of the scale.

    What is learned is drawn to the best single metric: its share is the smallest one of a grid that predicts sources
    left out in turn (texts, where there is one source) as well as the best share does, within one standard error.
    """
    worst, best = _get_scale(rated, scale)
    known = _move_to_scale(rated, worst, best)
    fitted = fit_mixture(known, best > worst)
    card = {
        "data": list(rated.cards),
        "pairs": len(rated),
        "sets": len(np.unique(rated.sets)),
        "sources": len(np.unique(rated.sources)),
        "single": rated.metrics[fitted.best].key,
        "share": fitted.share,
        "seed": seed,
        "versions": list(list_versions("textgauge", "numpy", "scikit-learn")),
    }
    used, mixture = list(range(len(rated.metrics))), fitted.mixture
    if fitted.share == 0.0:  # nothing else needs to be computed
        used, mixture = [fitted.best], fit_single(known.values[:, [fitted.best]], known.ratings, 0)
    metrics = tuple(rated.metrics[place] for place in used)
    sketch = None if rated.corpus is None else make_sketch(rated.corpus, np.tile(rated.sources, 2), seed)
    return Trained(metrics, tuple(metric.signature for metric in metrics), mixture, worst, best, card, sketch)


def cross_validate(
    rated: RatedFeatures,
    *,
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
    worst, best = _get_scale(rated, scale)
    known, up = _move_to_scale(rated, worst, best), best > worst
    own, gold = known.own, known.ratings if up else -known.ratings
    predictions, folds = np.empty(len(known)), known.folds
    rows: dict[int, SourceLeftOut] = {}

    def predict(fitted: LearnedMixture) -> Floats:
        """Predict the pairs that are judged, as ranks; larger is closer."""
        clamped = np.clip(fitted.mixture.predict(known.values[own]), min(worst, best), max(worst, best))
        return rank_predictions(clamped if up else -clamped)

    sources = np.unique(known.source_folds)
    by_source = bool((known.source_folds == folds)[own].all())
    for number, fold in enumerate(sources if len(sources) > 1 else ()):
        name = known.names[fold] if fold < len(known.names) else fold
        on_step(Stage(f"left out: {name}", number, len(sources), "leaving out sources"))
        here = known.source_folds == fold
        fitted = fit_mixture(known.take(~here), up)
        rows |= {source: _judge_source(known, fitted, source) for source in np.unique(known.sources[here]).tolist()}
        if by_source:
            predictions[here & own] = predict(fitted)[here[own]]
    parts = np.unique(folds[own])
    for number, fold in enumerate(() if by_source else parts):
        on_step(Stage(f"left out: part {number + 1}", number, len(parts), "leaving out parts"))
        here = folds == fold
        predictions[here & own] = predict(fit_mixture(known.take(~here), up))[here[own]]
    judged = _judge(known.take(own), gold[own], predictions[own], resamples=resamples, level=level, seed=seed)
    return replace(judged, left_out=tuple(rows[source] for source in sorted(rows)))


def _judge(rated: RatedFeatures, gold: Floats, predictions: Floats, **options: Any) -> CrossValidated:
    columns = {metric.key: _fill(rated.values[:, i]) for i, metric in enumerate(rated.metrics)}
    singles = tuple(measure_agreement(name, gold, column, rated.sets) for name, column in columns.items())
    where: dict[str, Any] = {"sets": rated.sets, "sources": rated.sources, "texts": rated.texts}
    contrasts = []
    for measure in MEASURES:
        known = [row for row in singles if not np.isnan(getattr(row, measure))]
        if known:
            best = max(known, key=attrgetter(measure)).metric
            contrasts.append(contrast_ensemble(measure, gold, predictions, (best, columns[best]), **where, **options))
    return CrossValidated(
        predictions, measure_agreement("ensemble", gold, predictions, rated.sets), singles, tuple(contrasts)
    )


def _judge_source(rated: RatedFeatures, fitted: LearnedMixture, source: int) -> SourceLeftOut:
    here = rated.sources == source
    values, gold = rated.values[here], rated.ratings[here]
    learned, single = (spearman(gold, part.predict(values)) for part in (fitted.mixture, fitted.single))
    name = rated.names[source] if rated.names else str(source)
    return SourceLeftOut(name, int(here.sum()), learned, rated.metrics[fitted.best].key, single, fitted.share)


def fit_mixture(rated: RatedFeatures, up: bool) -> LearnedMixture:
    """Fit penalty, single metric and share on these pairs alone; `up` where larger ratings mean closer."""
    folds = rated.folds if rated.own.any() else rated.texts % 10
    if len(np.unique(folds[folds >= 0])) < 2:  # nothing to choose a penalty by but halves of it
        folds = np.where(folds >= 0, np.arange(len(rated)) % 2, -1)
    whole = fit_ridge(rated.values, rated.ratings, rated.sets, folds)
    units = rated.source_folds if len(np.unique(rated.source_folds)) > 1 else rated.texts % 10
    rhos = []
    for unit in np.unique(units):
        rest, here = rated.take(units != unit), rated.take(units == unit)
        if len(rest) and len(here) > 2:
            part = fit_ridge(rest.values, rest.ratings, rest.sets, None, penalty=whole.penalty)
            best = _find_best_within_sources(rest, up)
            single = fit_single(rest.values, rest.ratings, best)
            mixtures = [LearnedMixture(part, best, single, share).mixture for share in _SHARES]
            rhos.append([spearman(here.ratings, mixture.predict(here.values)) for mixture in mixtures])
    best = _find_best_within_sources(rated, up)
    return LearnedMixture(whole, best, fit_single(rated.values, rated.ratings, best), _choose_share(np.array(rhos)))


def _find_best_within_sources(rated: RatedFeatures, up: bool) -> int:
    """Return the place of the metric with the largest mean ρ within sources."""
    gold = rated.ratings if up else -rated.ratings
    rhos = np.array([correlate_groups(spearman, gold, _fill(column), rated.sources) for column in rated.values.T])
    known = np.isfinite(rhos)
    means = np.where(known, rhos, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return int(np.argmax(np.where(known.any(axis=1), means, -1.0)))


def _choose_share(rhos: Floats) -> float:
    """Return the smallest share whose ρ on what was left out is within one standard error of the best share's.

    >>> _choose_share(np.array([[0.5, 0.5, 0.5, 0.5, 0.6], [0.5, 0.5, 0.5, 0.5, 0.7], [0.4, 0.4, 0.4, 0.4, 0.5]]))
    1.0
    >>> _choose_share(np.array([[0.5, 0.5, 0.5, 0.5, 0.7], [0.5, 0.5, 0.5, 0.5, 0.4], [0.4, 0.4, 0.4, 0.4, 0.5]]))
    0.0
    """
    known = rhos[np.isfinite(rhos).all(axis=1)] if len(rhos) else rhos
    if len(known) < 2:
        return 0.0
    gaps = known[:, [int(known.mean(axis=0).argmax())]] - known
    near = gaps.mean(axis=0) <= gaps.std(axis=0, ddof=1) / np.sqrt(len(known))
    return _SHARES[int(np.argmax(near))]


def _get_scale(rated: RatedFeatures, scale: tuple[float, float] | None) -> tuple[float, float]:
    ratings = rated.ratings[rated.own]
    worst, best = scale or (float(ratings.min()), float(ratings.max()))
    if not (np.isfinite([worst, best]).all() and worst != best):
        raise InputError(f"the scale needs two different numbers, not {worst:g} and {best:g}")
    if ratings.min() < min(worst, best) or ratings.max() > max(worst, best):
        raise InputError(f"there are ratings outside the scale from {worst:g} to {best:g}")
    return float(worst), float(best)


def _move_to_scale(rated: RatedFeatures, worst: float, best: float) -> RatedFeatures:
    """Move the ratings of other data to the ends of the scale."""
    ratings = rated.ratings.copy()
    for number in range(1, int(rated.data.max()) + 1):
        here = rated.data == number
        low, high = float(ratings[here].min()), float(ratings[here].max())
        ratings[here] = worst + (ratings[here] - low) * (best - worst) / (high - low)
    return replace(rated, ratings=ratings)


def _fill(column: Floats) -> Floats:
    known = column[~np.isnan(column)]
    return np.where(np.isnan(column), known.mean() if len(known) else 0.0, column)
