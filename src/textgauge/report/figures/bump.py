"""Ranks of sets by people and by every metric, as a bump chart: Yamshchikov et al. 2021, table 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textgauge.evaluate.protocols import Agreement
from textgauge.report.figures.order_matrix import PEOPLE, set_orders
from textgauge.report.figures.read import Group
from textgauge.report.figures.style import (
    BLUE,
    PAGE,
    VERMILION,
    about,
    finished,
    layered,
    not_shown,
    plain,
    printable,
    titled,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


def bump_ranks(group: Group) -> pl.DataFrame:
    """One row per set and metric, people first, then metrics by how alike they order the sets to people."""
    import polars as pl

    labels, found = set_orders(group)
    people = found[PEOPLE]
    known = {name: order for name, order in found.items() if not np.isnan(order).any()}
    names = sorted(known, key=lambda name: float(((known[name] - people) ** 2).sum()))
    tail = group.protocol.random if isinstance(group.protocol, Agreement) else ""
    rows = [
        (label, name, float(known[name][place]), bool(tail) and label.endswith(tail))
        for name in sorted(names, key=lambda name: name != PEOPLE)
        for place, label in enumerate(labels)
    ]
    schema = {"set": pl.String, "metric": pl.String, "rank": pl.Float64, "random": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")


def bump_figure(group: Group) -> alt.ConcatChart:
    """One line per set over people and metrics, the best set on top."""
    rows = bump_ranks(group)
    shown = set(rows["metric"])
    missing = not_shown([metric for metric in group.observed if metric not in shown], "a set without a value")
    line = "Rank 1: the set whose pairs are nearest on average. Metrics from left to right: less and less like people."
    return finished([_panel(rows)], "Ranks of sets by people and metrics", about(group), line, missing)


def _panel(rows: pl.DataFrame) -> alt.LayerChart:
    import altair as alt
    import polars as pl

    names = [printable(name) for name in dict.fromkeys(rows["metric"])]
    sets = rows["set"].n_unique()
    axis = alt.Axis(title=None, labelAngle=-45, labelLimit=160, ticks=False, domain=False, grid=True)
    x = alt.X("metric:N", sort=None, scale=alt.Scale(domain=names, type="point", padding=0.3), axis=axis)
    ticks = alt.Axis(values=list(range(1, sets + 1)), format="d", grid=False, domain=False, ticks=False, orient="right")
    y = alt.Y("rank:Q", title="rank", scale=alt.Scale(domain=[sets + 0.5, 0.5], nice=False, zero=False), axis=ticks)
    kind = alt.Scale(domain=[False, True], range=[BLUE, VERMILION])
    labels = alt.Legend(title=None, labelExpr="datum.value ? 'random pairs' : 'related pairs'", orient="top")
    colour = alt.Color("random:N", scale=kind, legend=labels)
    tip = [alt.Tooltip("set:N"), alt.Tooltip("metric:N"), alt.Tooltip("rank:Q")]
    base = alt.Chart(plain(rows)).encode(x, y, alt.Detail("set:N"), color=colour, tooltip=tip)
    lines, dots = base.mark_line(strokeWidth=1.5, opacity=0.6), base.mark_circle(size=40, opacity=1)
    first = alt.Chart(plain(rows.filter(pl.col("metric") == PEOPLE))).encode(x, y, alt.Text("set:N"))
    words = first.mark_text(align="right", dx=-8, fontSize=9)
    width = min(PAGE - 150, 40 * len(names))
    return layered([lines, dots, words], width=width, height=max(20 * sets, 80), title=titled(""))
