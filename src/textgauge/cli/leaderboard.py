"""`textgauge leaderboard`: metrics of a run, best first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from textgauge.bench import Store
from textgauge.bench.judge import Judged, judge
from textgauge.cli.output import Format, FormatOption, Row, note, print_rows, shown
from textgauge.errors import InputError
from textgauge.protocols.base import Verdict
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
    measures: Annotated[str | None, typer.Option(help="Only these measures, as spearman,order_correlation.")] = None,
    tests: Annotated[
        bool,
        typer.Option(
            "--tests", help="Hold every two metrics against each other, one row each: rated pairs, tasks, perturbation."
        ),
    ] = False,
    on: Annotated[
        str | None,
        typer.Option(
            help="What --tests compares: pearson, spearman (default) or kendall on rated pairs, else measures."
        ),
    ] = None,
    ceiling: Annotated[
        bool, typer.Option("--ceiling", help="Rated pairs: how far raters agree with each other.")
    ] = False,
    form: FormatOption = Format.table,
) -> None:
    """Rank the metrics of a run, with rank intervals and clusters of metrics that cannot be told apart.

    Trials are judged anew; what no option says is as the run was asked for.
    """
    from textgauge.bench.agreement import ceiling_rows

    given = {"judgements": judgements, "ties": ties, "linearity": linearity}
    options = {name: value for name, value in given.items() if value is not None}
    _check(options)
    store = Store.open(folder)
    if tests:
        _tests(store, on, options, form)
        return
    if ceiling:
        print_rows(ceiling_rows(store), form)
        return
    judged = judge(store, options)
    missing = sum(item.missing for item in judged)
    if missing:
        note(f"warning: {missing} cells are missing; the same `textgauge run` command computes them")
    for item in judged:
        for reason, names in _reasons(item).items():
            said = names if len(names) <= _FEW else [f"{len(names)} measures"]
            for name in said:
                note(f"warning: {item.metric}, {name} ({item.data}): {reason}")
    judged = _only(judged, measures)
    if detail:
        print_rows(_detailed(judged), form)
        return
    board = rank(judged, _weights(weights))
    for line in board.notes:
        note(f"note: {line}")
    rows = board.to_dicts()
    print_rows(rows if form in (Format.json, Format.csv) else [_readable(row) for row in rows], form)


def _tests(store: Store, on: str | None, options: dict[str, str], form: Format) -> None:
    from textgauge.bench.agreement import contrast_rows, rated_runs
    from textgauge.bench.contrasts import SHOWN, paired_rows

    if rated_runs(store):
        print_rows(contrast_rows(store, correlation=on or "spearman"), form)
    else:
        print_rows(paired_rows(_only(judge(store, options), on)), form, columns=SHOWN)


_CHOICES = {"judgements": ("distinct", "paper"), "ties": ("half", "right", "wrong"), "linearity": ("r2", "r")}


def _check(options: dict[str, str]) -> None:
    for name, value in options.items():
        if value not in _CHOICES[name]:
            raise InputError(f"--{name} is one of {', '.join(_CHOICES[name])}, not {value!r}")


_FEW = 3


def _reasons(item: Judged) -> dict[str, list[str]]:
    """Each reason with the measures it is said of."""
    found: dict[str, list[str]] = {}
    for verdict in item.verdicts:
        if verdict.reason:
            found.setdefault(verdict.reason, []).append(verdict.measure)
    return found


def _only(judged: list[Judged], measures: str | None) -> list[Judged]:
    if measures is None:
        return judged
    names = [name.strip() for name in measures.split(",")]
    there = list(dict.fromkeys(verdict.measure for item in judged for verdict in item.verdicts))
    unknown = [name for name in names if name not in there]
    if unknown:
        raise InputError(f"no measure {unknown[0]!r} in this run; the measures are {', '.join(there)}")
    return [replace(item, verdicts=tuple(v for v in item.verdicts if v.measure in names)) for item in judged]


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


def _detailed(judged: list[Judged]) -> list[Row]:
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
            **_rated(item, verdict),
        }
        for item in judged
        for verdict in item.verdicts
    ]


def _rated(item: Judged, verdict: Verdict) -> Row:
    """What a measure of rated pairs has beside the others."""
    if verdict.n is None:
        return {}
    about = next(measure.about for measure in item.protocol.measures if measure.name == verdict.measure)
    return {"n": verdict.n, "chance": plain(verdict.chance), "about": about}
