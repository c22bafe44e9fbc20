"""A metric's values over people's ratings of the same pairs, with the mean at each rating."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textgauge.evaluate.protocols.base import over_repetitions
from textgauge.report.figures.read import Group, own_values
from textgauge.report.figures.style import (
    BLUE,
    PANEL,
    VERMILION,
    about,
    finished,
    layered,
    not_shown,
    plain,
    thinned,
    titled,
)
from textgauge.stats.correlation import spearman
from textgauge.stats.resampled_correlation import correlation_interval

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

_STEPS = 13  # up to so many ratings have a mean each; more are gathered in groups of equal size


def scatter_points(group: Group, metric: str) -> pl.DataFrame:
    """One row per pair: rating and the metric's value, null where undefined."""
    import polars as pl

    observed = group.observed[metric]
    columns = {"rating": observed.columns["rating"].astype(np.float64), "value": own_values(metric, observed)}
    return pl.DataFrame(columns).with_columns(pl.col("value").fill_nan(None))


def scatter_means(points: pl.DataFrame) -> pl.DataFrame:
    """Mean value at every rating (or group of neighbouring ratings), with Student's 95 % interval."""
    import polars as pl

    known = points.drop_nulls("value").sort("rating")
    schema = dict.fromkeys(("rating", "mean", "low", "high"), pl.Float64) | {"pairs": pl.Int64}
    rows = []
    for part in _steps(known["rating"].to_numpy()):
        verdict = over_repetitions("value", known["value"].to_numpy()[part].tolist())
        middle = float(known["rating"].to_numpy()[part].mean())
        rows.append((middle, verdict.value, verdict.low, verdict.high, len(part)))
    return pl.DataFrame(rows, schema=schema, orient="row")


def _steps(rising: NDArray[np.float64]) -> list[NDArray[np.intp]]:
    """The rows of each rating, in rising order, or of groups of neighbours."""
    values, start = np.unique(rising, return_index=True)
    if len(values) > _STEPS:
        return [part for part in np.array_split(np.arange(len(rising)), _STEPS) if len(part)]
    return np.split(np.arange(len(rising)), start[1:])


def scatter_figure(group: Group) -> alt.ConcatChart:
    """One panel per metric: its value over the rating, means with 95 % intervals, and Spearman's ρ with its own."""
    frames = {metric: scatter_points(group, metric) for metric in group.observed}
    drawn = {metric: frame for metric, frame in frames.items() if frame["value"].drop_nulls().n_unique() > 1}
    missing = not_shown([metric for metric in frames if metric not in drawn], "constant or undefined")
    panels = [_panel(metric, group, frame) for metric, frame in drawn.items()]
    line = "Each point is a pair. Bars: mean value at a rating and its 95 % interval. ρ of nearness and rating."
    return finished(panels, "Values of metrics over people's ratings", about(group), line, missing)


def _rho(metric: str, group: Group) -> str:
    observed = group.observed[metric]
    known = np.isfinite(observed.value)
    x, y = -observed.value[known], observed.columns["rating"][known].astype(np.float64)
    value = spearman(y, x)
    if np.isnan(value):
        return "ρ undefined: all ratings are equal"
    low, high = correlation_interval(spearman, y, x, resamples=200)
    return f"ρ {value:.3f} ({low:.3f} … {high:.3f}), n {len(x):,}"


def _panel(metric: str, group: Group, points: pl.DataFrame) -> alt.LayerChart:
    import altair as alt

    shown, fewer = thinned(points.drop_nulls("value"))
    x = alt.X("rating:Q", title="rating", scale=alt.Scale(zero=False), axis=alt.Axis(grid=False, tickCount=5))
    tip = [alt.Tooltip("rating:Q", format=".4g"), alt.Tooltip("value:Q", format=".6g")]
    dots = alt.Chart(plain(shown)).mark_circle(color=BLUE, size=8, opacity=0.25)
    means = alt.Chart(plain(scatter_means(points))).encode(x)
    exact = [alt.Tooltip(f"{name}:Q", format=".6g") for name in ("rating", "mean", "low", "high", "pairs")]
    layers = [
        dots.encode(x, alt.Y("value:Q", title="value", axis=alt.Axis(minExtent=30)), tooltip=tip),
        means.mark_rule(color=VERMILION, strokeWidth=2).encode(alt.Y("low:Q"), alt.Y2("high:Q"), tooltip=exact),
        means.mark_line(color=VERMILION, strokeWidth=1.5).encode(alt.Y("mean:Q")),
        means.mark_circle(color=VERMILION, size=24, opacity=1).encode(alt.Y("mean:Q"), tooltip=exact),
    ]
    return layered(layers, width=PANEL, height=140, title=titled(metric, _rho(metric, group), fewer))
