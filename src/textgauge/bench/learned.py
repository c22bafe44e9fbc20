"""Pair metrics that are learned from ratings: trained from what other rated sets say, judged on pairs left out.

Weights are those of non-negative least squares within sets; pairs of one source are left out together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from textgauge.bench import PairSources, TaskSources
from textgauge.bench.protocols.task import load_task
from textgauge.bench.rated_features import RatedFeatures, compute_rated_features
from textgauge.core.arrays import Floats, Ints, average_known
from textgauge.core.errors import InputError
from textgauge.core.result import Column, Result
from textgauge.core.settings import split_into_blocks
from textgauge.core.show import FlatRow, format_cell, format_interval
from textgauge.data import Corpus
from textgauge.data.view import TextsLike
from textgauge.measure.scoring import References, make_pairs
from textgauge.metrics import Metric, PairMetric, get_metric
from textgauge.metrics.base import list_versions
from textgauge.metrics.cautions import EMBEDDER, make_sketch
from textgauge.metrics.pair.ensemble import Trained, load_blend, to_share
from textgauge.stats.correlation import correlate_groups, resample_correlation, spearman
from textgauge.stats.decisions import is_better, judge_intervals
from textgauge.stats.rankings import compute_student_interval
from textgauge.stats.resampling import compute_jackknife_variance, compute_percentile_interval

if TYPE_CHECKING:
    from textgauge.bench.sources import MatrixBatch, PairBatch

_Labels: TypeAlias = Iterable[Any] | None
Rated: TypeAlias = (
    tuple[TextsLike, References, Iterable[float], _Labels]
    | tuple[TextsLike, References, Iterable[float], _Labels, _Labels]
)

OWN_WEIGHTS = (0.0, 1.0, 3.0, 10.0, 30.0)  # of a hundred ratings, where a family of the prior has 1
_DECISIVE = 0.05  # in ρ on pairs left out: a weight that is worse by as much counts e times less
_RIDGE = 1e-6  # of the mean variance: features may be copies of each other
_MOST_STEPS, _STILL = 50, 1e-10
_FLATTEST = 0.1  # slope of a curve
_FARTHEST = 8.0  # log-odds: a curve through ratings that are separated has no end
_LEVEL = 0.95
_CELLS = 500_000  # weights in memory at once: 4 MB
_FEW = 50  # ratings, below which little can be learned
_MOST_ROWS = 20  # sources that have a row of their own
_ONE_SOURCE = "all pairs are of one source: how it does on texts of other sources is not known"
_NO_SKETCH = (
    f"no embeddings of these texts are kept, so scoring cannot warn of texts far from them: it takes {EMBEDDER} "
    f"(textgauge resources fetch {EMBEDDER})"
)


def make_start(rated: RatedFeatures, prior: Trained | None) -> Trained:
    """Return what training starts from, without weights: mean, deviation and sums of features that the prior has.

    For other features mean and deviation within sets of these pairs, and sums of 0.
    """
    known = ~np.isnan(rated.values)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, rated.values, 0.0).sum(axis=0) / count
    inner = center(np.where(known, rated.values, mean), rated.sets)
    variance = (inner**2).mean(axis=0)
    scale = np.where(variance > 1e-24 * (1.0 + mean**2), np.sqrt(variance), 1.0)
    sums = np.zeros((len(mean), len(mean) + 1))
    if prior is not None and prior.sums.size:
        places = {metric: place for place, metric in enumerate(prior.metrics)}
        here = np.array([place for place, metric in enumerate(rated.metrics) if metric in places], dtype=np.int64)
        there = np.array([places[rated.metrics[place]] for place in here], dtype=np.int64)
        mean[here], scale[here] = prior.mean[there], prior.scale[there]
        sums[np.ix_(here, np.append(here, -1))] = prior.sums[np.ix_(there, np.append(there, -1))]
    return Trained(rated.metrics, mean, scale, np.zeros(len(mean)), sums=sums)


def center(columns: Floats, sets: Ints) -> Floats:
    """Return columns less the mean of each row's set."""
    labels, place = np.unique(sets, return_inverse=True)
    sums = np.zeros((len(labels), *columns.shape[1:]))
    np.add.at(sums, place, columns)
    counts = np.bincount(place).reshape(-1, *[1] * (columns.ndim - 1))
    return np.asarray(columns - (sums / counts)[place])


