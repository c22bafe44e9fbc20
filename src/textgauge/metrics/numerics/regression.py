"""Ridge regression in closed form, and boosted trees: how they predict, and how they are fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import ResourceError
from textgauge.core.parallel import one_thread
from textgauge.core.sizes import blocks
from textgauge.stats.correlation import spearman

PENALTIES = tuple(10.0 ** (step / 2) for step in range(-8, 3))
_MOST_TURNS = 200
_STILL = 1e-8
MAX_DEPTH = 64
_BLOCK_CELLS = 2_000_000  # rows × trees walked at once: 16 MB for each array
_AGREE = 1e-12


@dataclass(frozen=True, eq=False)
class Ridge:
    """A weighted sum of standardised features; a missing one counts as its mean and adds its `missing` weight."""

    kind: ClassVar[str] = "ridge"

    mean: Floats
    scale: Floats
    weights: Floats
    missing: Floats
    intercept: float
    penalty: float

    def shares(self, width: int) -> Floats:
        """Each of `width` features' share of the sum of |weights|."""
        size = np.abs(self.weights[:width])
        return np.asarray(size / max(float(size.sum()), np.finfo(float).tiny))

    def predict(self, features: Floats) -> Floats:
        """One rating per row; a row depends on itself alone, bit by bit."""
        known = ~np.isnan(features)
        standard = np.where(known, (features - self.mean) / self.scale, 0.0)
        terms: Floats = np.ascontiguousarray(np.where(known, standard * self.weights, self.missing))
        return np.asarray(self.intercept + terms.sum(axis=1))


def fit_single(features: Floats, ratings: Floats, feature: int) -> Ridge:
    """A line from one feature to the ratings, as a ridge of which all other weights are 0."""
    columns = _Columns.of(features)
    slope, intercept = _line(columns.matrix(features)[:, feature], ratings)
    weights = np.zeros(features.shape[1])
    weights[feature] = slope
    return Ridge(columns.mean, columns.scale, weights, np.zeros_like(weights), intercept, 0.0)


def mixed(model: Ridge, other: Ridge, share: float) -> Ridge:
    """The mean of two models of the same features, `share` of the first: a model of the same form."""
    weights, missing, intercept = (
        share * getattr(model, name) + (1.0 - share) * getattr(other, name)
        for name in ("weights", "missing", "intercept")
    )
    return Ridge(model.mean, model.scale, weights, missing, float(intercept), model.penalty)


def fit_ridge(features: Floats, ratings: Floats, groups: Ints, folds: Ints | None, *, penalty: float = 0.0) -> Ridge:
    """Weights from pairs of the same group, then a line from the weighted sum to the ratings.

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
        penalty = PENALTIES[int(np.argmax(_held_out_correlations(features, ratings, groups, folds)))]
    columns = _Columns.of(features)
    matrix = columns.matrix(features)
    (weights,) = _weights(matrix, ratings, groups, (penalty,))
    slope, intercept = _line(matrix @ weights, ratings)
    weights = slope * weights
    width = features.shape[1]
    missing = np.zeros(width)
    missing[columns.gaps] = weights[width:]
    return Ridge(columns.mean, columns.scale, weights[:width], missing, intercept, penalty)


def one_scale(predictions: Floats) -> Floats:
    """The rank of each row among all rows by one model, from 0 to 1, column by column; ties share their mean rank.

    A model fitted without a high group lies a little lower, without a low one a little higher, and each spreads groups
    in its own way. Predictions of left-out groups by different models would say the opposite of the truth, were they
    not brought to one scale. Equal means and deviations do not do that, for predictions have two humps where half of
    the pairs are unrelated; equal ranks do, and orders are all that is judged. No rating is needed.
    """
    from scipy.stats import rankdata  # here: the registry reads this file, and loading scipy.stats takes a second

    ranks: Floats = rankdata(predictions, axis=0)
    return (ranks - 0.5) / len(ranks)


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


def _weights(matrix: Floats, ratings: Floats, groups: Ints, penalties: tuple[float, ...]) -> Floats:
    """The weights under each penalty, one row each."""
    labels, place = np.unique(groups, return_inverse=True)
    inner, level = _within(matrix, groups), _within(ratings[:, None], groups)[:, 0]
    members = [place == label for label in range(len(labels))]
    products = np.array([inner[here].T @ inner[here] for here in members]) / len(inner)
    along = np.array([inner[here].T @ level[here] for here in members]) / len(inner)
    sizes = np.bincount(place)
    return np.array([_by_turns(products, along, sizes, penalty) for penalty in penalties])


def _by_turns(products: Floats, along: Floats, sizes: Ints, penalty: float) -> Floats:
    """Weights under equal slopes of the groups; then slopes under weights and weights under slopes, until none moves.

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
        drawn = (own * spread.sum() / explained.sum() + few) / (1.0 + few)
        before, slopes = slopes, drawn / np.sqrt(np.average(drawn**2, weights=sizes))
        weights = np.linalg.solve(np.tensordot(slopes**2, products, 1) + ridge, slopes @ along)
        if np.abs(slopes - before).max() < _STILL:
            break
    return np.asarray(weights)


