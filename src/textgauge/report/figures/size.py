"""How the value of a metric settles as samples grow, or grow uneven: Kour et al. 2022, figure 2, middle and bottom."""

from __future__ import annotations

from functools import partial
from typing import Literal

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench.protocols.size import ASYMPTOTE
from textgauge.bench.results import Group
from textgauge.core.show import BLUE, VERMILION
from textgauge.report.figures.kind import FigureKind, one_per_group, protocol_with
from textgauge.report.figures.style import (
    PANEL,
    about,
    chart_of,
    finished,
    known_frames,
    layered,
    mean_interval,
    own_values,
    thinned,
    tips,
    titled,
)

Sweep = Literal["size", "imbalance"]

_TITLES = {
    "size": ("Convergence as both samples grow", "texts in each sample"),
    "imbalance": ("Convergence over the balance of two samples", "texts in the first sample"),
}


def sweep_points(group: Group, metric: str, sweep: Sweep) -> pl.DataFrame:
    """One row per pair of samples: their sizes, the repetition, the metric's value."""
    observed = group.observed[metric]
    here = observed.columns["kind"] == sweep
    columns = {"size": observed.columns["size_a"], "other": observed.columns["size_b"], "repetition": observed.batch}
    frame = pl.DataFrame({name: column[here] for name, column in columns.items()})
    return frame.with_columns(pl.Series("value", own_values(metric, observed)[here]).fill_nan(None))


def sweep_means(points: pl.DataFrame) -> pl.DataFrame:
    """Mean of the repetitions at every size, with Student's 95 % interval."""
    rows = []
    for (size,), part in points.drop_nulls("value").group_by("size", maintain_order=True):
        rows.append((size, *mean_interval(part["value"].to_list())))
    schema = {"size": pl.Int64, **dict.fromkeys(("mean", "low", "high"), pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("size")


def asymptote(group: Group, metric: str) -> float:
    """The mean value of the large samples; NaN where one is undefined."""
    observed = group.observed[metric]
    large = own_values(metric, observed)[observed.columns["kind"] == ASYMPTOTE]
    return float(large.mean()) if len(large) else float("nan")


def convergence_figure(group: Group, sweep: Sweep) -> alt.ConcatChart:
    """One panel per metric: its value over the size of the samples, with that of large ones."""
    frames = {metric: sweep_points(group, metric, sweep) for metric in group.observed}
    drawn, missing = known_frames(frames, "value", "undefined")
    panels = [_panel(metric, frame, asymptote(group, metric), _TITLES[sweep][1]) for metric, frame in drawn.items()]
    line = "Points: repetitions; line and band: their mean and its 95 % interval (these texts); dashed: large samples."
    uneven = ""
    if sweep == "imbalance":
        uneven = f"The two samples have {protocol_with(group, 'total').total:,} texts together."
    return finished(panels, _TITLES[sweep][0], about(group), line, uneven, missing)


def _panel(metric: str, points: pl.DataFrame, large: float, across: str) -> alt.LayerChart:
    shown, fewer = thinned(points.drop_nulls("value"))
    x = alt.X("size:Q", title=across, axis=alt.Axis(format="~s", tickCount=5, grid=False))
    base = chart_of(sweep_means(points)).encode(x)
    exact = [*tips("size", form=","), *tips("mean", "low", "high")]
    samples = [
        alt.Tooltip(f"{name}:Q", title=f"texts, {which} sample", format=",")
        for name, which in (("size", "first"), ("other", "second"))
    ]
    layers: list[alt.Chart] = [
        base.mark_area(color=BLUE, opacity=0.25).encode(
            alt.Y("low:Q", title="value", axis=alt.Axis(minExtent=30)), alt.Y2("high:Q")
        ),
        base.mark_line(color=BLUE, strokeWidth=1.5).encode(alt.Y("mean:Q"), tooltip=exact),
        chart_of(shown)
        .mark_circle(color=BLUE, size=10, opacity=0.45)
        .encode(x, alt.Y("value:Q"), tooltip=[*samples, *tips("repetition:Q", "value")]),
    ]
    if np.isfinite(large):
        rule = chart_of(pl.DataFrame({"large": [large]})).mark_rule(color=VERMILION, strokeDash=[5, 3], size=2)
        layers.append(
            rule.encode(alt.Y("large:Q"), tooltip=[alt.Tooltip("large:Q", title="large samples", format=".6g")])
        )
    said = f"large samples: {large:.4g}" if np.isfinite(large) else "large samples: undefined"
    return layered(layers, width=PANEL, height=140, title=titled(metric, said, fewer))


FIGURES = (
    FigureKind("size", one_per_group(partial(convergence_figure, sweep="size")), "size_robustness"),
    FigureKind("imbalance", one_per_group(partial(convergence_figure, sweep="imbalance")), "imbalance_robustness"),
)
