"""`textgauge describe`: what a generated corpus is like."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from textgauge.cli.door import OUTPUT, argument, calling, option
from textgauge.cli.output import (
    Format,
    FormatOption,
    OutputOption,
    format_this_command,
    name_sources,
    print_next,
    print_result,
    print_table,
    print_titled,
    say,
    show_progress,
)
from textgauge.core.errors import InputError
from textgauge.core.files import check_table_path, write_table
from textgauge.core.result import Column, show_rows
from textgauge.core.show import format_cell, format_p
from textgauge.data.formats import read_table
from textgauge.data.source import describe_accepted, split_column
from textgauge.measure.describing import describe as run_describe
from textgauge.measure.description import Description
from textgauge.measure.lists import CLEANABLE, CLEANED, list_kinds

_EXAMPLES = 5
_DIFFERENCES = (
    *map(Column, ("property", "first", "second")),
    Column("mean", "mean_first", format_cell),
    Column("mean 2", "mean_second", format_cell),
    Column("adjusted p, t", "p_t_holm", format_p),
    Column("adjusted p, rank", "p_mann_whitney_holm", format_p),
)


@calling(
    run_describe,
    without=["near_copy"],
    options={"held_out": ["--test"], "ratings": ["--rating"]},
    kinds={"ratings": list[str] | None},
)
def describe(
    given: dict[str, Any],
    generated: Annotated[list[str], argument(help=f"One or several corpora. {describe_accepted()}")],
    near_copies: Annotated[
        float | None,
        option(help="List texts whose wording is this similar or more to a train text; default: count those from 0.9."),
    ] = None,
    per_text: Annotated[
        Path | None, option(help="Write the values of every text to a .csv, .jsonl or .parquet file.", group=OUTPUT)
    ] = None,
    pick: Annotated[
        int | None,
        option(
            min=1, help="Pick N texts of each corpus: near to test in meaning, far from train in wording.", group=OUTPUT
        ),
    ] = None,
    pick_to: Annotated[
        Path | None, option(help="The .txt, .csv, .jsonl or .parquet file for the texts of --pick.", group=OUTPUT)
    ] = None,
    plausible: Annotated[bool, option(help="Let --pick also prefer low perplexity.", group=OUTPUT)] = False,
    lists: Annotated[
        Path | None,
        option(
            help="Write the texts behind the rows as CSV files to this folder: duplicates, outliers, near copies, …",
            metavar="FOLDER",
            group=OUTPUT,
        ),
    ] = None,
    clean_to: Annotated[
        Path | None,
        option(
            help="Write the file without what --clean names, columns and order kept; FILE.removed.csv says why and "
            "which row each row left out matches.",
            group=OUTPUT,
        ),
    ] = None,
    clean: Annotated[
        str,
        option(
            help=f"What --clean-to leaves out: {', '.join(CLEANABLE)}. Of duplicates the first is kept; copies and "
            "passages are of train or of the other file.",
            group=OUTPUT,
        ),
    ] = ",".join(CLEANED),
    explain: Annotated[
        bool,
        option("--explain", help="Keep every text in the saved result, so that its page shows them.", group=OUTPUT),
    ] = False,
    output: OutputOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Describe texts by themselves, or generated texts in comparison with train and test.

    By themselves: size, exact and near duplicates, diversity, outliers, grammar, plausibility. With --train: how many
    texts are new, repeated, plausible, near to test in meaning, copied from train in wording, as a whole or in part.

    Examples: textgauge describe data.jsonl --against test.jsonl ·
    textgauge describe generated.txt --train train.txt --test test.txt --near-copies 0.9
    """
    has_train = given["train"] is not None
    if given["ratings"] is not None:
        given["ratings"] = [name for one in given["ratings"] for name in one.split(",")]
    _check_picks(has_train, {"--pick": pick, "--near-copies": near_copies}, pick_to, plausible)
    for path in filter(None, (per_text, pick_to, clean_to)):
        check_table_path(path)
    if clean_to is not None:
        _check_clean(clean_to, generated, given)
    if near_copies is not None:
        given["near_copy"] = near_copies
    with show_progress():
        description = run_describe(generated[0] if len(generated) == 1 else name_sources(generated), **given)
    description = replace(description, explain=explain)
    if output is not None:
        description.save(output)
    if per_text is not None:
        write_table(per_text, description.per_text)
    if pick is not None and pick_to is not None:
        write_table(pick_to, description.pick(pick, plausible=plausible), exact=True)
    if lists is not None:
        lists.mkdir(parents=True, exist_ok=True)
        for name, frame in description.lists().items():
            write_table(lists / f"{name}.csv", frame)
    drop = [name.strip() for name in clean.split(",")]
    cleaned = "" if clean_to is None else _write_clean(description, clean_to, generated[0], drop)
    _print(description, form, near_copies)
    if cleaned:
        say(cleaned)
    more = [] if lists else [format_this_command("--lists", "lists")]
    print_next([*more, *([] if output else [format_this_command("-o", "found.json")])], form)


