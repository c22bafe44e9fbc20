"""What metrics cost in a run: seconds and failures of its finished cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textgauge.evaluate.results import cells_by_metric
from textgauge.evaluate.store import Store


@dataclass(frozen=True)
class Cost:
    """The trials of one metric under one protocol: how many, their seconds in all, how many failed."""

    metric: str
    protocol: str
    trials: int
    seconds: float
    failed: int

    @property
    def each(self) -> float:
        """Seconds of one trial."""
        return self.seconds / self.trials


def costs(stores: Sequence[Store]) -> list[Cost]:
    """The cost of every metric under every protocol; models and tokenizers run before the clock starts."""
    found: dict[tuple[str, str], list[tuple[int, float, int]]] = {}
    for store in stores:
        cells = {
            (metric, str(manifest["protocol"]["name"]), cell.name): cell
            for manifest in store.manifests()
            for metric, of in cells_by_metric(manifest["cells"]).items()
            for cell in of
        }
        for (metric, protocol, _), cell in cells.items():
            frame = store.read(cell)
            if frame is not None and len(frame):
                seen = (len(frame), float(frame["seconds"].sum()), int(frame["failed"].sum()))
                found.setdefault((metric, protocol), []).append(seen)
    return [
        Cost(metric, protocol, sum(n for n, _, _ in seen), sum(s for _, s, _ in seen), sum(f for _, _, f in seen))
        for (metric, protocol), seen in found.items()
    ]


def duration(seconds: float) -> str:
    """Seconds in a unit that needs few digits.

    >>> duration(0.00123), duration(2.5), duration(4e-6)
    ('1.23 ms', '2.5 s', '4 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
