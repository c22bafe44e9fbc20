"""Whole protocols with ten metrics against the authors' way: CPU time on one thread, and both sides' values.

Known-similarity corpora of 100 texts in five repetitions, and a sweep over sizes. Ours is what a run does with a batch
of trials; the authors' way is one call per metric and pair, timed on one repetition and multiplied.
Run in an environment that has textgauge, prdc and mauve-text: python -m benchmarks.ksc [7 12 size]
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.authors import DISTANCES, Side, quiet
from benchmarks.timing import Row, timed
from textgauge.bench.execute import Task, compute
from textgauge.bench.suites import sources_of
from textgauge.metrics import get_corpus_metrics
from textgauge.protocols import Ksc, Protocol, Size, Sources
from textgauge.protocols import CorpusBatch as Batch

METRICS = get_corpus_metrics(
    "chi(df=paper),zipf,fid,pr(ties=open),dc(ties=open),mauve,classifier,irpr@angular,medoid,ttest"
)
# MAUVE and the classifier draw at random, differently on the two sides.
SAME = ("chi", "zipf", "fid", "pr", "dc", "irpr", "medoid", "ttest")
REPETITIONS = 5
Values = dict[str, NDArray[np.float64]]


def rows(ks: Sequence[int] = (7, 12), *, repeats: int = 3) -> list[Row]:
    """A row per number of corpora k: five repetitions of all pairs."""
    sources = _sources()
    _race("warm", Ksc(k=3, n=20, repetitions=1), sources, 1, 1)
    return [_race(f"ksc, k={k}", Ksc(k=k, repetitions=REPETITIONS), sources, REPETITIONS, repeats) for k in ks]


def size_rows() -> list[Row]:
    """One row: 15 sizes and 15 imbalances once, and the large sample they are compared with."""
    sources = _sources()
    _race("warm", Ksc(k=3, n=20, repetitions=1), sources, 1, 1)
    return [_race("size and imbalance", Size(draws=1, repetitions=1), sources, 1, 1)]


def _sources() -> Sources:
    return sources_of("clinc150", "banking77")


def _race(name: str, protocol: Protocol, sources: Sources, repetitions: int, repeats: int) -> Row:
    batches = list(protocol.trials(sources, seed=0))
    asked = batches[: len(batches) // repetitions]
    pairs = [pair for batch in asked for pair in _pairs(batch)]
    spent: list[Counter[str]] = []
    for _ in range(repeats):
        (ours, values), (peer, others) = _ours(batches), _peers(pairs)
        spent.append(ours + Counter({f"peer {key}": repetitions * ms for key, ms in peer.items()}))
    best = {key: min(times[key] for times in spent) for key in spent[0]}
    mine, yours = (sum(best[f"{side}{key}"] for key in DISTANCES) for side in ("", "peer "))
    row = {"name": name, "n": len(pairs), "ours_ms": mine, "peer_ms": yours, "ratio": yours / mine}
    ratios = {key: f"{best[key]:.0f} ({best[f'peer {key}'] / best[key]:.0f}×)" for key in DISTANCES}
    return row | ratios | {f"diff {key}": _difference(values[key], others[key]) for key in SAME}


def _ours(batches: Sequence[Batch]) -> tuple[Counter[str], Values]:
    """CPU milliseconds of each metric over all batches, and the values; embeddings and tokens are given."""
    spent: Counter[str] = Counter()
    values: dict[str, list[NDArray[np.float64]]] = {metric.name: [] for metric in METRICS}
    for batch in batches:
        small = batch.compact(METRICS)
        for metric in METRICS:
            ms, (outcome,) = timed(lambda m=metric, b=batch, j=small: compute(Task(j, (m,))))
            spent[metric.name] += ms
            values[metric.name].append(outcome.values["value"])
    return spent, {name: np.concatenate(found) for name, found in values.items()}


def _peers(pairs: Sequence[tuple[Side, Side]]) -> tuple[Counter[str], Values]:
    spent: Counter[str] = Counter()
    values: Values = {}
    with quiet():
        for name, distance in DISTANCES.items():
            spent[name], values[name] = timed(lambda d=distance: np.array([d(P, Q) for P, Q in pairs]))
    return spent, values


def _pairs(batch: Batch) -> list[tuple[Side, Side]]:
    joint = batch.joint
    vectors, tokens = joint.embeddings("minilm"), joint.tokens("wordpiece")
    texts = [ids.tolist() for ids in np.split(tokens.ids, tokens.offsets[1:-1])]

    def side(mask: NDArray[np.bool_]) -> Side:
        return Side(vectors[mask], [texts[place] for place in np.flatnonzero(mask)])

    return [(side(left), side(right)) for left, right in zip(batch.draws.left, batch.draws.right, strict=True)]


def _difference(ours: NDArray[np.float64], peer: NDArray[np.float64]) -> float:
    return float(np.abs(ours[: len(peer)] - peer).max())


def main() -> None:
    """Print the rows."""
    asked = sys.argv[1:] or ["7", "12", "size"]
    for word in asked:
        for row in size_rows() if word == "size" else rows([int(word)]):
            print("\n".join(f"{key}: {value:.4g}" if isinstance(value, float) else f"{key}: {value}" for key, value in row.items()), flush=True)


if __name__ == "__main__":
    main()
