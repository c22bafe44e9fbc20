"""A metric's own values over the steps between two corpora, as boxes: Ackerman et al. 2023, figures 8, 12 and 13."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from textgauge.evaluate.results import Group
from textgauge.metrics import get_metric
from textgauge.report.figures.distributionality import COMPONENTS
from textgauge.report.figures.kind import Drawn, FigureKind, group_words
from textgauge.report.figures.style import DARK, PANEL, about, chart_of, finished, layered, own_values, tips, titled

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

_QUARTILES = ("smallest", "lower_quartile", "median", "upper_quartile", "largest")
_WHOLE, _OVER_K, _PARTS = "metrics", "by k", "components"


def step_quartiles(group: Group, metric: str) -> pl.DataFrame:
    """One row per step: quartiles and range of the metric's values; steps without a value are left out."""
    import polars as pl

    observed = group.observed[metric]
    value, step = own_values(metric, observed), observed.columns["j"] - observed.columns["i"]
    known = {int(at): value[(step == at) & ~np.isnan(value)] for at in np.unique(step)}
    rows = [(at, *np.quantile(part, [0, 0.25, 0.5, 0.75, 1]).tolist()) for at, part in known.items() if len(part)]
    schema = {"step": pl.Int64, **dict.fromkeys(_QUARTILES, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def step_box_figure(group: Group, metrics: Sequence[str]) -> alt.ConcatChart:
    """One panel per metric: a box for every step."""
    frames = {metric: step_quartiles(group, metric) for metric in metrics}
    panels = [_panel(metric, frame) for metric, frame in frames.items() if len(frame)]
    line = "Box: quartiles and median of the values at a step, in the metric's own units; whisker: smallest to largest."
    return finished(panels, "Values over the steps between two corpora", about(group), line)


def _panel(metric: str, rows: pl.DataFrame) -> alt.LayerChart:
    import altair as alt

    x = alt.X("step:O", title="steps apart (ℓ)", axis=alt.Axis(labelAngle=0, ticks=False, labelOverlap=True))
    base = chart_of(rows).encode(x, tooltip=tips("step:O", *_QUARTILES))
    least = alt.Y("smallest:Q", title=None, axis=alt.Axis(minExtent=30, tickCount=5), scale=alt.Scale(zero=False))
    layers = [
        base.mark_rule(color=DARK).encode(least, alt.Y2("largest")),
        base.mark_bar(color="#9CC8E3", size=7).encode(alt.Y("lower_quartile:Q"), alt.Y2("upper_quartile")),
        base.mark_tick(color=DARK, size=7, thickness=1.5, orient="horizontal").encode(alt.Y("median:Q")),
    ]
    return layered(layers, width=PANEL, height=140, title=titled(metric))


def _class_of(key: str) -> str:
    metric = get_metric(key)
    return _PARTS if metric.part is not None else _OVER_K if metric.name in COMPONENTS else _WHOLE


def _order(key: str) -> tuple[str, str, int]:
    metric = get_metric(key)
    return metric.name, metric.part or "", getattr(metric, "k", 0)


def _boxes(groups: Sequence[Group], _: int) -> Iterator[Drawn]:
    for group in groups:
        for kind in (_WHOLE, _OVER_K, _PARTS):
            metrics = sorted((key for key in group.observed if _class_of(key) == kind), key=_order)
            if any(len(step_quartiles(group, metric)) for metric in metrics):
                yield [kind, *group_words(group)], step_box_figure(group, metrics)


FIGURES = (FigureKind("step_boxes", _boxes),)
