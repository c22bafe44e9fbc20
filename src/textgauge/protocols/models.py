"""Models of ensembles: a line through the origin, a random forest, gradient boosting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained model: its answers, and the share of each feature in it, NaN where the model has none."""

    predict: Callable[[Floats], Floats]
    shares: Floats


def fit(features: Floats, targets: Floats, weights: Floats, *, kind: str, seed: int) -> Fitted:
    """Train a model; weights are relative, and the answers are similarities. Threads are the caller's affair.

    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> fit(X, X @ [0.25, 0.75], np.ones(3), kind="linear", seed=0).shares
    array([0.25, 0.75])
    """
    scaled = weights * len(weights) / weights.sum()
    return {"linear": _line, "forest": _forest, "boosting": _boosting}[kind](features, targets, scaled, seed)


def _line(features: Floats, targets: Floats, weights: Floats, seed: int) -> Fitted:
    """Least squares without intercept; shares are those of |β|."""
    root = np.sqrt(weights)
    beta = np.linalg.lstsq(features * root[:, None], targets * root, rcond=None)[0]
    total = np.abs(beta).sum()
    return Fitted(lambda asked: np.asarray(asked @ beta), np.abs(beta) / total if total else np.abs(beta))


def _forest(features: Floats, targets: Floats, weights: Floats, seed: int) -> Fitted:
    """A random forest; answers are the probability of the upper class, shares the mean decreases in impurity."""
    from sklearn.ensemble import RandomForestClassifier

    # Large leaves: answers are a ranking of thousands of pairs, and small ones leave ties and noise at the top.
    leaf = min(40, max(1, len(targets) // 20))
    forest = RandomForestClassifier(100, min_samples_leaf=leaf, class_weight="balanced", random_state=seed)
    forest.fit(features, targets > 0.5, sample_weight=weights)
    upper = list(forest.classes_).index(True) if True in forest.classes_ else None
    if upper is None:
        return Fitted(lambda asked: np.zeros(len(asked)), forest.feature_importances_)
    return Fitted(lambda asked: np.asarray(forest.predict_proba(asked)[:, upper]), forest.feature_importances_)


def _boosting(features: Floats, targets: Floats, weights: Floats, seed: int) -> Fitted:
    """Gradient boosting of squared errors; it has no shares."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    trees = HistGradientBoostingRegressor(
        max_iter=100, learning_rate=0.08, min_samples_leaf=20, l2_regularization=1.0, random_state=seed
    )
    trees.fit(features, targets, sample_weight=weights)
    return Fitted(lambda asked: np.asarray(trees.predict(asked)), np.full(features.shape[1], np.nan))
