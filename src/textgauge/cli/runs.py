"""Metrics and judges put to the test: `run`, `recommend`, `judge`, and what is read off a run or a result."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from textgauge.bench import Store, contrasts
from textgauge.bench.inputs import drop_none
from textgauge.bench.judge_audit import audit_judge
from textgauge.bench.leaderboard import BoardsResult, Leaderboards, format_titled, rank_by_kind
from textgauge.bench.plan import has_program, make_program
from textgauge.bench.recommend import Recommendation
from textgauge.bench.recommend import recommend as run_recommend
from textgauge.bench.results import (
    Results,
    filter_measures,
    format_missing_results,
    list_verdict_warnings,
    list_verdicts,
)
from textgauge.bench.scores import leaderboard as rank_scores
from textgauge.cli.door import OUTPUT, argument, calling, check_writable, command, option, parse_setting, refuse
from textgauge.cli.output import (
    Format,
    FormatOption,
    OutputOption,
    note,
    print_answer,
    print_next,
    print_result,
    print_table,
    print_titled,
    say,
    show_progress,
)
from textgauge.core.errors import InputError
from textgauge.core.files import write_atomically
from textgauge.core.result import TableResult
from textgauge.core.show import format_cell, format_count
from textgauge.data.formats import is_glob
from textgauge.running import Run
from textgauge.running import run as run_protocol

_WORD = str | None
_ANSWERS = (".md", ".json", ".html")  # of files that `recommend` writes
_OF_SCORES = [name for name, one in signature(rank_scores).parameters.items() if one.kind is one.KEYWORD_ONLY]
_OF_RUNS = (
    "--weights", "--measures", "--scope", "--judgements", "--ties", "--linearity", "--detail", "--tests", "--on",
    "--ceiling",
)  # fmt: skip


@calling(
    run_protocol,
    without=["groups", "rated_only"],
    kinds={"left": _WORD, "right": _WORD, "steps": _WORD, "rating": list[str] | None},
)
def run(
    given: dict[str, Any],
    out: Annotated[
        Path | None,
        option(
            help="The folder of the run; one that is there is resumed; default: runs/ and its name.", metavar="FOLDER"
        ),
    ] = None,
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
    parameters = drop_none({"k": k, "n": n, "repetitions": repetitions}) | dict(map(parse_setting, param or ()))
    groups = drop_none({"set": set_column, "system": system_column, "item": item_column})
    what = given.pop("what")
    out = out or Path("runs") / what
    if has_program(what):
        _run_program(what, parameters, {**given, "groups": groups or None}, out, form)
        return
    finished = _run(what, {**given, **parameters, "groups": groups, "out": out})
    if given["dry_run"]:
        rows = finished.cells()
        there = sum(row["state"] == "there" for row in rows)
        answer = f"{format_count(len(rows), 'result')}, {there} of them there."
        print_result(TableResult("run", rows, answer, finished.notes), form)
        return
    total = format_count(finished.found + finished.computed, "result")
    note(f"{total}: {finished.found} were there, {finished.computed} computed, kept in {finished.folder}")
    note(*finished.failures, start="warning: ")
    _print_boards(finished, form)
    folder = shlex.quote(str(out))
    print_next([f"textgauge leaderboard {folder} --detail", f"textgauge report {folder} -o report.html"], form)
    if finished.failures:
        raise SystemExit(1)


def _run(what: str, given: dict[str, Any]) -> Run:
    """Run a protocol; what it warns of is in the result, and Ctrl-C says how much is kept."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with show_progress(is_left=True):
                finished = run_protocol(what, **given)
        except KeyboardInterrupt:
            cells = run_protocol(what, **{**given, "dry_run": True}).cells()
            kept = f"{sum(cell['state'] == 'there' for cell in cells)} of {len(cells)} results are kept"
            note(f"interrupted: {kept} in {given['out']}; run the same command again to resume")
            raise SystemExit(130) from None
    said = dict.fromkeys(str(one.message) for one in warned)
    note(*(text for text in said if text not in (*finished.notes, *finished.failures)), start="warning: ")
    return finished


def _run_program(suite: str, parameters: dict[str, Any], given: dict[str, Any], out: Path, form: Format) -> None:
    """Run a suite that has no results of single metrics, and print its table."""
    plain = ("seed", "jobs", "scheduler")
    if any(value for name, value in given.items() if name not in plain):
        raise InputError(f"the suite {suite} sets its own data and has no metrics; it takes -n and -p")
    kept = f"interrupted: what is finished is kept in {out}; run the same command again to resume"
    with show_progress(on_interrupt=lambda: note(kept)):
        rows = make_program(suite, parameters).run_rows(out, seed=given["seed"])
    shown = [{name: format_cell(value) for name, value in row.items()} for row in rows]
    print_result(TableResult("run", rows, shown=shown), form)


