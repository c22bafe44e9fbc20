"""Size: how near small or uneven samples come to the distance of large ones; speed: what a comparison costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from textgauge.bench.inputs import TwoCorpora
from textgauge.bench.protocols.base import (
    Measure,
    Observations,
    Protocol,
    Verdict,
    explain_undefined,
    make_generator,
    register_protocol,
    summarise_repetitions,
)
from textgauge.bench.sources import CorpusBatch, Sources
from textgauge.core.errors import InputError
from textgauge.metrics import Range

ASYMPTOTE, SIZE, IMBALANCE = "asymptote", "size", "imbalance"


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Size(Protocol):
    """How far d(A_s, B_s) is from d(A, B), for samples of s texts, and for samples of s against `total` − s texts.

    d(A, B) is the mean of `draws` samples of `large` texts each (`asymptote=whole`: one distance of all texts of A and
    B, as in the authors' code). Value of a repetition: 1 − mean over s of
    |d_s − d(A, B)|/d(A, B). `scale=paper` leaves the division out for imbalance, as the authors' code does.
    Source: Kour et al. 2022, whose formula lacks the mean over sizes.
    """

    name = "size"
    heading = "Sample size"
    question = "Is the distance of small samples, and of unequal ones, that of large samples?"
    data = TwoCorpora()
    figures = ("size", "imbalance", "radar", "box")
    judging = ("scale",)
    tacit = ("asymptote",)
    ranges = (Range("smallest", 2), Range("large", 2), Range("step", 1), Range("draws", 1), Range("repetitions", 1))
    measures = (
        Measure("size_robustness", about="1 − mean relative deviation of small samples' distance from the large ones'"),
        Measure("imbalance_robustness", about="the same for two samples of unequal size"),
    )

    smallest: int = 50
    step: int = 200
    total: int = 2_900
    large: int = 3_000
    draws: int = 10
    repetitions: int = 10
    scale: Literal["definition", "paper"] = "definition"
    asymptote: Literal["draws", "whole"] = "draws"

    @property
    def sizes(self) -> list[int]:
        """The sizes s of the sweep.

        >>> Size().sizes[0], Size().sizes[-1], len(Size().sizes)
        (50, 2850, 15)
        """
        return list(range(self.smallest, self.total - 1, self.step))

    @property
    def summary(self) -> str:
        return f"samples of up to {self.large:,} texts, {self.repetitions} repetitions"

    def check(self, sources: Sources) -> None:
        if self.total < self.smallest + 2:
            raise InputError(f"total is at least {self.smallest + 2}, smallest and 2 more, not {self.total}")
        needed = max(self.large, *self.sizes, self.total - self.smallest)
        sources.check_different(dict.fromkeys("ab", needed), "the size protocol needs")

    def batch_numbers(self, sources: Sources, seed: int) -> Sequence[int]:
        large = 1 if self.asymptote == "whole" else self.draws
        return [*range(large), *range(self.draws, self.draws + self.repetitions)]

    def trials(self, sources: Sources, seed: int) -> Iterator[CorpusBatch]:
        """Yield a batch for each large sample, then one per repetition of both sweeps.

        The samples of one repetition grow out of each other: each is a fair draw, and all share one set of rows.
        """
        sides = sources.sides
        whole = self.asymptote == "whole"
        large = [(ASYMPTOTE, len(sides[0]), len(sides[1])) if whole else (ASYMPTOTE, self.large, self.large)]
        sweep = [(SIZE, s, s) for s in self.sizes] + [(IMBALANCE, s, self.total - s) for s in self.sizes]
        for number in self.batch_numbers(sources, seed):
            rng = make_generator(self, sources, seed, number)
            a, b = (rng.permutation(side) for side in sides)
            kinds, n, m = zip(*(large if number < self.draws else sweep), strict=True)
            columns = {"kind": np.array(kinds), "size_a": np.array(n), "size_b": np.array(m)}
            trials = [(a[:size_a], b[:size_b]) for size_a, size_b in zip(n, m, strict=True)]
            rows = np.concatenate([a[: max(n)], b[: max(m)]])
            yield CorpusBatch.of_rows(number, sources.joint, rows, trials, columns)

    def judge(self, observations: Observations) -> list[Verdict]:
        large = observations.of("kind", ASYMPTOTE)
        truth = float(large.value.mean()) if len(large.value) else float("nan")
        if np.isnan(truth) or truth == 0:
            why = explain_undefined(large) or "zero" if len(large.value) else "not finished"
            reason = f"the distance of large samples is {why}"
            return [Verdict(measure.name, float("nan"), reason=reason) for measure in self.measures]
        return [self._judge_sweep(observations.of("kind", which), which, truth) for which in (SIZE, IMBALANCE)]

    def _judge_sweep(self, sweep: Observations, which: str, truth: float) -> Verdict:
        batches = list(sweep.batches())
        scale = 1.0 if which == IMBALANCE and self.scale == "paper" else abs(truth)
        values = [1.0 - float(np.abs(batch.value - truth).mean()) / scale for batch in batches]
        return summarise_repetitions(f"{which}_robustness", values, [explain_undefined(batch) for batch in batches])


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
    ranges = (Range("n", 2), Range("repetitions", 1))

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
        if self.largest < self.n:
            raise InputError(f"speed needs largest of at least n, {self.n}, not {self.largest}")
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
