"""What `compare` gives back for several candidates: distances, differences, ranks and tiers by metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textgauge.comparing.report import ARROWS, CompareReport
from textgauge.errors import UnknownName
from textgauge.result import Result
from textgauge.stats.decisions import leaders_sentence
from textgauge.stats.rankings import Ranking
from textgauge.tabular import BLUE, GREY, Row, format_cell, format_interval, format_ranks

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True, repr=False)
class ManyReport(Result):
    """Several candidates and one reference: `reports` by candidate, `rankings` by metric; iterate over the candidates.

    Statements about candidates hold together at `level` for all pairs and metrics. `unranked` has the reason for each
    metric that ranks nothing.
    """

    command: ClassVar[str] = "compare"

    reports: Mapping[str, CompareReport]
    rankings: Mapping[str, Ranking]
    unranked: Mapping[str, str]
    level: float = 0.95

    def __len__(self) -> int:
        return len(self.reports)

    def __iter__(self) -> Iterator[str]:
        return iter(self.reports)

    def __getitem__(self, metric: str) -> Ranking:
        """The ranking of a metric; its places are those of the candidates."""
        if metric in self.rankings:
            return self.rankings[metric]
        raise UnknownName.among("ranked metric in this report", metric, self.rankings)

    @property
    def names(self) -> list[str]:
        """The candidates, in the order given."""
        return list(self.reports)

    @property
    def metrics(self) -> list[str]:
        """The keys of the metrics, in order."""
        return [score.metric for score in next(iter(self.reports.values()))]

    @property
    def answer(self) -> str:
        """Which candidate is nearest, by which metrics."""
        leaders = {metric: [self.names[place] for place in found.unbeaten()] for metric, found in self.rankings.items()}
        return leaders_sentence("candidate", leaders, len(self), self.level)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against a number, by candidate, and why a metric ranks nothing."""
        found = [f"{name}: {text}" for name, report in self.reports.items() for text in report.warnings]
        return (*found, *(f"no ranks by {metric}: {reason}" for metric, reason in self.unranked.items()))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary per metric and candidate, nearest first: ranks, tier, and all that its score holds."""
        return [row for metric in self.metrics for row in self._rows(metric)]

    def _rows(self, metric: str) -> list[Row]:
        found = self.rankings.get(metric)
        scores = [report[metric].to_dict() for report in self.reports.values()]
        nothing: Row = dict.fromkeys(("rank", "rank_low", "rank_high", "tier"))
        placings: list[Row] = (
            found.placings() if found else [{"place": place, **nothing} for place in range(len(scores))]
        )
        return [
            {"metric": metric, "candidate": self.names[row["place"]]}
            | {name: row[name] for name in nothing}
            | scores[row["place"]]
            for row in placings
        ]

    @property
    def details(self) -> Row:
        """`differences`: one row per metric and pair of candidates."""
        return {"differences": self.differences()}

    def differences(self) -> list[Row]:
        """One flat dictionary per metric and pair: how much nearer `first` is than `second`."""
        return [row for metric, found in self.rankings.items() for row in found.pairs(metric, self.names)]

    def readable(self) -> list[Row]:
        """The rows of the table for people."""
        return [_readable(row) for row in self.to_dicts()]

    def plot(self) -> alt.VConcatChart:
        """The candidates of every metric, nearest first, each metric on a scale of its own, coloured by tier."""
        return candidates_chart(self.to_dicts())


def candidates_chart(rows: Sequence[Row]) -> alt.VConcatChart:
    """The rows of a board, a panel per metric."""
    import altair as alt

    metrics = dict.fromkeys(row["metric"] for row in rows)
    panels = [_panel(metric, [row for row in rows if row["metric"] == metric]) for metric in metrics]
    return alt.vconcat(*panels, spacing=8)


def _readable(row: Row) -> Row:
    arrow = ARROWS[row["closer"]]
    cells = {"metric": row["metric"], "candidate": row["candidate"], "value": f"{format_cell(row['value'])} {arrow}"}
    if row["interval"] or row["no_interval"]:
        cells["interval"] = format_interval(row["low"], row["high"])
    if row["null"] is not None:
        cells["if same source"] = format_interval(row["null_low"], row["null_high"])
    if row["p_adjusted"] is not None:
        cells["p adjusted"] = format_cell(row["p_adjusted"])
    return cells | {"rank": format_ranks(row["rank_low"], row["rank_high"]), "tier": row["tier"]}


def _panel(metric: str, rows: list[Row]) -> alt.LayerChart:
    import altair as alt

    kept = ("candidate", "value", "low", "high", "rank_low", "rank_high", "tier")
    data = alt.InlineData(values=[{name: row[name] for name in kept} for row in rows])
    y = alt.Y("candidate:N", sort=None, title=None, axis=alt.Axis(labelLimit=220, minExtent=140, ticks=False))
    x = alt.X("value:Q", title=None, axis=alt.Axis(tickCount=4, format=".4~g"))
    tip = [alt.Tooltip("candidate:N"), *(alt.Tooltip(f"{name}:Q", format=".6g") for name in kept[1:])]
    colour = alt.Color("tier:O", title="tier", scale=alt.Scale(scheme="viridis"))
    base = alt.Chart(data).encode(y, tooltip=tip)
    layers = [
        base.mark_rule(color=GREY).encode(x="low:Q", x2="high:Q"),
        base.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(x, color=colour),
    ]
    title = alt.TitleParams(metric, anchor="start", fontSize=11)
    return alt.LayerChart(layer=layers).properties(width=360, height=18 * len(rows), title=title)
