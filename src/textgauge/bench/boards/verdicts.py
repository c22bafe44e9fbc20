"""Verdicts and observations as rows, the choice of measures, and what to know before trusting them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args, get_type_hints

from textgauge.bench.boards.overall import SCOPES
from textgauge.bench.protocols import Ksc, Verdict
from textgauge.bench.results import Group, Judged, Results
from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.tabular import Row, listed, plain

if TYPE_CHECKING:
    import polars as pl

_CHOICES = {name: get_args(get_type_hints(Ksc)[name]) for name in ("judgements", "ties", "linearity")}
_FEW = 3
NUMBERS = ("value", "std", "low", "high", "boot_low", "boot_high", "error")  # of a verdict


def judging(**options: str | None) -> dict[str, str]:
    """The given options of judging: `judgements`, `ties`, `linearity`."""
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if value not in _CHOICES[name]:
            message = f"{{{name}}} is one of {', '.join(_CHOICES[name])}, not {{value}}"
            raise ArgumentError(message, value=repr(value))
    return given


def only(judged: Sequence[Judged], measures: str | Sequence[str] | None) -> list[Judged]:
    """The verdicts on some measures, as `spearman,kendall`; on all by default."""
    if measures is None:
        return list(judged)
    names = [name.strip() for name in measures.split(",")] if isinstance(measures, str) else list(measures)
    there = list(dict.fromkeys(verdict.measure for item in judged for verdict in item.verdicts))
    unknown = [name for name in names if name not in there]
    if unknown:
        raise InputError(f"no measure {unknown[0]!r} in this run; the measures are {', '.join(there)}")
    return [replace(item, verdicts=tuple(v for v in item.verdicts if v.measure in names)) for item in judged]


def verdict_warnings(results: Results, judged: Sequence[Judged]) -> list[str]:
    """What to know before trusting verdicts: missing results or ensembles, measures that are undefined or partial."""
    missing = sum(item.missing for item in judged)
    found = [missing_results(missing)] if missing else []
    found += results.warnings
    for item in judged:
        for reason, names in _reasons(item).items():
            about = listed(names) if len(names) <= _FEW else f"{len(names)} measures"
            found.append(f"{about} of {item.metric} ({item.data}): {reason}")
    return found


def missing_results(count: int) -> str:
    """That results are missing, and what computes them."""
    return f"{count} results are missing; the same `textgauge run` command computes them"


def _reasons(item: Judged) -> dict[str, list[str]]:
    """Each reason with the measures it applies to."""
    found: dict[str, list[str]] = {}
    for verdict in item.verdicts:
        if verdict.reason:
            found.setdefault(verdict.reason, []).append(verdict.measure)
    return found


def detailed(judged: Sequence[Judged]) -> list[Row]:
    """One row per data set, protocol, metric and measure; `scope` is what its intervals are for."""
    return [
        {
            "data": item.data,
            "protocol": item.protocol.key,
            "metric": item.metric,
            "measure": verdict.measure,
            **{name: plain(getattr(verdict, name)) for name in NUMBERS},
            "scope": SCOPES[item.protocol.resampled if verdict.draws else "texts"],
            "repetitions": len(verdict.values),
            "reason": verdict.reason,
            **_rated(item, verdict),
        }
        for item in judged
        for verdict in item.verdicts
    ]


def _rated(item: Judged, verdict: Verdict) -> Row:
    """What a measure of rated pairs has in addition."""
    if verdict.n is None:
        return {}
    about = next(measure.about for measure in item.protocol.measures if measure.name == verdict.measure)
    return {"n": verdict.n, "chance": plain(verdict.chance), "about": about}


def verdict_frame(judged: Sequence[Judged]) -> pl.DataFrame:
    """The same rows as a frame."""
    import polars as pl

    return pl.DataFrame(detailed(judged), schema_overrides={"reason": pl.String}, infer_schema_length=None)


def observed(groups: Sequence[Group]) -> pl.DataFrame:
    """One row per trial and metric; columns that some protocols do not have are empty there."""
    import polars as pl

    found = pl.concat([_frame(group, metric) for group in groups for metric in group.observed], how="diagonal_relaxed")
    return found.cast({"reason": pl.String})


def _frame(group: Group, metric: str) -> pl.DataFrame:
    import polars as pl

    trials = group.observed[metric]
    about = {"data": group.data, "protocol": group.protocol.key, "seed": group.seed, "metric": metric}
    columns = {"batch": trials.batch, "value": trials.value, **trials.columns}
    frame = pl.DataFrame({name: column.tolist() for name, column in columns.items()}, infer_schema_length=None)
    return pl.DataFrame({name: [value] * len(frame) for name, value in about.items()}).hstack(frame)
