"""Precision, recall, density and coverage over the steps, for several k: Ackerman et al. 2023, figure 13."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from textgauge.metrics import get_metric
from textgauge.report.figures.read import Group, finite
from textgauge.report.figures.style import PANEL, about, finished, layered, plain, titled

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

METRICS = ("pr", "dc")


def component_rows(group: Group) -> pl.DataFrame:
    """One row per component, k and step: mean of the component's values, and one standard deviation to each side.

    Metrics that differ in more than k have components of their own. Values that do not exist are left out.
    """
    import polars as pl

    schema = {"component": pl.String, "k": pl.Int64, "step": pl.Int64, "mean": pl.Float64, "spread": pl.Float64}
    rows = {
        (f"{whole} {part.name}", metric.k, int(at)): _spread(finite(observed.columns[f"part.{part.name}"])[step == at])
        for key, observed in group.observed.items()
        if (metric := get_metric(key)).name in METRICS
        for whole in [replace(metric, part=None, k=type(metric)().k).key]
        for step in [observed.columns["j"] - observed.columns["i"]]
        for part in metric.parts
        for at in np.unique(step)
    }
    frame = pl.DataFrame([(*key, *value) for key, value in rows.items()], schema=schema, orient="row").drop_nans("mean")
    mean, spread = pl.col("mean"), pl.col("spread")
    made = frame.with_columns((mean - spread).alias("low"), (mean + spread).alias("high")).drop("spread")
    return made.sort("component", "k", "step", maintain_order=True)


def component_figure(group: Group) -> alt.ConcatChart | None:
    """One panel per component of pr and dc, a line with its band for every k; None where the run has neither."""
    rows = component_rows(group)
    if not len(rows):
        return None
    panels = [_panel(part) for part in rows.partition_by("component", maintain_order=True)]
    line = "Line and band: mean at a step and one standard deviation to each side."
    return finished(panels, "Components over the steps between two corpora", about(group), line)


def _spread(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not len(known):
        return float("nan"), 0.0
    return float(known.mean()), float(known.std(ddof=1)) if len(known) > 1 else 0.0


def _panel(rows: pl.DataFrame) -> alt.LayerChart:
    import altair as alt

    step = alt.X("step:Q", title="steps apart (ℓ)", axis=alt.Axis(format="d", tickMinStep=1, grid=False))
    # From blue to yellow by way of green: evenly lighter, so that print and eyes without colour keep the order.
    legend = alt.Legend(title="k", orient="right", symbolOpacity=1)
    base = alt.Chart(plain(rows)).encode(step, alt.Color("k:O", scale=alt.Scale(scheme="viridis"), legend=legend))
    low = alt.Y("low:Q", title=None, axis=alt.Axis(minExtent=30), scale=alt.Scale(zero=False))
    exact = [alt.Tooltip(f"{name}:Q", format=".6g") for name in ("k", "step", "mean", "low", "high")]
    layers = [
        base.mark_area(opacity=0.15).encode(low, alt.Y2("high:Q")),
        base.mark_line(strokeWidth=1.5, point={"size": 14}).encode(alt.Y("mean:Q"), tooltip=exact),
    ]
    return layered(layers, width=PANEL, height=140, title=titled(rows["component"][0]))
