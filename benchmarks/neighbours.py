"""Neighbour metrics against prdc and plain scikit-learn matrices: CPU time on one thread, interleaved, least of some.

Run in an environment that has textgauge and prdc: python -m benchmarks.neighbours [n ...]
"""

from __future__ import annotations

import contextlib
import io
import sys
import tracemalloc
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.authors import angles
from benchmarks.timing import Row, Rows, race, synthetic, timed
from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics import get_metrics
from textgauge.stats.resampling import draw_permutations

Numbers = dict[str, float]
Side = Callable[[Rows, Rows], Numbers]
REPEATS = {100: 20, 500: 5, 1_000: 10, 3_000: 3, 10_000: 1}
PERMUTATIONS = 1_000


def rows(sizes: Sequence[int], *, data: tuple[Rows, Rows] | None = None) -> list[Row]:
    """Rows for every corpus size; synthetic embeddings unless some are given."""
    found = []
    for n in sizes:
        P, Q = (side[:n] for side in data or (synthetic(n, 0), synthetic(n, 1)))
        found.append(_row("pr+dc", (P, Q), _ours("pr(ties=open),dc(ties=open)"), _prdc_twice))
        found.append(_row("irpr+ahd", (P, Q), _ours("irpr@angular,ahd@angular"), lambda P, Q: _irpr(P, Q) | _ahd(P, Q)))
        fused = _ours("irpr@angular,ahd@angular,energy@angular")
        found.append(_row("irpr+ahd+energy", (P, Q), fused, lambda P, Q: _irpr(P, Q) | _ahd(P, Q) | _energy(P, Q)))
    return found


def permutation_rows(n: int, *, data: tuple[Rows, Rows] | None = None) -> list[Row]:
    """A thousand permutations of three metrics at once, against as many times the peer's one value."""
    P, Q = (side[:n] for side in data or (synthetic(n, 0), synthetic(n, 1)))
    draws, found = Draws(*draw_permutations(n, n, PERMUTATIONS, 0)), []
    peers = {"energy@angular": _energy, "irpr@angular": _irpr, "pr(ties=open)": _prdc}
    for name, peer in peers.items():
        joint = Comparison(P, Q)
        metric = get_metrics(name)[0].on_given(joint)
        ours = min(
            timed(lambda joint=joint, metric=metric: metric.compute_many(_copy(joint), draws))[0] for _ in range(3)
        )
        theirs = PERMUTATIONS * min(timed(lambda peer=peer: peer(P, Q))[0] for _ in range(5))
        found.append(_permutation_row(name.partition("(")[0], n, ours, theirs))
    total = [sum(row[side] for row in found) for side in ("ours_ms", "peer_ms")]
    return [*found, _permutation_row("energy+irpr+pr", n, *total)]


def _permutation_row(name: str, n: int, ours: float, peer: float) -> Row:
    label = f"{name}, {PERMUTATIONS} permutations"
    return {"name": label, "n": n, "ours_ms": ours, "peer_ms": peer, "ratio": peer / ours}


def _copy(comparison: Comparison) -> Corpus:
    """The joint corpus without what it remembers."""
    return comparison.joint.take(np.arange(len(comparison.joint)))


def _row(name: str, data: tuple[Rows, Rows], ours: Side, peer: Side) -> Row:
    n = len(data[0])
    row, mine, yours = race(name, n, lambda: ours(*data), lambda: peer(*data), REPEATS.get(n, 3))
    difference = max(abs(mine[key] - yours[key]) for key in yours)
    return row | {"max_abs_diff": difference, "extra_mb": _extra_megabytes(lambda: ours(*data))}


def _ours(names: str) -> Callable[[Rows, Rows], Numbers]:
    def measure(P: Rows, Q: Rows) -> Numbers:
        comparison, found = Comparison(P, Q), {}
        for metric in get_metrics(names):
            values = metric.on_given(comparison).compute(comparison)
            found |= {
                name if metric.parts and name != "value" else metric.name: value for name, value in values.items()
            }
        return found

    return measure


def _prdc(P: Rows, Q: Rows) -> Numbers:
    from prdc import compute_prdc

    with contextlib.redirect_stdout(io.StringIO()):
        return {name: float(value) for name, value in compute_prdc(P, Q, nearest_k=5).items()}


def _prdc_twice(P: Rows, Q: Rows) -> Numbers:
    return _prdc(P, Q) | _prdc(P, Q)


def _irpr(P: Rows, Q: Rows) -> Numbers:
    distances = angles(P, Q)
    precision, recall = (np.nanmin(distances, axis=axis).mean(dtype=float) for axis in (0, 1))
    return {"irpr": 2 * precision * recall / (precision + recall)}


def _ahd(P: Rows, Q: Rows) -> Numbers:
    distances = angles(P, Q)
    return {"ahd": sum(np.nanmin(distances, axis=axis).mean(dtype=float) for axis in (0, 1)) / 2}


def _energy(P: Rows, Q: Rows) -> Numbers:
    across, within = angles(P, Q).mean(dtype=float), (angles(side).mean(dtype=float) for side in (P, Q))
    return {"energy": 2 * across - sum(within)}


def _extra_megabytes(call: Callable[[], object]) -> float:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    """Print the rows."""
    sizes = [int(size) for size in sys.argv[1:]] or [100, 1_000, 3_000, 10_000]
    for row in [*rows(sizes), *permutation_rows(500)]:
        print(row, flush=True)


if __name__ == "__main__":
    main()
