"""How a learned metric is fitted: a ridge model of the ratings, drawn to the best single metric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.learned.features import RatedFeatures
from textgauge.core.arrays import Floats, Ints, average_known
from textgauge.metrics.pair.ensemble import Ridge
from textgauge.stats.correlation import correlate_groups, spearman

PENALTIES = tuple(10.0 ** (step / 2) for step in range(-8, 3))
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a model that are learned; the rest is the best single metric
_MOST_TURNS = 200
_STILL = 1e-8


@dataclass(frozen=True, eq=False)
class LearnedMixture:
    """A model, the place of the best single metric, its line to the ratings, and the share of what was learned."""

    model: Ridge
    best: int
    single: Ridge
    share: float

    @cached_property
    def mixture(self) -> Ridge:
        """What predicts: the mean of the model and of the single metric's line, `share` of the first."""
        if self.share == 0.0:
            return self.single
        weights, missing, intercept = (
            self.share * getattr(self.model, name) + (1.0 - self.share) * getattr(self.single, name)
            for name in ("weights", "missing", "intercept")
        )
        return Ridge(self.model.mean, self.model.scale, weights, missing, float(intercept), self.model.penalty)


def fit_mixture(rated: RatedFeatures, up: bool) -> LearnedMixture:
    """Fit penalty, single metric and share on these pairs alone; `up` where larger ratings mean closer.

    The share is the smallest one that predicts sources left out in turn (texts, where there is one source) as well as
    the best share does, within one standard error.
    """
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
    rhos = np.array([correlate_groups(spearman, gold, fill_gaps(column), rated.sources) for column in rated.values.T])
    return int(np.argmax(np.nan_to_num(average_known(rhos, axis=1), nan=-1.0)))


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


def fill_gaps(column: Floats) -> Floats:
    """Return a column with the mean of what is known in the place of NaN."""
    known = column[~np.isnan(column)]
    return np.where(np.isnan(column), known.mean() if len(known) else 0.0, column)


def fit_single(features: Floats, ratings: Floats, feature: int) -> Ridge:
    """Fit a line from one feature to the ratings, as a ridge of which all other weights are 0."""
    columns = _Columns.of(features)
    slope, intercept = _fit_line(columns.matrix(features)[:, feature], ratings)
    weights = np.zeros(features.shape[1])
    weights[feature] = slope
    return Ridge(columns.mean, columns.scale, weights, np.zeros_like(weights), intercept, 0.0)


def fit_ridge(features: Floats, ratings: Floats, groups: Ints, folds: Ints | None, *, penalty: float = 0.0) -> Ridge:
    """Fit weights on pairs of the same group, then a line from the weighted sum to the ratings.

    Groups differ in more than features can tell, and there are few of them: weights that explain the differences
    between groups do not carry over to another one. So features and ratings are taken as differences from the means of
    their group. Raters of one group spread their ratings more than those of another, and where they do not agree at all
    there is nothing to learn. So each group has a slope s_g ≥ 0 of its own: w minimises mean((y − ȳ_g − s_g·(Z −
    Z̄_g)w)²) + λ‖w‖², with Z the features at mean 0 and deviation 1; s_g is the slope of the group's ratings over Zw
    relative to that of all, drawn to 1 the more, the fewer pairs the group has for each feature, and mean(s²) = 1 over
    pairs. The line is plain least squares over all pairs. A feature that is missing somewhere gets a second column that
    says where.

    λ is the one of a grid under which folds left out in turn are predicted best, by Spearman's ρ over all pairs. Pairs
    of fold −1 are never left out: they help to learn, but it is not for them that λ is chosen. Without folds it is
    the `penalty` given.
    """
    if folds is not None:
        penalty = PENALTIES[int(np.argmax(measure_penalties(features, ratings, groups, folds)))]
    columns = _Columns.of(features)
    matrix = columns.matrix(features)
    (weights,) = _solve_weights(matrix, ratings, groups, (penalty,))
    slope, intercept = _fit_line(matrix @ weights, ratings)
    weights = slope * weights
    width = features.shape[1]
    missing = np.zeros(width)
    missing[columns.gaps] = weights[width:]
    return Ridge(columns.mean, columns.scale, weights[:width], missing, intercept, penalty)


def rank_predictions(predictions: Floats) -> Floats:
    """Return the rank of each row among all rows by one model, from 0 to 1, column by column; ties share their rank.

    A model fitted without a high group lies a little lower, without a low one a little higher, and each spreads groups
    in its own way. Predictions of left-out groups by different models would say the opposite of the truth, were they
    not brought to one scale. Equal means and deviations do not do that, for predictions have two humps where half of
    the pairs are unrelated. Equal ranks do, and only the order of predictions is judged. No rating is needed.
    """
    from scipy.stats import rankdata

    ranks: Floats = rankdata(predictions, axis=0)
    return (ranks - 0.5) / len(ranks)


