"""Distances over the steps of a model that learns, and how varied its words are: Kour et al. 2022, figure 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textgauge.evaluate.results import Group
from textgauge.report.figures.kind import FigureKind, one_per_group
from textgauge.report.figures.ksc import regression_band
from textgauge.report.figures.style import (
    PANEL,
    about,
    chart_data,
    chart_of,
    finished,
    layered,
    not_shown,
    own_values,
    thinned,
    titled,
)
from textgauge.tabular import BLUE, VERMILION

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

TTR = "type–token ratio"


def ifc_points(group: Group, metric: str) -> pl.DataFrame:
    """One row per step and repetition: the metric's value; step 0 is the reference against itself."""
    import polars as pl

    observed = group.observed[metric]
    columns = {"step": observed.columns["step"], "repetition": observed.batch + 1}
    return pl.DataFrame({**columns, "value": own_values(metric, observed)}).with_columns(pl.col("value").fill_nan(None))


def ttr_points(group: Group) -> pl.DataFrame:
    """One row per step and repetition: the type–token ratio of the corpus; step 0 is the reference."""
    import polars as pl

    observed = next(iter(group.observed.values()))
    columns = {"step": observed.columns["step"], "repetition": observed.batch + 1, "value": observed.columns["ttr"]}
    return pl.DataFrame(columns).with_columns(pl.col("value").fill_nan(None))


def ifc_line(points: pl.DataFrame) -> pl.DataFrame:
    """The least-squares line through the means of the steps with its 95 % band, at every tenth of a step.

    Repetitions draw from the same generated texts, so they are no independent points: a step counts once.
    """
    import polars as pl

    known = (
        points.filter(pl.col("step") > 0).drop_nulls("value").group_by("step").agg(pl.col("value").mean()).sort("step")
    )
    step, value = known["step"].to_numpy().astype(np.float64), known["value"].to_numpy()
    at = np.linspace(step.min(), step.max(), int(10 * (step.max() - step.min())) + 1)
    fit, reach = regression_band(step, value, at)
    return pl.DataFrame({"step": at, "fit": fit, "low": fit - reach, "high": fit + reach})


def ifc_figure(group: Group) -> alt.ConcatChart:
    """One panel per metric: value over steps, line and band, self-distance; the last panel has type–token ratios."""
    frames = {metric: ifc_points(group, metric) for metric in group.observed}
    drawn = {metric: frame for metric, frame in frames.items() if _steps_known(frame) > 1}
    missing = not_shown([metric for metric in frames if metric not in drawn], "undefined")
    panels = [_panel(metric, frame, "value", _trend(group, metric)) for metric, frame in drawn.items()]
    words = ttr_points(group)
    if _steps_known(words) > 1:
        panels.append(_panel(TTR, words, "different words ÷ words", "dashed: the reference's"))
    line = (
        "Points: repetitions on the texts of one training run; line: least squares through the means of the steps, "
        "with its 95 % band for this run; dashed: the reference against itself."
    )
    return finished(panels, "Distance to the training texts, step by step", about(group), line, missing)


def _steps_known(points: pl.DataFrame) -> int:
    import polars as pl

    return points.filter(pl.col("step") > 0).drop_nulls("value")["step"].n_unique()


def _trend(group: Group, metric: str) -> str:
    trend = group.protocol.judge(group.observed[metric])[0].value
    return "" if np.isnan(trend) else f"ρ of step and distance {trend:.2f}"


def _panel(name: str, points: pl.DataFrame, up: str, said: str) -> alt.LayerChart:
    import altair as alt
    import polars as pl

    known = points.drop_nulls("value")
    steps, own = known.filter(pl.col("step") > 0), known.filter(pl.col("step") == 0)["value"].to_list()
    shown, fewer = thinned(steps)
    last = float(steps["step"].to_numpy().max())
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    x = alt.X("step:Q", title="step", axis=axis, scale=alt.Scale(domain=[0.5, last + 0.5], nice=False))
    base = chart_of(ifc_line(points)).encode(x)
    y = alt.Y("low:Q", title=up, axis=alt.Axis(minExtent=30), scale=alt.Scale(zero=False))
    exact = [alt.Tooltip("step:Q"), alt.Tooltip("repetition:Q"), alt.Tooltip("value:Q", format=".6g")]
    layers: list[alt.Chart] = [
        base.mark_area(color=BLUE, opacity=0.2).encode(y, alt.Y2("high:Q")),
        base.mark_line(color=BLUE, strokeWidth=1.5).encode(alt.Y("fit:Q")),
        chart_of(shown).mark_circle(color=BLUE, size=14, opacity=0.5).encode(x, alt.Y("value:Q"), tooltip=exact),
    ]
    if own:
        mean = chart_data(pl.DataFrame({"own": [float(np.mean(own))]}))
        rule = alt.Chart(mean).mark_rule(color=VERMILION, strokeDash=[5, 3], size=2)
        layers.append(rule.encode(alt.Y("own:Q"), tooltip=[alt.Tooltip("own:Q", title="the reference", format=".6g")]))
    return layered(layers, width=PANEL, height=140, title=titled(name, said, fewer))


FIGURES = (FigureKind("steps", one_per_group(ifc_figure), "trend"),)
