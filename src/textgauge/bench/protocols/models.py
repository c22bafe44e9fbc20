"""Models of ensembles: a line through the origin, a random forest, gradient boosting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from textgauge.core.arrays import Floats


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained model: its answers, and the share of each feature in it, NaN where the model has none."""

    predict: Callable[[Floats], Floats]
    shares: Floats


@dataclass(frozen=True)
class Forest:
    """What "a random forest" leaves open: its trees, the fewest examples of a leaf, how many features a split considers
    (a share of them, or their root), whether both classes weigh the same in training, whether answers never fall where
    a feature rises, the most examples that a tree grows from (never more than a fifth of them; 0: as many as there
    are), and whether answers are those for classes of equal size, whatever the sizes were in training.

    Answers rank thousands of pairs: large leaves and many trees keep ties and noise out of the top, and so do trees
    that share few examples.
    """

    trees: int = 100
    leaf: int = 40
    tried: float | Literal["sqrt"] = "sqrt"
    balanced: bool = True
    rising: bool = False
    grown_from: int = 0
    even: bool = False


DEFAULT_FOREST = Forest(leaf=1, balanced=False)  # what scikit-learn takes where nothing is set


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
    return Fitted(lambda rows: np.asarray(rows @ beta), np.abs(beta) / total if total else np.abs(beta))


def _forest(features: Floats, targets: Floats, weights: Floats, seed: int, settings: Forest) -> Fitted:
    """A random forest; answers are the probability of the upper class, shares the mean decreases in impurity."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(
        settings.trees,
        min_samples_leaf=min(settings.leaf, max(1, len(targets) // 20)),
        max_features=settings.tried,
        class_weight="balanced" if settings.balanced else None,
        monotonic_cst=[1] * features.shape[1] if settings.rising else None,
        max_samples=min(settings.grown_from, max(1, round(len(targets) / 5))) or None,
        random_state=seed,
    )
    alike = bool(np.allclose(weights, 1.0))  # weights change what trees are grown from, even where all are 1
    forest.fit(features, targets > 0.5, sample_weight=None if alike else weights)
    upper = list(forest.classes_).index(True) if True in forest.classes_ else None
    if upper is None:
        return Fitted(lambda rows: np.zeros(len(rows)), forest.feature_importances_)
    share = float(weights[targets > 0.5].sum() / weights.sum())

    def predict(rows: Floats) -> Floats:
        found = np.asarray(forest.predict_proba(rows)[:, upper])
        return at_even_odds(found, share) if settings.even else found

    return Fitted(predict, forest.feature_importances_)


def at_even_odds(probability: Floats, share: float) -> Floats:
    """The probability of a class, were it as frequent as the other, from that where it has a share of the examples.

    >>> at_even_odds(np.array([0.0, 0.25, 0.5, 1.0]), 0.25)
    array([0.  , 0.5 , 0.75, 1.  ])
    """
    upper, lower = probability * (1.0 - share), (1.0 - probability) * share
    return np.asarray(upper / (upper + lower)) if 0.0 < share < 1.0 else probability


def _boosting(features: Floats, targets: Floats, weights: Floats, seed: int) -> Fitted:
    """Gradient boosting of squared errors; it has no shares."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    trees = HistGradientBoostingRegressor(
        max_iter=100, learning_rate=0.08, min_samples_leaf=20, l2_regularization=1.0, random_state=seed
    )
    trees.fit(features, targets, sample_weight=weights)
    return Fitted(lambda rows: np.asarray(trees.predict(rows)), np.full(features.shape[1], np.nan))
