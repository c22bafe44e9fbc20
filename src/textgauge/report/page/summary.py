"""What a run says, in plain sentences; every number in them is one that the store gives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textgauge.evaluate.results import Judged
from textgauge.report.page.boards import Board
from textgauge.tabular import shown

_SURE = 0.05


def board_sentences(board: Board) -> list[str]:
    """The best metrics of a board, those that cannot be told from them, and what it rests on."""
    top = board.first()
    if not top:
        return [f"The measures of {board.title} have no common scale, so nothing is ranked: see the table."]
    ranked = [row for row in board.ranking if not math.isnan(row.overall)]
    best = top[0]
    clusters = len({row.cluster for row in ranked})
    fall = f", which fall into {_count(clusters, 'cluster')}" if clusters > 1 else ""
    said = [f"`{best.metric}` comes first of {_count(len(ranked), 'metric')}{fall}: overall {best.overall:.3f} of 1."]
    if len(top) > 1:
        said.append(f"{_listed(row.metric for row in top[1:])} cannot be told apart from it.")
    elif best.rank_high == 1 and len(ranked) > 1:
        said.append("It is surely better than every other: the 95 % interval of each difference lies above 0.")
    missing = [row.metric for row in board.ranking if math.isnan(row.overall)]
    if missing:
        said.append(f"{_listed(missing)} {_have(missing)} no overall score here.")
    return [*said, _rests_on(board)]


def _rests_on(board: Board) -> str:
    data = _listed(board.data)
    if board.units:
        things = f"{' to '.join(f'{n:,}' for n in _ends(board.units))} resampled units"
        also = f" and {_repeated(board)}" if board.repetitions else ""
        return f"This rests on {things}{also} of {data}."
    return f"This rests on {_repeated(board)} with {data}."


def _repeated(board: Board) -> str:
    few, many = _ends(board.repetitions)[0], _ends(board.repetitions)[-1]
    return _count(many, "repetition") if few == many else f"{few} to {many} repetitions"


def _ends(numbers: Sequence[int]) -> list[int]:
    return list(dict.fromkeys((min(numbers), max(numbers)))) if numbers else [0]


def warnings(judged: Sequence[Judged], cells: int) -> list[str]:
    """What a reader must know before trusting the numbers: missing cells, and every reason a verdict carries."""
    missing = sum(item.missing for item in judged)
    said = []
    if missing:
        verb = "is" if missing == 1 else "are"
        said.append(
            f"{missing} of {_count(cells, 'cell')} {verb} missing; the same `textgauge run` command computes them."
        )
    found: dict[tuple[str, str, str], list[str]] = {}
    for item in judged:
        for verdict in item.verdicts:
            if verdict.reason:
                found.setdefault((item.metric, item.data, verdict.reason), []).append(verdict.measure)
    for (metric, data, reason), measures in found.items():
        names = ", ".join(name.replace("_", " ") for name in measures[:3])
        more = f" and {len(measures) - 3} more" if len(measures) > 3 else ""
        said.append(f"`{metric}`, {names}{more} ({data}): {reason}.")
    return said


def comparison_sentences(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the rows of `compare` say: sizes, tests, what is undefined."""
    sizes = {(row.get("n_reference"), row.get("n_candidate")) for row in rows}
    said = []
    if len(sizes) == 1:
        reference, candidate = sizes.pop()
        said.append(f"{_count(len(rows), 'metric')} compared {reference} reference and {candidate} candidate texts.")
    tested = [row for row in rows if row.get("p_value") is not None]
    if tested:
        sure = [row["metric"] for row in tested if row["p_value"] <= _SURE]
        said.append(f"{len(sure)} of {_count(len(tested), 'test')} found a difference (p ≤ {_SURE})" + _names(sure))
    said += [f"`{row['metric']}` is undefined: {row['reason']}." for row in rows if row.get("reason")]
    return said


def score_sentences(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the rows of `score --summary` say: the mean of every metric."""
    return [
        f"`{row['metric']}`: mean {shown(row['mean'])} over {_count(row['n'], 'pair')}"
        + ("." if row.get("low") is None else f" (interval {shown(row['low'])} to {shown(row['high'])}).")
        for row in rows
        if row.get("mean") is not None
    ]


def _names(metrics: Sequence[str]) -> str:
    return f": {_listed(metrics)}." if metrics else "."


def _have(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _listed(names: Iterable[str]) -> str:
    shown = [f"`{name}`" for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