def sum_products(standard: Floats, ratings: Floats, sets: Ints) -> Floats:
    """Return mean products of features with each other and, in the last column, with ratings, less means of their set.

    Sets differ in more than features can tell, and there are few of them: what explains the differences between sets
    does not carry over to another one. Raters of one set spread their ratings more than those of another, so ratings
    are divided by their deviation in the set.
    """
    inner, level = center(standard, sets), center(ratings, sets)
    place = np.unique(sets, return_inverse=True)[1]
    deviation = np.sqrt(np.bincount(place, level**2) / np.bincount(place))[place]
    level = np.divide(level, deviation, out=np.zeros_like(level), where=deviation > 0)
    return np.column_stack([inner.T @ inner, inner.T @ level]) / len(level)


def solve_weights(sums: Floats) -> Floats:
    """Return the weights of non-negative least squares by the sums of products."""
    from scipy.linalg import cholesky, solve_triangular
    from scipy.optimize import nnls

    width, products = len(sums), sums[:, :-1]
    ridge = max(_RIDGE * float(np.trace(products)) / width, 1e-12)
    root = cholesky(products + ridge * np.eye(width), lower=True)
    return np.asarray(nnls(root.T, solve_triangular(root, sums[:, -1], lower=True))[0])


def fit_curve(score: Floats, share: Floats, weights: Floats | None = None) -> tuple[float, float]:
    """Return slope and intercept of the logistic curve from a score to shares of the scale, by maximum likelihood."""
    rows = np.column_stack([score, np.ones(len(score))])
    weight = np.ones(len(score)) if weights is None else weights
    line = np.array([0.0, 0.0])
    for _ in range(_MOST_STEPS):
        fitted = to_share(rows @ line)
        curvature = (rows * (weight * fitted * (1.0 - fitted))[:, None]).T @ rows + 1e-9 * weight.sum() * np.eye(2)
        step = np.linalg.solve(curvature, rows.T @ (weight * (share - fitted)))
        line = line + step * min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(rows @ line).max() > _FARTHEST or np.abs(step).max() < _STILL:
            break
    return float(line[0]), float(line[1])


def fit_model(rated: RatedFeatures, start: Trained, shares: Floats) -> Trained:
    """Fit weights, and the curve to the ratings of the pairs that are judged, which lie on a scale from 0 to 1.

    `shares` are those of the solutions under each of `OWN_WEIGHTS`.
    """
    solved = np.array([_solve(start, rated, OWN_WEIGHTS[place]) for place in np.flatnonzero(shares)])
    weights = shares[shares > 0] @ (solved / np.maximum(solved.sum(axis=1, keepdims=True), np.finfo(float).tiny))
    judged = rated.take(rated.own) if rated.own.any() else rated
    score = start.standardise(judged.values) @ weights
    slope, intercept = fit_curve(score, judged.ratings)
    if slope < _FLATTEST:  # by chance, for the weights are not negative
        share = np.clip(judged.ratings.mean(), 0.01, 0.99)
        slope, intercept = _FLATTEST, float(np.log(share / (1.0 - share)) - _FLATTEST * score.mean())
    return replace(start, weights=slope * weights, intercept=intercept)


def _solve(start: Trained, rated: RatedFeatures, own: float) -> Floats:
    """Return weights by the sums of the prior, and those of these pairs with this weight of a hundred of them."""
    here = sum_products(start.standardise(rated.values), rated.ratings, rated.sets)
    return solve_weights(start.sums + own * len(rated) / 100 * here)


