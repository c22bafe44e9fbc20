"""What each text of both corpora adds to a metric: the result of `CorpusMetric.explain`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats

Column = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SideTerms:
    """One side: what each of its texts adds, in the order of the texts; NaN for a text the metric did not use.

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
