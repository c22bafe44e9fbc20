"""`textgauge leaderboard`: metrics of a run, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from textgauge.bench import Store
from textgauge.bench.inputs import drop_none
from textgauge.bench.leaderboard import Leaderboard, format_titled, join_answers, join_details, join_rows, rank_by_kind
from textgauge.bench.results import Results, filter_measures, list_verdict_warnings, list_verdicts
from textgauge.cli.door import argument, calling, option, refuse
from textgauge.cli.output import (
    Format,
    FormatOption,
    fill_line,
    note,
    print_answer,
    print_result,
    print_table,
    say,
)
from textgauge.core.errors import InputError
from textgauge.core.result import TableResult
from textgauge.running import Run


@calling(Run.leaderboard, without=["self"], kinds={"measures": str | None})
def leaderboard(
    given: dict[str, Any],
    folder: Annotated[Path, argument(help="The folder of a run.")],
    detail: Annotated[
        bool, option("--detail", help="Print one row for each data set, protocol, metric and measure.")
    ] = False,
    tests: Annotated[
        bool,
        option("--tests", help="Test all pairs of metrics, one row each; for rated pairs, tasks and perturbation."),
    ] = False,
    on: Annotated[
        str | None,
        option(
            help="What --tests compares: pearson, spearman (default) or kendall for rated pairs, a measure for others."
        ),
    ] = None,
    ceiling: Annotated[
        bool, option("--ceiling", help="Rated pairs: print how well raters agree with each other.")
    ] = False,
    form: FormatOption = Format.table,
) -> None:
    """Rank the metrics of a run, with rank ranges and tiers that hold for all metrics together.

    Protocols that rank mostly the same metrics share a table; a run with several kinds of metrics has a table for each.
    Nothing is computed again: --judgements, --ties and --linearity only change how stored values are judged.
    """
    from textgauge.bench.contrasts import measure_ceilings

    if not tests:
        refuse("a leaderboard without --tests", "--on")
    if tests or ceiling or detail:
        refuse("--tests" if tests else "--ceiling" if ceiling else "--detail", "--weights", "--scope")
    if tests or ceiling:
        refuse("--tests" if tests else "--ceiling", "--measures")
    weights, measures, scope = (given.pop(name) for name in ("weights", "measures", "scope"))
    options = drop_none(given)
    results = Results(Store.open(folder))
    if tests:
        _print_tests(results, on, options, form)
        return
    if ceiling:
        print_result(TableResult("leaderboard", measure_ceilings(results.groups())), form)
        return
    judged = results.judged(options)
    warned = tuple(list_verdict_warnings(results, judged))
    judged = filter_measures(judged, measures)
    if detail:
        print_result(TableResult("leaderboard", list_verdicts(judged), warnings=warned), form)
        return
    boards = rank_by_kind(judged, _parse_weights(weights or {}), scope=scope)
    print_boards(boards, warned, form)


def print_boards(
    boards: Mapping[str, Leaderboard], warnings: Sequence[str], form: Format, *, command: str = "leaderboard"
) -> None:
    """Leaderboards by title, each with its answer first; JSON has the rows of all, all answers and notes."""
    if not form.for_people:
        rows = join_rows({title: board.to_dicts() for title, board in boards.items()})
        answer, details = join_answers(boards), join_details(boards)
        print_result(TableResult(command, rows, answer, tuple(warnings), extra=details), form)
        return
    for number, (title, board) in enumerate(boards.items()):
        say("\n" * bool(number), nl=False)
        print_answer(format_titled(title, board.answer), form)
        print_table(board.readable(), form)
        for line in board.notes if form is not Format.latex else ():
            say(fill_line(f"note: {line}"))
    for text in warnings:
        note(f"warning: {text}")


def _print_tests(results: Results, on: str | None, options: dict[str, str], form: Format) -> None:
    from textgauge.bench.contrasts import SHOWN, contrast_correlations, contrast_measures, select_rated_groups

    if select_rated_groups(results.groups()):
        rows, shown = contrast_correlations(results.groups(), correlation=on or "spearman"), None
    else:
        rows = contrast_measures(filter_measures(results.judged(options), on))
        shown = [{name: row[name] for name in SHOWN} for row in rows]
    print_result(TableResult("leaderboard", rows, shown=shown), form)


def _parse_weights(given: Mapping[str, str]) -> dict[str, float]:
    weights = {}
    for name, value in given.items():
        try:
            weights[name] = float(value)
        except ValueError:
            raise InputError(f"weights are written measure=number, not {name}={value}") from None
    return weights
