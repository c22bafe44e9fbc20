"""Which protocols share a leaderboard: those that rank mostly the same metrics."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from textgauge.bench.boards.leaderboard import (
    Leaderboard,
    RankedMetric,
    leaderboard,
    list_measures,
    list_ranked_metrics,
)
from textgauge.bench.boards.overall import Scope
from textgauge.bench.protocols.base import Measure
from textgauge.bench.results import Judged
from textgauge.core.errors import InputError
from textgauge.core.tabular import Row, listed


@dataclass(frozen=True, eq=False)
class Board:
    """The metrics of one protocol, or of several together, best first."""

    protocols: tuple[str, ...]
    judged: tuple[Judged, ...]

    @cached_property
    def ranking(self) -> Leaderboard:
        """The leaderboard."""
        return leaderboard(self.judged)

    @property
    def title(self) -> str:
        """What is ranked: the protocol as people call it, or what several are for, and which they are."""
        one, *more = dict.fromkeys(item.protocol.heading or item.protocol.name for item in self.judged)
        return f"{self.purpose} ({listed(name[:1].lower() + name[1:] for name in (one, *more))})" if more else one

    @property
    def heading(self) -> str:
        """The same in short."""
        return self.title if len(self.protocols) == 1 else self.purpose

    @property
    def purpose(self) -> str:
        """What the metrics are wanted for."""
        return " and ".join(dict.fromkeys(item.protocol.purpose for item in self.judged))

    @property
    def about(self) -> list[str]:
        """The paragraphs of the protocol's own description; none of several."""
        if len(self.protocols) > 1:
            return []
        return inspect.cleandoc(type(self.judged[0].protocol).__doc__ or "").split("\n\n")

    @cached_property
    def columns(self) -> dict[str, list[Measure]]:
        """The columns of the ranking that have a value, each with the measures that count for it."""
        known = {m.name: m for item in self.judged for m in item.protocol.measures}
        valued = [n for n in self.ranking.measures if any(not math.isnan(row.measures[n]) for row in self.ranking)]
        return {name: [m for m in known.values() if (m.column or m.name) == name] for name in valued}

    @property
    def measures(self) -> list[tuple[str, str]]:
        """The measures that say how they are computed, with what they say."""
        return [(m.name.replace("_", " "), m.about) for of in self.columns.values() for m in of if m.about]

    @property
    def data(self) -> tuple[str, ...]:
        """The names of the data."""
        return tuple(dict.fromkeys(item.data for item in self.judged))

    @property
    def repetitions(self) -> tuple[int, ...]:
        """The different numbers of repetitions that verdicts rest on."""
        return tuple(sorted({len(v.values) for item in self.judged for v in item.verdicts if not v.draws}))

    @property
    def units(self) -> tuple[int, ...]:
        """The different numbers of things that were resampled, for measures without repetitions."""
        return tuple(sorted({v.units for item in self.judged for v in item.verdicts if v.draws}))

    @property
    def averaged(self) -> tuple[str, ...]:
        """The columns that the overall score is a mean of: with two ends, and about how good a metric is."""
        ended = {name: of for name, of in self.columns.items() if any(not math.isnan(m.share(m.low)) for m in of)}
        return tuple([name for name, of in ended.items() if any(m.quality for m in of)] or ended)

    def first(self) -> list[RankedMetric]:
        """The first row and those tied with it; none where nothing has an overall score."""
        best = [row.metric for row in self.ranking if row.rank == 1]
        return [row for row in self.ranking if row.metric in (*best, *self.ranking.tied)]


def grouped_boards(judged: Sequence[Judged]) -> list[tuple[Board, tuple[Board, ...]]]:
    """A board for all protocols that rank mostly the same metrics, with those of its protocols one by one.

    Every protocol with a result is in one; a protocol that ranks nothing (speed) goes with the others that its metrics
    went through.
    """
    names = list(dict.fromkeys(item.protocol.name for item in judged if item.verdicts))
    single = {name: _board((name,), judged) for name in names}
    groups = _find_alike(single.values())
    went = {name: {item.metric for item in judged if item.protocol.name == name} for name in names}
    for name in [name for name in names if not any(name in group for group in groups)]:
        with_it = [group for group in groups if went[name] & set().union(*(went[other] for other in group))]
        if with_it:
            with_it[0].append(name)
        else:
            groups.append([name])
    return [
        (single[group[0]] if len(group) == 1 else _board(tuple(group), judged), tuple(single[name] for name in group))
        for group in groups
    ]


def _find_alike(single: Iterable[Board]) -> list[list[str]]:
    """Return the names of protocols that rank mostly the same metrics: at least half of all are ranked by each."""
    groups: list[tuple[list[str], frozenset[str], frozenset[str]]] = []
    for board in single:
        ranked = list_ranked_metrics(board.judged)
        for place, (names, common, either) in enumerate(groups):
            if 2 * len(common & ranked) >= len(either | ranked):
                groups[place] = ([*names, *board.protocols], common & ranked, either | ranked)
                break
        else:
            groups.append((list(board.protocols), ranked, ranked))
    return [names for names, common, _ in groups if common]


def _board(protocols: tuple[str, ...], judged: Sequence[Judged]) -> Board:
    mine = tuple(item for item in judged if item.protocol.name in protocols)
    return Board(protocols, mine)


def leaderboards(
    judged: Sequence[Judged], weights: Mapping[str, float] | None = None, *, scope: Scope | None = None
) -> dict[str, Leaderboard]:
    """Leaderboards by their titles: of all protocols that rank mostly the same metrics; one where all do.

    A weight counts on every board that has the measure.
    """
    found = [board for board, _ in grouped_boards(judged)]
    if len(found) == 1 and not weights and scope is None:
        return {"": found[0].ranking}
    if len(found) <= 1:
        return {"": leaderboard(judged, weights, scope=scope)}
    given = weights or {}
    measures = {board.protocols: list_measures(board.judged) for board in found}
    known = dict.fromkeys(name for names in measures.values() for name in names)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InputError(f"no measure {unknown[0]!r} in this run; the measures are {', '.join(known)}")
    return {
        board.title: leaderboard(
            board.judged,
            {name: weight for name, weight in given.items() if name in measures[board.protocols]},
            scope=scope,
        )
        for board in found
    }


def boards_answer(boards: Mapping[str, Leaderboard]) -> str:
    """The answers of leaderboards, each after its title."""
    return " ".join(titled(title, board.answer) for title, board in boards.items())


def boards_rows(rows: Mapping[str, Sequence[Row]]) -> list[Row]:
    """The rows of leaderboards by title, one after the other; `board` is the title where there are several."""
    return [({"board": title} if title else {}) | row for title, own in rows.items() for row in own]


def boards_details(boards: Mapping[str, Leaderboard]) -> Row:
    """What each leaderboard is about, and what its overall score is made of."""
    return {"boards": [({"board": title} if title else {}) | board.details for title, board in boards.items()]}


def titled(title: str, text: str) -> str:
    """A text after a title, if there is one."""
    return f"{title}: {text}" if title else text
