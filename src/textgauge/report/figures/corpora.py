"""Figures of `describe`: generated texts in the semantic-syntactic plane."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import numpy as np
import polars as pl

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.show import VERMILION
from textgauge.measure.description import Description
from textgauge.metrics.properties import MeasuredCorpus
from textgauge.report.figures.style import (
    DARK,
    PANEL,
    draw_panel,
    join_panels,
    make_chart,
    make_tooltips,
    name_left_out,
)

Points = tuple[Floats, Floats]
"""Nearness to test and distance from train of each text of a corpus."""

_CELLS = 24
_DARKEST = 0.98  # the quantile of all cells from which shades are alike: one full cell must not pale the rest
_FARTHEST = 0.5  # 1 − SynSim of texts without a common word


def collect_plane_points(measured: MeasuredCorpus) -> Points:
    """Similarity to the nearest test text, and 1 − SynSim to the nearest train text, of each generated text."""
    if measured.semantic is None or measured.syntactic is None:
        return np.empty(0), np.empty(0)
    return measured.semantic.similarity, 1.0 - measured.syntactic.similarity


def collect_plane_cells(points: Points, low: float) -> pl.DataFrame:
    """One row per cell that holds a text: its corners and its share of the texts; `low` is the least similarity."""
    x, y = points
    counts, right, up = np.histogram2d(x, y, bins=_CELLS, range=[[low, 1.0], [0.0, _FARTHEST]])
    i, j = np.nonzero(counts)
    share = counts[i, j] / max(len(x), 1)
    return pl.DataFrame({"x": right[i], "x2": right[i + 1], "y": up[j], "y2": up[j + 1], "share": share})


def draw_plane(description: Description) -> alt.ConcatChart:
    """One panel per corpus: the density of its texts in the plane, and their mean; all panels have the same axes."""
    return draw_planes({one.name: collect_plane_points(one) for one in description.generated})


def draw_planes(points: Mapping[str, Points], *lines: str) -> alt.ConcatChart:
    """Return the plane of each corpus, of the places of its texts; more lines under the title.

    Source: Zwerdling et al., figures 1 and 2.
    """
    drawn = {name: of for name, of in points.items() if len(of[0])}
    if not drawn:
        raise InputError("the plane needs test texts and an embedder")
    low = min(float(x.min()) for x, _ in drawn.values())
    low = min(np.floor(low * 10) / 10, 0.9)
    cells = [collect_plane_cells(of, low) for of in drawn.values()]
    full = float(np.quantile(np.concatenate([part["share"].to_numpy() for part in cells]), _DARKEST))
    panels = [_draw_plane_panel(name, drawn[name], part, low, full) for name, part in zip(drawn, cells, strict=True)]
    line = "Shade: share of the texts; cross: their mean. Copies of train lie at the bottom."
    missing = name_left_out([name for name in points if name not in drawn], "undefined")
    title = "Meaning near test, wording far from train"
    return join_panels(panels, title, *lines, line, missing, shared=True)


def _draw_plane_panel(name: str, points: Points, cells: pl.DataFrame, low: float, full: float) -> alt.LayerChart:
    x, y = points
    middle = pl.DataFrame({"x": [float(x.mean())], "y": [float(y.mean())]})
    across = alt.X("x:Q", title="nearness to test", scale=alt.Scale(domain=[low, 1.0], nice=False))
    upward = alt.Y("y:Q", title="distance from train", scale=alt.Scale(domain=[0.0, _FARTHEST], nice=False))
    scale = alt.Scale(scheme="blues", type="sqrt", domain=[0.0, full], clamp=True)
    shade = alt.Color("share:Q", scale=scale, legend=None)
    tip = make_tooltips("x", "y", "share", form=".4g")
    layers = [
        make_chart(cells).mark_rect().encode(across, upward, shade, alt.X2("x2"), alt.Y2("y2"), tooltip=tip),
        make_chart(middle)
        .mark_point(shape="cross", color=VERMILION, filled=True, size=60, opacity=1, stroke=DARK, strokeWidth=0.5)
        .encode(across, upward, tooltip=tip[:2]),
    ]
    return draw_panel(layers, name, f"mean {x.mean():.3f}, {y.mean():.3f}; n {len(x):,}", height=PANEL)