@calling(Run.leaderboard, without=["self"], kinds={"measures": str | None}, also=[rank_scores])
def leaderboard(
    given: dict[str, Any],
    sources: Annotated[
        list[str],
        argument(help="The folder of a run; or scores of single items: tables, logs of harnesses, folders of them."),
    ],
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
    output: OutputOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Rank the metrics of a run, or any systems by scores of single items: who is first, who is tied with whom.

    Rank ranges and ties hold for all metrics or systems together. Scores are tables in long form (system, item, score)
    or wide form (a column for each system), and logs of Inspect, lm-evaluation-harness, promptfoo, DeepEval, HELM, mteb
    and every_eval_ever. Of a run nothing is computed again: --judgements, --ties and --linearity only change how stored
    values are judged.

    Examples: textgauge leaderboard runs/x · textgauge leaderboard scores.csv --group document ·
    textgauge leaderboard logs/*.eval --score includes
    """
    table = {name: given.pop(name) for name in _OF_SCORES}
    if not _is_run(sources):
        refuse("a table of scores", *_OF_RUNS)
        print_result(rank_scores(sources, **drop_none(table)), form, output)
        return
    refuse("the leaderboard of a run", "--output", "-o", *(f"--{name.replace('_', '-')}" for name in _OF_SCORES))
    asked = "--tests" if tests else "--ceiling" if ceiling else "--detail" if detail else ""
    if not tests:
        refuse("a leaderboard without --tests", "--on")
    if asked:
        refuse(asked, "--weights", "--scope", *(() if asked == "--detail" else ("--measures",)))
    weights, measures, scope = (given.pop(name) for name in ("weights", "measures", "scope"))
    results, options, shown = Results(Store.open(sources[0])), drop_none(given), None
    if not asked or asked == "--detail":
        groups = results.groups(options)
        warned = tuple(list_verdict_warnings(results, groups))
        groups = filter_measures(groups, measures)
        if detail:
            print_result(TableResult("leaderboard", list_verdicts(groups), warnings=warned), form)
        else:
            boards = rank_by_kind(groups, _parse_weights(weights or {}), scope=scope)
            _print_boards(Leaderboards(boards, warned), form)
        return
    if ceiling and not tests:
        rows = contrasts.measure_ceilings(results.groups())
    elif contrasts.select_rated_groups(results.groups()):
        rows = contrasts.contrast_correlations(results.groups(), correlation=on or "spearman")
    else:
        rows = contrasts.contrast_measures(filter_measures(results.groups(options), on))
        shown = [{name: row[name] for name in contrasts.SHOWN} for row in rows]
    print_result(TableResult("leaderboard", rows, shown=shown), form)


def _is_run(sources: Sequence[str]) -> bool:
    """Whether this is the folder of a run, or would be called so; anything else is a table of scores."""
    name, path = sources[0], Path(sources[0])
    if len(sources) > 1 or is_glob(name) or ":" in name:
        return False
    return bool(Store(path).manifests()) if path.is_dir() else not path.exists() and not path.suffix


def _print_boards(result: BoardsResult, form: Format) -> None:
    """Print each leaderboard after its title, the answer first; JSON and CSV have the rows of all."""
    if not form.for_people:
        print_result(result, form)
        return
    for number, (title, board) in enumerate(result.leaderboards.items()):
        say("\n" * bool(number), nl=False)
        print_answer(format_titled(title, board.answer), form)
        print_table(board.readable(), form, board.notes)
    note(*result.warnings, start="warning: ")


def _parse_weights(given: Mapping[str, str]) -> dict[str, float]:
    weights = {}
    for name, value in given.items():
        try:
            weights[name] = float(value)
        except ValueError:
            raise InputError(f"weights are written measure=number, not {name}={value}") from None
    return weights


@calling(run_recommend, options={"reference": ["--reference"], "candidate": ["--candidate"]})
def recommend(
    given: dict[str, Any],
    output: Annotated[
        Path | None,
        option(
            "--output",
            "-o",
            help="Write the answer to a .md, .json or .html file.",
            group=OUTPUT,
            validator=check_writable,
        ),
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Find the metric to use: the best one, those tied with it, how many texts they need, what they cost.

    Examples: textgauge recommend --reference a.txt --candidate b.txt --effort quick ·
    textgauge recommend --pairs rated.csv --left a --right b --rating score · textgauge recommend --task clustering
    --data sample:intents
    """
    if output is not None and output.suffix not in _ANSWERS:
        raise InputError(f"{output}: the answer is written to a file that ends in {', '.join(_ANSWERS)}")
    with show_progress():
        answer = run_recommend(**given)
    if output is not None:
        _write_recommendation(answer, output)
        note(f"written to {output}")
    if form is Format.markdown:
        say(answer.to_markdown(), nl=False)
        return
    print_result(answer, form)
    for text in answer.notes if form is Format.table else ():
        note(f"note: {text}")


def _write_recommendation(answer: Recommendation, path: Path) -> None:
    """Write the answer as a result that is saved, as text, or as the page that `textgauge report` makes of it."""
    from textgauge.report.page import read_result, render_page

    if path.suffix == ".json":
        answer.save(path)
    elif path.suffix == ".md":
        write_atomically(path, answer.to_markdown())
    else:
        with TemporaryDirectory() as folder:
            saved = read_result(answer.save(Path(folder) / "recommend.json"))
        write_atomically(path, render_page([], [saved], title=answer.title))


@calling(audit_judge, several=["rating", "text", "repeat"])
def judge(
    given: dict[str, Any],
    top: Annotated[int, option(min=0, help="How many disagreements are shown.", group=OUTPUT)] = 5,
    output: OutputOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Say how well a judge, such as a language model, agrees with people, where it is biased, and where it differs.

    With the ratings of two people or more: whether it may take the place of a person.

    Examples: textgauge judge ratings.csv --judge gpt --rating human ·
    textgauge judge ratings.csv --judge gpt --rating ann bob cyd --swapped gpt_swapped -o judge.json
    """
    audit = audit_judge(**given)
    print_result(audit, form, output)
    if not form.for_people:
        return
    for title, rows in (
        ("Ratings of people in rows, of the judge in columns", audit.confusion),
        (f"Where they differ most ({len(audit.disagreements):,} items)", audit.disagreements[:top]),
    ):
        print_titled(title, rows, form)


@command
def report(
    sources: Annotated[
        list[Path],
        argument(
            help="Saved results (.json), folders of runs, and tables of texts from `compare --atlas` or `describe "
            "--per-text`."
        ),
    ],
    out: Annotated[Path, option("--output", "-o", help="The HTML file to write.", validator=check_writable)] = Path(
        "report.html"
    ),
    title: Annotated[
        str | None, option(help="The heading of the page; default: one that names the runs and results.")
    ] = None,
) -> None:
    """Write one HTML page about results and runs; it needs no network. Prints the file's name and the main findings.

    The page shows the texts of results that were saved with --explain.

    Examples: textgauge report found.json -o report.html ·
    textgauge report runs/x -o report.html --title "Which metric for intents?"
    """
    from textgauge.report.page import read_result, render_page_and_summary

    results = [read_result(source) for source in sources if not source.is_dir() and source.suffix]
    stores = [Store.open(source) for source in sources if source.is_dir() or not source.suffix]
    made, summary = render_page_and_summary(stores, results, title=title)
    content = made.encode()
    write_atomically(out, content)
    for about, sentences in summary:
        note(f"{about}: {' '.join(sentences)}")
    say(str(out))
    note(f"{max(len(content) / 1e6, 0.1):.1f} MB; open it in any browser")


@command
def figures(
    folder: Annotated[Path, argument(help="The folder of a run.")],
    out: Annotated[Path, option("--folder", help="The folder to write the figures to.", metavar="FOLDER")],
    kind: Annotated[
        str | None,
        option(help="Which figures, such as distance,radar; default: all. `textgauge ls figures` lists them."),
    ] = None,
    form: Annotated[str, option("--type", help="File types, such as html,svg,png.")] = "html",
    metrics: Annotated[
        list[str] | None, option("-m", "--metrics", help="Only these metrics of the run; default: all.")
    ] = None,
    repetition: Annotated[int, option(min=1, help="The repetition that tree figures show.")] = 1,
) -> None:
    """Draw the figures of a run, and print the names of the files.

    Example: textgauge figures runs/x --folder figures --kind distance,radar --type svg
    """
    from textgauge.report import figures as draw

    kinds = _split_names(kind, tuple(draw.KINDS), "figure")
    formats = _split_names(form, draw.FORMATS, "format")
    results = Results(Store.open(folder))
    found = draw.select_latest_groups(results.groups())
    missing = sum(sum(group.missing.values()) for group in found)
    warned = [*([format_missing_results(missing, results.count)] if missing else []), *results.warnings]
    note(*warned, start="warning: ")
    chosen = draw.choose_metrics(found, metrics)
    drawn = 0
    for figure in draw.draw_figures(found, kinds=kinds, metrics=chosen, repetition=repetition - 1):
        out.mkdir(parents=True, exist_ok=True)
        for ending in formats:
            drawn += 1
            say(str(write_atomically(out / f"{figure.name}.{ending}", draw.render_chart(figure.chart, ending))))
    if not drawn:
        raise InputError(f"{folder} holds nothing to draw as {', '.join(kinds)}")


def _split_names(text: str | None, known: tuple[str, ...], what: str) -> list[str]:
    names = list(known) if text is None else [name.strip() for name in text.split(",") if name.strip()]
    wrong = [name for name in names if name not in known]
    if wrong or not names:
        raise InputError(f"no {what} {wrong[0] if wrong else text!r}; choose among {', '.join(known)}")
    return list(dict.fromkeys(names))
