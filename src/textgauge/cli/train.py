"""`textgauge train`: metrics that are learned from people's ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textgauge.cli.output import Format, FormatOption, Row, note, print_rows, progress
from textgauge.errors import InputError
from textgauge.tabular import format_cell, format_interval

_NAMED = 5  # metrics whose share is printed

app = typer.Typer(help="Train metrics on people's ratings.", no_args_is_help=True)


@app.callback()
def top() -> None:
    """Train metrics on people's ratings."""


@app.command("ensemble")
def ensemble(
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write; score with `-m ensemble@FILE`.")],
    pairs: Annotated[str, typer.Option(help="A table of rated pairs, or a dataset that has ratings.")],
    left: Annotated[str, typer.Option(help="The column of the left texts.")] = "left",
    right: Annotated[str, typer.Option(help="The column of the right texts.")] = "right",
    rating: Annotated[
        list[str] | None, typer.Option(help="The column of ratings; repeated for several people, whose mean is taken.")
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="The column of sets: one is left out after the other to see what was learned.")
    ] = None,
    also: Annotated[
        str | None,
        typer.Option(
            help="Rated pairs of other data to learn from too, never left out: a dataset, or a table as --pairs."
        ),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "-m", "--metrics", help="Metrics to learn from, parts as rouge1.recall; by default all that run here."
        ),
    ] = None,
    model: Annotated[str, typer.Option(help="ridge or boosting.")] = "ridge",
    scale: Annotated[
        str | None, typer.Option(help="The ratings of nothing in common and of the same meaning, as 1,5.")
    ] = None,
    resamples: Annotated[int, typer.Option(min=100, help="Resamples of the paired bootstrap.")] = 1_000,
    limit: Annotated[int | None, typer.Option(min=1, help="Use a random sample of this many pairs.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    form: FormatOption = Format.table,
) -> None:
    """Learn a pair metric from rated pairs: other pair metrics, stacked by a model of the ratings.

    Prints how it does on sets left out, and how the best single metric does.

    Example: textgauge train ensemble --pairs rated.csv --left a --right b --rating score --group set -o model.json
    """
    from textgauge.data.source import brings_columns
    from textgauge.evaluate.learned_metric import KINDS
    from textgauge.evaluate.learned_metric import ensemble as stack
    from textgauge.evaluate.pair_sources import read_rated

    kind = next((known for known in KINDS if known == model), None)
    if kind is None:
        raise InputError(f"--model is {' or '.join(KINDS)}, not {model!r}")
    ends = None if scale is None else _ends(scale)
    groups = None if group is None else {"set": group}
    columns: dict[str, Any] = {"left": left, "right": right, "ratings": rating or (), "groups": groups}
    sources = [read_rated(pairs, **columns, limit=limit, seed=seed)]
    if also is not None:
        sources.append(read_rated(also, **{} if brings_columns(also) else columns, limit=limit, seed=seed))
    own, *more = [
        (source.left, source.right, source.columns["rating"], source.columns.get("set")) for source in sources
    ]
    with progress() as step:
        found = stack(
            left=own[0],
            right=own[1],
            target=own[2],
            metrics=metrics,
            groups=own[3],
            also=more[0] if more else None,
            model=kind,
            scale=ends,
            seed=seed,
            resamples=resamples,
            about=" and ".join(Path(source.name).name for source in sources),
            on_step=step,
        )
    found.trained.save(out)
    rows = found.to_dicts()
    print_rows(rows if form in (Format.json, Format.csv) else [_readable(row) for row in rows], form)
    most = ", ".join(f"{row['metric']} {row['share']:.0%}" for row in found.shares()[:_NAMED])
    size = f"{kind} over {len(found.trained.metrics)} metrics, {len(own[2])} pairs"
    note(f"wrote {out}: {size}; score with -m ensemble@{out}")
    note(f"most of it is {most}")


def _ends(text: str) -> tuple[float, float]:
    try:
        worst, best = map(float, text.split(","))
    except ValueError:
        raise InputError(f"--scale takes two numbers, as 1,5, not {text!r}") from None
    return worst, best


def _readable(row: Row) -> Row:
    cells = {name: format_cell(row[name]) for name in ("measure", "ensemble", "best", "single", "difference")}
    return cells | {"interval": format_interval(row["low"], row["high"]), "p": format_cell(row["p"]), "n": row["n"]}
