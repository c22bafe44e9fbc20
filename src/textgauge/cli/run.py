"""`textgauge run`: protocols on data, resumed where they were."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path
from typing import Annotated, Any

from textgauge.bench.inputs import drop_none
from textgauge.bench.results import Results, list_verdict_warnings
from textgauge.bench.suites import find_suite
from textgauge.cli.door import calling, option, refuse
from textgauge.cli.leaderboard import print_boards
from textgauge.cli.output import Format, FormatOption, note, print_next, print_result
from textgauge.cli.progress import progress, progress_bar
from textgauge.core.errors import InputError
from textgauge.core.result import TableResult
from textgauge.core.show import format_cell
from textgauge.running import Run
from textgauge.running import run as run_protocol

_WORD, _WORDS = str | None, list[str] | None


@calling(
    run_protocol,
    without=["groups", "rated_only"],
    options={"repeat": ["--judge-again"], "swapped": ["--judge-swapped"]},
    kinds={"left": _WORD, "right": _WORD, "steps": _WORD, "rating": _WORDS, "repeat": _WORDS},
)
def run(
    given: dict[str, Any],
    out: Annotated[Path, option(help="The folder that keeps the run; a run that is already there is resumed.")],
    set_column: Annotated[str | None, option("--set", help="The column that says which set a pair belongs to.")] = None,
    system_column: Annotated[str | None, option("--system", help="The column of systems that wrote the texts.")] = None,
    item_column: Annotated[str | None, option("--item", help="The column of items (segments).")] = None,
    k: Annotated[
        str | None, option("-k", "--k", help="ksc: the number of mixtures; several as 7,12; default: the protocol's.")
    ] = None,
    n: Annotated[
        int | None, option("-n", "--n", help="Number of texts in each corpus; default: the protocol's.")
    ] = None,
    repetitions: Annotated[
        int | None, option(min=1, help="How often texts are drawn anew; default: the protocol's.")
    ] = None,
    param: Annotated[
        list[str] | None,
        option("--param", "-p", help="Another parameter of the protocol, as name=value; repeat for several."),
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Run a suite or a protocol and keep every finished result in a folder.

    Examples: textgauge run ksc --source-a a.txt --source-b b.txt -m fid,mauve -k 7,12 -n 100 --out runs/x ·
    textgauge run agreement --pairs rated.csv --left a --right b --rating score -m chrf,cosine --out runs/y ·
    textgauge run distributionality --pairs paraphrases.csv --left a --right b -m irpr,fid --out runs/z ·
    textgauge run clustering --labelled texts.csv --columns text=body,label=topic -m cosine,jaccard --out runs/u
    """
    if given["judge"] is None:
        refuse("a run without --judge", "--judge-again", "--judge-swapped", "--margin")
    given["repeat"] = given["repeat"] or ()
    parameters = drop_none({"k": k, "n": n, "repetitions": repetitions}) | _parse_parameters(param or [])
    groups = drop_none({"set": set_column, "system": system_column, "item": item_column})
    what, folder = given.pop("what"), shlex.quote(str(out))
    suite = find_suite(what)
    if suite is not None and suite.program is not None:
        _run_program(suite, parameters, {**given, "groups": groups or None}, out, form)
        return
    finished = _run(what, {**given, **parameters, "groups": groups, "out": out})
    if given["dry_run"]:
        rows = finished.cells()
        there = sum(row["state"] == "there" for row in rows)
        answer = f"{len(rows)} results, {there} of them there."
        print_result(TableResult("run", rows, answer, finished.warnings), form)
        return
    total = finished.found + finished.computed
    note(f"{total} results: {finished.found} were there, {finished.computed} computed, kept in {finished.folder}")
    for failure in finished.failures:
        note(f"warning: {failure}")
    results = Results(finished.store)
    warned = (*finished.warnings, *list_verdict_warnings(results, results.judged()))
    print_boards(finished.leaderboards, warned, form, command="run")
    if finished.audit is not None:
        note(f"audit of the judge: {finished.audit.save(out / 'judge_audit.json')}")
        if form.for_people:
            print_result(finished.audit, form)
    print_next([f"textgauge leaderboard {folder} --detail", f"textgauge report {folder} -o report.html"], form)
    if finished.failures:
        raise SystemExit(1)


def _run(what: str, given: dict[str, Any]) -> Run:
    """Run a protocol; what it warns of is in the result, and Ctrl-C says how much is kept."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with progress_bar() as step:
                finished = run_protocol(what, **given, on_progress=step)
        except KeyboardInterrupt:
            cells = run_protocol(what, **{**given, "dry_run": True}).cells()
            kept = (
                f"{sum(cell['state'] == 'there' for cell in cells)} of {len(cells)} results are kept in {given['out']}"
            )
            note(f"interrupted: {kept}; run the same command again to resume")
            raise SystemExit(130) from None
    for text in dict.fromkeys(str(one.message) for one in warned):
        if text not in (*finished.warnings, *finished.failures):
            note(f"warning: {text}")
    return finished


def _run_program(suite: Any, parameters: dict[str, Any], given: dict[str, Any], out: Path, form: Format) -> None:
    """Run a suite that has no results of single metrics, and print its table."""
    plain = ("seed", "jobs", "scheduler", "margin", "repeat")
    if any(value for name, value in given.items() if name not in plain):
        raise InputError(f"the suite {suite.name} sets its own data and has no metrics; it takes -n and -p")
    with progress() as step:
        rows = suite.make_program(parameters).run_rows(out, seed=given["seed"], on_step=step, on_note=note)
    shown = [{name: format_cell(value) for name, value in row.items()} for row in rows]
    print_result(TableResult("run", rows, shown=shown), form)


def _parse_parameters(items: list[str]) -> dict[str, str]:
    """Parse `name=value` items, whose values may hold commas."""
    parameters = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals:
            raise InputError(f"parameters are written name=value, not {item!r}")
        parameters[name] = value
    return parameters
