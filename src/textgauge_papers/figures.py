"""The figures of a paper, drawn of our run: numbered as there, each with a caption that says what to see."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from textgauge.bench import Results
from textgauge.core import STATIC_PAGE_POLICY, write_atomically
from textgauge.metrics import get_metrics
from textgauge.report import Figure, draw_figures, draw_planes, render_chart
from textgauge_papers.paper import Paper

PLANE = "plane"  # drawn here, not by the kinds of a run
DEVIATIONS = "deviations"  # drawn for each rule for prototypes
INDEX = "index.html"
_LOOK = "body{font:16px/1.5 sans-serif;max-width:44rem;margin:2rem auto}figure{margin:2rem 0}img{max-width:100%}"


@dataclass(frozen=True, eq=False)
class NumberedFigure:
    """A chart, the number of the figure that it stands for, and its caption."""

    number: str
    caption: str
    figure: Figure


def paper_figures(paper: Paper, results: Results) -> Iterator[NumberedFigure]:
    """Yield every figure of a paper that the run has data for."""
    groups = [group for group in results.groups() if group.protocol not in paper.not_drawn]
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
    import polars as pl

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
