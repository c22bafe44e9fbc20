"""Speed: how often a metric runs in a second, with nothing prepared but rows, and how its time grows with size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from textgauge.bench.inputs import TwoCorpora
from textgauge.bench.protocols.base import (
    Measure,
    Observations,
    Protocol,
    explain_undefined,
    make_generator,
    register_protocol,
)
from textgauge.bench.protocols.batch import CorpusBatch
from textgauge.bench.sources import Sources
from textgauge.core.errors import InputError


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Speed(Protocol):
    """Hundreds of evaluations in a CPU second on n texts a side (`throughput`), and how time grows with n (`growth`).

    Embedding and tokenizing are excluded: rows are there before the clock starts, and nothing else is. `growth` is the
    slope of log time over log size for sizes n, 2n, 4n, … up to `largest`. Source: Kour et al. 2022.
    """

    name = "speed"
    heading = "Speed"
    question = "How many comparisons fit in a second, and how does the time grow with the number of texts?"
    data = TwoCorpora()
    figures = ("radar", "box")
    measures = (
        Measure("throughput", high=np.inf, about="hundreds of comparisons in a CPU second, without embedding"),
        Measure("growth", low=-np.inf, high=np.inf, best="smaller", about="exponent of time over the number of texts"),
    )
    timed = True

    n: int = 100
    largest: int = 800
    repetitions: int = 5

    @property
    def sizes(self) -> list[int]:
        """The sizes that are timed.

        >>> Speed().sizes
        [100, 200, 400, 800]
        """
        count = int(np.log2(self.largest / self.n)) + 1
        return [self.n * 2**power for power in range(count)]

    def check(self, sources: Sources) -> None:
        if self.n < 2 or self.largest < self.n or self.repetitions < 1:
            raise InputError("speed needs n of at least 2, largest of at least n, and at least 1 repetition")
        sources.check_different(dict.fromkeys("ab", self.sizes[-1]), "timing needs")

    def trials(self, sources: Sources, seed: int) -> Iterator[CorpusBatch]:
        """Yield one batch per repetition: a draw of each size."""
        for number in range(self.repetitions):
            rng = make_generator(self, sources, seed, number)
            a, b = (rng.permutation(side)[: self.sizes[-1]] for side in sources.sides)
            sides = [(a[:size], b[:size]) for size in self.sizes]
            rows = np.concatenate([a, b])
            yield CorpusBatch.of_rows(number, sources.joint, rows, sides, {"size": np.array(self.sizes)})

    def judge_repetition(self, batch: Observations) -> dict[str, float | str]:
        size, seconds, why = batch.columns["size"], batch.value, explain_undefined(batch)
        first, known = float(seconds[size == self.n][0]), seconds > 0
        growth: float | str = why or "fewer than two sizes took any time"
        if known.sum() > 1:
            growth = float(np.polyfit(np.log(size[known]), np.log(seconds[known]), 1)[0])
        rate = 0.01 / first if first > 0 else why or "one comparison took no measurable time"
        return {"throughput": rate, "growth": growth}
