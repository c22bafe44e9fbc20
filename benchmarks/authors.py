"""The ten distances of Kour et al. 2022 the way their library computes them: one call after the other, nothing shared.

Written anew from what that library calls: prdc, mauve-text, scipy and scikit-learn. Embeddings and tokens are given.
"""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.timing import Rows

Tokens = list[list[int]]
TOP = 5000


@dataclass(frozen=True)
class Side:
    """One corpus: its embedding rows and the tokens of its texts."""

    rows: Rows
    tokens: Tokens


def chi(P: Side, Q: Side) -> float:
    """1 − p of Pearson's χ² with 2(V − 1) degrees of freedom."""
    from scipy.stats import chi2, chisquare

    first, second = (Counter(token for text in side.tokens for token in text) for side in (P, Q))
    words = [word for word, _ in (first + second).most_common(TOP)]
    observed = np.array([[counts[word] for word in words] for counts in (first, second)], dtype=float)
    expected = observed.sum(axis=1, keepdims=True) * observed.sum(axis=0) / observed.sum()
    statistic = sum(chisquare(seen, should).statistic for seen, should in zip(observed, expected, strict=True))
    return float(chi2.cdf(statistic, 2 * (len(words) - 1)))


def zipf(P: Side, Q: Side) -> float:
    """Difference of the slopes of log count over log rank."""
    return abs(_slope(P.tokens) - _slope(Q.tokens))


def _slope(tokens: Tokens) -> float:
    counts = Counter(token for text in tokens for token in text)
    ordered = np.sort(np.array(list(counts.values())))[::-1][:TOP]
    _, first = np.unique(np.round(15 * np.log(np.arange(1, len(ordered) + 1))), return_index=True)
    return float(np.polyfit(np.log(first + 1.0), np.log(ordered[first]), 1)[0])


def fid(P: Side, Q: Side) -> float:
    """Fréchet distance with the square root of the product of the covariances."""
    from scipy.linalg import sqrtm

    first, second = (np.cov(side.rows, rowvar=False) for side in (P, Q))
    root = np.real(sqrtm(first @ second))
    gap = P.rows.mean(axis=0) - Q.rows.mean(axis=0)
    return float((gap**2).sum() + np.trace(first + second - 2.0 * root))


def pr(P: Side, Q: Side) -> float:
    """1 − F1 of precision and recall."""
    return _without_f1(P, Q, "precision", "recall")


def dc(P: Side, Q: Side) -> float:
    """1 − F1 of density, cut at 1, and coverage."""
    return _without_f1(P, Q, "density", "coverage")


def _without_f1(P: Side, Q: Side, *names: str) -> float:
    from prdc import compute_prdc

    with contextlib.redirect_stdout(io.StringIO()):
        found = compute_prdc(P.rows, Q.rows, nearest_k=5)
    a, b = (min(float(found[name]), 1.0) for name in names)
    return 1.0 - 2.0 * a * b / (a + b) if a + b else 1.0


def mauve(P: Side, Q: Side) -> float:
    """1 − MAUVE."""
    from mauve import compute_mauve

    return 1.0 - float(compute_mauve(p_features=P.rows, q_features=Q.rows).mauve)


def classifier(P: Side, Q: Side) -> float:
    """Accuracy of a support vector machine on a fifth of the texts."""
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC

    X, y = np.concatenate([P.rows, Q.rows]), np.repeat([0, 1], [len(P.rows), len(Q.rows)])
    train, test, known, asked = train_test_split(X, y, test_size=0.2, stratify=y, random_state=1)
    return float((SVC().fit(train, known).predict(test) == asked).mean())


def irpr(P: Side, Q: Side) -> float:
    """Harmonic mean of the mean angles to the nearest text of the other corpus."""
    from sklearn.metrics.pairwise import cosine_similarity

    angles = np.arccos(np.clip(cosine_similarity(P.rows, Q.rows), -1.0, 1.0)) / np.pi
    precision, recall = (float(np.nanmin(angles, axis=axis).mean(dtype=float)) for axis in (0, 1))
    return 2.0 * precision * recall / (precision + recall)


def medoid(P: Side, Q: Side) -> float:
    """Cosine distance of the means."""
    from scipy.spatial.distance import cosine

    return float(cosine(P.rows.mean(axis=0), Q.rows.mean(axis=0)))


def ttest(P: Side, Q: Side) -> float:
    """1 − mean p of the dimensions' t-tests."""
    from scipy.stats import ttest_ind

    # In float32 scipy's p-values are wrong in the first digit.
    return float(1.0 - np.nanmean(ttest_ind(P.rows.astype(float), Q.rows.astype(float)).pvalue))


DISTANCES: dict[str, Callable[[Side, Side], float]] = {
    function.__name__: function for function in (chi, zipf, fid, pr, dc, mauve, classifier, irpr, medoid, ttest)
}
