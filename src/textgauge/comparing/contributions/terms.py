"""The shape of contributions: one number per text of both sides, and what they add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Column = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SideTerms:
    """One side: what each of its texts adds, in the order of the texts; NaN for a text that was not looked at.

    `detail` holds further columns, `strength` orders texts that add the same.
    """

    adds: Floats
    detail: Mapping[str, Column] = field(default_factory=dict)
    strength: Floats | None = None

    @property
    def total(self) -> float:
        """What the side adds."""
        return float(np.nansum(self.adds))


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each text of both sides adds to `of`, the metric's value or one of its parts, and by which formula.

    `tokens`, for metrics of token counts: what each token adds.
    """

    of: str
    formula: str
    reference: SideTerms
    candidate: SideTerms
    tokens: tuple[dict[str, Any], ...] = ()

    @property
    def total(self) -> float:
        """The sum over all texts, which is the number `of` names."""
        return self.reference.total + self.candidate.total


def harmonic_weights(a: float, b: float) -> tuple[float, float]:
    """Shares b/(a + b) and a/(a + b): 1 − 2ab/(a + b) = (1 − a)·b/(a + b) + (1 − b)·a/(a + b); halves where both are 0.

    >>> harmonic_weights(0.2, 0.6)
    (0.75, 0.25)
    """
    return (b / (a + b), a / (a + b)) if a + b > 0 else (0.5, 0.5)
