"""`textgauge reproduce`: the ledger of a paper's claims, then its tables next to ours."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

from textgauge.bench import Plan, Results, Store, compute
from textgauge.cli import (
    Format,
    FormatOption,
    argument,
    command,
    note,
    option,
    print_answer,
    print_result,
    print_table,
    show_progress,
)
from textgauge.core import InputError, ResourceError, Row, TableResult, UnknownName, format_cell
from textgauge.encode import get_cache_root, make_cache_folder
from textgauge_papers.ledger import count_findings, summarise_findings
from textgauge_papers.paper import Paper, Request, measure_time, read_time

_SHORT = ("outcome", "claim", "paper", "ours", "interval", "why", "deviation", "data")  # of a ledger on a terminal


@command
def reproduce(
    paper: Annotated[
        str | None,
        argument(help="The paper: ackerman2023, kour2022, usmb, yamshchikov2020 or zwerdling2021; or `beyond`."),
    ] = None,
    every: Annotated[bool, option("--all", help="The claims of all five papers, and what goes beyond them.")] = False,
    tables: Annotated[bool, option("--tables", help="Print only the tables, not the claims.")] = False,
    table: Annotated[str | None, option(help="Print only this table, such as 3 or figure1.")] = None,
    figures: Annotated[
        Path | None, option(help="Also draw the paper's figures, and write them to this folder.", metavar="FOLDER")
    ] = None,
    variant: Annotated[
        str, option(help="ackerman2023: definition (the rules as written), paper (what the authors computed), or both.")
    ] = "both",
    out: Annotated[
        Path | None,
        option("--out", help="The folder of the run; with --all, it has one for each paper.", metavar="FOLDER"),
    ] = None,
    kept: Annotated[bool, option("--kept", help="Run nothing: judge what the folder of the run has.")] = False,
    repetitions: Annotated[
        int | None, option(min=1, help="kour2022: repetitions of mixtures, 40 by default; the same as --param.")
    ] = None,
    param: Annotated[
        tuple[str, ...],
        option(
            help="NAME=VALUE, another size or model than the usual one. kour2022: repetitions; ackerman2023: samples; "
            "usmb: encoders, queries; yamshchikov2020: word2vec, fasttext (word vectors), elmo (a folder of weights)."
        ),
    ] = (),
    seed: Annotated[int, option(min=0, help="Random seed.")] = 0,
    jobs: Annotated[int, option("-j", "--jobs", min=1, help="Number of local processes.")] = 1,
    form: FormatOption = Format.table,
) -> None:
    """Check what a paper finds: whether each finding holds, the claims below it, then the tables next to ours.

    A finding holds where more than half of its claims hold and none is the other way round. Each claim is judged by
    itself, at 95 %: the counts are not adjusted for the number of claims. What takes long is resumed by `--out`.
    `--format json` and `csv` give the list of claims; with `--tables` or `--table` they give the tables.
    """
    from textgauge_papers import PAPERS

    if every == (paper is not None):
        raise InputError(f"name one paper ({', '.join(PAPERS)}), or --all")
    if paper is not None and paper not in PAPERS:
        raise UnknownName.among("paper", paper, PAPERS)
    chosen = [PAPERS[paper]] if paper is not None else list(PAPERS.values())
    if table is not None and table not in chosen[0].tables:
        raise InputError(f"{paper} has no table {table!r} here; the tables are {', '.join(chosen[0].tables)}")
    given = _parse_params(chosen, param, repetitions)
    if every and not kept:
        note(_estimate(chosen))
    ledgers: list[Row] = []
    took: dict[str, float] = {}
    failed = False
    for one in chosen:
        request = Request(_variants(variant, one.variants), seed, one.read_params(given))
        folder = out or make_cache_folder(get_cache_root() / "runs")
        apart = every or out is None or (folder / one.name).is_dir()
        store = Store(folder / one.name if apart else folder)
        try:
            with measure_time(store):
                failed |= not kept and _compute(one, request, store, jobs, say=not every)
        except ResourceError as error:
            if not every:
                raise
            note(f"warning: {one.name} is left out: {error}")
            continue
        results = Results(store, seed=seed)
        took[one.name] = read_time(store)
        if not tables and table is None:
            ledgers += [{"source": one.name, **row} for row in one.ledger(results, request)]
        if not every and (tables or table is not None or form.for_people):
            _print_ledger(ledgers, took, form)
            rows = [row for row in one.rows(results, request) if table in (None, row["table"])]
            shown = [{name: format_cell(value) for name, value in _known(row).items()} for row in rows]
            print_result(TableResult("reproduce", rows, _of(one, rows), shown=shown), form)
            ledgers = []
        if figures is not None:
            _draw(one, results, figures / one.name if every else figures)
    _print_ledger(ledgers, took, form)
    if failed:
        raise SystemExit(1)


def _parse_params(papers: list[Paper], params: tuple[str, ...], repetitions: int | None) -> dict[str, str]:
    """Return values by name; refuse a name that no chosen paper has.

    >>> from textgauge_papers import PAPERS
    >>> _parse_params([PAPERS["kour2022"]], ("repetitions=5",), None)
    {'repetitions': '5'}
    """
    given = dict(part.partition("=")[::2] for part in params)
    given |= {} if repetitions is None else {"repetitions": str(repetitions)}
    for name in given:
        known = {one for paper in papers for one in paper.params}
        if name not in known:
            raise InputError(f"no --param {name!r}; what can be changed: {', '.join(sorted(known)) or 'nothing'}")
    return given


def _estimate(papers: list[Paper]) -> str:
    """Return what papers took, in words.

    >>> from textgauge_papers import PAPERS
    >>> _estimate([PAPERS["ackerman2023"]])
    'processor time of one core, where nothing is there yet: ackerman2023 2 minutes'
    """
    each = ", ".join(f"{paper.name} {paper.minutes:g}" for paper in papers)
    total = f", {sum(paper.minutes for paper in papers):g} in all" if len(papers) > 1 else ""
    return f"processor time of one core, where nothing is there yet: {each} minutes{total}"


def _of(paper: Paper, rows: list[Row]) -> str:
    """Return what the rows of tables are, in one sentence."""
    sources = Counter(str(row["source"]) for row in rows if "source" in row)
    parts = ", ".join(f"{count} from {source}" for source, count in sources.items())
    return f"{paper.name}: {len(rows)} rows of tables" + (f"; ours are {parts}" if parts else "")


def _draw(paper: Paper, results: Results, folder: Path) -> None:
    from textgauge_papers.figures import write_figures

    drawn = list(write_figures(paper, results, folder))
    note(f"{drawn[-1]} shows {len(drawn) - 1} figures" if drawn else f"{paper.name}: the run holds nothing to draw")
    numbers = dict.fromkeys(figure.number for figure in paper.figures)
    missing = [one for one in numbers if not any(path.name.startswith(f"figure-{one}-") for path in drawn)]
    if drawn and missing:
        note(f"not drawn, because the run has no data for it: figure {', '.join(missing)}")


def _print_ledger(rows: list[Row], took: dict[str, float], form: Format) -> None:
    if not rows:
        return
    own: dict[str, list[Row]] = {}
    for row in rows:
        own.setdefault(row["source"], []).append(row)
    times = {source: f", {seconds / 60:.1f} minutes of processor time" for source, seconds in took.items() if seconds}
    answers = [f"{source}: {count_findings(part)}{times.get(source, '')}" for source, part in own.items()]
    if not form.for_people:
        known = {source: round(seconds, 1) for source, seconds in took.items() if seconds}
        print_result(
            TableResult("reproduce", rows, " ".join(answers), extra={"seconds": known} if known else None), form
        )
        return
    for answer in answers:
        print_answer(answer, form)
    for source, part in own.items():
        if len(own) > 1:
            print_answer(source, form)
        print_table([_known(row) for row in summarise_findings(part)], form)
        print_table([_known({name: row[name] for name in _SHORT}) for row in part], form)


def _known(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


def _compute(paper: Paper, request: Request, store: Store, jobs: int, *, say: bool) -> bool:
    """Run what the store lacks, and say what it takes; return whether anything failed."""
    plans = [] if paper.program is not None else _plans(paper, request)
    if say:
        note(_estimate([paper]))
    if paper.program is not None:
        with show_progress():
            paper.program(request).run_rows(store.folder, seed=request.seed)
        return False
    with show_progress(is_left=True):
        failures = compute(plans, store, jobs=jobs).failures
    if paper.also is not None:
        paper.also(store, request)
    for failure in failures:
        note(f"warning: {failure}")
    return bool(failures)


def _variants(name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    if name == "both":
        return known
    if name not in known:
        raise InputError(f"--variant is {', '.join(known)} or both, not {name!r}")
    return (name,)


def _plans(paper: Paper, request: Request) -> list[Plan]:
    try:
        return paper.plans(request)
    except ResourceError as error:
        if not paper.fed:
            raise
        note(f"warning: {error}; only published numbers are fed through our formulas")
        return []
