"""Curves over a sweep: sizes of samples (Kour et al. 2022, figure 2, middle and bottom), sizes of a change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench import Sensitivity
from textgauge.bench.pieces import PLACES
from textgauge.bench.protocols.document_tasks import compute_ideal_similarity
from textgauge.bench.protocols.size import ASYMPTOTE
from textgauge.bench.results import Group
from textgauge.core.show import BLUE
from textgauge.report.figures import style

Sweep = Literal["size", "imbalance"]

_SWEEPS = {
    "size": ("Convergence as both samples grow", "texts in each sample"),
    "imbalance": ("Convergence over the balance of two samples", "texts in the first sample"),
}

_REMOVED, _INSERTED = 0.5, 1.0
_NUMBERS = ("x", "mean", "low", "high")


def collect_sweep_points(group: Group, metric: str, sweep: Sweep) -> pl.DataFrame:
    """Return one row per pair of samples: their sizes, the repetition, the metric's value."""
    observed = group.observed[metric]
    here = observed.columns["kind"] == sweep
    columns = {"size": observed.columns["size_a"], "other": observed.columns["size_b"], "repetition": observed.batch}
    frame = pl.DataFrame({name: column[here] for name, column in columns.items()})
    return frame.with_columns(pl.Series("value", style.get_own_values(metric, observed)[here]).fill_nan(None))


def compute_asymptote(group: Group, metric: str) -> float:
    """Return the mean value of the large samples; NaN where one is undefined."""
    observed = group.observed[metric]
    large = style.get_own_values(metric, observed)[observed.columns["kind"] == ASYMPTOTE]
    return float(large.mean()) if len(large) else float("nan")


def draw_convergence(group: Group, sweep: Sweep) -> alt.ConcatChart:
    """Return one panel per metric: its value over the size of the samples, with that of large ones."""
    title, across = _SWEEPS[sweep]

    def draw(metric: str, points: pl.DataFrame) -> alt.LayerChart:
        return _draw_convergence_panel(metric, points, compute_asymptote(group, metric), across)

    line = "Points: repetitions; line and band: their mean and its 95 % interval (these texts); dashed: large samples."
    total = style.require_protocol(group, "total").total
    uneven = f"The two samples have {total:,} texts together." if sweep == "imbalance" else ""
    return style.draw_metrics(group, partial(collect_sweep_points, sweep=sweep), "value", draw, title, line, uneven)


def _draw_convergence_panel(metric: str, points: pl.DataFrame, large: float, across: str) -> alt.LayerChart:
    shown, fewer = style.thin_points(points.drop_nulls("value"))
    x = alt.X("size:Q", title=across, axis=alt.Axis(format="~s", tickCount=5, grid=False))
    base = style.make_chart(style.measure_means(points, "size").sort("size")).encode(x)
    y = alt.Y("low:Q", title="value", axis=alt.Axis(minExtent=30))
    exact = [*style.make_tooltips("size", form=","), *style.make_tooltips("mean", "low", "high")]
    samples = [
        alt.Tooltip(f"{name}:Q", title=f"texts, {which} sample", format=",")
        for name, which in (("size", "first"), ("other", "second"))
    ]
    dots = style.make_chart(shown).mark_circle(color=BLUE, size=10, opacity=0.45)
    layers = [
        *style.draw_band(base, y, "mean", opacity=0.25, exact=exact, color=BLUE),
        dots.encode(x, alt.Y("value:Q"), tooltip=[*samples, *style.make_tooltips("repetition:Q", "value")]),
        *style.draw_level("large", large, "large samples"),
    ]
    said = f"large samples: {large:.4g}" if np.isfinite(large) else "large samples: undefined"
    return style.draw_panel(layers, metric, said, fewer)


