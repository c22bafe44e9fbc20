"""Speed: how often a metric runs in a second, with nothing prepared but rows, and how its time grows with size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from textgauge.bench.inputs.kinds import TwoCorpora
from textgauge.bench.protocols.base import (
    Measure,
    Observations,
    Protocol,
    Sources,
    Verdict,
    generator,
    over_repetitions,
    register_protocol,
    why_undefined,
)
from textgauge.bench.protocols.batch import CorpusBatch
from textgauge.core.errors import InputError
from textgauge.data import Draws


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
        """Enough different texts for the largest size."""
        if self.n < 2 or self.largest < self.n or self.repetitions < 1:
            raise InputError("speed needs n of at least 2, largest of at least n, and at least 1 repetition")
        sources.check_different(dict.fromkeys("ab", self.sizes[-1]), "timing needs")

    def batch_numbers(self, sources: Sources, seed: int) -> Sequence[int]:
        """Return one number for each repetition."""
        return range(self.repetitions)

    def trials(self, sources: Sources, seed: int) -> Iterator[CorpusBatch]:
        """One batch per repetition: a draw of each size."""
        for number in range(self.repetitions):
            rng = generator(self, sources, seed, number)
            a, b = (rng.permutation(side)[: self.sizes[-1]] for side in sources.sides)
            joint = sources.joint.take(np.concatenate([a, b]))
            place = np.arange(len(joint))
            masks = [(place < s, (place >= len(a)) & (place < len(a) + s)) for s in self.sizes]
            left, right = (np.array(side) for side in zip(*masks, strict=True))
            yield CorpusBatch(number, joint, Draws(left, right), {"size": np.array(self.sizes)})

    def judge(self, observations: Observations) -> list[Verdict]:
        """Throughput at the smallest size, and the exponent fitted over all sizes."""
        rates, slopes = [], []
        for batch in observations.batches():
            size, seconds = batch.columns["size"], batch.value
            first = float(seconds[size == self.n][0])
            rates.append(0.01 / first if first > 0 else np.nan)
            known = seconds > 0
            slopes.append(
                float(np.polyfit(np.log(size[known]), np.log(seconds[known]), 1)[0]) if known.sum() > 1 else np.nan
            )
        failed = [why_undefined(batch) for batch in observations.batches()]
        growth = [reason or "fewer than two sizes took any time" for reason in failed]
        rate = [reason or "one comparison took no measurable time" for reason in failed]
        return [over_repetitions("throughput", rates, rate), over_repetitions("growth", slopes, growth)]
