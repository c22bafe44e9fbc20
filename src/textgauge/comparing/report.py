"""What `compare` gives back: scores in order, with warnings, as rows, frames and text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textgauge.errors import UnknownName
from textgauge.metrics import Score

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True)
class CompareReport:
    """The scores of one comparison; iterate over them, or ask for one by its key."""

    scores: tuple[Score, ...]
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __getitem__(self, key: str) -> Score:
        for score in self.scores:
            if score.metric == key:
                return score
        raise UnknownName.among("metric in this report", key, [score.metric for score in self.scores])

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary per metric."""
        return [score.to_dict() for score in self.scores]

    def to_json(self) -> str:
        """An array of flat objects."""
        return json.dumps(self.to_dicts(), indent=1, ensure_ascii=False)

    def to_polars(self) -> pl.DataFrame:
        """A frame with one row per metric."""
        import polars as pl

        return pl.from_dicts(self.to_dicts(), infer_schema_length=None)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas frame with one row per metric; needs pandas."""
        import pandas as pd

        return pd.DataFrame(self.to_dicts())

    def __str__(self) -> str:
        width = max((len(score.metric) for score in self.scores), default=6)
        lines = [f"{score.metric:<{width}}  {_number(score.value):>10}  {_spoken(score)}" for score in self.scores]
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])


def _spoken(score: Score) -> str:
    if score.reason:
        return f"undefined: {score.reason}"
    said = []
    if not math.isnan(score.low):
        said.append(f"[{_number(score.low)}, {_number(score.high)}]")
    if not math.isnan(score.p_value):
        said.append(f"p={score.p_value:.3g}")
    if not math.isnan(score.null):
        said.append(f"null {_number(score.null)}")
    return "  ".join(said)


def _number(value: float) -> str:
    return f"{value:.4g}"
