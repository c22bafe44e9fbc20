"""How a learned metric is fitted: non-negative least squares within sets, from what other rated sets say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textgauge.bench.learned.features import RatedFeatures
from textgauge.core.arrays import Floats, Ints, average_known
from textgauge.metrics.pair.ensemble import LogisticSum, PriorSums, Trained, to_share
from textgauge.stats.correlation import correlate_groups, spearman

OWN_WEIGHTS = (0.0, 1.0, 3.0, 10.0, 30.0)  # of a hundred ratings, where a family of the prior has 1
_DECISIVE = 0.05  # in ρ on pairs left out: a weight that is worse by as much counts e times less
_RIDGE = 1e-6  # of the mean variance: features may be copies of each other
_MOST_STEPS, _STILL = 50, 1e-10
_FLATTEST = 0.1  # slope of a curve
_FARTHEST = 8.0  # log-odds: a curve through ratings that are separated has no end


@dataclass(frozen=True, eq=False)
class Start:
    """What training starts from: mean and deviation of each feature, and the sums of the prior, 0 where it has none."""

    mean: Floats
    scale: Floats
    sums: PriorSums

    def standardise(self, values: Floats) -> Floats:
        """Return features at mean 0 and deviation 1; a missing one is at its mean."""
        return np.nan_to_num((values - self.mean) / self.scale)


def make_start(rated: RatedFeatures, prior: Trained | None) -> Start:
    """Take what the prior has; for other features mean and deviation within sets of these pairs."""
    known = ~np.isnan(rated.values)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, rated.values, 0.0).sum(axis=0) / count
    inner = center(np.where(known, rated.values, mean), rated.sets)
    variance = (inner**2).mean(axis=0)
    scale = np.where(variance > 1e-24 * (1.0 + mean**2), np.sqrt(variance), 1.0)
    width = len(mean)
    products, along = np.zeros((width, width)), np.zeros(width)
    if prior is not None and prior.sums is not None:
        places = {metric: place for place, metric in enumerate(prior.metrics)}
        here = np.array([place for place, metric in enumerate(rated.metrics) if metric in places], dtype=np.int64)
        there = np.array([places[rated.metrics[place]] for place in here], dtype=np.int64)
        mean[here], scale[here] = prior.model.mean[there], prior.model.scale[there]
        products[np.ix_(here, here)], along[here] = prior.sums.products[np.ix_(there, there)], prior.sums.along[there]
    return Start(mean, scale, PriorSums(products, along))


def center(columns: Floats, sets: Ints) -> Floats:
    """Return columns less the mean of each row's set."""
    labels, place = np.unique(sets, return_inverse=True)
    sums = np.zeros((len(labels), *columns.shape[1:]))
    np.add.at(sums, place, columns)
    counts = np.bincount(place).reshape(-1, *[1] * (columns.ndim - 1))
    return np.asarray(columns - (sums / counts)[place])


def sum_products(standard: Floats, ratings: Floats, sets: Ints) -> PriorSums:
    """Return mean products of features with each other and with ratings, as differences from the means of their set.

    Sets differ in more than features can tell, and there are few of them: what explains the differences between sets
    does not carry over to another one. Raters of one set spread their ratings more than those of another, so ratings
    are divided by their deviation in the set.
    """
    inner, level = center(standard, sets), center(ratings, sets)
    place = np.unique(sets, return_inverse=True)[1]
    deviation = np.sqrt(np.bincount(place, level**2) / np.bincount(place))[place]
    level = np.divide(level, deviation, out=np.zeros_like(level), where=deviation > 0)
    return PriorSums(inner.T @ inner / len(level), inner.T @ level / len(level))


def solve_weights(sums: PriorSums) -> Floats:
    """Return the weights of non-negative least squares."""
    from scipy.linalg import cholesky, solve_triangular
    from scipy.optimize import nnls

    width = len(sums.along)
    ridge = max(_RIDGE * float(np.trace(sums.products)) / width, 1e-12)
    root = cholesky(sums.products + ridge * np.eye(width), lower=True)
    return np.asarray(nnls(root.T, solve_triangular(root, sums.along, lower=True))[0])


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


def add_sums(start: Start, rated: RatedFeatures, own: float) -> PriorSums:
    """Return the sums of the prior, and those of these pairs with this weight of a hundred of them."""
    here, factor = sum_products(start.standardise(rated.values), rated.ratings, rated.sets), own * len(rated) / 100
    sums = start.sums
    return PriorSums(sums.products + factor * here.products, sums.along + factor * here.along)


def fit_model(rated: RatedFeatures, start: Start, shares: Floats) -> LogisticSum:
    """Fit weights, and the curve to the ratings of the pairs that are judged, which lie on a scale from 0 to 1.

    `shares` are those of the solutions under each of `OWN_WEIGHTS`.
    """
    solved = np.array([solve_weights(add_sums(start, rated, OWN_WEIGHTS[place])) for place in np.flatnonzero(shares)])
    weights = shares[shares > 0] @ (solved / np.maximum(solved.sum(axis=1, keepdims=True), np.finfo(float).tiny))
    judged = rated.take(rated.own) if rated.own.any() else rated
    score = start.standardise(judged.values) @ weights
    slope, intercept = fit_curve(score, judged.ratings)
    if slope < _FLATTEST:  # by chance, for the weights are not negative
        share = np.clip(judged.ratings.mean(), 0.01, 0.99)
        slope, intercept = _FLATTEST, float(np.log(share / (1.0 - share)) - _FLATTEST * score.mean())
    return LogisticSum(start.mean, start.scale, slope * weights, intercept)


def weigh_own_ratings(rated: RatedFeatures, start: Start) -> Floats:
    """Return the share of the solution under each of `OWN_WEIGHTS`: the larger, the better it predicts pairs left out.

    The best of few noisy numbers is often chance, so all count, by their ρ within sources. Without a prior, or without
    ratings of one's own to judge by, there is nothing to weigh.
    """
    shares = np.zeros(len(OWN_WEIGHTS))
    shares[-1] = 1.0
    if not (start.sums.along.any() and rated.own.any()):
        return shares
    held_out = leave_out(rated, start, OWN_WEIGHTS)
    own = rated.take(rated.own)
    rhos = np.array([correlate_groups(spearman, own.ratings, column, own.sources) for column in held_out.T])
    means = np.nan_to_num(average_known(rhos, axis=1), nan=-1.0)
    shares = np.exp((means - means.max()) / _DECISIVE)
    return np.asarray(shares / shares.sum())


def leave_out(rated: RatedFeatures, start: Start, own: tuple[float, ...]) -> Floats:
    """Return predictions of the judged pairs by what was learned without their fold, one column per weight."""
    standard, found = start.standardise(rated.values), np.zeros((len(rated), len(own)))
    for fold in np.unique(rated.folds[rated.folds >= 0]):
        here = rated.folds == fold
        for column, weight in enumerate(own):
            found[here, column] = standard[here] @ solve_weights(add_sums(start, rated.take(~here), weight))
    return found[rated.own]
