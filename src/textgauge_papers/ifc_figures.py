"""Figure 5 of Kour et al. 2022: distances of a model that learns to its training texts, step by step."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench import Group
from textgauge.core import Floats
from textgauge.report import style

BLUE = style.PALETTE[0]
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


def collect_ifc_points(groups: Sequence[Group], metric: str) -> pl.DataFrame:
    """One row per training run, step and repetition: the metric's value; step 0 is the reference against itself."""
    return _collect_points(groups, [style.get_own_values(metric, group.observed[metric]) for group in groups])


def collect_ttr_points(groups: Sequence[Group]) -> pl.DataFrame:
    """Return the same rows with the type–token ratio of the corpus; step 0 is the reference."""
    return _collect_points(groups, [next(iter(group.observed.values())).columns["ttr"] for group in groups])


def _collect_points(groups: Sequence[Group], values: Sequence[Floats]) -> pl.DataFrame:
    frames = []
    for run, (group, value) in enumerate(zip(groups, values, strict=True), start=1):
        observed = next(iter(group.observed.values()))
        columns = {"step": observed.columns["step"], "repetition": observed.batch + 1, "value": value}
        frames.append(pl.DataFrame({"run": [run] * len(value), **columns}))
    return pl.concat(frames).with_columns(pl.col("value").fill_nan(None))


def fit_ifc_line(points: pl.DataFrame) -> pl.DataFrame:
    """Return the least-squares line through the means of the steps with its 95 % band, at every tenth of a step.

    Repetitions draw from the same generated texts, so they are not independent points: a step counts once. Of several
    training runs the line is the mean of theirs, and the band is for new runs: what is resampled is the run.
    """
    from scipy.special import stdtrit

    known = points.filter(pl.col("step") > 0).drop_nulls("value")
    means = known.group_by("run", "step").agg(pl.col("value").mean()).sort("run", "step")
    steps = means["step"].to_numpy().astype(np.float64)
    at = np.linspace(steps.min(), steps.max(), int(10 * np.ptp(steps)) + 1)
    bands = [
        style.compute_regression_band(run["step"].to_numpy().astype(np.float64), run["value"].to_numpy(), at)
        for run in means.partition_by("run")
        if len(run) > 1
    ]
    lines = np.array([fit for fit, _ in bands])
    fit, reach, count = lines.mean(axis=0), bands[0][1], len(lines)
    if count > 1:
        reach = float(stdtrit(count - 1, 0.975)) * lines.std(axis=0, ddof=1) / np.sqrt(count)
    return pl.DataFrame({"step": at, "fit": fit, "low": fit - reach, "high": fit + reach})


def draw_ifc(groups: Sequence[Group]) -> alt.ConcatChart:
    """One panel per metric: value over steps, line and band, self-distance; the last panel has type–token ratios.

    Several groups are training runs of one kind of model on the same texts.
    """
    shared = [metric for metric in groups[0].observed if all(metric in group.observed for group in groups)]
    frames = {metric: collect_ifc_points(groups, metric) for metric in shared}
    drawn = {metric: frame for metric, frame in frames.items() if _count_known_steps(frame) > 1}
    missing = style.name_left_out([metric for metric in frames if metric not in drawn], "undefined")
    panels = [_draw_steps_panel(metric, frame, "value", _fit_trend(groups, metric)) for metric, frame in drawn.items()]
    words = collect_ttr_points(groups)
    if _count_known_steps(words) > 1:
        panels.append(_draw_steps_panel(TTR, words, "different words ÷ words", "dashed: the reference's"))
    said = (
        style.describe_group(groups[0])
        if len(groups) == 1
        else f"{len(groups)} training runs, {_RUN.sub('', style.describe_group(groups[0]))}"
    )
    return style.join_panels(
        panels, "Distance to the training texts, step by step", said, *_BAND[len(groups) > 1], missing
    )


def draw_studies(groups: Sequence[Group], _: int) -> Iterator[style.Drawn]:
    """Yield a chart for each study: training runs differ by the number of the run in the name of their data."""
    studies = defaultdict(list)
    for group in groups:
        studies[_RUN.sub("", group.data), group.protocol, group.seed].append(group)
    for (study, protocol, _seed), runs in studies.items():
        yield [study if len(runs) > 1 else runs[0].data, protocol.title], draw_ifc(runs)


def _count_known_steps(points: pl.DataFrame) -> int:
    return points.filter(pl.col("step") > 0).drop_nulls("value")["step"].n_unique()


def _fit_trend(groups: Sequence[Group], metric: str) -> str:
    trend = np.mean([group.protocol.judge(group.observed[metric])[0].value for group in groups])
    return "" if np.isnan(trend) else f"ρ of step and distance {trend:.2f}"


def _draw_steps_panel(name: str, points: pl.DataFrame, up: str, said: str) -> alt.LayerChart:
    known = points.drop_nulls("value")
    steps, own = known.filter(pl.col("step") > 0), known.filter(pl.col("step") == 0)["value"].to_list()
    shown, fewer = style.thin_points(steps)
    last = float(steps["step"].to_numpy().max())
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    x = alt.X("step:Q", title="step", axis=axis, scale=alt.Scale(domain=[0.5, last + 0.5], nice=False))
    base = style.make_chart(fit_ifc_line(points)).encode(x)
    y = alt.Y("low:Q", title=up, axis=alt.Axis(minExtent=30), scale=alt.Scale(zero=False))
    exact = style.make_tooltips("step:Q", "run:Q", "repetition:Q", "value")
    dots = style.make_chart(shown).mark_circle(color=BLUE, size=14, opacity=0.5)
    layers = [
        *style.draw_band(base, y, "fit", opacity=0.2, color=BLUE),
        dots.encode(x, alt.Y("value:Q"), tooltip=exact),
        *style.draw_level("own", float(np.mean(own)) if own else np.nan, "the reference"),
    ]
    return style.draw_panel(layers, name, said, fewer)


STEPS = draw_studies