def _within(columns: Floats, groups: Ints) -> Floats:
    """Columns less the mean of each row's group."""
    labels, place = np.unique(groups, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(labels)))
    means = np.add.reduceat(columns[order], starts, axis=0) / np.bincount(place)[:, None]
    return np.asarray(columns - means[place])


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Slope and intercept of least squares; slope 0 where x is constant."""
    centred = x - x.mean()
    spread = float(centred @ centred)
    slope = float(centred @ (y - y.mean())) / spread if spread > 0 else 0.0
    return slope, float(y.mean() - slope * x.mean())


def _held_out_correlations(features: Floats, ratings: Floats, groups: Ints, folds: Ints) -> list[float]:
    """Spearman's ρ of ratings with predictions for left-out folds; one per penalty, −1 for none."""
    own = folds >= 0
    held_out = np.empty((len(ratings), len(PENALTIES)))
    for fold in np.unique(folds[own]):
        here = folds == fold
        columns = _Columns.of(features[~here])
        weights = _weights(columns.matrix(features[~here]), ratings[~here], groups[~here], PENALTIES)
        held_out[own] = np.where(here[own, None], one_scale(columns.matrix(features[own]) @ weights.T), held_out[own])
    found = [spearman(np.ascontiguousarray(column), ratings[own]) for column in held_out[own].T]
    return [-1.0 if np.isnan(rho) else rho for rho in found]


@dataclass(frozen=True, eq=False)
class Boosting:
    """Trees whose leaf values are added up, the nodes of all of them in one row.

    A node sends a value up to its threshold to the left, a larger one to the right, a missing one where
    `missing_left` says. A leaf has itself for both children, so that a walk of `depth` steps ends in one.
    """

    kind: ClassVar[str] = "boosting"

    baseline: float
    roots: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    missing_left: Ints
    value: Floats

    @property
    def depth(self) -> int:
        """The most steps from a root to a leaf; more than MAX_DEPTH counts as one more."""
        nodes = self.roots
        for depth in range(MAX_DEPTH + 1):
            inner = nodes[self.left[nodes] != nodes]
            if not len(inner):
                return depth
            nodes = np.unique(np.concatenate([self.left[inner], self.right[inner]]))
        return MAX_DEPTH + 1

    def shares(self, width: int) -> Floats:
        """Each feature's share of the splits."""
        inner = self.left != np.arange(len(self.left))
        splits = np.bincount(self.feature[inner], minlength=width)
        return np.asarray(splits / max(int(splits.sum()), 1))

    def predict(self, features: Floats) -> Floats:
        """One rating per row; a row depends on itself alone, bit by bit."""
        parts = (self._walk(features[rows]) for rows in blocks(len(features), _BLOCK_CELLS, len(self.roots)))
        return np.concatenate([np.empty(0), *parts])

    def _walk(self, features: Floats) -> Floats:
        rows = np.arange(len(features))[:, None]
        nodes = np.tile(self.roots, (len(features), 1))
        for _ in range(self.depth):
            seen = features[rows, self.feature[nodes]]
            goes_left = np.where(np.isnan(seen), self.missing_left[nodes] > 0, seen <= self.threshold[nodes])
            nodes = np.where(goes_left, self.left[nodes], self.right[nodes])
        return np.asarray(self.baseline + self.value[nodes].sum(axis=1))


def fit_boosting(features: Floats, ratings: Floats, *, rising: bool = True, seed: int = 0) -> Boosting:
    """Histogram gradient boosting by scikit-learn, exported; refused where the export predicts otherwise.

    Features are similarities, so a prediction may only rise with each of them, or only fall where ratings are distances
    (`rising` is false). Trees are few and small, and one thread fits them: the same bits on every number of cores.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor

    learner = HistGradientBoostingRegressor(
        learning_rate=0.05,
        max_iter=100,
        max_leaf_nodes=8,
        min_samples_leaf=min(100, max(1, len(ratings) // 10)),
        monotonic_cst=[1 if rising else -1] * features.shape[1],
        early_stopping=False,
        random_state=seed,
    )
    known = np.where(np.isnan(features).all(axis=0), 0.0, features)  # no bins without a value
    with one_thread():
        learner.fit(known, ratings)
        wanted = learner.predict(known)
    model = exported(learner)
    if not np.abs(model.predict(known) - wanted).max() <= _AGREE * max(1.0, float(np.abs(wanted).max())):
        raise ResourceError("this version of scikit-learn keeps its trees in a form that is not known here")
    return model


def exported(learner: Any) -> Boosting:
    """The trees of a fitted HistGradientBoostingRegressor without categories."""
    trees = [stage[0].nodes for stage in learner._predictors]
    sizes = np.array([len(tree) for tree in trees])
    roots = np.cumsum(sizes) - sizes
    nodes = np.concatenate(trees)
    own, shift = np.arange(len(nodes)), np.repeat(roots, sizes)
    leaf = nodes["is_leaf"].astype(bool)
    # A split between known and missing has the threshold +inf, which JSON does not have.
    thresholds = np.minimum(np.where(leaf, 0.0, nodes["num_threshold"]), np.finfo(np.float64).max)
    return Boosting(
        baseline=float(np.ravel(learner._baseline_prediction)[0]),
        roots=roots,
        feature=np.where(leaf, 0, nodes["feature_idx"]).astype(np.int64),
        threshold=thresholds,
        left=np.where(leaf, own, nodes["left"].astype(np.int64) + shift),
        right=np.where(leaf, own, nodes["right"].astype(np.int64) + shift),
        missing_left=nodes["missing_go_to_left"].astype(np.int64) * ~leaf,
        value=np.where(leaf, nodes["value"], 0.0),
    )
