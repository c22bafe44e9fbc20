"""What a check is: numbers measured on corpora, and bounds, decided on the ends of intervals or left undecided."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from typing import Any, ClassVar, Literal

import numpy as np

from textgauge.core.errors import InputError
from textgauge.core.tabular import format_about, format_cell, format_interval
from textgauge.data import Corpus
from textgauge.stats.simultaneous import difference_interval

_STEP = 1.05  # between numbers of texts that are tried
_MOST = 1_000.0  # times the texts; farther than that no extrapolation is meant to reach


class Outcome(StrEnum):
    """What a check says."""

    passed = "pass"
    failed = "fail"
    undecided = "undecided"


@dataclass(frozen=True)
class Bound:
    """A limit that a number may not exceed, or with `upper=False` not fall below.

    `key` is what the user calls it, `of` the number it is for. A `change` is limited where a `baseline` is stored.
    """

    key: str
    limit: float
    upper: bool = True
    of: str = "value"
    change: Literal["rise", "drop"] | None = None

    def decide(self, low: float, high: float) -> Outcome:
        """Pass where the whole interval keeps the bound, fail where all of it breaks it.

        >>> [Bound("max", 3.0).decide(low, low + 1.0).value for low in (1.0, 2.5, 3.5)]
        ['pass', 'undecided', 'fail']
        """
        if self.upper:
            return Outcome.passed if high <= self.limit else Outcome.failed if low > self.limit else Outcome.undecided
        return Outcome.passed if low >= self.limit else Outcome.failed if high < self.limit else Outcome.undecided

    def __str__(self) -> str:
        return f"{'at most' if self.upper else 'at least'} {format_cell(float(self.limit))}"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a check measured: a number with its interval, the number of texts behind it, and where it comes from.

    `reason` says why there is no value or no interval. `worst` gives the texts that speak against it, when asked.
    `null` is what the number is divided by, if it is a ratio to the value of corpora from one source. A number that can
    be paired with a stored one item by item keeps its `items` in the baseline; `paired_drop` then gives the drop.
    """

    what: str
    value: float
    low: float
    high: float
    n: int
    signature: str = ""
    reason: str | None = None
    worst: Callable[[], list[str]] = list
    null: float | None = None
    items: Mapping[str, Any] | None = None
    paired_drop: Callable[[Mapping[str, Any]], Measured] | None = None

    def with_texts(self, times: float) -> tuple[float, float]:
        """The interval to expect with this many times the texts.

        Half-widths shrink with the root of the number of texts. The value of corpora from one source shrinks with the
        number itself: a ratio to it grows where there is a distance beyond it, and stays as it is where there is none.
        """
        below, above = (self.value - self.low) / math.sqrt(times), (self.high - self.value) / math.sqrt(times)
        if self.null is None:
            return self.value - below, self.value + above
        if self.low <= 1.0:
            return self.low, self.high
        return 1.0 + (self.value - 1.0 - below) * times, 1.0 + (self.value - 1.0 + above) * times

    def texts_needed(self, bound: Bound) -> int | None:
        """How many texts would decide, if more texts showed what these do; None where none of a thousand times would.

        >>> Measured(what="share", value=0.04, low=0.01, high=0.07, n=100).texts_needed(Bound("max", 0.05))
        944
        """
        times = 1.0
        while times <= _MOST:
            if bound.decide(*self.with_texts(times)) is not Outcome.undecided:
                return math.ceil(self.n * times)
            times *= _STEP
        return None

    def __str__(self) -> str:
        ends = "" if math.isnan(self.low) else f" ({format_interval(self.low, self.high)})"
        return f"{self.what} {format_cell(self.value)}{ends}"


def needed_sentence(measured: Measured, bound: Bound) -> str:
    """Why a check is undecided, and how many texts would decide it.

    >>> needed_sentence(Measured(what="share", value=0.04, low=0.01, high=0.07, n=100), Bound("max", 0.05))
    'the interval holds the limit; about 940 texts would decide'
    """
    if measured.reason is not None:
        return measured.reason
    needed = measured.texts_needed(bound)
    if needed is None:
        passing = format_cell(measured.high if bound.upper else measured.low)
        return f"the interval holds the limit, and more texts like these would not decide; a limit of {passing} passes"
    return f"the interval holds the limit; about {format_about(needed)} texts would decide"


@dataclass(frozen=True)
class Setting:
    """How all checks of a run are made; `level` is that of each interval."""

    level: float = 0.95
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Check:
    """Base of all checks. Fields are what a file of checks may give, `corpora` names those that hold texts."""

    kind: ClassVar[str]
    corpora: ClassVar[tuple[str, ...]]

    name: str = ""
    column: str | None = None

    def bounds(self) -> list[Bound]:
        """The bounds that were given; an error where there is none."""
        raise NotImplementedError

    def measure(self, setting: Setting) -> Mapping[str, Measured]:
        """The numbers that bounds are for, by name."""
        raise NotImplementedError

    def given(self, *names: str) -> dict[str, Any]:
        """The bounds among these fields that have a value; an error where none has."""
        found = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if not found:
            raise InputError(f"{self.label} has no bound: give {' or '.join(names)}")
        return found

    @property
    def title(self) -> str:
        """What results and baselines call it: its name, or its kind."""
        return self.name or self.kind

    @property
    def label(self) -> str:
        """What errors call it."""
        return f"check {self.name!r}" if self.name else f"the check `{self.kind}`"


def fingerprint(corpus: Corpus) -> str:
    """A short hash of the texts of a corpus, whatever their order."""
    return blake2b(np.sort(corpus.keys).tobytes(), digest_size=8).hexdigest()


def change(measured: Measured, stored: Mapping[str, Any], *, rise: bool) -> Measured:
    """The rise, or drop, of a number since it was stored.

    Paired where it can be; else of two samples that have nothing in common.

    >>> now = Measured(what="share", value=0.5, low=0.4, high=0.6, n=100)
    >>> found = change(now, {"value": 0.3, "low": 0.2, "high": 0.4}, rise=True)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.2, 0.059, 0.341)
    """
    if measured.paired_drop is not None and not rise:
        return measured.paired_drop(stored)
    old = [float(stored[name]) for name in ("value", "low", "high")]
    difference = measured.value - old[0]
    low, high = difference_interval((measured.value, measured.low, measured.high), old)
    value, low, high = (difference, low, high) if rise else (-difference, -high, -low)
    what = f"{'rise' if rise else 'drop'} of {measured.what}"
    return replace(measured, what=what, value=value, low=low, high=high, null=None)
