"""Boosted regression trees as plain arrays: how they predict, and how they are fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from textgauge.errors import ResourceError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_DEPTH = 64

_BLOCK_CELLS = 2_000_000  # rows × trees walked at once: 16 MB for each array
_AGREE = 1e-12


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
        step = max(1, _BLOCK_CELLS // len(self.roots))
        blocks = [self._walk(features[start : start + step]) for start in range(0, len(features), step)]
        return np.concatenate([np.empty(0), *blocks])

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
    from threadpoolctl import threadpool_limits

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
    with threadpool_limits(limits=1):
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