def weigh_own_ratings(rated: RatedFeatures, start: Trained) -> Floats:
    """Return the share of the solution under each of `OWN_WEIGHTS`: the larger, the better it predicts pairs left out.

    The best of few noisy numbers is often chance, so all count, by their ρ within sources. Without a prior, or without
    ratings of one's own to judge by, there is nothing to weigh.
    """
    shares = np.zeros(len(OWN_WEIGHTS))
    shares[-1] = 1.0
    if not (start.sums[:, -1].any() and rated.own.any()):
        return shares
    held_out = leave_out(rated, start, OWN_WEIGHTS)
    own = rated.take(rated.own)
    rhos = np.array([correlate_groups(spearman, own.ratings, column, own.sources) for column in held_out.T])
    means = np.nan_to_num(average_known(rhos, axis=1), nan=-1.0)
    shares = np.exp((means - means.max()) / _DECISIVE)
    return np.asarray(shares / shares.sum())


def leave_out(rated: RatedFeatures, start: Trained, own: tuple[float, ...]) -> Floats:
    """Return predictions of the judged pairs by what was learned without their fold, one column per weight."""
    standard, found = start.standardise(rated.values), np.zeros((len(rated), len(own)))
    for fold in np.unique(rated.folds[rated.folds >= 0]):
        here = rated.folds == fold
        for column, weight in enumerate(own):
            found[here, column] = standard[here] @ _solve(start, rated.take(~here), weight)
    return found[rated.own]