def measure_penalties(features: Floats, ratings: Floats, groups: Ints, folds: Ints) -> list[float]:
    """Return Spearman's ρ of ratings with predictions for left-out folds; one per penalty, −1 for none."""
    own = folds >= 0
    held_out = np.empty((len(ratings), len(PENALTIES)))
    for fold in np.unique(folds[own]):
        here = folds == fold
        columns = _Columns.of(features[~here])
        weights = _solve_weights(columns.matrix(features[~here]), ratings[~here], groups[~here], PENALTIES)
        ranks = rank_predictions(columns.matrix(features[own]) @ weights.T)
        held_out[own] = np.where(here[own, None], ranks, held_out[own])
    rhos = [spearman(np.ascontiguousarray(column), ratings[own]) for column in held_out[own].T]
    return [-1.0 if np.isnan(rho) else rho for rho in rhos]


@dataclass(frozen=True, eq=False)
class _Columns:
    """Mean and deviation of each feature where it is known, and which features have gaps."""

    mean: Floats
    scale: Floats
    gaps: NDArray[np.bool_]

    @classmethod
    def of(cls, features: Floats) -> _Columns:
        known = ~np.isnan(features)
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, features, 0.0).sum(axis=0) / count
        variance = np.where(known, (features - mean) ** 2, 0.0).sum(axis=0) / count
        varies = variance > 1e-24 * (1.0 + mean**2)
        return cls(mean, np.where(varies, np.sqrt(variance), 1.0), np.asarray(~known.all(axis=0)))

    def matrix(self, features: Floats) -> Floats:
        known = ~np.isnan(features)
        standard = np.where(known, (features - self.mean) / self.scale, 0.0)
        return np.hstack([standard, (~known[:, self.gaps]).astype(np.float64)])


def _solve_weights(matrix: Floats, ratings: Floats, groups: Ints, penalties: tuple[float, ...]) -> Floats:
    """Return the weights under each penalty, one row each."""
    labels, place = np.unique(groups, return_inverse=True)
    inner, level = _subtract_means(matrix, place), _subtract_means(ratings[:, None], place)[:, 0]
    members = [place == label for label in range(len(labels))]
    products = np.array([inner[here].T @ inner[here] for here in members]) / len(inner)
    along = np.array([inner[here].T @ level[here] for here in members]) / len(inner)
    sizes = np.bincount(place)
    return np.array([_solve_in_turns(products, along, sizes, penalty) for penalty in penalties])


def _solve_in_turns(products: Floats, along: Floats, sizes: Ints, penalty: float) -> Floats:
    """Solve weights under equal slopes of the groups; then slopes and weights in turn, until none moves.

    `products` and `along` are each group's part of the normal equations, `sizes` its number of pairs.
    """
    slopes = np.ones(len(sizes))
    few = products.shape[1] / sizes
    ridge = penalty * np.eye(products.shape[1])
    weights = np.linalg.solve(products.sum(axis=0) + ridge, along.sum(axis=0))
    for _ in range(_MOST_TURNS):
        explained, spread = along @ weights, np.einsum("gij,i,j->g", products, weights, weights)
        if not (explained.sum() > 0 and spread.sum() > 0):
            break
        own = np.divide(np.maximum(explained, 0.0), spread, out=np.zeros_like(spread), where=spread > 0)
        shrunk = (own * spread.sum() / explained.sum() + few) / (1.0 + few)
        before, slopes = slopes, shrunk / np.sqrt(np.average(shrunk**2, weights=sizes))
        weights = np.linalg.solve(np.tensordot(slopes**2, products, 1) + ridge, slopes @ along)
        if np.abs(slopes - before).max() < _STILL:
            break
    return np.asarray(weights)


def _subtract_means(columns: Floats, place: Ints) -> Floats:
    """Return columns less the mean of each row's group."""
    order = np.argsort(place, kind="stable")
    counts = np.bincount(place)
    means = np.add.reduceat(columns[order], np.cumsum(counts) - counts, axis=0) / counts[:, None]
    return np.asarray(columns - means[place])


def _fit_line(x: Floats, y: Floats) -> tuple[float, float]:
    """Return slope and intercept of least squares; slope 0 where x is constant."""
    centred = x - x.mean()
    spread = float(centred @ centred)
    slope = float(centred @ (y - y.mean())) / spread if spread > 0 else 0.0
    return slope, float(y.mean() - slope * x.mean())
