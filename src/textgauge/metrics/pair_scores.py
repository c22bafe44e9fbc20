"""The values of one pair metric on many pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.stats.numbers import plain
from textgauge.tabular import Tabular


@dataclass(frozen=True, kw_only=True, eq=False)
class PairScores(Tabular):
    """One number per pair, with parts; NaN where undefined, and `reason` says why."""

    metric: str
    values: NDArray[np.float64]
    parts: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    reason: str | None = None
    seconds: float = float("nan")
    signature: str = ""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def defined(self) -> NDArray[np.float64]:
        """The values that exist."""
        return self.values[~np.isnan(self.values)]

    @property
    def mean(self) -> float:
        """Mean of the values that exist; NaN where none does."""
        return float(self.defined.mean()) if len(self.defined) else float("nan")

    @property
    def std(self) -> float:
        """Standard deviation over pairs, with n − 1; NaN for fewer than two values."""
        return float(self.defined.std(ddof=1)) if len(self.defined) > 1 else float("nan")

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary per pair: `index`, `value`, parts as `part.NAME`; NaN becomes None."""
        columns = {"value": self.values} | {f"part.{name}": values for name, values in self.parts.items()}
        rows = zip(*(map(plain, values.tolist()) for values in columns.values()), strict=True)
        return [{"index": index, **dict(zip(columns, row, strict=True))} for index, row in enumerate(rows)]