@dataclass(frozen=True, kw_only=True)
class StackRow(FlatRow):
    """Spearman's ρ with the ratings of left-out pairs: of the learned metric, and of another one (`other`).

    `left_out` names one source; without it, all were left out in turn. `pairs_low` and `pairs_high` bound the
    difference for new pairs of the same sets, `sources_low` and `sources_high` for new sources; NaN where there are
    fewer than three. `better` says that both lie above 0.
    """

    left_out: str | None = None
    ensemble: float
    compared_with: str
    other: float
    difference: float
    pairs_low: float = float("nan")
    pairs_high: float = float("nan")
    sources_low: float = float("nan")
    sources_high: float = float("nan")
    better: bool | None = None
    n: int
    sources: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Stack(Result):
    """A trained ensemble (`trained`, of all pairs); its rows compare it with other metrics on pairs that were left out.

    One row per metric compared with, what it started from first; then one per source left out.
    """

    command: ClassVar[str] = "train ensemble"
    keys: ClassVar[Sequence[str]] = ("left_out", "compared_with")
    columns: ClassVar[Sequence[Column]] = (
        Column("left out", "left_out", lambda name: name or "each in turn"),
        *(Column(name.replace("_", " "), name, format_cell) for name in ("ensemble", "compared_with", "other")),
        Column("difference", form=format_cell),
        Column("new pairs", "pairs_low pairs_high", format_interval),
        Column("new sources", "sources_low sources_high", format_interval),
        Column("n"),
    )

    trained: Trained
    rows: tuple[StackRow, ...]

    @property
    def answer(self) -> str:
        """What the own ratings gained on pairs left out, in one sentence."""
        row = self.rows[0]
        pairs, ends = (row.pairs_low, row.pairs_high), (row.sources_low, row.sources_high)
        where, judgement = "new sources", judge_intervals(pairs, ends)
        if np.isnan(row.sources_low):
            where, judgement, ends = "new pairs of these sets", judge_intervals(pairs), pairs
        rhos = f"Spearman's ρ {format_cell(row.ensemble)} against {format_cell(row.other)}"
        gap = f"difference {format_cell(row.difference)}, {format_interval(*ends)}"
        return f"The learned metric is {judgement} {row.compared_with} on {where}: {rhos} on pairs left out ({gap})."

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is not known of it, or speaks against it."""
        row = self.rows[0]
        found = [f"{row.n} ratings teach little: it stays close to what it started from"] if row.n < _FEW else []
        found += [_ONE_SOURCE] if row.sources == 1 else []
        return (*found, *([] if self.trained.texts is not None else [_NO_SKETCH]))

    @property
    def details(self) -> dict[str, Any]:
        """The card of the model: what it was trained on and how; and how much of it each metric has."""
        return {"card": dict(self.trained.about), "metrics": self.shares()}

    def shares(self) -> list[dict[str, Any]]:
        """Return each metric's share of the sum of weights, most first."""
        shares = zip(self.trained.metrics, self.trained.shares.tolist(), strict=True)
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
    left: TextsLike | None = None,
    right: References | None = None,
    target: Iterable[float] | None = None,
    task: str | None = None,
    documents: str | os.PathLike[str] | TaskSources | None = None,
    metrics: str | Iterable[str | Metric] | None = None,
    prior: Literal["blend", "blend-small", "none"] = "blend-small",
    groups: Iterable[Any] | None = None,
    sources: Iterable[Any] | None = None,
    also: Rated | Sequence[Rated] | None = None,
    scale: tuple[float, float] | None = None,
    seed: int = 0,
    resamples: int = 1_000,
    columns: Mapping[str, Sequence[float] | Floats] | None = None,
    names: Sequence[str] = (),
) -> Stack:
    """Train a pair metric that predicts people's ratings of pairs, or does well in a task.

    Training starts from what other rated sets say of the metrics (`prior`) and adds your ratings, with a weight under
    which pairs left out are predicted best. Give texts with ratings (`target`), or a task with its documents.

    Parameters
    ----------
    left, right
        The texts of the pairs; `right` may hold several references of each.
    target
        The ratings of the pairs.
    task
        A task to learn from in place of ratings, such as robustness; it needs documents.
    documents
        The data of the task: a file, sample or dataset.
    metrics
        Metrics to learn from, or parts such as rouge1.recall; by default those of the prior.
    prior
        What to start from: blend, blend-small, or none; metrics that it does not have are learned from your ratings.
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

    Examples
    --------
    >>> left = ["a red cat sleeps", "the old house", "a stone in the river", "blue dogs run"] * 10
    >>> right = ["a red cat naps", "the new tree", "a stone in the stream", "cats sleep"] * 10
    >>> stack = ensemble(left=left, right=right, target=[4, 2, 5, 1] * 10, metrics="jaccard,chrf", resamples=100)
    >>> stack.rows[0].compared_with
    'blend-small'
    """
    if (task is None) == (target is None) or (task is not None and documents is None):
        raise InputError("give pairs with ratings (left, right, target), or a task with its documents")
    if task is not None:
        data = [make_task_pairs(task, documents, seed)]
        scale = (0.0, 1.0)
    else:
        others: Sequence[Any] = () if also is None else also if isinstance(also, list) else [also]
        given = [(left, right, target, groups, sources), *((*other, None)[:5] for other in others)]
        called = [*names, *(f"data {number + 1}" for number in range(len(names), len(given)))]
        data = []
        for place, (name, (texts, references, *labels)) in enumerate(zip(called, given, strict=True)):
            pairs = make_pairs(texts, references, columns=None if place else columns)
            cells = zip(("rating", "set", "source"), labels, strict=True)
            known = {role: np.array(list(column), dtype=object) for role, column in cells if column is not None}
            data.append(PairSources(name, pairs.left, pairs.right, known, scores=pairs.columns))
    start = None if prior == "none" else load_blend(prior)[0]
    if metrics is None and start is None:
        raise InputError("name the metrics to learn from where there is no prior")
    chosen: Any = metrics if metrics is not None else list(start.metrics) if start is not None else ()
    rated = compute_rated_features(data, chosen)
    rows, _ = cross_validate(rated, start, scale=scale, seed=seed, resamples=resamples, named=prior)
    trained = train(rated, start, scale=scale, seed=seed)
    contrasts = [row.to_dict() for row in rows if row.left_out is None]
    kept = [{name: cell for name, cell in row.items() if cell is not None} for row in contrasts]
    about = {**trained.about, "prior": prior, "task": task, "on_pairs_left_out": kept}
    return Stack(replace(trained, about=about), rows)


