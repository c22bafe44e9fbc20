"""What a check is: corpora, the numbers that are measured on them, and the bounds these must keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np

from textgauge.checking.decision import Bound, Measured
from textgauge.data import Corpus
from textgauge.errors import InputError


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
    def label(self) -> str:
        """What errors call it."""
        return f"check {self.name!r}" if self.name else f"the check `{self.kind}`"


def fingerprint(corpus: Corpus) -> str:
    """A short hash of the texts of a corpus, whatever their order."""
    return blake2b(np.sort(corpus.keys).tobytes(), digest_size=8).hexdigest()


def change(measured: Measured, stored: Mapping[str, Any], *, rise: bool) -> Measured:
    """The rise, or drop, of a number since it was stored.

    Paired where it can be; else of two samples that have nothing in common: an end is as far from the difference
    as √(a² + b²) of the half-widths on that side (Zou and Donner 2008).

    >>> now = Measured(what="share", value=0.5, low=0.4, high=0.6, n=100)
    >>> found = change(now, {"value": 0.3, "low": 0.2, "high": 0.4}, rise=True)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.2, 0.059, 0.341)
    """
    if measured.paired_drop is not None and not rise:
        return measured.paired_drop(stored)
    old, old_low, old_high = (float(stored[name]) for name in ("value", "low", "high"))
    difference = measured.value - old
    low = difference - ((measured.value - measured.low) ** 2 + (old_high - old) ** 2) ** 0.5
    high = difference + ((measured.high - measured.value) ** 2 + (old - old_low) ** 2) ** 0.5
    value, low, high = (difference, low, high) if rise else (-difference, -high, -low)
    what = f"{'rise' if rise else 'drop'} of {measured.what}"
    return replace(measured, what=what, value=value, low=low, high=high, null=None)
