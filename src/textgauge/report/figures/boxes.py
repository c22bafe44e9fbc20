"""Every measure over repetitions, as box plots: Kour et al. 2022, figure 6."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from textgauge.evaluate.protocols.base import Verdict
from textgauge.report.figures.read import Group
from textgauge.report.figures.style import (
    BLUE,
    COLUMNS,
    DARK,
    VERMILION,
    about,
    finished,
    layered,
    plain,
    printable,
    titled,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

_PARTS = ("smallest", "lower_quartile", "median", "upper_quartile", "largest")


def box_rows(group: Group) -> pl.DataFrame:
    """One row per metric and measure: quartiles of repetitions, their mean with its 95 % interval, or the reason."""
    import polars as pl

    verdicts = [(metric, v) for metric, seen in group.observed.items() for v in group.protocol.judge(seen)]
    numbers = dict.fromkeys(("mean", "low", "high", *_PARTS), pl.Float64)
    schema = {"metric": pl.String, "measure": pl.String, "reason": pl.String, "repetitions": pl.Int64, **numbers}
    return pl.DataFrame([_row(metric, verdict) for metric, verdict in verdicts], schema=schema)


def box_points(group: Group) -> pl.DataFrame:
    """One row per metric, measure and repetition."""
    import polars as pl

    rows = [
        {"metric": metric, "measure": verdict.measure, "repetition": number + 1, "value": value}
        for metric, seen in group.observed.items()
        for verdict in group.protocol.judge(seen)
        for number, value in enumerate(verdict.values)
        if np.isfinite(value)
    ]
    schema = {"metric": pl.String, "measure": pl.String, "repetition": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema)


def _row(metric: str, verdict: Verdict) -> dict[str, Any]:
    known = [value for value in verdict.values if np.isfinite(value)]
    row = {"metric": metric, "measure": verdict.measure, "reason": verdict.reason, "repetitions": len(known)}
    if not known:
        return row | {"reason": verdict.reason or "undefined"}
    quartiles = dict(zip(_PARTS, np.quantile(known, [0, 0.25, 0.5, 0.75, 1]).tolist(), strict=True))
    return row | {"mean": verdict.value, "low": verdict.low, "high": verdict.high} | quartiles


def box_figure(group: Group) -> alt.ConcatChart:
    """One panel per measure, one box per metric: quartiles, range, and a point for every repetition."""
    import polars as pl

    rows, points = box_rows(group), box_points(group)
    metrics = [printable(metric) for metric in group.observed]
    panels = []
    for place, measure in enumerate(rows["measure"].unique(maintain_order=True)):
        here = pl.col("measure") == measure
        panels.append(_panel(measure, rows.filter(here), points.filter(here), metrics, named=place % COLUMNS == 0))
    line = "Box: quartiles and median; whisker: smallest to largest; points: repetitions; diamond: mean."
    return finished(panels, "Measures over repetitions", about(group), line)


def _panel(
    measure: str, rows: pl.DataFrame, points: pl.DataFrame, metrics: list[str], *, named: bool
) -> alt.LayerChart:
    import altair as alt
    import polars as pl

    axis = alt.Axis(labels=named, ticks=False, domain=False, labelLimit=200, labelPadding=6, grid=True)
    y = alt.Y("metric:N", title=None, sort=None, scale=alt.Scale(domain=metrics), axis=axis)
    across = alt.Scale(zero=False, nice=True)
    known = alt.Chart(plain(rows.filter(pl.col("repetitions") > 0))).encode(y)
    undefined = alt.Chart(plain(rows.filter(pl.col("repetitions") == 0))).encode(y)
    numbers = ("mean", "low", "high", *_PARTS)
    exact = [
        alt.Tooltip("metric:N"),
        alt.Tooltip("repetitions:Q"),
        *(alt.Tooltip(f"{name}:Q", title=name.replace("_", " "), format=".6g") for name in numbers),
    ]
    ticks = alt.Axis(tickCount=4, format="~g", labelOverlap=True)
    whisker = known.mark_rule(color=DARK).encode(
        alt.X("smallest:Q", title=None, scale=across, axis=ticks), alt.X2("largest"), tooltip=exact
    )
    box = known.mark_bar(color="#9CC8E3", size=10).encode(
        alt.X("lower_quartile:Q"), alt.X2("upper_quartile"), tooltip=exact
    )
    median = known.mark_tick(color=DARK, size=10, thickness=1.5).encode(alt.X("median:Q"), tooltip=exact)
    mean = known.mark_point(color=VERMILION, filled=True, shape="diamond", size=30, opacity=1).encode(
        alt.X("mean:Q"), tooltip=exact
    )
    dots = alt.Chart(plain(points)).mark_circle(color=BLUE, size=12, opacity=0.7)
    tip = [alt.Tooltip("metric:N"), alt.Tooltip("repetition:Q"), alt.Tooltip("value:Q", format=".6g")]
    absent = undefined.mark_text(text="undefined", align="left", fontSize=9, color="#777777").encode(
        x=alt.value(4), tooltip=[alt.Tooltip("metric:N"), alt.Tooltip("reason:N")]
    )
    layers = [whisker, box, median, dots.encode(y, alt.X("value:Q"), tooltip=tip), mean, absent]
    return layered(layers, width=150, height=18 * len(metrics), title=titled(measure.replace("_", " ")))
