"""Metrics and people on the same pairs: orders of sets (Yamshchikov et al. 2021), and values over ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from textgauge.bench.results import Group
from textgauge.core.arrays import Floats
from textgauge.core.show import BLUE, VERMILION, printable
from textgauge.report.figures.kind import Draw, Drawn, FigureKind, group_words, one_per_group
from textgauge.report.figures.style import (
    PAGE,
    PANEL,
    about,
    chart_of,
    finished,
    heat_map,
    known_frames,
    layered,
    mean_interval,
    not_shown,
    own_values,
    thinned,
    tips,
    titled,
)
from textgauge.stats.correlation import spearman
from textgauge.stats.orders import order_correlations, ranks, set_means
from textgauge.stats.resampled_correlation import correlation_interval

PEOPLE = "people"
_CELL = 34
_STEPS = 13  # up to this many ratings have a mean each; more are gathered in groups of equal size


def set_orders(group: Group) -> tuple[list[str], dict[str, Floats]]:
    """The names of the sets, and their ranks by people and by every metric, best first; NaN for a set without values.

    A set's rank is that of its mean over the pairs that have a value.
    """
    first = next(iter(group.observed.values()))
    labels = [str(label) for label in np.unique(first.columns["set"])]
    found = {PEOPLE: ranks(set_means(first.columns["rating"].astype(np.float64), first.columns["set"], labels))}
    for metric, seen in group.observed.items():
        found[metric] = ranks(set_means(-seen.value, seen.columns["set"], labels))
    return labels, found


def order_cells(group: Group) -> pl.DataFrame:
    """One row per two orders: Spearman's ρ, null where an order does not exist."""
    _, found = set_orders(group)
    names, matrix = list(found), order_correlations(np.array(list(found.values())))
    rows = [(a, b, float(matrix[i, j])) for i, a in enumerate(names) for j, b in enumerate(names)]
    schema = {"metric": pl.String, "other": pl.String, "rho": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col("rho").fill_nan(None))


def order_figure(group: Group) -> alt.ConcatChart:
    """One cell per two metrics, or metric and people: how alike they order the sets."""
    cells = order_cells(group)
    absent = cells.filter((pl.col("metric") == pl.col("other")) & pl.col("rho").is_null())["metric"].to_list()
    known = cells.filter(~pl.col("metric").is_in(absent) & ~pl.col("other").is_in(absent))
    line = "Spearman's ρ of the orders of sets by their means; 1: the same order."
    missing = not_shown(absent, "a set without a value, or all means equal")
    lowest = min(0.0, float(np.nanmin(known["rho"].to_numpy())))
    number = alt.Text("rho:Q", format=".2f"), {"fontSize": 9}
    squares = heat_map(known, "other", "rho", [number], title="ρ", domain=(lowest, 1.0), size=(_CELL, _CELL), angle=-60)
    return finished([squares], "How alike metrics and people order the sets", about(group), line, missing)


def bump_ranks(group: Group) -> pl.DataFrame:
    """One row per set and metric, people first, then metrics by how alike they order the sets to people."""
    labels, found = set_orders(group)
    people = found[PEOPLE]
    known = {name: order for name, order in found.items() if not np.isnan(order).any()}
    names = sorted(known, key=lambda name: float(((known[name] - people) ** 2).sum()))
    tail = getattr(group.protocol, "random", "")
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
    return finished([_bump_panel(rows)], "Ranks of sets by people and metrics", about(group), line, missing)


