"""`textgauge leaderboard`: metrics of a run, best first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textgauge.bench import Store
from textgauge.bench.judge import judge
from textgauge.cli.output import Format, FormatOption, Row, note, print_rows, shown
from textgauge.errors import InputError
from textgauge.report import leaderboard as rank
from textgauge.stats.numbers import plain


def leaderboard(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.")],
    weights: Annotated[str | None, typer.Option(help="Weights of measures, as accuracy=2,linearity=0.")] = None,
    judgements: Annotated[str | None, typer.Option(help="Judgements of ksc: distinct, or paper.")] = None,
    ties: Annotated[str | None, typer.Option(help="Equal distances count half, right or wrong.")] = None,
    linearity: Annotated[str | None, typer.Option(help="Linearity as r2 or r.")] = None,
    detail: Annotated[
        bool, typer.Option("--detail", help="One row per data set, protocol, metric and measure.")
    ] = False,
    form: FormatOption = Format.table,
) -> None:
    """Rank the metrics of a run, with rank intervals and clusters of metrics that cannot be told apart.

    Trials are judged anew; what no option says is as the run was asked for.
    """
    given = {"judgements": judgements, "ties": ties, "linearity": linearity}
    options = {name: value for name, value in given.items() if value is not None}
    _check(options)
    judged = judge(Store.open(folder), options)
    missing = sum(item.missing for item in judged)
    if missing:
        note(f"warning: {missing} cells are missing; the same `textgauge run` command computes them")
    for item in judged:
        for verdict in item.verdicts:
            if verdict.reason:
                note(f"warning: {item.metric}, {verdict.measure} ({item.data}): {verdict.reason}")
    if detail:
        print_rows(_detailed(judged), form)
        return
    rows = rank(judged, _weights(weights)).to_dicts()
    print_rows(rows if form in (Format.json, Format.csv) else [_readable(row) for row in rows], form)


_CHOICES = {"judgements": ("distinct", "paper"), "ties": ("half", "right", "wrong"), "linearity": ("r2", "r")}


def _check(options: dict[str, str]) -> None:
    for name, value in options.items():
        if value not in _CHOICES[name]:
            raise InputError(f"--{name} is one of {', '.join(_CHOICES[name])}, not {value!r}")


def _weights(text: str | None) -> dict[str, float]:
    found = {}
    for item in filter(str.strip, (text or "").split(",")):
        name, _, value = item.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise InputError(f"weights are written measure=number, not {item!r}") from None
    return found


def _readable(row: Row) -> Row:
    ranks = f"{row.pop('rank')} ({row.pop('rank_low')}–{row.pop('rank_high')})"
    cluster = row.pop("cluster")
    return {"rank": ranks, **{name: shown(value) for name, value in row.items()}, "cluster": cluster}


def _detailed(judged: list[Any]) -> list[Row]:
    names = ("value", "std", "low", "high", "boot_low", "boot_high", "error")
    return [
        {
            "data": item.data,
            "protocol": item.protocol.key,
            "metric": item.metric,
            "measure": verdict.measure,
            **{name: plain(getattr(verdict, name)) for name in names},
            "repetitions": len(verdict.values),
            "reason": verdict.reason,
        }
        for item in judged
        for verdict in item.verdicts
    ]
