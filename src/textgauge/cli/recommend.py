"""`textgauge recommend`: which metric to use on these data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textgauge.cli.output import Format, FormatOption, note, print_result, print_table, say
from textgauge.cli.progress import progress
from textgauge.core.errors import InputError
from textgauge.core.files import write_atomically

if TYPE_CHECKING:
    from textgauge.bench.recommend import Recommendation


def recommend(
    reference: Annotated[str | None, typer.Option(help="The reference corpus: a file, sample or dataset.")] = None,
    candidate: Annotated[str | None, typer.Option(help="The corpus to compare with the reference.")] = None,
    pairs: Annotated[str | None, typer.Option(help="A table, sample or dataset of rated pairs.")] = None,
    left: Annotated[str, typer.Option(help="The column of the left texts of --pairs.")] = "left",
    right: Annotated[str, typer.Option(help="The column of the right texts of --pairs.")] = "right",
    rating: Annotated[
        list[str] | None,
        typer.Option(help="A column of ratings of --pairs, larger for more similar; repeat for several raters."),
    ] = None,
    task: Annotated[str | None, typer.Option(help="A task by name, such as clustering; it needs --data.")] = None,
    data: Annotated[str | None, typer.Option(help="The data of --task: a file, sample or dataset.")] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--metrics",
            help="Metrics, separated by commas or repeated; `pr(k=3|5)` is a grid; default: all that can run here.",
        ),
    ] = None,
    effort: Annotated[str, typer.Option(help="How large the experiments are: quick, normal or thorough.")] = "normal",
    effect: Annotated[float, typer.Option(help="The share of foreign texts that a test should detect.")] = 0.1,
    power: Annotated[float, typer.Option(help="The probability that the test detects it.")] = 0.8,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="A folder that keeps the runs behind the answer; default: they are not kept.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the answer to a .md, .json or .html file.")
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Find the metric to use: the best one, those tied with it, how many texts they need, what they cost.

    Examples: textgauge recommend --reference a.txt --candidate b.txt --effort quick ·
    textgauge recommend --pairs rated.csv --left a --right b --rating score · textgauge recommend --task clustering
    --data sample:intents
    """
    from textgauge.bench.recommend import recommend as run_recommend

    if to is not None and to.suffix not in _WRITERS:
        raise InputError(f"{to}: the answer is written to a file that ends in {', '.join(_WRITERS)}")
    given: dict[str, Any] = {"effort": effort, "effect": effect, "power": power, "seed": seed, "out": out}
    with progress() as watch:
        answer = run_recommend(
            reference=reference,
            candidate=candidate,
            pairs=pairs,
            left=left,
            right=right,
            rating=rating,
            task=task,
            data=data,
            metrics=metrics,
            on_step=watch,
            **given,
        )
    if to is not None:
        _WRITERS[to.suffix](answer, to)
        note(f"written to {to}")
    _show(answer, form)


_WRITERS: dict[str, Callable[[Recommendation, Path], object]] = {
    ".md": lambda answer, path: write_atomically(path, answer.markdown()),
    ".json": lambda answer, path: answer.save(path),
    ".html": lambda answer, path: write_atomically(path, answer.html()),
}


def _show(answer: Recommendation, form: Format) -> None:
    if form is Format.markdown:
        say(answer.markdown(), nl=False)
        return
    if form is not Format.table:
        print_result(answer, form)
        return
    for sentence in answer.sentences:
        say(sentence)
    for title, rows in answer.tables():
        say(f"\n{title}")
        print_table(rows, form)
    for text in answer.warnings:
        note(f"warning: {text}")
    for text in answer.notes:
        note(text)
