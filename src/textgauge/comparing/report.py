"""What `compare` gives back: scores in order, with warnings, as rows, frames and text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from textgauge.errors import UnknownName
from textgauge.metrics import Score
from textgauge.tabular import Tabular

if TYPE_CHECKING:
    import altair as alt

    from textgauge.comparing.explain import Explanation
    from textgauge.comparing.terms import Terms


@dataclass(frozen=True)
class CompareReport(Tabular):
    """The scores of one comparison; iterate over them, or ask for one by its key.

    `explanations`, where they were asked for, are by the key of their metric; a metric whose value does not split into
    texts has none. `terms` are then the words that separate the corpora.
    """

    scores: tuple[Score, ...]
    warnings: tuple[str, ...] = ()
    explanations: Mapping[str, Explanation] = field(default_factory=dict)
    terms: Terms | None = None

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

    def explained_dicts(self) -> list[dict[str, Any]]:
        """All that the explanations hold, as flat dictionaries of a `kind`: `text` and `token` by metric, `term`."""
        rows: list[dict[str, Any]] = []
        for metric, found in self.explanations.items():
            head = {"metric": metric, "of": found.of}
            rows += [{"kind": "text", **head, **row} for row in found.to_dicts()]
            rows += [{"kind": "token", **head, **row} for row in found.tokens]
        return rows + [{"kind": "term", **row} for row in (self.terms.to_dicts() if self.terms else ())]

    def plot(self) -> alt.VConcatChart:
        """Every value with its interval and null distance, each metric on a scale of its own."""
        from textgauge.comparing.charts import interval_chart

        return interval_chart(self.scores)

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
