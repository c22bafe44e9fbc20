"""What `score` gives back for several systems: scores, differences, ranks and tiers by metric, and single items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textgauge.errors import UnknownName
from textgauge.metrics import PairScores
from textgauge.result import Result
from textgauge.stats.decisions import leaders_sentence
from textgauge.stats.rankings import Ranking
from textgauge.tabular import FlatRow, Row, format_cell, format_interval, format_ranks, plain


@dataclass(frozen=True, kw_only=True)
class SystemScore(FlatRow):
    """One system by one metric; `of` says whether it is the score of the whole set or the mean over items."""

    metric: str
    system: str
    of: str
    value: float
    closer: str
    low: float
    high: float
    n: int
    signature: str


@dataclass(frozen=True, eq=False, repr=False)
class SystemsReport(Result):
    """Several systems on the same items: `scores`, and `rankings` by metric, whose places are those of `names`.

    Statements about systems hold together at `level` for all pairs and metrics. `segments` has the values of single
    items, by metric and system; `missing` the reason for each metric that could not be computed.
    """

    command: ClassVar[str] = "score"

    names: tuple[str, ...]
    scores: tuple[SystemScore, ...]
    rankings: Mapping[str, Ranking]
    segments: Mapping[str, Sequence[PairScores]]
    missing: Mapping[str, str]
    level: float = 0.95

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, metric: str) -> Ranking:
        """The ranking of a metric; its places are those of `names`."""
        if metric in self.rankings:
            return self.rankings[metric]
        raise UnknownName.among("metric in this report", metric, self.rankings)

    @property
    def answer(self) -> str:
        """Which system is best, by which metrics."""
        leaders = {metric: [self.names[place] for place in found.unbeaten()] for metric, found in self.rankings.items()}
        return leaders_sentence("system", leaders, len(self), self.level)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against a metric on these texts, and why one is missing."""
        found = [text for scores in self.segments.values() for one in scores for text in one.warnings]
        found += [f"{metric}: {reason}" for metric, reason in self.missing.items()]
        for metric, scores in self.segments.items():
            counts = {name: len(one) - len(one.defined) for name, one in zip(self.names, scores, strict=True)}
            if any(counts.values()):
                said = ", ".join(f"{count} of {name}" for name, count in counts.items() if count)
                found.append(f"{metric} is undefined for items ({said}), which are left out for all systems")
        return tuple(dict.fromkeys(found))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary per metric and system, best first: value, interval, ranks, tier."""
        rows = {(score.metric, score.system): score.to_dict() for score in self.scores}
        return [
            rows[metric, self.names[place["place"]]] | {name: place[name] for name in place if name != "place"}
            for metric, found in self.rankings.items()
            for place in found.placings()
        ]

    @property
    def details(self) -> Row:
        """`differences`: one row per metric and pair of systems."""
        return {"differences": self.differences()}

    def differences(self) -> list[Row]:
        """One flat dictionary per metric and pair: how far `first` is ahead of `second`."""
        return [row for metric, found in self.rankings.items() for row in found.pairs(metric, self.names)]

    def items(self) -> list[Row]:
        """One flat dictionary per system and item, with a field per metric."""
        columns = {metric: [one.values.tolist() for one in scores] for metric, scores in self.segments.items()}
        return [
            {"system": name, "index": item} | {metric: plain(values[at][item]) for metric, values in columns.items()}
            for at, name in enumerate(self.names)
            for item in range(len(next(iter(columns.values()))[at]))
        ]

    def readable(self) -> list[Row]:
        """One row per metric and system, best first."""
        return [
            {
                "metric": row["metric"],
                "system": row["system"],
                "value": f"{format_cell(row['value'])} {'↓' if row['closer'] == 'smaller' else '↑'}",
                "interval": format_interval(row["low"], row["high"]),
                "rank": format_ranks(row["rank_low"], row["rank_high"]),
                "tier": row["tier"],
                "of": row["of"],
            }
            for row in self.to_dicts()
        ]
