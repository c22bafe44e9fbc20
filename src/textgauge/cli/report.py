"""`textgauge report` and `textgauge figures`: a page about runs and results, and the pictures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from textgauge.bench import Store
from textgauge.bench.results import Results, format_missing_results
from textgauge.cli.door import argument, command, option
from textgauge.cli.output import note, say
from textgauge.core.errors import InputError
from textgauge.core.files import write_atomically

if TYPE_CHECKING:
    from textgauge.report.page import ResultFile


@command
def report(
    sources: Annotated[
        list[Path], argument(help="Folders of runs, and .json results of compare, score, describe and reproduce.")
    ],
    out: Annotated[Path, option("--output", "-o", help="The HTML file to write.")],
    title: Annotated[
        str | None, option(help="The heading of the page; default: one that names the runs and results.")
    ] = None,
    texts: Annotated[
        list[Path] | None,
        option(help="A table of texts from `compare --explain-to` or `describe --per-text`; repeat for several."),
    ] = None,
) -> None:
    """Write one HTML page about runs and results; it needs no network. Prints the file's name and the main findings.

    Example: textgauge report runs/x -o report.html --title "Which metric for intents?"
    """
    from textgauge.report.page import read_texts, render_page_and_summary

    stores, results = _read(sources)
    tables = [table for path in texts or () for table in read_texts(path)]
    made, summary = render_page_and_summary(stores, results, tables, title=title)
    content = made.encode()
    write_atomically(out, content)
    for about, sentences in summary:
        note(f"{about}: {' '.join(sentences)}")
    say(str(out))
    note(f"{len(content) / 1e6:.1f} MB; open it in any browser")


def _read(sources: list[Path]) -> tuple[list[Store], list[ResultFile]]:
    from textgauge.report.page import read_result

    stores, results = [], []
    for source in sources:
        if source.suffix.lower() == ".json":
            results.append(read_result(source))
        elif source.is_file():
            raise InputError(f"{source}: neither the folder of a run nor a .json file of results")
        else:
            stores.append(Store.open(source))
    return stores, results


@command
def figures(
    folder: Annotated[Path, argument(help="The folder of a run.")],
    out: Annotated[Path, option("--folder", help="The folder to write the figures to.")],
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
    for text in [*([format_missing_results(missing)] if missing else []), *results.warnings]:
        note(f"warning: {text}")
    chosen = draw.choose_metrics(found, metrics)
    drawn = 0
    for figure in draw.draw_figures(found, kinds=kinds, metrics=chosen, repetition=repetition - 1):
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
