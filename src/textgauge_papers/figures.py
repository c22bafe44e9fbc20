"""The figures of a paper, drawn of our run: numbered as there, each with a caption that says what to see."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from textgauge.bench import Results
from textgauge.core import STATIC_PAGE_POLICY, write_atomically
from textgauge.metrics import get_metrics
from textgauge.report import Figure, draw_figures, render_chart, style
from textgauge_papers.paper import Paper

PLANE = "plane"  # drawn here, not by the kinds of a run
DEVIATIONS = "deviations"  # drawn for each rule for prototypes
INDEX = "index.html"
Points = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Nearness to test and distance from train of each text of a corpus."""

_CELLS = 24
_DARKEST = 0.98  # the quantile of all cells from which shades are alike: one full cell must not pale the rest
_FARTHEST = 0.5  # 1 − SynSim of texts without a common word
_LOOK = "body{font:16px/1.5 sans-serif;max-width:44rem;margin:2rem auto}figure{margin:2rem 0}img{max-width:100%}"


@dataclass(frozen=True, eq=False)
class NumberedFigure:
    """A chart, the number of the figure that it stands for, and its caption."""

    number: str
    caption: str
    figure: Figure


def paper_figures(paper: Paper, results: Results) -> Iterator[NumberedFigure]:
    """Yield every figure of a paper that the run has data for."""
    groups = [group for group in results.groups() if paper.draws(group.protocol)]
    for wanted in paper.figures:
        only = {metric.key for metric in get_metrics(wanted.metrics)} if wanted.metrics else None
        drawn = (
            _planes(results.store.folder)
            if wanted.kind == PLANE
            else _deviations(paper, results)
            if wanted.kind == DEVIATIONS
            else draw_figures(groups, kinds=[wanted.kind], metrics=only)
        )
        for figure in drawn:
            if not wanted.shows or any(part in figure.name for part in wanted.shows):
                yield NumberedFigure(wanted.number, wanted.caption, figure)


def write_figures(paper: Paper, results: Results, folder: Path) -> Iterator[Path]:
    """Write each figure as SVG, and one page with all of them and their captions; gives the files."""
    shown = []
    folder.mkdir(parents=True, exist_ok=True)
    for one in paper_figures(paper, results):
        path = folder / f"figure-{one.number}-{one.figure.name}.svg"
        yield write_atomically(path, render_chart(one.figure.chart, "svg"))
        caption = html.escape(f"Figure {one.number}. {one.caption}")
        name = html.escape(path.name)
        shown.append(f'<figure><img src="{name}" alt="{caption}"><figcaption>{caption}</figcaption></figure>')
    if shown:
        title = html.escape(f"Figures of {paper.name}")
        head = [
            '<!DOCTYPE html>\n<html lang="en">\n<meta charset="UTF-8">',
            STATIC_PAGE_POLICY,
            f"<title>{title}</title>",
        ]
        head += [f"<style>{_LOOK}</style>", f"<h1>{title}</h1>"]
        yield write_atomically(folder / INDEX, "\n".join([*head, *shown, "</html>", ""]))


def _planes(folder: Path) -> Iterator[Figure]:
    """Yield the plane of every description that a run keeps."""
    for path in sorted(folder.glob("descriptions/*.parquet")):
        texts = pl.read_parquet(path, columns=["corpus", "semantic", "syntactic"]).drop_nulls()
        parts = texts.partition_by("corpus", as_dict=True, maintain_order=True)
        points = {
            str(corpus): (part["semantic"].to_numpy(), 1.0 - part["syntactic"].to_numpy())
            for (corpus,), part in parts.items()
        }
        if points:
            source = path.stem.rpartition("-")[0]
            yield Figure(f"{PLANE}-{source}", draw_planes(points, source))


def _deviations(paper: Paper, results: Results) -> Iterator[Figure]:
    """Yield the deviations of all metrics from both prototypes, by each rule for prototypes."""
    for rule in paper.variants:
        for figure in draw_figures(results.groups({"prototypes": rule}), kinds=[DEVIATIONS]):
            yield replace(figure, name=f"{figure.name}-{rule}")


def collect_plane_cells(points: Points, low: float) -> pl.DataFrame:
    """One row per cell that holds a text: its corners and its share of the texts; `low` is the least similarity."""
    x, y = points
    counts, right, up = np.histogram2d(x, y, bins=_CELLS, range=[[low, 1.0], [0.0, _FARTHEST]])
    i, j = np.nonzero(counts)
    share = counts[i, j] / max(len(x), 1)
    return pl.DataFrame({"x": right[i], "x2": right[i + 1], "y": up[j], "y2": up[j + 1], "share": share})


def draw_planes(points: Mapping[str, Points], source: str) -> alt.ConcatChart:
    """Return one panel per corpus of a source: the density of its texts in the plane, and their mean; axes are shared.

    Source: Zwerdling et al., figures 1 and 2.
    """
    low = min(float(x.min()) for x, _ in points.values())
    low = min(np.floor(low * 10) / 10, 0.9)
    cells = [collect_plane_cells(of, low) for of in points.values()]
    full = float(np.quantile(np.concatenate([part["share"].to_numpy() for part in cells]), _DARKEST))
    panels = [_draw_plane_panel(name, points[name], part, low, full) for name, part in zip(points, cells, strict=True)]
    line = "Shade: share of the texts; cross: their mean. Copies of train lie at the bottom."
    title = "Meaning near test, wording far from train"
    return style.join_panels(panels, title, source, line, shared=True)


def _draw_plane_panel(name: str, points: Points, cells: pl.DataFrame, low: float, full: float) -> alt.LayerChart:
    x, y = points
    middle = pl.DataFrame({"x": [float(x.mean())], "y": [float(y.mean())]})
    across = alt.X("x:Q", title="nearness to test", scale=alt.Scale(domain=[low, 1.0], nice=False))
    upward = alt.Y("y:Q", title="distance from train", scale=alt.Scale(domain=[0.0, _FARTHEST], nice=False))
    scale = alt.Scale(scheme="blues", type="sqrt", domain=[0.0, full], clamp=True)
    shade = alt.Color("share:Q", scale=scale, legend=None)
    tip = style.make_tooltips("x", "y", "share", form=".4g")
    layers = [
        style.make_chart(cells).mark_rect().encode(across, upward, shade, alt.X2("x2"), alt.Y2("y2"), tooltip=tip),
        style.make_chart(middle)
        .mark_point(
            shape="cross", color=style.PALETTE[1], filled=True, size=60, opacity=1, stroke=style.DARK, strokeWidth=0.5
        )
        .encode(across, upward, tooltip=tip[:2]),
    ]
    return style.draw_panel(layers, name, f"mean {x.mean():.3f}, {y.mean():.3f}; n {len(x):,}", height=style.PANEL)
