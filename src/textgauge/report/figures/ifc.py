"""Distances over the steps of a model that learns, and how varied its words are: Kour et al. 2022, figure 5."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench.results import Group
from textgauge.core.arrays import Floats
from textgauge.core.show import BLUE, VERMILION
from textgauge.report.figures.kind import Drawn, FigureKind
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
    tips,
    titled,
)

TTR = "type–token ratio"
_RUN = re.compile(r",? ?(?:training )?run[ _-]?\d+")
_BAND = {
    False: (
        "Points: repetitions on the texts of one training run; dashed: the reference against itself.",
        "Line: least squares through the means of the steps, with its 95 % band for this run.",
    ),
    True: (
        "Points: the texts of each training run; dashed: the reference against itself.",
        "Line: mean of the runs' least-squares lines, with its 95 % band for new runs.",
    ),
}


def ifc_points(groups: Sequence[Group], metric: str) -> pl.DataFrame:
    """One row per training run, step and repetition: the metric's value; step 0 is the reference against itself."""
    return _points(groups, [own_values(metric, group.observed[metric]) for group in groups])


def ttr_points(groups: Sequence[Group]) -> pl.DataFrame:
    """The same rows with the type–token ratio of the corpus; step 0 is the reference."""
    return _points(groups, [next(iter(group.observed.values())).columns["ttr"] for group in groups])


def _points(groups: Sequence[Group], values: Sequence[Floats]) -> pl.DataFrame:
    frames = []
    for run, (group, value) in enumerate(zip(groups, values, strict=True), start=1):
        observed = next(iter(group.observed.values()))
        columns = {"step": observed.columns["step"], "repetition": observed.batch + 1, "value": value}
        frames.append(pl.DataFrame({"run": [run] * len(value), **columns}))
    return pl.concat(frames).with_columns(pl.col("value").fill_nan(None))


def ifc_line(points: pl.DataFrame) -> pl.DataFrame:
    """The least-squares line through the means of the steps with its 95 % band, at every tenth of a step.

    Repetitions draw from the same generated texts, so they are not independent points: a step counts once. Of several
    training runs the line is the mean of theirs, and the band is for new runs: what is resampled is the run.
    """
    from scipy.special import stdtrit

    known = points.filter(pl.col("step") > 0).drop_nulls("value")
    means = known.group_by("run", "step").agg(pl.col("value").mean()).sort("run", "step")
    steps = means["step"].to_numpy().astype(np.float64)
    at = np.linspace(steps.min(), steps.max(), int(10 * np.ptp(steps)) + 1)
    bands = [
        regression_band(run["step"].to_numpy().astype(np.float64), run["value"].to_numpy(), at)
        for run in means.partition_by("run")
        if len(run) > 1
    ]
    lines = np.array([fit for fit, _ in bands])
    fit, reach, count = lines.mean(axis=0), bands[0][1], len(lines)
    if count > 1:
        reach = float(stdtrit(count - 1, 0.975)) * lines.std(axis=0, ddof=1) / np.sqrt(count)
    return pl.DataFrame({"step": at, "fit": fit, "low": fit - reach, "high": fit + reach})


def ifc_figure(groups: Sequence[Group]) -> alt.ConcatChart:
    """One panel per metric: value over steps, line and band, self-distance; the last panel has type–token ratios.

    Several groups are training runs of one kind of model on the same texts.
    """
    shared = [metric for metric in groups[0].observed if all(metric in group.observed for group in groups)]
    frames = {metric: ifc_points(groups, metric) for metric in shared}
    drawn = {metric: frame for metric, frame in frames.items() if _steps_known(frame) > 1}
    missing = not_shown([metric for metric in frames if metric not in drawn], "undefined")
    panels = [_panel(metric, frame, "value", _trend(groups, metric)) for metric, frame in drawn.items()]
    words = ttr_points(groups)
    if _steps_known(words) > 1:
        panels.append(_panel(TTR, words, "different words ÷ words", "dashed: the reference's"))
    said = about(groups[0]) if len(groups) == 1 else f"{len(groups)} training runs, {_RUN.sub('', about(groups[0]))}"
    return finished(panels, "Distance to the training texts, step by step", said, *_BAND[len(groups) > 1], missing)


def _drawn(groups: Sequence[Group], _: int) -> Iterator[Drawn]:
    """A chart for each study: training runs differ by the number of the run in the name of their data."""
    studies = defaultdict(list)
    for group in groups:
        studies[_RUN.sub("", group.data), group.protocol, group.seed].append(group)
    for (study, protocol, _seed), runs in studies.items():
        yield [study if len(runs) > 1 else runs[0].data, protocol.title], ifc_figure(runs)


def _steps_known(points: pl.DataFrame) -> int:
    return points.filter(pl.col("step") > 0).drop_nulls("value")["step"].n_unique()


def _trend(groups: Sequence[Group], metric: str) -> str:
    trend = np.mean([group.protocol.judge(group.observed[metric])[0].value for group in groups])
    return "" if np.isnan(trend) else f"ρ of step and distance {trend:.2f}"


def _panel(name: str, points: pl.DataFrame, up: str, said: str) -> alt.LayerChart:
    known = points.drop_nulls("value")
    steps, own = known.filter(pl.col("step") > 0), known.filter(pl.col("step") == 0)["value"].to_list()
    shown, fewer = thinned(steps)
    last = float(steps["step"].to_numpy().max())
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    x = alt.X("step:Q", title="step", axis=axis, scale=alt.Scale(domain=[0.5, last + 0.5], nice=False))
    base = chart_of(ifc_line(points)).encode(x)
    y = alt.Y("low:Q", title=up, axis=alt.Axis(minExtent=30), scale=alt.Scale(zero=False))
    exact = tips("step:Q", "run:Q", "repetition:Q", "value")
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


FIGURES = (FigureKind("steps", _drawn, "trend"),)
