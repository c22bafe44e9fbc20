"""Leaderboards of scores that exist: which system comes first, which ones are tied, how many items would separate them.

Items are drawn, not systems: all systems see the same items, so differences are paired. The mean of a system is over
items, or over data sets of means over items. What belongs together (a group: a document, a conversation) is one unit,
and repetitions of an item are averaged first. The differences of all pairs have intervals that hold together
(`rank_values`, max-T by Gaussian multipliers over units), with variances of pairs moderated (Smyth 2004).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from textgauge.bench.leaderboard import draw_ranks
from textgauge.core.arrays import Floats, Ints, average_known
from textgauge.core.charts import draw_without_network
from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.result import Column, Result, show_rows
from textgauge.core.show import FlatRow, Row, format_cell, format_interval, format_ranks
from textgauge.data.logs import TEXTS
from textgauge.data.source import load_table
from textgauge.data.tables import TextTable, format_column_names, parse_number
from textgauge.data.units import FEWEST_GROUPS
from textgauge.measure.dependence import find_repeating_column
from textgauge.stats.decisions import TIED_WITH, format_board, format_sign, join_codes
from textgauge.stats.rankings import Ranking, compute_gap_p, compute_student_interval, moderate_variances, rank_values

if TYPE_CHECKING:
    import altair as alt

Missing = Literal["drop", "zero"]
_ROLES = {  # names of columns, best first; a column has one role
    "system": "system model method submission provider agent",
    "item": "item item_id id sample_id doc_id instance_id instance question_id example_id question segment task index",
    "data_set": "data_set dataset benchmark scenario task",
    "group": "group",
    "repetition": "repetition epoch repeat sample seed",
    "metric": "metric",
}
_NAMED = 3  # systems in a cell or a sentence; more are counted
_FEWEST = 3  # items, below which nothing can be said
_FEW = 30  # items or groups, below which tests are corrected without regard to how they go together
_POWER = 0.8416  # standard errors beyond the reach of an interval at which 4 of 5 tests find a difference
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class RankedSystem(FlatRow):
    """One system by one metric: its score with an interval, the ranks it may have, and the systems tied with it.

    `missing` counts the items that it has no score for. A system without a rank has scores for too few items.
    """

    metric: str
    system: str
    score: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    missing: int = 0
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    tied_with: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class ScoreBoard(Result):
    """Systems by the scores of their items, best first by each metric; rank ranges and ties hold jointly at `level`.

    `counts` has one row a metric: how many neighbours in rank cannot be separated, jointly and by single tests, and how
    many items would separate the first two at the difference seen. `rankings` have the places of `names`.
    """

    command: ClassVar[str] = "leaderboard"
    keys: ClassVar[tuple[str, ...]] = ("system", "metric")
    columns: ClassVar[tuple[Column, ...]] = (
        Column("metric", when=lambda row: row["several"]),
        Column("rank", "rank_low rank_high", format_ranks),
        Column("system"),
        Column("score", form=format_cell),
        Column("interval", "low high", format_interval),
        Column(TIED_WITH, "tied_names"),
        Column("missing", when=lambda row: row["missing"]),
    )

    rows: tuple[RankedSystem, ...]
    counts: tuple[Row, ...]
    rankings: Mapping[str, Ranking]
    names: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    scope: str = "new items like these"
    level: float = 0.95
    sign: str | None = None

    @property
    def answer(self) -> str:
        """Who comes first by each metric, and how many neighbours cannot be separated."""
        firsts = [[self.names[place] for place in ranking.unbeaten()] for ranking in self.rankings.values()]
        pairs = zip(self.counts, firsts, strict=True)
        said = " ".join(format_board(row, first, self.scope, self.level) for row, first in pairs)
        return said if self.sign is None else f"{said} {format_sign(self.sign)}"

    @property
    def details(self) -> Row:
        """What the statements are about, and the counts of neighbours that cannot be separated."""
        return {"scope": self.scope, "level": self.level, "counts": list(self.counts)}

    def to_dicts(self) -> list[Row]:
        """Return one flat dictionary per metric and system: `tied` is the number of systems in `tied_with`."""
        return [row.to_dict() | {"tied": len(row.tied_with), "tied_with": "; ".join(row.tied_with)} for row in self]

    def readable(self) -> list[Row]:
        """Return the rows formatted for display."""
        more = {"several": len(self.counts) > 1}
        rows = [row.to_dict() | more | {"tied_names": join_codes(row.tied_with, _NAMED)} for row in self]
        return show_rows(rows, self.columns)

    def plot(self) -> alt.LayerChart:
        """Return the rank of every system by the first metric, with the ranks it may have."""
        return draw_without_network(draw_systems(self.to_dicts()))


def draw_systems(rows: Sequence[Row]) -> alt.LayerChart:
    """Return one line per system, best first by the first metric: rank with its interval."""
    first = [row for row in rows if row["metric"] == rows[0]["metric"]]
    return draw_ranks([row | {"metric": row["system"], "overall": row["score"], "tier": 1} for row in first])


def leaderboard(
    scores: Any,
    *,
    system: str | None = None,
    item: str | None = None,
    score: str | Sequence[str] | None = None,
    group: str | None = None,
    data_set: str | None = None,
    repetition: str | None = None,
    lower: str | Sequence[str] = (),
    missing: Missing = "drop",
    level: float = 0.95,
) -> ScoreBoard:
    """Rank systems by scores of single items, with rank ranges and ties that hold for all systems together.

    A table in long form has a row for each score (columns system, item, score), one in wide form a row for each item
    and a column for each system, or a row for each system and a column for each item. Logs of evaluation harnesses are
    read as tables in long form. Scores of one item and system are averaged; data sets count alike.

    Parameters
    ----------
    scores
        A table, a log of an evaluation harness, or several of them: files, folders or a data frame.
    system
        The column of systems; default: the one called system, model or the like.
    item
        The column of items; default: the one called item, id or the like.
    score
        The columns of scores, in long form; default: score, else all columns of numbers.
    group
        The column that says which items belong together, such as a document: whole groups are drawn.
    data_set
        The column of data sets, whose means count alike; default: the one called dataset or the like.
    repetition
        The column of repetitions, which are averaged: items are drawn, repetitions belong to them.
    lower
        Scores of which less is better, or `all`.
    missing
        What items are that some system has no score for: left out for all (drop), or scores of 0 (zero).
    level
        Confidence level of all statements together.

    Examples
    --------
    >>> wide = {"item": list("abcdefgh"), "x": [0, 0, 1, 0, 1, 0, 0, 0], "y": [1, 1, 1, 1, 1, 1, 1, 0]}
    >>> leaderboard(wide).answer[:49]
    'First: y, better than x (95 % confidence, new ite'
    """
    if missing not in ("drop", "zero") or not 0 < level < 1:
        raise ArgumentError("`missing` is drop or zero, and `level` lies between 0 and 1")
    named = {"system": system, "item": item, "group": group, "data_set": data_set, "repetition": repetition}
    several = isinstance(scores, list | tuple) and scores and all(isinstance(one, str | os.PathLike) for one in scores)
    tables = [load_table(one) for one in (scores if several else [scores])]
    joint = TextTable.join(", ".join(table.name for table in tables[:3]), tables)
    table = _read_table(joint, {role: name for role, name in named.items() if name}, _split(score))
    less = set(_split(lower))
    if wrong := less - {*table.scores, "all"}:
        raise ArgumentError(f"`lower` names {min(wrong)!r}; the scores are {format_column_names(table.scores)}")
    boards = [_rank(table, name, -1 if {name, "all"} & less else 1, missing, level) for name in table.scores]
    scope = "new items like these" if table.groups is None else "new groups like these"
    return ScoreBoard(
        tuple(row for rows, *_ in boards for row in rows),
        tuple(counts for _, counts, *_ in boards),
        {counts["metric"]: ranking for _, counts, ranking, _ in boards},
        tuple(table.systems),
        tuple(dict.fromkeys((*table.notes, *(note for *_, notes in boards for note in notes)))),
        scope,
        level,
        table.sign,
    )


@dataclass(frozen=True, eq=False)
class _Scores:
    """Scores by metric, a row a system and a column an item, NaN where there is none; what items belong to."""

    systems: Sequence[str]
    scores: Mapping[str, Floats]
    groups: Ints | None
    sets: Ints
    notes: tuple[str, ...] = ()
    sign: str | None = None


def _split(names: str | Sequence[str] | None) -> list[str]:
    listed = [names] if isinstance(names, str) else names or ()
    return [name.strip() for text in listed for name in text.split(",") if name.strip()]


def _read_table(table: TextTable, named: Mapping[str, str], wanted: list[str]) -> _Scores:
    """Return the scores of a table in long or wide form."""
    columns = {name: [_read_truth(cell) for cell in cells] for name, cells in table.columns.items()}
    table = replace(table, columns=columns)
    roles = {role: table.find_column(name) for role, name in named.items()}
    called = {name.lower().replace(" ", "_").replace("-", "_"): name for name in reversed(columns)}
    for role, names in _ROLES.items():
        free = [called[name] for name in names.split() if name in called and called[name] not in roles.values()]
        if role not in roles and free:
            roles[role] = free[0]
    others = [name for name in columns if name not in {*roles.values(), *TEXTS}]
    numbers = [name for name in others if _holds_numbers(columns[name])]
    if {"system", "item"} <= roles.keys():
        chosen = wanted or [name for name in numbers if name.lower() == "score"] or numbers
        if chosen:
            return _read_long(table, roles, chosen)
    elif len(numbers) > 1 and not wanted:
        return _read_wide(table, roles, numbers)
    raise InputError(
        f"{table.name}: no columns of systems, items and scores, nor a column of scores for each system; "
        f"name them with --system, --item and --score; the columns are {format_column_names(columns)}"
    )


def _read_truth(cell: Any) -> Any:
    return float(cell) if isinstance(cell, bool) else _TRUTH.get(cell.lower(), cell) if isinstance(cell, str) else cell


def _holds_numbers(cells: Sequence[Any]) -> bool:
    values = [parse_number(cell) for cell in cells]
    return None not in values and not all(math.isnan(value or 0.0) for value in values)


def _number(labels: Sequence[Any]) -> Ints:
    return np.unique(list(map(str, labels)), return_inverse=True)[1]


def _read_wide(table: TextTable, roles: Mapping[str, str], numbers: list[str]) -> _Scores:
    """Read a column for each system, or, where a column has the systems, one for each item."""
    cells = np.array(list(table.get_scores(numbers).values()))
    if "system" in roles:
        names = list(map(str, table.columns[roles["system"]]))
        if len(set(names)) < len(names):
            raise InputError(f"{table.name}: systems have several rows; name the column of items with --item")
        return _Scores(names, {"score": cells.T}, None, np.zeros(len(numbers), dtype=np.intp))
    of = {role: _number(table.columns[roles[role]]) for role in ("group", "data_set") if role in roles}
    return _Scores(numbers, {"score": cells}, of.get("group"), of.get("data_set", np.zeros(len(table.rows), np.intp)))


def _read_long(table: TextTable, roles: Mapping[str, str], metrics: list[str]) -> _Scores:
    columns, blank = table.columns, [""] * len(table.rows)
    if any(cell is None for role in ("system", "item") for cell in columns[roles[role]]):
        raise InputError(f"{table.name}: a row has no system or no item")
    labels = {role: list(map(str, columns[roles[role]] if role in roles else blank)) for role in _ROLES}
    systems, of_system = np.unique(labels["system"], return_inverse=True)
    names = [f"{one}\0{two}" for one, two in zip(labels["data_set"], labels["item"], strict=True)]
    items, first, of_item = np.unique(names, return_index=True, return_inverse=True)
    kinds, of_kind = np.unique(labels["metric"], return_inverse=True)
    place, shape = of_system * len(items) + of_item, (len(systems), len(items))
    found = {}
    for name, cells in table.get_scores(metrics).items():
        for number, kind in enumerate(kinds.tolist()):
            known = (of_kind == number) & np.isfinite(cells)
            sums = np.bincount(place[known], np.array(cells)[known], len(systems) * len(items))
            count = np.bincount(place[known], minlength=len(sums))
            mean = np.divide(sums, count, out=np.full(len(sums), np.nan), where=count > 0)
            found[kind if len(metrics) == 1 and kind else f"{kind} {name}".strip()] = mean.reshape(shape)
    groups = _number(labels["group"])
    if not np.array_equal(groups, groups[first][of_item]):
        raise InputError(f"{table.name}: an item belongs to several groups")
    most = int(np.bincount(place * len(kinds) + of_kind).max())
    is_said = most == 1 or "repetition" in roles
    notes = () if is_said else (f"scores of one item and system are averaged (up to {most})",)
    used = {*roles.values(), *metrics, *TEXTS}
    rest = {name: [cells[row] for row in first] for name, cells in columns.items() if name not in used}
    sign = find_repeating_column([rest]) if "group" not in roles and rest else None
    sets = _number([labels["data_set"][row] for row in first])
    return _Scores(systems.tolist(), found, groups[first] if "group" in roles else None, sets, notes, sign)


def _rank(
    table: _Scores, metric: str, sign: int, missing: Missing, level: float
) -> tuple[list[RankedSystem], Row, Ranking, list[str]]:
    """Return the rows of one metric, best first, its counts, its ranking and what to beware of."""
    scores, notes = table.scores[metric], []
    known = np.isfinite(scores)
    kept = known.any(axis=0)
    lacking = (~known[:, kept]).sum(axis=1)
    ranked = np.asarray((2 * lacking <= kept.sum()) | (missing == "zero"))
    if lacking.any():
        scores = np.where(known, scores, 0.0) if missing == "zero" else scores
        left = kept & np.isfinite(scores[ranked]).all(axis=0)
        unranked = join_codes([table.systems[at] for at in np.flatnonzero(~ranked).tolist()], _NAMED)
        said = "they count as 0" if missing == "zero" else f"{kept.sum() - left.sum()} items are left out for all"
        few = f"; not ranked, with less than half of the items: {unranked}" if unranked else ""
        notes.append(f"{metric}: {lacking.sum()} scores are missing, of {(lacking > 0).sum()} systems; {said}{few}")
        kept = left
    items = int(kept.sum())
    if items < _FEWEST or ranked.sum() < 2:
        said = f"{items} items have scores of all of {int(ranked.sum())} systems; ranks need {_FEWEST} and 2"
        raise InputError(f"{metric}: {said}; --missing zero takes missing scores for 0")
    groups = (np.arange(scores.shape[1]) if table.groups is None else table.groups)[kept]
    chosen = np.where(ranked[:, None], scores[:, kept], np.nan)
    means, parts, freedom = _estimate(chosen, groups, table.sets[kept], metric)
    units = parts.shape[1]
    if units < FEWEST_GROUPS and table.groups is not None:
        raise InputError(f"{metric}: {units} groups; ranks need at least {FEWEST_GROUPS}")
    if units < FEWEST_GROUPS:
        notes.append(f"{metric}: only {units} items; ranks rest on few")
    ranking, errors, single = _compare(sign * means, parts, freedom, 1 - (1 - level) / len(table.scores))
    order, better = ranking.order, ranking.better
    neighbours = list(pairwise(order))
    counts = {
        "metric": metric,
        "systems": len(order),
        "items": items,
        "units": units,
        "neighbours": len(neighbours),
        "tied": sum(not better[pair] for pair in neighbours),
        "tied_singly": sum(not single[pair] <= 1 - level for pair in neighbours),
        "second": table.systems[order[1]],
        "items_needed": _count_items_needed(ranking, errors, items),
    }
    spread, rows = np.sqrt((parts**2).sum(axis=1)), []
    is_share = np.nanmin(chosen) >= 0 and np.nanmax(chosen) <= 1
    least, most = (0.0, 1.0) if is_share else (-math.inf, math.inf)
    for row in ranking.placings():
        at, _ = row.pop("place"), row.pop("tier")
        low, high = compute_student_interval(float(means[at]), float(spread[at]), freedom, level)
        tied = [table.systems[other] for other in order if other != at and not (better[at, other] or better[other, at])]
        row |= {"low": max(low, least), "high": min(high, most), "n": items, "missing": int(lacking[at])}
        score = means[at]
        if not ranked[at]:
            score, tied, row["n"] = average_known(scores[at], axis=0), [], int(known[at].sum())
        rows.append(RankedSystem(metric, table.systems[at], float(score), tied_with=tuple(tied), **row))
    return rows, counts, ranking, notes


def _estimate(scores: Floats, groups: Ints, sets: Ints, metric: str) -> tuple[Floats, Floats, float]:
    """Return the mean of each system, what each unit adds to its error, and the degrees of freedom of the errors.

    The squares of what units add sum up to the variance of a mean; those of differences to that of a difference.
    """
    kinds, sets = np.unique(sets, return_inverse=True)
    units, groups = np.unique(groups, return_inverse=True)
    sizes = np.bincount(sets)
    means = np.array([np.bincount(sets, row) for row in scores]) / sizes
    weighted = (scores - means[:, sets]) / (sizes[sets] * len(kinds))
    parts = np.array([np.bincount(groups, row, len(units)) for row in weighted])
    strata = np.full(len(units), len(kinds))
    np.minimum.at(strata, groups, sets)
    if not (strata[groups] == sets).all():  # groups that reach across data sets are one sample
        strata[:] = 0
    count = np.bincount(strata)
    if (count < 2).any():
        raise InputError(f"{metric}: a data set has one item only; if data sets are the items, name them by --item")
    parts = parts * np.sqrt(count / (count - 1))[strata]
    spread = np.nanvar(parts, axis=0)
    variances = np.bincount(strata, spread)
    total, freedom = variances.sum(), float(len(units) - len(count))
    parts = parts[:, np.lexsort((np.nanmax(parts, axis=0), spread))]  # whatever the order of the table
    return means.mean(axis=1), parts, float(total**2 / (variances**2 / (count - 1)).sum()) if total else freedom


def _compare(values: Floats, parts: Floats, freedom: float, level: float) -> tuple[Ranking, Floats, Floats]:
    """Rank values of which more is better; return the errors of differences, and p-values of single tests, too."""
    gram = parts @ parts.T
    sums = np.add.outer(np.diag(gram), np.diag(gram))
    square = np.where(sums - 2 * gram < 1e-12 * sums, 0.0, sums - 2 * gram)  # equal but for rounding
    single = compute_gap_p(np.subtract.outer(values, values), np.sqrt(square), np.full(square.shape, freedom))
    pairs, moderated = np.triu_indices(len(values), 1), np.zeros_like(square)
    moderated[pairs], more = moderate_variances(square[pairs], freedom, int(np.isfinite(values).sum()))
    errors, draws = np.sqrt(moderated + moderated.T), parts.T
    if len(draws) < _FEW:  # too few to say how the errors of pairs go together: Bonferroni's correction
        draws, level = np.zeros_like(draws), 1 - (1 - level) / max(int((square[pairs] > 0).sum()), 1)
    return rank_values(-values, errors, draws, freedom=more, level=level), errors, single


def _count_items_needed(ranking: Ranking, errors: Floats, items: int) -> int | None:
    """Return the items that would separate the first two in 4 of 5 cases, if they differ as much as they do here."""
    pair = first, second = tuple(ranking.order[:2])
    gap, error = float(ranking.values[second] - ranking.values[first]), float(errors[pair])
    if ranking.better[pair] or not gap > 0 or not error > 0:
        return None
    reach = float(ranking.high[pair] - ranking.low[pair]) / 2
    return int(min(items * ((reach + _POWER * error) / gap) ** 2, 1e9))
