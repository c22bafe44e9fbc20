"""Metrics of pairs: how they agree with people, their scores in tasks, and what goes into ensembles.

Orders of sets are those of Yamshchikov et al. 2021.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench import Sensitivity
from textgauge.bench.ensembles import Contribution
from textgauge.bench.leaderboard import rank_metrics
from textgauge.bench.pieces import PLACES
from textgauge.bench.protocols.base import RESAMPLES, Measure
from textgauge.bench.protocols.tasks import compute_ideal_similarity
from textgauge.bench.results import Group, Results
from textgauge.core.arrays import Floats
from textgauge.core.show import BLUE, VERMILION, make_printable
from textgauge.report.figures import style
from textgauge.report.figures.style import make_chart, make_tooltips
from textgauge.stats.correlation import estimate_correlation_interval, spearman
from textgauge.stats.orders import average_sets, correlate_orders, rank_sets
from textgauge.stats.resampling import compute_percentile_interval

PEOPLE = "people"
_CELL = 34
_STEPS = 13  # up to this many ratings have a mean each; more are gathered in groups of equal size
Of = Literal["share", "importance"]

_TITLES: dict[Of, tuple[str, str, str]] = {
    "share": ("Shares of metrics in the {}", "share", "|β| of linear models, mean decrease in impurity of forests."),
    "importance": (
        "Importance of metrics in the {}",
        "fall of the score",
        "By how much the score falls when a metric is shuffled among left-out trials; dots: single data sets.",
    ),
}
_BAR = 18
OVERALL = "overall"
_WIDE, _HIGH = 74, 34
_REMOVED, _INSERTED = 0.5, 1.0


def set_orders(group: Group) -> tuple[list[str], dict[str, Floats]]:
    """Return the names of the sets, and their ranks by people and by every metric, best first.

    NaN for a set without values. A set's rank is that of its mean over the pairs that have a value.
    """
    first = next(iter(group.observed.values()))
    labels = [str(label) for label in np.unique(first.columns["set"])]
    found = {PEOPLE: rank_sets(average_sets(first.columns["rating"].astype(np.float64), first.columns["set"], labels))}
    for metric, seen in group.observed.items():
        found[metric] = rank_sets(average_sets(-seen.value, seen.columns["set"], labels))
    return labels, found


def draw_orders(group: Group) -> alt.ConcatChart | None:
    """Return one cell per two metrics, or metric and people: how alike they order the sets; None without sets.

    Spearman's ρ is not there where an order does not exist.
    """
    if "set" not in next(iter(group.observed.values())).columns:
        return None
    orders = set_orders(group)[1]
    matrix = correlate_orders(np.array(list(orders.values())))
    rows = [(a, b, float(matrix[i, j])) for i, a in enumerate(orders) for j, b in enumerate(orders)]
    cells = pl.DataFrame(rows, {"metric": pl.String, "other": pl.String, "rho": pl.Float64}, orient="row")
    absent = cells.filter((pl.col("metric") == pl.col("other")) & pl.col("rho").is_nan())["metric"].to_list()
    known = cells.filter(~pl.col("metric").is_in(absent) & ~pl.col("other").is_in(absent)).fill_nan(None)
    line = "Spearman's ρ of the orders of sets by their means; 1: the same order."
    missing = style.name_left_out(absent, "a set without a value, or all means equal")
    domain = min(0.0, float(np.nanmin(known["rho"].to_numpy()))), 1.0
    number = alt.Text("rho:Q", format=".2f"), {"fontSize": 9}
    squares = style.draw_heat_map(
        known, "other", "rho", [number], title="ρ", domain=domain, size=(_CELL, _CELL), angle=-60
    )
    return style.join_panels([squares], "How alike metrics and people order the sets", group, line, missing)


def collect_scatter_points(group: Group, metric: str) -> pl.DataFrame:
    """Return one row per pair: rating and the metric's value, null where undefined."""
    observed = group.observed[metric]
    columns = {"rating": observed.columns["rating"].astype(np.float64), "value": style.get_own_values(metric, observed)}
    return pl.DataFrame(columns).with_columns(pl.col("value").fill_nan(None))


