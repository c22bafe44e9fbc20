"""`textgauge train`: metrics that are learned from people's ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App

from textgauge.bench.inputs import read_rated
from textgauge.bench.learned import ensemble as stack
from textgauge.cli.door import calling, check_writable, option
from textgauge.cli.output import Format, FormatOption, note, print_result, show_progress
from textgauge.core.errors import InputError
from textgauge.core.show import format_count
from textgauge.data.source import has_builtin_columns
from textgauge.metrics.pair.models import list_column_names

_NAMED = 5  # metrics whose share is printed

app = App(name="train", help="Train metrics on people's ratings.")


@app.command(name="ensemble")
@calling(
    stack,
    without=["left", "right", "target", "groups", "sources", "also", "columns", "names"],
    kinds={"scale": str | None},
)
def ensemble(
    given: dict[str, Any],
    out: Annotated[
        Path,
        option(
            "--output", "-o", help="The model file to write; score with `-m ensemble@FILE`.", validator=check_writable
        ),
    ],
    pairs: Annotated[str | None, option(help="A table, sample or dataset of rated pairs.")] = None,
    left: Annotated[str, option(help="The column of the left texts of --pairs.")] = "left",
    right: Annotated[str, option(help="The column of the right texts of --pairs.")] = "right",
    rating: Annotated[
        list[str] | None,
        option(help="A column of ratings of --pairs, larger for more similar; repeat for several raters."),
    ] = None,
    group: Annotated[
        str | None,
        option(
            "--set",
            help="The column that says which set a pair belongs to; sets that share texts are left out together.",
        ),
    ] = None,
    source: Annotated[str | None, option(help="The column of sources, where sets do not identify them.")] = None,
    also: Annotated[
        list[str] | None,
        option(help="More rated pairs to learn from: a dataset, or a table like --pairs; repeat for several."),
    ] = None,
    limit: Annotated[
        int | None, option(min=1, help="Use a random sample of this many of --pairs; default: all.")
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Train a pair metric on rated pairs, or on a task: it starts from `blend` and adds what your data say.

    Prints how well it does on pairs that were left out, next to what it started from and the best single metric.

    Examples: textgauge train ensemble --pairs rated.csv --left a --right b --rating score --set part -o model.json ·
    textgauge train ensemble --task robustness --documents articles.csv -o model.json
    """
    if given["scale"] is not None:
        given["scale"] = _parse_ends(given["scale"])
    if (pairs is None) == (given["task"] is None):
        raise InputError("give rated pairs (--pairs), or a task (--task) with its documents")
    if pairs is not None:
        groups = {role: name for role, name in (("set", group), ("source", source)) if name is not None} or None
        columns: dict[str, Any] = {"left": left, "right": right, "ratings": rating or (), "groups": groups}
        options: dict[str, Any] = {"limit": limit, "seed": given["seed"], "with_sources": True}
        own = read_rated(pairs, scores=list_column_names(given["metrics"]), **columns, **options)
        more = [read_rated(name, **{} if has_builtin_columns(name) else columns, **options) for name in also or ()]
        first, *others = (
            (data.left, data.right, data.columns["rating"], data.columns.get("set"), data.columns.get("source"))
            for data in (own, *more)
        )
        given |= dict(zip(("left", "right", "target", "groups", "sources"), first, strict=True))
        given |= {"also": others, "columns": own.scores, "names": [Path(data.name).name for data in (own, *more)]}
    with show_progress():
        found = stack(**given)
    found.trained.save(out)
    print_result(found, form)
    used = [row for row in found.shares() if row["share"]]
    most = ", ".join(f"{row['metric']} {row['share']:.0%}" for row in used[:_NAMED])
    pairs_used = f"{format_count(len(used), 'metric')}, {found.trained.about['pairs']} pairs"
    note(f"wrote {out}: {pairs_used}; score with -m ensemble@{out}")
    note(f"most of it is {most}")


def _parse_ends(text: str) -> tuple[float, float]:
    try:
        worst, best = map(float, text.split(","))
    except ValueError:
        raise InputError(f"--scale takes two numbers, as 1,5, not {text!r}") from None
    return worst, best
