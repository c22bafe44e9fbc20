"""The classifier metric against scikit-learn's SVC: CPU time on one thread, interleaved, the least of some repeats.

Both sides get the same split of the same embedding rows; ours draws it, trains, decides and judges, SVC trains and
predicts. Run: python -m benchmarks.classifier [P.npy Q.npy] [n ...]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textgauge.corpus import GIVEN
from textgauge.metrics.corpus._held_out import Trial
from textgauge.metrics.corpus.classifiers import Classifier

Rows = NDArray[np.float32]
Side = tuple[NDArray[np.intp], NDArray[np.intp]]
REPEATS = {100: 9, 1_000: 7, 3_000: 4, 10_000: 1}


def rows(sizes: Sequence[int] = (1_000, 3_000), *, data: tuple[Rows, Rows] | None = None) -> list[dict[str, Any]]:
    """Three rows per corpus size, the corpora apart, mixed 4 : 1 and mixed evenly, and one of 66 pairs of 100 texts."""
    found = []
    for n in sizes:
        P, Q = data or (_synthetic(n, 0), _synthetic(n, 1))
        for name, share in (("apart", 1.0), ("mixed 4:1", 0.8), ("mixed 1:1", 0.5)):
            kept = int(share * n)
            X = np.concatenate([P[:kept], Q[kept:n], Q[:kept], P[kept:n]])
            found.append(_row(f"classifier, {name}", n, X, [(np.arange(n), np.arange(n, 2 * n))]))
    P, Q = data or (_synthetic(600, 0), _synthetic(600, 1))
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


def _row(name: str, n: int, X: Rows, sides: list[Side]) -> dict[str, Any]:
    metric = Classifier(on=GIVEN)
    tasks = [Trial.split(*side, share=metric.share, seed=(metric.seed, 0)) for side in sides]
    ours: list[float] = []
    peer: list[float] = []
    for _ in range(REPEATS.get(n, 3)):
        spent, outcomes = _timed(lambda: metric.judge(X, sides))
        peer_spent, labels = _timed(lambda: [_peer(X, trial) for trial in tasks])
        ours.append(spent)
        peer.append(peer_spent)
    pairs = zip(outcomes, labels, strict=True)
    different = sum(int((outcome[0].predicted != label).sum()) for outcome, label in pairs)
    return {
        "name": name, "n": n, "ours_ms": min(ours), "peer_ms": min(peer), "ratio": min(peer) / min(ours),
        "labels": sum(len(label) for label in labels), "different_labels": different,
    }  # fmt: skip


def _peer(X: Rows, trial: Trial) -> NDArray[np.bool_]:
    from sklearn.svm import SVC

    fitted = SVC().fit(X[trial.task.train], trial.task.labels)
    predicted: NDArray[np.bool_] = (fitted.predict(X[trial.task.test]) > 0) ^ trial.turned
    return predicted[trial.asked]


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    with threadpool_limits(1):
        start = time.process_time()
        value = call()
        return 1e3 * (time.process_time() - start), value


def _synthetic(n: int, side: int) -> Rows:
    """Unit rows around 60 topics, a third of them common to both sides, with a decaying spectrum."""
    rng, shared = np.random.default_rng(side), np.random.default_rng(9)
    spectrum = 1.0 / np.sqrt(1.0 + np.arange(384))
    topics = shared.normal(size=(60, 384)) * spectrum
    X = topics[rng.integers(20 * side, 20 * side + 40, n)] + rng.normal(size=(n, 384)) * spectrum
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


def main() -> None:
    """Print one line per row."""
    files = [name for name in sys.argv[1:] if name.endswith(".npy")]
    sizes = [int(size) for size in sys.argv[1:] if size.isdigit()] or [1_000, 3_000]
    for row in rows(sizes, data=(np.load(files[0]), np.load(files[1])) if files else None):
        print("  ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
