"""What a metric gives: a score, the scores of pairs, and what each text adds to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import DTypeLike, NDArray

from textgauge.core.arrays import Floats
from textgauge.core.show import FlatRow, Tabular, drop_nonfinite, format_cell, format_count, format_p

NAN = float("nan")


@dataclass(frozen=True, kw_only=True, repr=False)
class Score(FlatRow, Tabular):
    """The value of one metric on one comparison, with what is known about it.

    `label` says what the number is. `value` is NaN where the metric is undefined, and `reason` says why; `closer` says
    whether smaller or larger values mean closer corpora. `low` and `high` bound the expected value of the metric
    between samples of these sizes; `interval` names the method, or `no_interval` says why there is none.
    `p_value` is for "same distribution", with its Monte Carlo standard error `p_error`, and `p_adjusted` takes account
    of all metrics tested together, by the method `adjustment`. `null` is the mean value if both corpora come from one
    source, at these sizes, and 95 % of the values then lie between `null_low` and `null_high`; `times` is value over
    null, for distances that are 0 between equal corpora; `effect` is (value − null)/standard deviation of the null,
    positive where farther.
    `foreign_share`, with its interval, is the share of foreign texts that gives a reference this distance.
    """

    metric: str
    label: str = ""
    value: float
    closer: str = "smaller"
    low: float = NAN
    high: float = NAN
    p_value: float = NAN
    p_adjusted: float = NAN
    p_error: float = NAN
    null: float = NAN
    null_low: float = NAN
    null_high: float = NAN
    times: float = NAN
    effect: float = NAN
    foreign_share: float = NAN
    foreign_low: float = NAN
    foreign_high: float = NAN
    n_reference: int = 0
    n_candidate: int = 0
    seconds: float = NAN
    interval: str | None = None
    no_interval: str | None = None
    test: str | None = None
    adjustment: str | None = None
    reason: str | None = None
    signature: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)

    def __float__(self) -> float:
        return self.value

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the value as NumPy sees it: `np.mean([score, score])` is a number."""
        return np.asarray(self.value, dtype=dtype)

    def __round__(self, digits: int | None = None) -> float:
        return round(self.value, digits)

    def __format__(self, form: str) -> str:
        return format(self.value if form else str(self), form)

    def __eq__(self, other: object) -> bool:
        """Return whether another score says all the same; compare `value` with numbers."""
        return self.to_dict() == other.to_dict() if isinstance(other, Score) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.metric, self.value, self.signature))

    def __lt__(self, other: SupportsFloat) -> bool:
        return self.value < float(other)

    def __le__(self, other: SupportsFloat) -> bool:
        return self.value <= float(other)

    def __gt__(self, other: SupportsFloat) -> bool:
        return self.value > float(other)

    def __ge__(self, other: SupportsFloat) -> bool:
        return self.value >= float(other)

    def __repr__(self) -> str:
        """Metric and value, with interval, p-value (the adjusted one of several) and reason where they are known.

        >>> Score(metric="jsd", value=0.51239, low=0.25, high=0.75)
        jsd 0.512 [0.25, 0.75]
        """
        ends = "" if math.isnan(self.low) else f" [{format_cell(self.low)}, {format_cell(self.high)}]"
        p = "" if math.isnan(self.p_value) else f" p={format_p(self.p_value)}"
        if self.adjustment is not None:
            p = f" adjusted p={format_p(self.p_adjusted)}"
        return f"{self.metric} {format_cell(self.value)}{ends}{p}" + (f" ({self.reason})" if self.reason else "")

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the score as a table of one row."""
        return [self.to_dict()]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairScores(Tabular):
    """One number per pair, with parts; NaN where undefined, and `reason` says why. `warnings` speak against it."""

    metric: str
    values: NDArray[np.float64]
    parts: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    reason: str | None = None
    seconds: float = float("nan")
    signature: str = ""
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        """Metric, mean and number of pairs.

        >>> PairScores(metric="jaccard", values=np.array([0.5, 1.0]))
        jaccard: mean 0.75 of 2 pairs
        """
        return f"{self.metric}: mean {format_cell(self.mean)} of {format_count(len(self), 'pair')}"

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

    def single(self) -> Score:
        """Return the score of the only pair."""
        (value,) = self.values.tolist()
        return Score(
            metric=self.metric,
            value=value,
            parts={name: float(column[0]) for name, column in self.parts.items()},
            n_reference=1,
            n_candidate=1,
            seconds=self.seconds,
            signature=self.signature,
            reason=self.reason,
        )

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one flat dictionary per pair: `index`, `value`, parts as `part.NAME`; NaN becomes None."""
        columns = {"value": self.values} | {f"part.{name}": values for name, values in self.parts.items()}
        rows = zip(*(map(drop_nonfinite, values.tolist()) for values in columns.values()), strict=True)
        return [{"index": index, **dict(zip(columns, row, strict=True))} for index, row in enumerate(rows)]


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
