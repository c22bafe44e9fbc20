"""Whole protocols with ten metrics against the authors' way: CPU time on one thread, and both sides' values.

Known-similarity corpora of 100 texts in five repetitions, and a sweep over sizes. Ours is what a run does with a batch
of trials; the authors' way is one call per metric and pair, timed on one repetition and multiplied.
Run in an environment that has textgauge, prdc and mauve-text: python -m benchmarks.ksc [7 12 size]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.authors import DISTANCES, Side
from benchmarks.timing import Row, quiet, timed
from textgauge.bench import Ksc, Protocol, Size, Sources
from textgauge.bench.inputs import read_two
from textgauge.bench.run import observe
from textgauge.bench.sources import CorpusBatch
from textgauge.metrics import get_corpus_metrics

METRICS = get_corpus_metrics(
    "chi(df=paper),zipf,fid,pr(ties=open),dc(ties=open),mauve,classifier,irpr@angular,medoid,ttest"
)
# MAUVE and the classifier draw at random, differently on the two sides.
SAME = ("chi", "zipf", "fid", "pr", "dc", "irpr", "medoid", "ttest")
REPETITIONS = 5
TOTAL = "all"

Times = dict[str, float]
Values = dict[str, NDArray[np.float64]]


def rows(ks: Sequence[int] = (7, 12), *, repeats: int = 3) -> list[Row]:
    """A row per number of corpora k: five repetitions of all pairs."""
    sources = _warm()
    return [_race(f"ksc, k={k}", Ksc(k=k, repetitions=REPETITIONS), sources, REPETITIONS, repeats) for k in ks]


def size_rows() -> list[Row]:
    """One row: 15 sizes and 15 imbalances once, and the large sample they are compared with."""
    return [_race("size and imbalance", Size(draws=1, repetitions=1), _warm(), 1, 1)]


def _warm() -> Sources:
    """The data, after both sides have loaded all they need."""
    sources = read_two("clinc150", "banking77")
    _race("warm", Ksc(k=3, n=20, repetitions=1), sources, 1, 1)
    return sources


def _race(name: str, protocol: Protocol, sources: Sources, repetitions: int, repeats: int) -> Row:
    """Both sides in turn, the least time of each; the peer has the pairs of one repetition."""
    batches = [batch for batch in protocol.trials(sources, seed=0) if isinstance(batch, CorpusBatch)]
    pairs = [pair for batch in batches[: len(batches) // repetitions] for pair in _pairs(batch)]
    turns = [(_ours(batches), _peers(pairs)) for _ in range(repeats)]
    (_, values), (_, others) = turns[-1]
    mine = {key: min(ours[0][key] for ours, _ in turns) for key in (TOTAL, *DISTANCES)}
    yours = {key: repetitions * min(peer[0][key] for _, peer in turns) for key in (TOTAL, *DISTANCES)}
    ratios = {key: yours[key] / mine[key] for key in mine}
    row = {"name": name, "n": len(pairs), "ours_ms": mine[TOTAL], "peer_ms": yours[TOTAL], "ratio": ratios[TOTAL]}
    apart = {f"{key} diff": float(np.abs(values[key][: len(pairs)] - others[key]).max()) for key in SAME}
    return row | {key: f"{mine[key]:.0f} ms ({ratios[key]:.1f}×)" for key in DISTANCES} | apart


def _ours(batches: Sequence[CorpusBatch]) -> tuple[Times, Values]:
    """CPU milliseconds of all batches as a run computes them, of each metric alone, and the values."""
    times = dict.fromkeys((TOTAL, *DISTANCES), 0.0)
    values: dict[str, list[NDArray[np.float64]]] = {name: [] for name in DISTANCES}
    for batch in batches:
        compact = batch.compact(METRICS)
        spent, frames = timed(lambda batch=compact: [observe(batch, metric) for metric in METRICS])
        times[TOTAL] += spent
        for metric, frame in zip(METRICS, frames, strict=True):
            times[metric.name] += 1e3 * float(frame["seconds"].sum())
            values[metric.name].append(frame["value"].to_numpy())
    return times, {name: np.concatenate(found) for name, found in values.items()}


def _peers(pairs: Sequence[tuple[Side, Side]]) -> tuple[Times, Values]:
    times, values = {}, {}
    with quiet():
        for name, distance in DISTANCES.items():
            times[name], values[name] = timed(lambda call=distance: np.array([call(P, Q) for P, Q in pairs]))
    return times | {TOTAL: sum(times.values())}, values


def _pairs(batch: CorpusBatch) -> list[tuple[Side, Side]]:
    vectors, tokens = batch.joint.embeddings("minilm"), batch.joint.tokens("wordpiece")
    texts = [ids.tolist() for ids in np.split(tokens.ids, tokens.offsets[1:-1])]

    def side(mask: NDArray[np.bool_]) -> Side:
        return Side(vectors[mask], [texts[place] for place in np.flatnonzero(mask)])

    return [(side(left), side(right)) for left, right in zip(batch.draws.left, batch.draws.right, strict=True)]


def main() -> None:
    """Print the rows."""
    for word in sys.argv[1:] or ["7", "12", "size"]:
        for row in size_rows() if word == "size" else rows([int(word)]):
            print(row, flush=True)


if __name__ == "__main__":
    main()