def _check_picks(has_train: bool, needing: dict[str, Any], pick_to: Path | None, plausible: bool) -> None:
    """Refuse options that need train or each other."""
    named = next((name for name, value in needing.items() if value is not None), None)
    if not has_train and named is not None:
        raise InputError(f"{named} needs --train")
    if (needing["--pick"] is None) != (pick_to is None):
        raise InputError("--pick N and --pick-to FILE belong together")
    if plausible and pick_to is None:
        raise InputError("--plausible is for --pick")


def _check_clean(path: Path, generated: list[str], given: dict[str, Any]) -> None:
    """Refuse to write over what is read, and to clean what is not one whole file."""
    source, _ = split_column(generated[0])
    if len(generated) > 1 or not os.path.isfile(source) or given["limit"] is not None:
        raise InputError("--clean-to is for one file, without --limit")
    written = (path, _name_removed(path))
    names = (given[role] for role in ("train", "held_out", "validation", "against", "representative"))
    for name in (generated[0], *(name for name in names if name is not None)):
        read, _ = split_column(name)
        if any(os.path.exists(read) and file.exists() and os.path.samefile(read, file) for file in written):
            raise InputError(f"{read} is read: choose another file for --clean-to")


def _name_removed(path: Path) -> Path:
    return path.with_suffix(".removed.csv")


def _write_clean(found: Description, path: Path, source: str, drop: list[str]) -> str:
    """Write the rows that are kept and those that are not; say how many."""
    import polars as pl

    removed = found.clean(drop)
    frame = pl.DataFrame(read_table(split_column(source)[0]).columns, strict=False, infer_schema_length=None)
    rows = pl.int_range(pl.len()).is_in(removed["index"].to_list())
    write_table(path, frame.filter(~rows), exact=True)
    write_table(_name_removed(path), removed)
    return f"{path}: {frame.height - removed.height:,} of {frame.height:,} rows; {_name_removed(path)} has the others"


def _print(found: Description, form: Format, near_copies: float | None) -> None:
    print_result(found, form)
    if not form.for_people:
        return
    print_table([], form, found.notes)
    say("")
    if found.train is not None:
        print_table(found.marks.to_dicts(), form)
        print_table(found.links.to_dicts(), form)
        if len(found.generated) > 1:
            print_table(show_rows(found.differences.to_dicts(), _DIFFERENCES), form)
    alone = ["corpus"] if len(found.generated) == 1 else []
    for name, kind in list_kinds(found.generated).items():
        is_asked = kind.title and (name != "near_copies" or near_copies is not None)
        if is_asked and len(frame := found.list_texts(name)):
            first = f", the first {_EXAMPLES}" if len(frame) > _EXAMPLES else ""
            said = f"{kind.title[0].upper()}{kind.title[1:]} ({len(frame):,}{first}):"
            print_titled(said, frame.head(_EXAMPLES).drop(alone, strict=False).to_dicts(), form)
