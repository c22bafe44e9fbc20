"""A stack of pair metrics: trained on ratings, judged on sources left out against the best single metric."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.learned.features import RatedFeatures, TrainingPairs, compute_rated_features
from textgauge.bench.learned.fitting import LearnedMixture, fill_gaps, fit_mixture, fit_single, rank_predictions
from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.core.progress import Stage, Step
from textgauge.core.result import Column, Result
from textgauge.core.settings import split_into_blocks
from textgauge.core.show import FlatRow, format_cell, format_interval
from textgauge.data.view import TextsLike
from textgauge.measure.scoring import References, make_pairs
from textgauge.metrics import Metric, PairMetric, get_metric
from textgauge.metrics.base import list_versions
from textgauge.metrics.cautions import EMBEDDER, make_sketch
from textgauge.metrics.pair.ensemble import Trained
from textgauge.stats.correlation import resample_correlation, spearman
from textgauge.stats.decisions import is_better, judge_intervals
from textgauge.stats.rankings import compute_student_interval
from textgauge.stats.resampling import compute_jackknife_variance, compute_percentile_interval

_Labels: TypeAlias = Iterable[Any] | None
Rated: TypeAlias = (
    tuple[TextsLike, References, Iterable[float], _Labels]
    | tuple[TextsLike, References, Iterable[float], _Labels, _Labels]
)

_LEVEL = 0.95
_CELLS = 500_000  # weights in memory at once: 4 MB
_ONE_SOURCE = "all pairs are of one source: how it does on texts of other sources is not known"
_NO_SKETCH = (
    f"no embeddings of these texts are kept, so scoring cannot warn of texts far from them: it takes {EMBEDDER} "
    f"(textgauge resources fetch {EMBEDDER})"
)


@dataclass(frozen=True, kw_only=True)
class StackRow(FlatRow):
    """A learned metric and the best single one by one measure: `left_out` in turn, or one source with its `share`.

    `pairs_low` and `pairs_high` bound the difference for new pairs of the same sets, `sources_low` and `sources_high`
    for new sources; NaN where there are fewer than three. `better` says that both lie above 0.
    """

    measure: str = "spearman"
    left_out: str | None = None
    ensemble: float
    best: str
    single: float
    difference: float
    pairs_low: float = float("nan")
    pairs_high: float = float("nan")
    sources_low: float = float("nan")
    sources_high: float = float("nan")
    better: bool | None = None
    share: float | None = None
    n: int
    sources: int | None = None


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """Predictions for left-out pairs on one scale, and how well they and each single metric agree with people.

    `stacked` and `singles` are Spearman's ρ over pairs (`spearman`) and that of the means of sets (`order`, NaN for
    fewer than three sets). `contrasts` compare the learned metric with the best single one, measure by measure. That
    one is chosen with the ratings of all pairs in sight, which is in its favour. `left_out` has a row for each of
    several sources.
    """

    predictions: Floats
    stacked: Mapping[str, float]
    singles: Mapping[str, Mapping[str, float]]
    contrasts: tuple[StackRow, ...]
    left_out: tuple[StackRow, ...] = ()


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
    def rows(self) -> tuple[StackRow, ...]:
        """One row per measure, then one per source left out."""
        return self.judged.contrasts + self.judged.left_out

    @property
    def answer(self) -> str:
        """Whether the learned metric is better than the best single one on new sources, in one sentence."""
        row = self.judged.contrasts[0]
        pairs, ends = (row.pairs_low, row.pairs_high), (row.sources_low, row.sources_high)
        where, judgement, untested = "new sources", judge_intervals(pairs, ends), ""
        if np.isnan(row.sources_low):
            where, untested = "new pairs of these sets", "new sources were not tested; "
            judgement, ends = judge_intervals(pairs), pairs
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
        return sorted(
            ({"metric": metric.key, "share": share} for metric, share in shares), key=lambda row: -row["share"]
        )

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
    rows = [{name: cell for name, cell in row.to_dict().items() if cell is not None} for row in judged.left_out]
    return Stack(replace(trained, about={**trained.about, "left_out": rows}), judged)


def train(rated: RatedFeatures, *, scale: tuple[float, float] | None = None, seed: int = 0) -> Trained:
    """Train a model on all pairs; `save` writes it to a file that `ensemble@FILE` scores pairs with.

    `scale` holds the ratings of texts with nothing in common and of texts that say the same; the smallest and the
    largest rating by default. Where small ratings mean closer, give the larger one first. Ratings of other data are
    moved so that their smallest and largest one lie on the ends of the scale.

    What is learned is drawn to the best single metric (`fit_mixture`).
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
    rows: dict[int, StackRow] = {}

    def leave_out(here: NDArray[Any], *, judged: bool) -> LearnedMixture:
        """Learn from the others; `judged` pairs are predicted as ranks, larger for closer."""
        fitted = fit_mixture(known.take(~here), up)
        if judged:
            clamped = np.clip(fitted.mixture.predict(known.values[own]), min(worst, best), max(worst, best))
            predictions[here & own] = rank_predictions(clamped if up else -clamped)[here[own]]
        return fitted

    sources = np.unique(known.source_folds)
    by_source = bool((known.source_folds == folds)[own].all())
    for number, fold in enumerate(sources if len(sources) > 1 else ()):
        name = known.names[fold] if fold < len(known.names) else fold
        on_step(Stage(f"left out: {name}", number, len(sources), "leaving out sources"))
        here = known.source_folds == fold
        fitted = leave_out(here, judged=by_source)
        rows |= {source: _judge_source(known, fitted, source) for source in np.unique(known.sources[here]).tolist()}
    parts = np.unique(folds[own])
    for number, fold in enumerate(() if by_source else parts):
        on_step(Stage(f"left out: part {number + 1}", number, len(parts), "leaving out parts"))
        leave_out(folds == fold, judged=True)
    judged, gold, predictions = known.take(own), gold[own], predictions[own]
    columns = {metric.key: fill_gaps(judged.values[:, place]) for place, metric in enumerate(judged.metrics)}
    stacked, *singles = (measure_agreement(gold, one, judged.sets) for one in (predictions, *columns.values()))
    contrasts = []
    for measure in _AGREEMENTS:
        reached = {name: of[measure] for name, of in zip(columns, singles, strict=True) if not np.isnan(of[measure])}
        if reached:
            top = max(reached, key=reached.__getitem__)
            where = judged.sets, judged.sources, judged.texts
            contrasts.append(
                contrast_ensemble(measure, gold, predictions, top, columns[top], *where, resamples=resamples, seed=seed)
            )
    left_out = tuple(rows[source] for source in sorted(rows))
    return CrossValidated(predictions, stacked, dict(zip(columns, singles, strict=True)), tuple(contrasts), left_out)


