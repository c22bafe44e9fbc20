"""`textgauge report`: a page about runs and results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textgauge.cli.output import note
from textgauge.errors import InputError
from textgauge.evaluate import Store
from textgauge.files import write_atomically

if TYPE_CHECKING:
    from textgauge.report.page import ResultFile


def report(
    sources: Annotated[
        list[Path], typer.Argument(help="Folders of runs, and JSON results of compare, score and describe.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file to write.")],
    title: Annotated[str | None, typer.Option(help="The heading of the page.")] = None,
    texts: Annotated[
        list[Path] | None,
        typer.Option(help="Tables of single texts, as `compare --explain-to` and `describe --per-text` write them."),
    ] = None,
) -> None:
    """Write one HTML page about runs and results, which needs no network; print its name, and what it says first.

    Example: textgauge report runs/x -o report.html --title "Which metric for intents?"
    """
    from textgauge.report.page import page_and_summary, read_texts

    stores, results = _read(sources)
    tables = [table for path in texts or () for table in read_texts(path)]
    made, summary = page_and_summary(stores, results, tables, title=title)
    content = made.encode()
    write_atomically(out, content)
    for about, sentences in summary:
        note(f"{about}: {' '.join(sentences)}")
    typer.echo(out)
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
