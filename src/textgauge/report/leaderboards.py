"""Leaderboards of a run in which not all metrics went through the same protocols: one for each kind of metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textgauge.errors import InputError
from textgauge.evaluate.leaderboard import Leaderboard, leaderboard
from textgauge.evaluate.results import Judged
from textgauge.report.page.boards import apart


def leaderboards(judged: Sequence[Judged], weights: Mapping[str, float] | None = None) -> dict[str, Leaderboard]:
    """Leaderboards by their titles: of all protocols that rank mostly the same metrics; one where all do.

    A weight counts on every board that has the measure.
    """
    boards = apart(judged)
    if len(boards) <= 1:
        return {"": leaderboard(judged, weights)}
    given = weights or {}
    known = dict.fromkeys(name for board in boards for name in board.ranking.measures)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InputError(f"no measure {unknown[0]!r} in this run; the measures are {', '.join(known)}")
    return {
        board.title: leaderboard(
            board.judged, {name: weight for name, weight in given.items() if name in board.ranking.measures}
        )
        for board in boards
    }