def _judge_source(rated: RatedFeatures, fitted: LearnedMixture, source: int) -> StackRow:
    here = rated.sources == source
    learned, single = (
        spearman(rated.ratings[here], model.predict(rated.values[here])) for model in (fitted.mixture, fitted.single)
    )
    return StackRow(
        left_out=rated.names[source] if rated.names else str(source),
        ensemble=learned,
        best=rated.metrics[fitted.best].key,
        single=single,
        difference=learned - single,
        share=fitted.share,
        n=int(here.sum()),
    )


def measure_agreement(gold: Floats, column: Floats, sets: Ints) -> dict[str, float]:
    """Return both measures of one column of similarities."""
    whole = np.ones((1, len(gold)), dtype=np.int64)
    return {name: float(agreement(gold, column, sets, whole)[0]) for name, agreement in _AGREEMENTS.items()}


def contrast_ensemble(
    measure: str,
    gold: Floats,
    stacked: Floats,
    best: str,
    single: Floats,
    sets: Ints,
    sources: Ints,
    texts: Ints,
    *,
    resamples: int,
    seed: int,
) -> StackRow:
    """Compare the learned metric with the best single one by one measure."""
    of = _AGREEMENTS[measure]

    def gaps(weights: NDArray[Any]) -> Floats:
        return of(gold, stacked, sets, weights) - of(gold, single, sets, weights)

    ensemble, other = (measure_agreement(gold, column, sets)[measure] for column in (stacked, single))
    drawn = np.concatenate([gaps(weights) for weights in _draw_weights(texts, sources, resamples, seed)])
    pairs = compute_percentile_interval(drawn, len(np.unique(texts)), _LEVEL)
    labels = np.unique(sources)
    # Student's interval with the jackknife's error over sources: drawing few sources again is too narrow.
    beyond = float("nan"), float("nan")
    if len(labels) > 2:
        error = float(np.sqrt(compute_jackknife_variance(gaps((sources != labels[:, None]).astype(np.int64)))))
        beyond = compute_student_interval(ensemble - other, error, len(labels) - 1.0, _LEVEL)
    return StackRow(
        measure=measure,
        ensemble=ensemble,
        best=best,
        single=other,
        difference=ensemble - other,
        pairs_low=pairs[0],
        pairs_high=pairs[1],
        sources_low=beyond[0],
        sources_high=beyond[1],
        better=is_better(pairs, beyond),
        n=len(gold) if measure == "spearman" else len(np.unique(sets)),
        sources=len(labels),
    )


def _draw_weights(texts: Ints, sources: Ints, resamples: int, seed: int) -> Iterator[Ints]:
    """Draw weights of pairs: left texts with replacement within each source, some resamples at a time."""
    units, place = np.unique(np.stack([sources, texts]), axis=1, return_inverse=True)
    starts = np.flatnonzero(np.diff(units[0], prepend=-1))
    sizes = np.diff([*starts, units.shape[1]])
    rng = np.random.default_rng([seed, 7])
    for some in split_into_blocks(resamples, _CELLS, len(texts)):
        drawn = some.stop - some.start
        counts = [rng.multinomial(count, np.full(count, 1.0 / count), size=drawn) for count in sizes]
        yield np.concatenate(counts, axis=1)[:, place.reshape(-1)]


def _correlate_pairs(gold: Floats, column: Floats, _: Ints, weights: Ints) -> Floats:
    return resample_correlation(spearman, gold, column, weights)


def _correlate_sets(gold: Floats, column: Floats, sets: Ints, weights: Ints) -> Floats:
    """Return Spearman's ρ of the means of the sets that have weight; NaN for fewer than three of them."""
    member = (sets[:, None] == np.unique(sets)).astype(np.float64)
    sums = weights.astype(np.float64) @ np.hstack([member, member * gold[:, None], member * column[:, None]])
    rhos = np.full(len(weights), np.nan)
    for row, (sizes, golden, columned) in enumerate(zip(*np.split(sums, 3, axis=1), strict=True)):
        full = sizes > 0
        if full.sum() >= 3:
            rhos[row] = spearman(golden[full] / sizes[full], columned[full] / sizes[full])
    return rhos


_AGREEMENTS = {"spearman": _correlate_pairs, "order": _correlate_sets}


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