def make_task_pairs(task: str, documents: Any, seed: int) -> PairSources:
    """Return pairs of a task with the similarity that each should have, as the universal ensemble learns from them."""
    protocol, sources = load_task(task, documents)
    left, right, targets, groups = list[str](), list[str](), list[float](), list[Any]()
    for trials in protocol.trials(sources, seed):
        batch = cast("PairBatch | MatrixBatch", trials)
        found = protocol.pair_examples(np.zeros((len(batch), 1)), batch.columns, seed)
        rows, others = batch.take_pairs(found.trials)
        left += rows.texts
        right += others.texts
        targets += found.targets.tolist()
        groups += protocol.groups(batch.columns)[found.trials].tolist()
    columns = {"rating": np.array(targets), "source": np.array(groups)}
    return PairSources(f"{task} on {sources.name}", Corpus.of(left), Corpus.of(right), columns)


def train(
    rated: RatedFeatures, prior: Trained | None = None, *, scale: tuple[float, float] | None = None, seed: int = 0
) -> Trained:
    """Train a model on all pairs; `save` writes it to a file that `ensemble@FILE` scores pairs with.

    `scale` holds the ratings of texts with nothing in common and of texts that say the same; the smallest and the
    largest rating by default. Where small ratings mean closer, give the larger one first. Ratings of other data are
    moved so that their smallest and largest one lie on the ends of the scale.
    """
    known, (worst, best) = _move_to_scale(rated, scale)
    start = make_start(known, prior)
    shares = weigh_own_ratings(known, start)
    card = {
        "data": list(rated.cards),
        "pairs": len(rated),
        "sets": len(np.unique(rated.sets)),
        "sources": len(np.unique(rated.sources)),
        "own_weight": float(shares @ OWN_WEIGHTS),
        "seed": seed,
        "versions": list(list_versions("textgauge", "numpy", "scipy")),
    }
    return replace(
        fit_model(known, start, shares),
        sums=np.empty((0, 0)),
        signatures=tuple(metric.signature for metric in rated.metrics),
        worst=worst,
        best=best,
        about=card,
        texts=None if rated.corpus is None else make_sketch(rated.corpus, np.tile(rated.sources, 2), seed),
    )


def cross_validate(
    rated: RatedFeatures,
    prior: Trained | None = None,
    *,
    scale: tuple[float, float] | None = None,
    seed: int = 0,
    resamples: int = 1_000,
    named: str = "the prior",
) -> tuple[tuple[StackRow, ...], Floats]:
    """Leave out one source after the other, train on the rest, predict what was left out.

    Return how the predictions compare with what was started from and with the single metric that agrees best with the
    other pairs, then a row for each of several sources; and the predictions. Where the pairs that are judged are of one
    source, the pairs of some of its left texts are left out in turn. The weight of the own ratings and the best single
    metric come from the rest alone.
    """
    known, _ = _move_to_scale(rated, scale)
    start = make_start(known, prior)
    standard, own = start.standardise(known.values), known.own
    learned, single = np.zeros(len(known)), np.zeros(len(known))
    chosen = list[str]()
    for fold in np.unique(known.folds[known.folds >= 0]):
        here, rest = known.folds == fold, known.take(known.folds != fold)
        learned[here] = fit_model(rest, start, weigh_own_ratings(rest, start)).predict(known.values[here])
        best = find_best_metric(rest)
        single[here] = standard[here, best]
        chosen.append(known.metrics[best].key)
    judged, learned, single = known.take(own), learned[own], single[own]
    compared = {max(set(chosen), key=chosen.count): single}
    if start.sums[:, -1].any():
        compared = {named: leave_out(known, start, (0.0,))[:, 0], **compared}
    where = judged.sources, judged.texts
    rows = [
        contrast_ensemble(judged.ratings, learned, name, column, *where, resamples=resamples, seed=seed)
        for name, column in compared.items()
    ]
    name, column = next(iter(compared.items()))
    several = np.unique(judged.sources)
    for source in several if 1 < len(several) <= _MOST_ROWS else ():
        here = judged.sources == source
        ours, theirs = (spearman(judged.ratings[here], side[here]) for side in (learned, column))
        rows.append(
            StackRow(
                left_out=rated.names[source] if rated.names else str(source),
                ensemble=ours,
                compared_with=name,
                other=theirs,
                difference=ours - theirs,
                n=int(here.sum()),
            )
        )
    return tuple(rows), learned


