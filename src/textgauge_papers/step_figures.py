"""Figures 8, 12 and 13 of Ackerman et al. 2023: boxes of values, parts of pr and dc over k, deviations from prototypes.

They register as kinds of figures by entry points, so that runs of `distributionality` have them as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench import Group
from textgauge.metrics import get_metric
from textgauge.report import style

BLUE, VERMILION, *_ = style.PALETTE
COMPONENTS = ("pr", "dc")  # metrics whose parts are drawn over k
_WHOLE, _OVER_K, _PARTS = "metrics", "by k", "components"


def collect_component_rows(group: Group) -> pl.DataFrame:
    """One row per component, k and step: mean of the component's values, and one standard deviation to each side.

    Metrics that differ in more than k have components of their own. Values that do not exist are left out.
    """
    frames = [
        pl.DataFrame(
            {
                "component": f"{whole} {part.name}",
                "k": metric.k,
                "step": observed.columns["j"] - observed.columns["i"],
                "value": observed.columns[f"part.{part.name}"],
            }
        )
        for key, observed in group.observed.items()
        if (metric := get_metric(key)).name in COMPONENTS
        for whole in [replace(metric, part=None, k=type(metric)().k).key]
        for part in metric.parts
    ]
    return style.measure_spread(pl.concat(frames), "component", "k", "step") if frames else pl.DataFrame()


def draw_component(group: Group) -> alt.ConcatChart | None:
    """Return one panel per component of pr and dc, a line with its band for every k; None where the run has neither."""
    rows = collect_component_rows(group)
    if not len(rows):
        return None
    panels = [_draw_component_panel(part) for part in rows.partition_by("component", maintain_order=True)]
    line = "Line and band: mean at a step and one standard deviation to each side."
    return style.join_panels(panels, "Components over the steps between two corpora", group, line)


def _draw_component_panel(rows: pl.DataFrame) -> alt.LayerChart:
    step = style.make_steps_axis()
    # From blue to yellow by way of green: evenly lighter, so that print and eyes without colour keep the order.
    legend = alt.Legend(title="k", orient="right", symbolOpacity=1)
    base = style.make_chart(rows).encode(step, alt.Color("k:O", scale=alt.Scale(scheme="viridis"), legend=legend))
    low = alt.Y("low:Q", title=None, axis=alt.Axis(minExtent=30), scale=alt.Scale(zero=False))
    exact = style.make_tooltips("k", "step", "mean", "low", "high")
    layers = style.draw_band(base, low, "mean", opacity=0.15, exact=exact, line={"point": {"size": 14}})
    return style.draw_panel(layers, rows["component"][0])


def collect_deviation_rows(group: Group) -> pl.DataFrame:
    """Return one row per metric and prototype: its deviation with the interval, those nearest to the first on top."""
    measures = [measure.name for measure in group.protocol.measures]
    judged = {metric: of for metric, of in group.verdicts.items() if not np.isnan(of[measures[2]].value)}
    rows = [
        (metric, name.removeprefix("deviation_"), of[name].value, of[name].low, of[name].high)
        for metric, of in sorted(judged.items(), key=lambda item: -item[1][measures[2]].value)
        for name in measures[:2]
    ]
    schema = {"metric": pl.String, "prototype": pl.String, **dict.fromkeys(("deviation", "low", "high"), pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def draw_deviation(group: Group) -> alt.ConcatChart | None:
    """Draw how far every metric is from both prototypes, with intervals; None where no metric is judged."""
    rows = collect_deviation_rows(group)
    if not len(rows):
        return None
    names = rows["prototype"].unique(maintain_order=True).to_list()
    colour = alt.Scale(domain=names, range=[BLUE, VERMILION])
    legend = alt.Legend(title="deviation from", orient="bottom")
    y = alt.Y("metric:N", sort=None, title=None, axis=alt.Axis(grid=True, labelLimit=260))
    offset = alt.YOffset("prototype:N", sort=None, scale=alt.Scale(paddingOuter=0.6))
    base = style.make_chart(rows).encode(y, alt.Color("prototype:N", scale=colour, legend=legend), yOffset=offset)
    exact = style.make_tooltips("metric:N", "prototype:N", "deviation", "low", "high")
    layers = [
        base.mark_rule(strokeWidth=1.5).encode(alt.X("low:Q", title="deviation"), alt.X2("high:Q")),
        base.mark_point(filled=True, size=55, opacity=1).encode(
            alt.X("deviation:Q", scale=alt.Scale(zero=True)),
            shape=alt.Shape("prototype:N", scale=alt.Scale(domain=names), legend=legend),
            tooltip=exact,
        ),
    ]
    panel = style.draw_panel(layers, "", width=360, height=20 * rows["metric"].n_unique())
    line = "Point and line: the deviation and its 95 % interval; a metric is of the class of the nearer prototype."
    return style.join_panels([panel], "Deviation from both prototypes", group, line)


def collect_step_values(group: Group, metric: str) -> pl.DataFrame:
    """Return one row per value of the metric, with its step."""
    observed = group.observed[metric]
    columns = {"step": observed.columns["j"] - observed.columns["i"], "value": style.get_own_values(metric, observed)}
    return pl.DataFrame(columns).drop_nans("value")


def step_box_figure(group: Group, metrics: Sequence[str]) -> alt.ConcatChart:
    """Return one panel per metric: a box for every step."""
    frames = {metric: collect_step_values(group, metric) for metric in metrics}
    panels = [_draw_box_panel(metric, frame) for metric, frame in frames.items() if len(frame)]
    line = "Box: quartiles and median of the values at a step, in the metric's own units; whisker: smallest to largest."
    return style.join_panels(panels, "Values over the steps between two corpora", group, line)


def _draw_box_panel(metric: str, rows: pl.DataFrame) -> alt.LayerChart:
    x = alt.X("step:O", title="steps apart (ℓ)", axis=alt.Axis(labelAngle=0, ticks=False, labelOverlap=True))
    y = alt.Y("value:Q", title=None, axis=alt.Axis(minExtent=30, tickCount=5), scale=alt.Scale(zero=False))
    return style.draw_panel([style.draw_boxes(style.make_chart(rows).encode(x, y), size=7)], metric)


def _get_class(key: str) -> str:
    metric = get_metric(key)
    return _PARTS if metric.part is not None else _OVER_K if metric.name in COMPONENTS else _WHOLE


def _order(key: str) -> tuple[str, str, int]:
    metric = get_metric(key)
    return metric.name, metric.part or "", getattr(metric, "k", 0)


def draw_step_boxes(groups: Sequence[Group], _: int) -> Iterator[style.Drawn]:
    """Yield charts of whole metrics, of metrics over k, and of their parts."""
    for group in groups:
        for kind in (_WHOLE, _OVER_K, _PARTS):
            metrics = sorted((key for key in group.observed if _get_class(key) == kind), key=_order)
            if any(len(collect_step_values(group, metric)) for metric in metrics):
                yield [kind, *style.group_words(group)], step_box_figure(group, metrics)


DEVIATIONS = style.draw_each_group(draw_deviation)
STEP_BOXES = draw_step_boxes
COMPONENT = style.draw_each_group(draw_component)
