"""Robustness to size and imbalance: how near small or uneven samples come to the distance of large ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

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
from textgauge.core.arrays import Ints
from textgauge.core.errors import InputError
from textgauge.data import Corpus, Draws

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
    def key(self) -> str:
        """What decides the trials; how they are judged does not."""
        sizes = f"smallest={self.smallest},step={self.step},total={self.total},large={self.large}"
        asymptote = ",asymptote=whole" if self.asymptote == "whole" else ""
        return f"size({sizes},draws={self.draws},repetitions={self.repetitions}{asymptote})|v{self.version}"

    @property
    def sizes(self) -> list[int]:
        """The sizes s of the sweep.

        >>> Size().sizes[0], Size().sizes[-1], len(Size().sizes)
        (50, 2850, 15)
        """
        return list(range(self.smallest, self.total - 1, self.step))

    @property
    def summary(self) -> str:
        """How large samples are."""
        return f"samples of up to {self.large:,} texts, {self.repetitions} repetitions"

    def check(self, sources: Sources) -> None:
        """Enough different texts in both sources for the largest sample."""
        if self.smallest < 2 or self.large < 2 or self.step < 1 or self.total < self.smallest + 2:
            raise InputError("need smallest ≥ 2, large ≥ 2, step ≥ 1, total ≥ smallest + 2")
        if self.repetitions < 1 or self.draws < 1:
            raise InputError("at least 1 draw and 1 repetition are needed")
        needed = max(self.large, *self.sizes, self.total - self.smallest)
        sources.check_different(dict.fromkeys("ab", needed), "the size protocol needs")

    def batch_numbers(self, sources: Sources, seed: int) -> Sequence[int]:
        """Return the numbers of the large samples, then those of the repetitions."""
        large = 1 if self.asymptote == "whole" else self.draws
        return [*range(large), *range(self.draws, self.draws + self.repetitions)]

    def trials(self, sources: Sources, seed: int) -> Iterator[CorpusBatch]:
        """A batch for each large sample, then one per repetition of both sweeps.

        The samples of one repetition grow out of each other: each is a fair draw, and all share one set of rows.
        """
        sides = sources.sides
        whole = self.asymptote == "whole"
        large = [(ASYMPTOTE, len(sides[0]), len(sides[1])) if whole else (ASYMPTOTE, self.large, self.large)]
        sweep = [(SIZE, s, s) for s in self.sizes] + [(IMBALANCE, s, self.total - s) for s in self.sizes]
        for number in self.batch_numbers(sources, seed):
            rng = generator(self, sources, seed, number)
            drawn = [rng.permutation(side) for side in sides]
            yield _batch(number, sources.joint, drawn, large if number < self.draws else sweep)

    def judge(self, observations: Observations) -> list[Verdict]:
        """Both measures, each from its values in single repetitions."""
        large = observations.of("kind", ASYMPTOTE)
        truth = float(large.value.mean()) if len(large.value) else float("nan")
        if np.isnan(truth) or truth == 0:
            reason = _why_no_truth(large)
            return [Verdict(measure.name, float("nan"), reason=reason) for measure in self.measures]
        return [self._judged(observations.of("kind", which), which, truth) for which in (SIZE, IMBALANCE)]

    def _judged(self, sweep: Observations, which: str, truth: float) -> Verdict:
        batches = list(sweep.batches())
        scale = 1.0 if which == IMBALANCE and self.scale == "paper" else abs(truth)
        values = [1.0 - float(np.abs(batch.value - truth).mean()) / scale for batch in batches]
        return over_repetitions(f"{which}_robustness", values, [why_undefined(batch) for batch in batches])


def _why_no_truth(large: Observations) -> str:
    if not len(large.value):
        return "the distance of large samples is not finished"
    why = why_undefined(large)
    return f"the distance of large samples is {why or 'zero'}"


def _batch(number: int, joint: Corpus, sides: list[Ints], trials: list[tuple[str, int, int]]) -> CorpusBatch:
    kinds, n, m = zip(*trials, strict=True)
    corpus = joint.take(np.concatenate([sides[0][: max(n)], sides[1][: max(m)]]))
    place = np.arange(len(corpus))
    left = place < np.array(n)[:, None]
    right = (place >= max(n)) & (place < max(n) + np.array(m)[:, None])
    columns = {"kind": np.array(kinds), "size_a": np.array(n), "size_b": np.array(m)}
    return CorpusBatch(number, corpus, Draws(left, right), columns)