def compute_scatter_means(points: pl.DataFrame) -> pl.DataFrame:
    """Mean value at every rating, or group of neighbouring ratings if there are many, with Student's 95 % interval."""
    known = points.drop_nulls("value").sort("rating")
    if known["rating"].n_unique() > _STEPS:
        step = np.concatenate([np.full(len(part), n) for n, part in enumerate(np.array_split(known["value"], _STEPS))])
        known = known.with_columns(pl.col("rating").mean().over(pl.Series(step)))
    counts = known.group_by("rating", maintain_order=True).len("pairs")
    return style.measure_means(known, "rating").join(counts, on="rating", maintain_order="left")


def draw_scatter(group: Group) -> alt.ConcatChart:
    """One panel per metric: its value over the rating, means with 95 % intervals, and Spearman's ρ with its own."""

    def draw(metric: str, points: pl.DataFrame) -> alt.LayerChart:
        shown, fewer = style.thin_points(points.drop_nulls("value"))
        x = alt.X("rating:Q", title="rating", scale=alt.Scale(zero=False), axis=alt.Axis(grid=False, tickCount=5))
        tip = [*make_tooltips("rating", form=".4g"), *make_tooltips("value")]
        dots = make_chart(shown).mark_circle(color=BLUE, size=8, opacity=0.25)
        means = make_chart(compute_scatter_means(points)).encode(x)
        exact = make_tooltips("rating", "mean", "low", "high", "pairs")
        layers = [
            dots.encode(x, alt.Y("value:Q", title="value", axis=alt.Axis(minExtent=30)), tooltip=tip),
            means.mark_rule(color=VERMILION, strokeWidth=2).encode(alt.Y("low:Q"), alt.Y2("high:Q"), tooltip=exact),
            means.mark_line(color=VERMILION, strokeWidth=1.5).encode(alt.Y("mean:Q")),
            means.mark_circle(color=VERMILION, size=24, opacity=1).encode(alt.Y("mean:Q"), tooltip=exact),
        ]
        return style.draw_panel(layers, metric, _format_rho(metric, group), fewer)

    line = "Each point is a pair. Bars: mean value at a rating and its 95 % interval. ρ of nearness and rating."
    title, why = "Values of metrics over people's ratings", "constant or undefined"
    return style.draw_metrics(group, collect_scatter_points, "value", draw, title, line, least=2, why=why)


def _format_rho(metric: str, group: Group) -> str:
    observed = group.observed[metric]
    known = np.isfinite(observed.value)
    x, y = -observed.value[known], observed.columns["rating"][known].astype(np.float64)
    value = spearman(y, x)
    if np.isnan(value):
        return "ρ undefined: all ratings are equal"
    low, high = estimate_correlation_interval(spearman, y, x, resamples=200)
    return f"ρ {value:.3f} ({low:.3f} … {high:.3f}), n {len(x):,}"


