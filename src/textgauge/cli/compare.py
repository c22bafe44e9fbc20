"""`textgauge compare`: the distance of two corpora."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from textgauge.cli.output import Format, FormatOption, note, print_rows, progress, shown
from textgauge.comparing import DEFAULT_METRICS
from textgauge.comparing import compare as run_compare
from textgauge.comparing.compare import Source

_READS = "A .txt, .csv, .tsv, .jsonl, .parquet or .npy file, `-`, `sample:NAME`, or a dataset's name."


def compare(
    reference: Annotated[str, typer.Argument(help=f"The reference corpus. {_READS}")],
    candidate: Annotated[str, typer.Argument(help="The corpus to compare with it.")],
    metrics: Annotated[
        list[str] | None,
        typer.Option("-m", "--metrics", help="Metric names, comma-separated or repeated; grids as pr(k=3|5)."),
    ] = None,
    ci: Annotated[bool, typer.Option("--ci", help="Add a confidence interval to every value.")] = False,
    test: Annotated[bool, typer.Option("--test", help="Add a permutation p-value and the null distance.")] = False,
    column: Annotated[str | None, typer.Option(help="The column that holds the texts, for tables.")] = None,
    limit: Annotated[int | None, typer.Option(min=2, help="Use a random sample of this many texts of each.")] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    permutations: Annotated[int, typer.Option(min=1, help="Permutations of the test.")] = 999,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is random.")] = 0,
    form: FormatOption = Format.table,
) -> None:
    """Measure how far the candidate corpus is from the reference corpus.

    Example: textgauge compare sample:banking sample:travel -m fid,mauve,energy --ci --test
    """
    sources = [_read(path, column, limit, seed) for path in (reference, candidate)]
    with progress() as step:
        report = run_compare(
            reference=sources[0],
            candidate=sources[1],
            metrics=metrics or DEFAULT_METRICS,
            ci=ci,
            test=test,
            level=level,
            permutations=permutations,
            seed=seed,
            on_step=step,
        )
    rows = report.to_dicts()
    print_rows(rows if form in (Format.json, Format.csv) else [_readable(row, ci, test) for row in rows], form)
    for score in report:
        if score.reason:
            note(f"warning: {score.metric} is undefined: {score.reason}")
    for text in report.warnings:
        note(f"warning: {text}")
    if all(score.reason for score in report):
        raise typer.Exit(1)


def _read(path: str, column: str | None, limit: int | None, seed: int) -> Source:
    from textgauge.datasets import load_texts, read_embeddings

    if path.endswith(".npy"):
        return read_embeddings(path)[:limit]
    return load_texts(path, column=column, limit=limit, seed=seed).texts


def _readable(row: dict[str, Any], ci: bool, test: bool) -> dict[str, str]:
    cells = {"metric": row["metric"], "value": shown(row["value"])}
    if ci:
        cells["interval"] = f"{shown(row['low'])} … {shown(row['high'])}"
    if test:
        cells["p"] = shown(row["p_value"])
    if ci or test:
        cells["null"] = shown(row["null"])
    parts = [f"{name[5:]} {shown(value)}" for name, value in row.items() if name.startswith("part.")]
    return cells | {"parts": ", ".join(parts), "ms": f"{1000 * row['seconds']:.1f}"}