def collect_sensitivity_rows(group: Group) -> pl.DataFrame:
    """Return one row per metric, place and change: the mean similarity over documents with Student's 95 % interval.

    `x` is the share that was inserted, or less the share that was removed.
    """
    frames = []
    for metric, observed in group.observed.items():
        at = observed.columns
        x = np.where(at["change"] == "insert", 1.0, -1.0) * at["share"].astype(np.float64)
        columns = {"place": at["place"], "x": x, "value": style.drop_infinite(observed.value)}
        frames.append(pl.DataFrame(columns).select(pl.lit(metric).alias("metric"), pl.all()))
    return style.measure_means(pl.concat(frames), "metric", "place", "x").sort("metric", "x", maintain_order=True)


def collect_ideal_rows(protocol: Sensitivity) -> pl.DataFrame:
    """Return the similarity that each change should have, as a curve."""
    x = np.linspace(-_REMOVED, _INSERTED, 61)
    ideal = compute_ideal_similarity(np.where(x < 0, "remove", "insert"), np.abs(x), protocol.ideal)
    return pl.DataFrame({"x": x, "ideal": ideal})


def draw_sensitivity(group: Group) -> alt.ConcatChart:
    """One panel per place of the change: a line for every metric, with its 95 % interval, and the ideal, dashed."""
    protocol = style.require_protocol(group, "ideal")
    rows = collect_sensitivity_rows(group)
    known = rows.drop_nulls("mean")
    metrics = known["metric"].unique(maintain_order=True).to_list()
    ideal = collect_ideal_rows(protocol)
    panels = [
        _draw_sensitivity_panel(place, known.filter(pl.col("place") == place), ideal, metrics) for place in PLACES
    ]
    line = "Line and band: mean over documents and its 95 % interval; dashed: ideal similarity."
    sides = "Left of 0: a share of the tokens was removed; right of it, a needle of that size was inserted."
    missing = style.name_left_out([metric for metric in group.observed if metric not in metrics], "undefined")
    return style.join_panels(panels, "Similarity over the size of a change", group, line, sides, missing, shared=True)


def _draw_sensitivity_panel(place: str, rows: pl.DataFrame, ideal: pl.DataFrame, metrics: list[str]) -> alt.LayerChart:
    axis = alt.Axis(format="%", values=[-_REMOVED, 0, 0.5, _INSERTED], grid=False)
    x = alt.X("x:Q", title="removed or inserted", axis=axis, scale=alt.Scale(domain=[-_REMOVED, _INSERTED]))
    y = alt.Y("low:Q", title="similarity", scale=alt.Scale(zero=False))
    # More metrics than colours: the lines of the second round are dotted.
    colours = [style.PALETTE[number % len(style.PALETTE)] for number in range(len(metrics))]
    dashes = [[1, 0] if number < len(style.PALETTE) else [2, 2] for number in range(len(metrics))]
    legend = alt.Legend(title=None, orient="bottom", columns=4, symbolOpacity=1)
    colour = alt.Color("metric:N", scale=alt.Scale(domain=metrics, range=colours), legend=legend)
    dash = alt.StrokeDash("metric:N", scale=alt.Scale(domain=metrics, range=dashes), legend=legend)
    exact = style.make_tooltips("metric:N", *_NUMBERS, form=".4f")
    base = style.make_chart(rows).encode(x)
    dashed = style.make_chart(ideal).mark_line(color=style.DARK, strokeWidth=1.5, strokeDash=[5, 3])
    layers = [
        base.mark_area(opacity=0.15).encode(y, alt.Y2("high:Q"), color=colour),
        base.mark_line(strokeWidth=1.5).encode(alt.Y("mean:Q"), color=colour, strokeDash=dash, tooltip=exact),
        base.mark_circle(size=10).encode(alt.Y("mean:Q"), color=colour, tooltip=exact),
        dashed.encode(x, alt.Y("ideal:Q")),
    ]
    return style.draw_panel(layers, f"{place} of the text", height=220)


def draw_sensitivities(groups: Sequence[Group], _: int) -> Iterator[style.Drawn]:
    """Yield a chart for each group."""
    for group in groups:
        yield [group.data], draw_sensitivity(group)
