"""The classifier metric against scikit-learn's SVC: CPU time on one thread, interleaved, the least of some repeats.

Both sides get the same split of the same embedding rows; ours draws it, trains, decides and judges, SVC trains and
predicts. Run: python -m benchmarks.classifier [n ...]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, Rows, race, synthetic
from textgauge.data import GIVEN
from textgauge.metrics.corpus.classifiers import Classifier
from textgauge.metrics.numerics.held_out import Trial

Side = tuple[NDArray[np.intp], NDArray[np.intp]]
REPEATS = {100: 9, 1_000: 7, 3_000: 2}


def rows(sizes: Sequence[int] = (1_000, 3_000), *, data: tuple[Rows, Rows] | None = None) -> list[Row]:
    """Three rows per corpus size, the corpora apart, mixed 4 : 1 and mixed evenly, and one of 66 pairs of 100 texts."""
    found = []
    for n in sizes:
        P, Q = data or (synthetic(n, 0), synthetic(n, 1))
        for name, share in (("apart", 1.0), ("mixed 4:1", 0.8), ("mixed 1:1", 0.5)):
            kept = int(share * n)
            X = np.concatenate([P[:kept], Q[kept:n], Q[:kept], P[kept:n]])
            found.append(_row(f"classifier, {name}", n, X, [(np.arange(n), np.arange(n, 2 * n))]))
    P, Q = data or (synthetic(600, 0), synthetic(600, 1))
    return [*found, _row("classifier, 66 pairs", 100, *_known_similarity(P, Q))]


def _known_similarity(P: Rows, Q: Rows) -> tuple[Rows, list[Side]]:
    """Twelve corpora of 100 texts going over from one source to the other, in all pairs."""
    order = np.arange(600)
    parts, start = [], [0, 0]
    for step in range(12):
        counts = (100 - step * 100 // 11, step * 100 // 11)
        taken = [order[start[side] : start[side] + counts[side]] + 600 * side for side in (0, 1)]
        start = [start[side] + counts[side] for side in (0, 1)]
        parts.append(np.concatenate(taken))
    return np.concatenate([P[:600], Q[:600]]), list(combinations(parts, 2))


def _row(name: str, n: int, X: Rows, sides: list[Side]) -> Row:
    metric = Classifier(on=GIVEN)
    tasks = [Trial.split(*side, share=metric.share, seed=(metric.seed, 0)) for side in sides]
    row, outcomes, labels = race(
        name, n, lambda: metric.judge(X, sides), lambda: [_peer(X, trial) for trial in tasks], REPEATS.get(n, 3)
    )
    pairs = zip(outcomes, labels, strict=True)
    different = sum(int((outcome[0].predicted != label).sum()) for outcome, label in pairs)
    return row | {"labels": sum(len(label) for label in labels), "different_labels": different}


def _peer(X: Rows, trial: Trial) -> NDArray[np.bool_]:
    from sklearn.svm import SVC

    fitted = SVC().fit(X[trial.train], trial.labels)
    predicted: NDArray[np.bool_] = (fitted.predict(X[trial.test]) > 0) ^ trial.swapped
    return predicted[trial.place]


def main() -> None:
    """Print the rows."""
    for row in rows([int(size) for size in sys.argv[1:]] or [1_000, 3_000]):
        print(row, flush=True)


if __name__ == "__main__":
    main()
