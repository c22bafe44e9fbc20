"""Rated pairs to learn from, with the sources that their sets come from; and how a metric is fitted to them.

Weights are those of non-negative least squares within sets, from what other rated sets say.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.sources import PairSources
from textgauge.core.arrays import Floats, Ints, Masks, average_known
from textgauge.core.errors import InputError
from textgauge.data import Corpus
from textgauge.metrics import Metric, PairMetric, get_pair_metrics
from textgauge.metrics.pair.ensemble import Trained, check_feature, compute_features, to_share
from textgauge.stats.correlation import correlate_groups, spearman

SHARED = 0.1  # of the texts of the smaller set: from here on two sets are of one source
_FEWEST_PAIRS = 20
_MOST_FOLDS = 20
_TEXT_FOLDS = 10
_NAMED_SETS = 3
OWN_WEIGHTS = (0.0, 1.0, 3.0, 10.0, 30.0)  # of a hundred ratings, where a family of the prior has 1
_DECISIVE = 0.05  # in ρ on pairs left out: a weight that is worse by as much counts e times less
_RIDGE = 1e-6  # of the mean variance: features may be copies of each other
_MOST_STEPS, _STILL = 50, 1e-10
_FLATTEST = 0.1  # slope of a curve
_FARTHEST = 8.0  # log-odds: a curve through ratings that are separated has no end


@dataclass(frozen=True, eq=False)
class RatedFeatures:
    """Values of metrics (pairs by metrics, larger is closer), ratings, and where each pair comes from.

    `sets` are those whose means are ranked; `sources` the sets that share texts; `texts` the left text of each pair;
    `data` the number of the data that a pair belongs to: 0 for those that are judged, others are learned from too.
    """

    metrics: tuple[PairMetric, ...]
    values: Floats
    ratings: Floats
    sets: Ints
    sources: Ints
    texts: Ints
    data: Ints
    names: tuple[str, ...] = ()
    cards: tuple[dict[str, Any], ...] = ()
    corpus: Corpus | None = None

    def __len__(self) -> int:
        return len(self.ratings)

    def take(self, rows: NDArray[Any]) -> RatedFeatures:
        """Return some of the pairs."""
        columns = ("values", "ratings", "sets", "sources", "texts", "data")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    @property
    def own(self) -> Masks:
        """The pairs that are judged."""
        return np.asarray(self.data == 0)

    @property
    def source_folds(self) -> Ints:
        """What is left out together: one source, or several where there are more than 20."""
        return np.asarray(self.sources % _MOST_FOLDS)

    @property
    def folds(self) -> Ints:
        """What is left out together to judge and to choose a penalty: sources, or texts where there is one source.

        −1 for pairs that are never left out: those of other data whose source has no pair that is judged.
        """
        judged = np.isin(self.sources, self.sources[self.own])
        several = len(np.unique(self.source_folds[self.own])) > 1
        return np.where(judged, self.source_folds if several else self.texts % _TEXT_FOLDS, -1)


def compute_rated_features(data: Sequence[PairSources], metrics: str | Iterable[str | Metric]) -> RatedFeatures:
    """Compute the values of metrics on rated pairs, ready for training; columns are `rating`, and `set` and `source`.

    The first data are judged, the others are learned from too. Sets are of one source where they share at least a
    tenth of the different texts of the smaller one, also by way of a third set; data without sets are one set, and
    declared sources stand in the place of sets. Metrics with fitted weights take them from the texts of all pairs of
    the same data; no rating has a part in that.
    """
    chosen = tuple(check_feature(metric) for metric in get_pair_metrics(metrics))
    if not chosen:
        raise InputError("an ensemble needs at least one metric")
    ratings = [_check_ratings(one.columns["rating"], len(one.pairs)) for one in data]
    sets, labels = _number_labels([_get_labels(one, "set") for one in data])
    declared, _ = _number_labels([_get_labels(one, "source" if "source" in one.columns else "set") for one in data])
    left, right = (np.concatenate([getattr(one.pairs, side).keys for one in data]) for side in ("left", "right"))
    sources = find_sources(left, right, declared)
    of_data = np.repeat(np.arange(len(data)), [len(one.pairs) for one in data])
    values, cards = [], []
    for place, (one, grades) in enumerate(zip(data, ratings, strict=True)):
        distinct, inverse = one.pairs.distinct()
        values.append(compute_features(chosen, distinct)[inverse])
        kinds, own = np.unique(sets[of_data == place], return_inverse=True)
        columns = (one.pairs.left.keys, one.pairs.right.keys, grades, own.astype(np.int64))
        digest = hashlib.blake2b(b"".join(column.tobytes() for column in columns), digest_size=8).hexdigest()
        cards.append({"name": one.name, "pairs": len(grades), "sets": len(kinds), "fingerprint": digest})
    return RatedFeatures(
        metrics=chosen,
        values=np.concatenate(values),
        ratings=np.concatenate(ratings),
        sets=sets,
        sources=sources,
        texts=np.asarray(np.unique(left, return_inverse=True)[1]),
        data=of_data,
        names=_name_sources(sources, sets, labels),
        cards=tuple(cards),
        corpus=Corpus.of([text for one in data for side in (one.pairs.left, one.pairs.right) for text in side.texts]),
    )


def find_sources(left: NDArray[np.uint64], right: NDArray[np.uint64], sets: Ints) -> Ints:
    """Return the source of each pair; sets that share at least `SHARED` of the smaller one's texts are of one.

    >>> left, right = np.array([1, 2, 3, 4, 9], dtype=np.uint64), np.array([5, 6, 1, 5, 8], dtype=np.uint64)
    >>> find_sources(left, right, np.array([0, 0, 1, 1, 2])).tolist()
    [0, 0, 0, 0, 1]
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    texts = np.unique(np.concatenate([left, right]), return_inverse=True)[1]
    members = csr_matrix((np.ones(len(texts)), (np.tile(sets, 2), texts)))
    members.data[:] = 1.0  # a text counts once in a set
    shared = (members @ members.T).tocoo()
    sizes = np.asarray(members.sum(axis=1)).ravel()
    joined = shared.data >= SHARED * np.minimum(sizes[shared.row], sizes[shared.col])
    links = csr_matrix((shared.data[joined], (shared.row[joined], shared.col[joined])), shape=shared.shape)
    return np.asarray(connected_components(links, directed=False)[1][sets], dtype=np.int64)


