"""Models of ensembles: a line through the origin, a random forest, gradient boosting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained model: its answers, and the share of each feature in it, NaN where the model has none."""

    predict: Callable[[Floats], Floats]
    shares: Floats


@dataclass(frozen=True)
class Forest:
    """What "a random forest" leaves open: its trees, the fewest examples of a leaf, how many features a split looks at
    (a share of them, or their root), whether both classes weigh the same, and whether answers never fall where a
    feature rises.

    Answers rank thousands of pairs: large leaves and many trees keep ties and noise out of the top.
    """

    trees: int = 100
    leaf: int = 40
    tried: float | Literal["sqrt"] = "sqrt"
    balanced: bool = True
    rising: bool = False


def fit(
    features: Floats, targets: Floats, weights: Floats, *, kind: str, seed: int, forest: Forest | None = None
) -> Fitted:
    """Train a model; weights are relative, and the answers are similarities. Threads are the caller's affair.

    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> fit(X, X @ [0.25, 0.75], np.ones(3), kind="linear", seed=0).shares
    array([0.25, 0.75])
    """
    scaled = weights * len(weights) / weights.sum()
    if kind == "forest":
        return _forest(features, targets, scaled, seed, forest or Forest())
    return {"linear": _line, "boosting": _boosting}[kind](features, targets, scaled, seed)


def _line(features: Floats, targets: Floats, weights: Floats, seed: int) -> Fitted:
    """Least squares without intercept; shares are those of |β|."""
    root = np.sqrt(weights)
    beta = np.linalg.lstsq(features * root[:, None], targets * root, rcond=None)[0]
    total = np.abs(beta).sum()
    return Fitted(lambda asked: np.asarray(asked @ beta), np.abs(beta) / total if total else np.abs(beta))


def _forest(features: Floats, targets: Floats, weights: Floats, seed: int, settings: Forest) -> Fitted:
    """A random forest; answers are the probability of the upper class, shares the mean decreases in impurity."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(
        settings.trees,
        min_samples_leaf=min(settings.leaf, max(1, len(targets) // 20)),
        max_features=settings.tried,
        class_weight="balanced" if settings.balanced else None,
        monotonic_cst=[1] * features.shape[1] if settings.rising else None,
        random_state=seed,
    )
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