def collect_task_cells(groups: Sequence[Group]) -> pl.DataFrame:
    """Return one row per metric, best first, and column of the leaderboard: the score and its 95 % interval.

    Units (documents, queries, folds) are resampled on every data set; null where a metric is undefined.
    """
    board = rank_metrics(groups)
    rows = []
    for row in board:
        drawn = {name: _collect_draws(groups, row.metric, board.by_column.get(name, [])) for name in board.measures}
        every = list(drawn.values())
        drawn[OVERALL] = (np.asarray(np.mean([draws for draws, _ in every], axis=0)), min(n for _, n in every))
        for name, value in {**row.measures, OVERALL: row.overall}.items():
            rows.append((row.metric, name, value, *compute_percentile_interval(*drawn[name], 0.95)))
    numbers = dict.fromkeys(("value", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, {"metric": pl.String, "task": pl.String, **numbers}, orient="row").fill_nan(None)


def draw_task(groups: Sequence[Group], metrics: Collection[str] | None = None) -> alt.ConcatChart:
    """Return one cell per metric and task, with the overall score last; `metrics` are the rows that are wanted."""
    cells = collect_task_cells(groups)
    if metrics is not None:
        cells = cells.filter(pl.col("metric").is_in(list(metrics)))
    lacking = cells.filter((pl.col("task") == OVERALL) & pl.col("value").is_null())["metric"].to_list()
    missing = f"undefined in a task, so without an overall score: {', '.join(lacking)}" if lacking else ""
    ends = cells.select("low", "high").rows()
    labelled = cells.with_columns(
        score=pl.Series(["–" if value is None else f"{value:.2f}" for value in cells["value"]]),
        between=pl.Series(["" if low is None else f"{low:.2f}–{high:.2f}" for low, high in ends]),
    )
    texts = [(alt.Text("score:N"), {"fontSize": 11, "dy": -5}), (alt.Text("between:N"), {"fontSize": 8, "dy": 8})]
    squares = style.draw_heat_map(
        labelled, "task", "value", texts, title="score", domain=(0.0, 1.0), size=(_WIDE, _HIGH)
    )
    data = ", ".join(dict.fromkeys(group.data for group in groups))
    line = "1 is best; beneath each score its 95 % interval over documents, queries or folds."
    return style.join_panels([squares], "Scores in all tasks", data, line, missing)


def _collect_draws(groups: Sequence[Group], metric: str, measures: Sequence[Measure]) -> tuple[Floats, int]:
    """Return the resampled values of a column, and the fewest units of a data set; NaN where there are none."""
    own = [group.verdicts.get(metric, {}) for group in groups]
    by_measure = [[of[m.name] for of in own if m.name in of and of[m.name].draws] for m in measures if not m.detail]
    found = [verdicts for verdicts in by_measure if verdicts]
    if not found:
        return np.full(RESAMPLES, np.nan), 0
    means = [np.mean([verdict.draws for verdict in verdicts], axis=0) for verdicts in found]
    return np.asarray(np.mean(means, axis=0)), min(verdict.units for verdicts in found for verdict in verdicts)


def collect_contribution_rows(
    found: Sequence[Contribution], ensemble: str, of: Of, metrics: Collection[str] | None = None
) -> pl.DataFrame:
    """Return one row per task, data set and metric that has a number, with its mean over the data sets of the task."""
    rows = [
        (item.task, item.data, item.metric, getattr(item, of))
        for item in found
        if item.ensemble == ensemble and (metrics is None or item.metric in metrics)
    ]
    schema = {"task": pl.String, "data": pl.String, "metric": pl.String, "value": pl.Float64}
    frame = pl.DataFrame(rows, schema, orient="row").drop_nans("value")
    return frame.with_columns(mean=pl.col("value").mean().over("task", "metric"))


def draw_contribution(
    found: Sequence[Contribution], ensemble: str, of: Of, metrics: Collection[str] | None = None
) -> alt.ConcatChart | None:
    """Return one panel per task: a bar for every metric; None where the model has no such numbers."""
    every = collect_contribution_rows(found, ensemble, of, metrics)
    if every.is_empty():
        return None
    title, across, line = _TITLES[of]
    names = sorted(every["metric"].unique())
    scale = alt.Scale(domain=[make_printable(name) for name in names])
    x = alt.X("mean:Q", title=across, axis=alt.Axis(tickCount=3), scale=alt.Scale(nice=True))
    tip = make_tooltips("metric:N", "data:N", "value", "mean", form=".4f")
    panels = []
    for place, task in enumerate(every["task"].unique(maintain_order=True)):
        rows, named = every.filter(pl.col("task") == task), place % style.COLUMNS == 0
        axis = alt.Axis(title=None, labels=named, ticks=False, domain=False, labelLimit=200, labelPadding=6)
        y = alt.Y("metric:N", sort=None, scale=scale, axis=axis)
        means = make_chart(rows.unique("metric", maintain_order=True))
        layers: list[alt.Chart] = [means.mark_bar(color=BLUE, size=10).encode(x, y, tooltip=tip)]
        if of == "importance":
            dots = make_chart(rows).mark_circle(color=style.DARK, size=14, opacity=0.7)
            layers.append(dots.encode(alt.X("value:Q"), y, tooltip=tip))
        panels.append(style.draw_panel(layers, task, width=style.PANEL - 40, height=_BAR * len(names)))
    several = "Each embedder has an ensemble; metrics that need none are in all of them, and their mean is drawn."
    return style.join_panels(panels, title.format(ensemble), line, several)


def _list_runs(groups: Sequence[Group]) -> Iterator[tuple[Results, list[Group], set[str]]]:
    """Every run that has tasks, its groups with all verdicts, and its rows: metrics, and what is made from metrics."""
    for results in dict.fromkeys(group.results for group in groups if group.results is not None):
        trials = {(*group.trials, group.protocol) for group in groups if group.results is results}
        own = [group for group in results.groups() if (*group.trials, group.protocol) in trials]
        made = {metric for group in own for metric in group.verdicts} - results.metrics
        yield results, own, made | {m for group in groups if group.results is results for m in group.observed}


def draw_task_scores(groups: Sequence[Group], _: int) -> Iterator[style.Drawn]:
    """Yield the scores of each run in all tasks."""
    for _results, own, metrics in _list_runs(groups):
        yield [], draw_task(own, metrics)


def draw_contributions(groups: Sequence[Group], _: int) -> Iterator[style.Drawn]:
    """Yield shares and importances of metrics in each ensemble of each run."""
    for results, _own, metrics in _list_runs(groups):
        found = results.ensembles.contributions
        for ensemble in dict.fromkeys(item.ensemble for item in found):
            for of in _TITLES:
                chart = draw_contribution(found, ensemble, of, metrics)
                if chart is not None:
                    yield [ensemble, of], chart


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


def _collect_ideal_rows(protocol: Sensitivity) -> pl.DataFrame:
    """Return the similarity that each change should have, as a curve."""
    x = np.linspace(-_REMOVED, _INSERTED, 61)
    ideal = compute_ideal_similarity(np.where(x < 0, "remove", "insert"), np.abs(x), protocol.ideal)
    return pl.DataFrame({"x": x, "ideal": ideal})


def draw_sensitivity(group: Group) -> alt.ConcatChart:
    """One panel per place of the change: a line for every metric, with its 95 % interval, and the ideal, dashed."""
    ideal = make_chart(_collect_ideal_rows(style.require_protocol(group, "ideal")))
    known = collect_sensitivity_rows(group).drop_nulls("mean")
    metrics = known["metric"].unique(maintain_order=True).to_list()
    axis = alt.Axis(format="%", values=[-_REMOVED, 0, 0.5, _INSERTED], grid=False)
    x = alt.X("x:Q", title="removed or inserted", axis=axis, scale=alt.Scale(domain=[-_REMOVED, _INSERTED]))
    y = alt.Y("low:Q", title="similarity", scale=alt.Scale(zero=False))
    # More metrics than colours: the lines of the second round are dotted.
    colours = [style.PALETTE[number % len(style.PALETTE)] for number in range(len(metrics))]
    dashes = [[1, 0] if number < len(style.PALETTE) else [2, 2] for number in range(len(metrics))]
    legend = alt.Legend(title=None, orient="bottom", columns=4, symbolOpacity=1)
    colour = alt.Color("metric:N", scale=alt.Scale(domain=metrics, range=colours), legend=legend)
    dash = alt.StrokeDash("metric:N", scale=alt.Scale(domain=metrics, range=dashes), legend=legend)
    exact = make_tooltips("metric:N", "x", "mean", "low", "high", form=".4f")
    ideal = ideal.mark_line(color=style.DARK, strokeWidth=1.5, strokeDash=[5, 3]).encode(x, alt.Y("ideal:Q"))
    panels = []
    for place in PLACES:
        base = make_chart(known.filter(pl.col("place") == place)).encode(x)
        layers = [
            base.mark_area(opacity=0.15).encode(y, alt.Y2("high:Q"), color=colour),
            base.mark_line(strokeWidth=1.5).encode(alt.Y("mean:Q"), color=colour, strokeDash=dash, tooltip=exact),
            base.mark_circle(size=10).encode(alt.Y("mean:Q"), color=colour, tooltip=exact),
            ideal,
        ]
        panels.append(style.draw_panel(layers, f"{place} of the text", height=220))
    line = "Line and band: mean over documents and its 95 % interval; dashed: ideal similarity."
    sides = "Left of 0: a share of the tokens was removed; right of it, a needle of that size was inserted."
    missing = style.name_left_out([metric for metric in group.observed if metric not in metrics], "undefined")
    return style.join_panels(panels, "Similarity over the size of a change", group, line, sides, missing, shared=True)


def draw_sensitivities(groups: Sequence[Group], _: int) -> Iterator[style.Drawn]:
    """Yield a chart for each group."""
    for group in groups:
        yield [group.data], draw_sensitivity(group)
