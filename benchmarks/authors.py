"""The ten distances of Kour et al. 2022 the way their library computes them: one call after the other, nothing shared.

Written anew from what that library (IBM/comparing-corpora) does: it stacks the rows anew in every call, counts tokens
in Python, hands the classifier a list of vectors, and calls prdc, mauve-text, scipy and scikit-learn. Embeddings and
tokens are given. Where its formula is not ours (it adds 1e-6 to recall, rounds the logarithms of ranks, gives p and not
1 − p for χ²) the work is theirs and the formula ours, so that values can be compared.
"""

from __future__ import annotations

import contextlib
import io
import operator
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.timing import Rows

Tokens = list[list[int]]
TOP = 5000
SAME_ANGLE = 0.005  # so near and nearer counts as equal


@dataclass(frozen=True)
class Side:
    """One corpus: its embedding rows and the tokens of its texts."""

    rows: Rows
    tokens: Tokens


def chi(P: Side, Q: Side) -> float:
    """1 − p of Pearson's χ² with 2(V − 1) degrees of freedom."""
    from scipy.stats import chi2, chisquare

    flat = [[token for text in side.tokens for token in text] for side in (P, Q)]
    first, second = Counter(flat[0]), Counter(flat[1])
    words = {word for word, _ in Counter(flat[0] + flat[1]).most_common(TOP)}
    both = {word: first[word] + second[word] for word in words}
    n, m = (sum([counts[word] for word in words]) for counts in (first, second))
    seen: tuple[list[int], list[int]] = ([], [])
    expected: tuple[list[float], list[float]] = ([], [])
    for word in words:
        for side, (counts, size) in enumerate(((first, n), (second, m))):
            expected[side].append(both[word] * size / (n + m))
            seen[side].append(counts[word])
    statistic = sum(chisquare(f_obs=seen[side], f_exp=expected[side]).statistic for side in (0, 1))
    return float(chi2.cdf(statistic, 2 * (len(words) - 1)))


def zipf(P: Side, Q: Side) -> float:
    """Difference of the slopes of log count over log rank."""
    return abs(_slope(P.tokens) - _slope(Q.tokens))


def _slope(tokens: Tokens) -> float:
    from sklearn.linear_model import LinearRegression

    counts: Counter[int] = Counter()
    for text in tokens:
        counts.update(text)
    ordered = np.array(sorted(counts.values(), key=operator.neg)[:TOP])
    _, first = np.unique(np.round(15 * np.log(np.arange(1, len(ordered) + 1))), return_index=True)
    fitted = LinearRegression().fit(np.log(first + 1.0).reshape(-1, 1), np.log(ordered[first]))
    return float(fitted.coef_[0])


def fid(P: Side, Q: Side) -> float:
    """Fréchet distance with the square root of the product of the covariances."""
    from scipy.linalg import sqrtm

    X, Y = np.vstack(P.rows), np.vstack(Q.rows)
    first, second = (np.cov(rows, rowvar=False) for rows in (X, Y))
    root = np.real(sqrtm(first @ second))
    gap = X.mean(axis=0) - Y.mean(axis=0)
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
        found = compute_prdc(np.vstack(P.rows), np.vstack(Q.rows), nearest_k=5)
    a, b = (min(float(found[name]), 1.0) for name in names)
    return 1.0 - 2.0 * a * b / (a + b) if a + b else 1.0


def mauve(P: Side, Q: Side) -> float:
    """1 − MAUVE."""
    from mauve import compute_mauve

    return 1.0 - float(compute_mauve(p_features=P.rows, q_features=Q.rows, device_id=0, verbose=False).mauve)


def classifier(P: Side, Q: Side) -> float:
    """F1 of a support vector machine on a fifth of the texts."""
    from sklearn.metrics import f1_score
    from sklearn.svm import SVC

    train: list[Rows] = []
    test: list[Rows] = []
    known: list[int] = []
    asked: list[int] = []
    for label, side in enumerate((P, Q)):
        chosen = random.sample(range(len(side.rows)), k=int(0.8 * len(side.rows)))
        left = set(range(len(side.rows))) - set(chosen)
        train += operator.itemgetter(*chosen)(side.rows)
        test += operator.itemgetter(*left)(side.rows)
        known += [label] * len(chosen)
        asked += [label] * len(left)
    return float(f1_score(asked, SVC(random_state=1).fit(train, known).predict(test)))


def irpr(P: Side, Q: Side) -> float:
    """Harmonic mean of the mean angles to the nearest text of the other corpus."""
    table = angles(P.rows, Q.rows)
    recall = np.nansum(np.nanmin(table, axis=1), dtype=float) / table.shape[0]
    precision = np.nansum(np.nanmin(table, axis=0), dtype=float) / table.shape[1]
    return float(2.0 * precision * recall / (precision + recall))


def angles(X: Rows, Y: Rows | None = None) -> Rows:
    """Angles between all rows as shares of π, the smallest counted as 0."""
    from sklearn.metrics.pairwise import cosine_similarity

    table: Rows = np.arccos(np.clip(cosine_similarity(X, Y), -1, 1)) / np.pi
    table[table <= SAME_ANGLE] = 0.0
    return table


def medoid(P: Side, Q: Side) -> float:
    """Cosine distance of the means."""
    from scipy.spatial.distance import cosine

    return float(cosine(np.vstack(P.rows).mean(axis=0), np.vstack(Q.rows).mean(axis=0)))


def ttest(P: Side, Q: Side) -> float:
    """1 − mean p of the dimensions' t-tests."""
    from scipy.stats import ttest_ind

    # In float32 scipy's p-values are wrong in the first digit.
    return float(1.0 - np.nanmean(ttest_ind(P.rows.astype(float), Q.rows.astype(float)).pvalue))


DISTANCES: dict[str, Callable[[Side, Side], float]] = {
    function.__name__: function for function in (chi, zipf, fid, pr, dc, mauve, classifier, irpr, medoid, ttest)
}