def find_best_metric(rated: RatedFeatures) -> int:
    """Return the place of the metric with the largest mean ρ within sources; an undefined value counts as the mean."""
    filled = np.where(np.isnan(rated.values), average_known(rated.values, axis=0), rated.values)
    rhos = np.array([correlate_groups(spearman, rated.ratings, column, rated.sources) for column in filled.T])
    return int(np.argmax(np.nan_to_num(average_known(rhos, axis=1), nan=-1.0)))


def contrast_ensemble(
    gold: Floats, learned: Floats, name: str, column: Floats, sources: Ints, texts: Ints, *, resamples: int, seed: int
) -> StackRow:
    """Compare the learned metric with another one by ρ over all pairs."""

    def gaps(weights: NDArray[Any]) -> Floats:
        ours, theirs = (resample_correlation(spearman, gold, side, weights) for side in (learned, column))
        return np.asarray(ours - theirs)

    ensemble, other = (spearman(gold, side) for side in (learned, column))
    drawn = np.concatenate([gaps(weights) for weights in _draw_weights(texts, sources, resamples, seed)])
    pairs = compute_percentile_interval(drawn, len(np.unique(texts)), _LEVEL)
    labels = np.unique(sources)
    # Student's interval with the jackknife's error over sources: drawing few sources again is too narrow.
    beyond = float("nan"), float("nan")
    if len(labels) > 2:
        error = float(np.sqrt(compute_jackknife_variance(gaps((sources != labels[:, None]).astype(np.int64)))))
        beyond = compute_student_interval(ensemble - other, error, len(labels) - 1.0, _LEVEL)
    return StackRow(
        ensemble=ensemble,
        compared_with=name,
        other=other,
        difference=ensemble - other,
        pairs_low=pairs[0],
        pairs_high=pairs[1],
        sources_low=beyond[0],
        sources_high=beyond[1],
        better=is_better(pairs, beyond),
        n=len(gold),
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


def _move_to_scale(
    rated: RatedFeatures, scale: tuple[float, float] | None
) -> tuple[RatedFeatures, tuple[float, float]]:
    """Return ratings as shares of the scale, larger for closer, and its ends; other data on their own range."""
    ratings = rated.ratings[rated.own]
    worst, best = map(float, scale or (ratings.min(), ratings.max()))
    if not (np.isfinite([worst, best]).all() and worst != best):
        raise InputError(f"the scale needs two different numbers, not {worst:g} and {best:g}")
    if ratings.min() < min(worst, best) or ratings.max() > max(worst, best):
        raise InputError(f"there are ratings outside the scale from {worst:g} to {best:g}")
    shares = (rated.ratings - worst) / (best - worst)
    for number in range(1, int(rated.data.max()) + 1):
        here = rated.data == number
        low, high = float(rated.ratings[here].min()), float(rated.ratings[here].max())
        shares[here] = (rated.ratings[here] - low) / (high - low)
        if best < worst:
            shares[here] = 1.0 - shares[here]
    return replace(rated, ratings=shares), (worst, best)