def _check_ratings(ratings: NDArray[Any], pairs: int) -> Floats:
    grades = np.array(ratings, dtype=np.float64)
    if len(grades) != pairs:
        raise InputError(f"{pairs} pairs but {len(grades)} ratings")
    if pairs < _FEWEST_PAIRS:
        fewest = f"give at least {_FEWEST_PAIRS}, or use blend, which is trained already"
        raise InputError(f"{pairs} rated pairs are too few to learn from; {fewest}")
    if not np.isfinite(grades).all():
        raise InputError(f"rating {int(np.argmin(np.isfinite(grades)))} is not a finite number")
    if (grades == grades[0]).all():
        raise InputError(f"all ratings are {grades[0]:g}: there is nothing to learn")
    return grades


def _get_labels(one: PairSources, column: str) -> list[str]:
    found = list(map(str, one.columns.get(column, [one.name] * len(one.pairs))))
    if len(found) != len(one.pairs):
        raise InputError(f"{len(one.pairs)} pairs but {len(found)} {column}s")
    return found


def _number_labels(labels: Sequence[list[str]]) -> tuple[Ints, list[str]]:
    """Return a number for each label of each data, and the labels by number; equal labels of two data are two."""
    keys = [(place, cell) for place, column in enumerate(labels) for cell in sorted(set(column))]
    numbers = {key: number for number, key in enumerate(keys)}
    cells = [numbers[place, cell] for place, column in enumerate(labels) for cell in column]
    return np.array(cells, dtype=np.int64), [label for _, label in keys]


def _name_sources(sources: Ints, sets: Ints, labels: Sequence[str]) -> tuple[str, ...]:
    names = []
    for source in range(int(sources.max()) + 1):
        found = [labels[number] for number in np.unique(sets[sources == source])]
        more = [f"{len(found) - _NAMED_SETS} more sets"] if len(found) > _NAMED_SETS else []
        names.append(" + ".join([*found[:_NAMED_SETS], *more]))
    return tuple(names)


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