def _bump_panel(rows: pl.DataFrame) -> alt.LayerChart:
    names = [printable(name) for name in dict.fromkeys(rows["metric"])]
    sets = rows["set"].n_unique()
    axis = alt.Axis(title=None, labelAngle=-45, labelLimit=160, ticks=False, domain=False, grid=True)
    x = alt.X("metric:N", sort=None, scale=alt.Scale(domain=names, type="point", padding=0.3), axis=axis)
    ticks = alt.Axis(values=list(range(1, sets + 1)), format="d", grid=False, domain=False, ticks=False, orient="right")
    y = alt.Y("rank:Q", title="rank", scale=alt.Scale(domain=[sets + 0.5, 0.5], nice=False, zero=False), axis=ticks)
    kind = alt.Scale(domain=[False, True], range=[BLUE, VERMILION])
    labels = alt.Legend(title=None, labelExpr="datum.value ? 'random pairs' : 'related pairs'", orient="top")
    colour = alt.Color("random:N", scale=kind, legend=labels)
    base = chart_of(rows).encode(x, y, alt.Detail("set:N"), color=colour, tooltip=tips("set:N", "metric:N", "rank:Q"))
    lines, dots = base.mark_line(strokeWidth=1.5, opacity=0.6), base.mark_circle(size=40, opacity=1)
    first = chart_of(rows.filter(pl.col("metric") == PEOPLE)).encode(x, y, alt.Text("set:N"))
    words = first.mark_text(align="right", dx=-8, fontSize=9)
    width = min(PAGE - 150, 40 * len(names))
    return layered([lines, dots, words], width=width, height=max(20 * sets, 80), title=titled(""))


def scatter_points(group: Group, metric: str) -> pl.DataFrame:
    """One row per pair: rating and the metric's value, null where undefined."""
    observed = group.observed[metric]
    columns = {"rating": observed.columns["rating"].astype(np.float64), "value": own_values(metric, observed)}
    return pl.DataFrame(columns).with_columns(pl.col("value").fill_nan(None))


def scatter_means(points: pl.DataFrame) -> pl.DataFrame:
    """Mean value at every rating (or group of neighbouring ratings), with Student's 95 % interval."""
    known = points.drop_nulls("value").sort("rating")
    schema = dict.fromkeys(("rating", "mean", "low", "high"), pl.Float64) | {"pairs": pl.Int64}
    rows = []
    for part in _steps(known["rating"].to_numpy()):
        middle = float(known["rating"].to_numpy()[part].mean())
        rows.append((middle, *mean_interval(known["value"].to_numpy()[part].tolist()), len(part)))
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
    drawn, missing = known_frames(frames, "value", "constant or undefined", values=2)
    panels = [_scatter_panel(metric, group, frame) for metric, frame in drawn.items()]
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


def _scatter_panel(metric: str, group: Group, points: pl.DataFrame) -> alt.LayerChart:
    shown, fewer = thinned(points.drop_nulls("value"))
    x = alt.X("rating:Q", title="rating", scale=alt.Scale(zero=False), axis=alt.Axis(grid=False, tickCount=5))
    tip = [*tips("rating", form=".4g"), *tips("value")]
    dots = chart_of(shown).mark_circle(color=BLUE, size=8, opacity=0.25)
    means = chart_of(scatter_means(points)).encode(x)
    exact = tips("rating", "mean", "low", "high", "pairs")
    layers = [
        dots.encode(x, alt.Y("value:Q", title="value", axis=alt.Axis(minExtent=30)), tooltip=tip),
        means.mark_rule(color=VERMILION, strokeWidth=2).encode(alt.Y("low:Q"), alt.Y2("high:Q"), tooltip=exact),
        means.mark_line(color=VERMILION, strokeWidth=1.5).encode(alt.Y("mean:Q")),
        means.mark_circle(color=VERMILION, size=24, opacity=1).encode(alt.Y("mean:Q"), tooltip=exact),
    ]
    return layered(layers, width=PANEL, height=140, title=titled(metric, _rho(metric, group), fewer))


def _of_sets(figure: Callable[[Group], alt.ConcatChart]) -> Draw:
    """A chart for each group whose pairs come in sets."""

    def draw(groups: Sequence[Group], _: int) -> Iterator[Drawn]:
        for group in groups:
            if "set" in next(iter(group.observed.values())).columns:
                yield group_words(group), figure(group)

    return draw


FIGURES = (
    FigureKind("order", _of_sets(order_figure)),
    FigureKind("bump", _of_sets(bump_figure)),
    FigureKind("scatter", one_per_group(scatter_figure), "spearman"),
)
