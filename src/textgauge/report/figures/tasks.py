"""Tasks of pair metrics: scores in all of them, what goes into ensembles, and similarity over the size of a change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, get_args

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench.ensembles import Contribution
from textgauge.bench.leaderboard import leaderboard
from textgauge.bench.protocols import Sensitivity
from textgauge.bench.protocols.base import RESAMPLES, Verdict
from textgauge.bench.protocols.sensitivity import ideal_similarity
from textgauge.bench.results import Group, Judged, Results
from textgauge.bench.transformations import PLACES
from textgauge.core.arrays import Floats
from textgauge.core.show import BLUE, printable
from textgauge.report.figures.kind import Drawn, FigureKind, protocol_with
from textgauge.report.figures.style import (
    COLUMNS,
    DARK,
    PALETTE,
    PANEL,
    about,
    chart_of,
    finished,
    finite,
    heat_map,
    layered,
    mean_interval,
    not_shown,
    tips,
    titled,
)
from textgauge.stats.resampling import percentile_interval

Of = Literal["share", "importance"]

CONTRIBUTIONS: tuple[Of, ...] = get_args(Of)
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
_NUMBERS = ("x", "mean", "low", "high")


def task_cells(judged: Sequence[Judged]) -> pl.DataFrame:
    """One row per metric, best first, and column of the leaderboard: the score and its 95 % interval.

    Units (documents, queries, folds) are resampled on every data set; null where a metric is undefined.
    """
    board = leaderboard(judged)
    verdicts = _by_column(judged)
    rows = []
    for row in board:
        drawn = {name: _drawn(verdicts.get((row.metric, name), {})) for name in board.measures}
        every = list(drawn.values())
        drawn[OVERALL] = (np.asarray(np.mean([draws for draws, _ in every], axis=0)), min(n for _, n in every))
        for name, value in {**row.measures, OVERALL: row.overall}.items():
            draws, n = drawn[name]
            rows.append((row.metric, name, value, *percentile_interval(draws, n, 0.95)))
    numbers = dict.fromkeys(("value", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, {"metric": pl.String, "task": pl.String, **numbers}, orient="row").fill_nan(None)


def task_figure(judged: Sequence[Judged], metrics: Collection[str] | None = None) -> alt.ConcatChart:
    """One cell per metric and task, with the overall score last; `metrics` are the rows that are wanted."""
    cells = task_cells(judged)
    if metrics is not None:
        cells = cells.filter(pl.col("metric").is_in(list(metrics)))
    lacking = cells.filter((pl.col("task") == OVERALL) & pl.col("value").is_null())["metric"].to_list()
    data = ", ".join(dict.fromkeys(item.data for item in judged))
    line = "1 is best; beneath each score its 95 % interval over documents, queries or folds."
    missing = f"undefined in a task, so without an overall score: {', '.join(lacking)}" if lacking else ""
    return finished([_task_panel(cells)], "Scores in all tasks", data, line, missing)


def _by_column(judged: Sequence[Judged]) -> dict[tuple[str, str], dict[str, list[Verdict]]]:
    """The verdicts of a metric that count for a column, measure by measure, one for each data set."""
    found: dict[tuple[str, str], dict[str, list[Verdict]]] = {}
    for item in judged:
        columns = {measure.name: measure.column or measure.name for measure in item.protocol.measures}
        details = {measure.name for measure in item.protocol.measures if measure.detail}
        for verdict in item.verdicts:
            if verdict.draws and verdict.measure not in details:
                place = found.setdefault((item.metric, columns[verdict.measure]), {})
                place.setdefault(verdict.measure, []).append(verdict)
    return found


def _drawn(verdicts: dict[str, list[Verdict]]) -> tuple[Floats, int]:
    """The resampled values of a column, and the fewest units of a data set; NaN where there are none."""
    if not verdicts:
        return np.full(RESAMPLES, np.nan), 0
    means = [np.mean([verdict.draws for verdict in found], axis=0) for found in verdicts.values()]
    return np.asarray(np.mean(means, axis=0)), min(verdict.units for found in verdicts.values() for verdict in found)


def _task_panel(cells: pl.DataFrame) -> alt.LayerChart:
    ends = cells.select("low", "high").rows()
    labelled = cells.with_columns(
        score=pl.Series(["–" if value is None else f"{value:.2f}" for value in cells["value"]]),
        between=pl.Series(["" if low is None else f"{low:.2f}–{high:.2f}" for low, high in ends]),
    )
    texts = [(alt.Text("score:N"), {"fontSize": 11, "dy": -5}), (alt.Text("between:N"), {"fontSize": 8, "dy": 8})]
    return heat_map(labelled, "task", "value", texts, title="score", domain=(0.0, 1.0), size=(_WIDE, _HIGH))


def contribution_rows(
    found: Sequence[Contribution], ensemble: str, of: Of, metrics: Collection[str] | None = None
) -> pl.DataFrame:
    """One row per task, data set and metric that has a number, with its mean over the data sets of the task."""
    rows = [
        (item.task, item.data, item.metric, getattr(item, of))
        for item in found
        if item.ensemble == ensemble and (metrics is None or item.metric in metrics)
    ]
    schema = {"task": pl.String, "data": pl.String, "metric": pl.String, "value": pl.Float64}
    frame = pl.DataFrame(rows, schema, orient="row").drop_nans("value")
    return frame.with_columns(mean=pl.col("value").mean().over("task", "metric"))


def contribution_figure(
    found: Sequence[Contribution], ensemble: str, of: Of, metrics: Collection[str] | None = None
) -> alt.ConcatChart | None:
    """One panel per task: a bar for every metric; None where the model has no such numbers."""
    rows = contribution_rows(found, ensemble, of, metrics)
    if rows.is_empty():
        return None
    names = sorted(rows["metric"].unique())
    title, across, line = _TITLES[of]
    tasks = rows["task"].unique(maintain_order=True).to_list()
    panels = [
        _contribution_panel(task, rows.filter(pl.col("task") == task), names, across, of, named=place % COLUMNS == 0)
        for place, task in enumerate(tasks)
    ]
    several = "Each embedder has an ensemble; metrics that need none are in all of them, and their mean is drawn."
    return finished(panels, title.format(ensemble), line, several)


def _contribution_panel(
    task: str, rows: pl.DataFrame, names: list[str], across: str, of: Of, *, named: bool
) -> alt.LayerChart:
    domain = [printable(name) for name in names]
    axis = alt.Axis(title=None, labels=named, ticks=False, domain=False, labelLimit=200, labelPadding=6)
    y = alt.Y("metric:N", sort=None, scale=alt.Scale(domain=domain), axis=axis)
    x = alt.X("mean:Q", title=across, axis=alt.Axis(tickCount=3), scale=alt.Scale(nice=True))
    tip = tips("metric:N", "data:N", "value", "mean", form=".4f")
    means = chart_of(rows.unique("metric", maintain_order=True))
    layers: list[alt.Chart] = [means.mark_bar(color=BLUE, size=10).encode(x, y, tooltip=tip)]
    if of == "importance":
        dots = chart_of(rows).mark_circle(color=DARK, size=14, opacity=0.7)
        layers.append(dots.encode(alt.X("value:Q"), y, tooltip=tip))
    return layered(layers, width=PANEL - 40, height=_BAR * len(names), title=titled(task))


def sensitivity_rows(group: Group) -> pl.DataFrame:
    """One row per metric, place and change: the mean similarity over documents with Student's 95 % interval.

    `x` is the share that was inserted, or less the share that was removed.
    """
    rows: list[tuple[object, ...]] = []
    for metric, observed in group.observed.items():
        at, value = observed.columns, finite(observed.value)
        x = np.where(at["change"] == "insert", 1.0, -1.0) * at["share"].astype(np.float64)
        rows += [
            (metric, place, float(share), *mean_interval(value[(at["place"] == place) & (x == share)].tolist()))
            for place in PLACES
            for share in np.unique(x)
        ]
    schema = {"metric": pl.String, "place": pl.String, **dict.fromkeys(_NUMBERS, pl.Float64)}
    return pl.DataFrame(rows, schema, orient="row").fill_nan(None)


def ideal_rows(protocol: Sensitivity) -> pl.DataFrame:
    """The similarity that each change should have, as a curve."""
    x = np.linspace(-_REMOVED, _INSERTED, 61)
    ideal = ideal_similarity(np.where(x < 0, "remove", "insert"), np.abs(x), protocol.ideal)
    return pl.DataFrame({"x": x, "ideal": ideal})


def sensitivity_figure(group: Group) -> alt.ConcatChart:
    """One panel per place of the change: a line for every metric, with its 95 % interval, and the ideal, dashed."""
    protocol = protocol_with(group, "ideal")
    rows = sensitivity_rows(group)
    known = rows.drop_nulls("mean")
    metrics = known["metric"].unique(maintain_order=True).to_list()
    ideal = ideal_rows(protocol)
    panels = [_sensitivity_panel(place, known.filter(pl.col("place") == place), ideal, metrics) for place in PLACES]
    line = "Line and band: mean over documents and its 95 % interval; dashed: ideal similarity."
    sides = "Left of 0: a share of the tokens was removed; right of it, a needle of that size was inserted."
    missing = not_shown([metric for metric in group.observed if metric not in metrics], "undefined")
    return finished(panels, "Similarity over the size of a change", about(group), line, sides, missing, shared=True)


def _sensitivity_panel(place: str, rows: pl.DataFrame, ideal: pl.DataFrame, metrics: list[str]) -> alt.LayerChart:
    axis = alt.Axis(format="%", values=[-_REMOVED, 0, 0.5, _INSERTED], grid=False)
    x = alt.X("x:Q", title="removed or inserted", axis=axis, scale=alt.Scale(domain=[-_REMOVED, _INSERTED]))
    y = alt.Y("low:Q", title="similarity", scale=alt.Scale(zero=False))
    # More metrics than colours: the lines of the second round are dotted.
    colours = [PALETTE[number % len(PALETTE)] for number in range(len(metrics))]
    dashes = [[1, 0] if number < len(PALETTE) else [2, 2] for number in range(len(metrics))]
    legend = alt.Legend(title=None, orient="bottom", columns=4, symbolOpacity=1)
    colour = alt.Color("metric:N", scale=alt.Scale(domain=metrics, range=colours), legend=legend)
    dash = alt.StrokeDash("metric:N", scale=alt.Scale(domain=metrics, range=dashes), legend=legend)
    exact = tips("metric:N", *_NUMBERS, form=".4f")
    base = chart_of(rows).encode(x)
    layers = [
        base.mark_area(opacity=0.15).encode(y, alt.Y2("high:Q"), color=colour),
        base.mark_line(strokeWidth=1.5).encode(alt.Y("mean:Q"), color=colour, strokeDash=dash, tooltip=exact),
        base.mark_circle(size=10).encode(alt.Y("mean:Q"), color=colour, tooltip=exact),
        chart_of(ideal).mark_line(color=DARK, strokeWidth=1.5, strokeDash=[5, 3]).encode(x, alt.Y("ideal:Q")),
    ]
    return layered(layers, width=PANEL, height=220, title=titled(f"{place} of the text"))


def _of_runs(groups: Sequence[Group]) -> Iterator[tuple[Results, list[Judged], set[str]]]:
    """Every run that has tasks, its verdicts on the groups, and its rows: metrics, and what is made from metrics."""
    for results in dict.fromkeys(group.results for group in groups if group.results is not None):
        own = [group for group in groups if group.results is results]
        trials = {(group.data, group.protocol, group.fingerprint, group.seed) for group in own}
        judged = [
            item
            for item in results.judged()
            if item.protocol.ensembles and (item.data, item.protocol, item.fingerprint, item.seed) in trials
        ]
        wanted = {metric for group in own for metric in group.observed}
        yield results, judged, wanted | ({item.metric for item in judged} - results.metrics)


def _scores(groups: Sequence[Group], _: int) -> Iterator[Drawn]:
    for _results, judged, metrics in _of_runs(groups):
        yield [], task_figure(judged, metrics)


def _contributions(groups: Sequence[Group], _: int) -> Iterator[Drawn]:
    for results, _judged, metrics in _of_runs(groups):
        found = results.ensembles.contributions
        for ensemble in dict.fromkeys(item.ensemble for item in found):
            for of in CONTRIBUTIONS:
                chart = contribution_figure(found, ensemble, of, metrics)
                if chart is not None:
                    yield [ensemble, of], chart


def _sensitivities(groups: Sequence[Group], _: int) -> Iterator[Drawn]:
    for group in groups:
        yield [group.data], sensitivity_figure(group)


FIGURES = (
    FigureKind("tasks", _scores),
    FigureKind("sensitivity", _sensitivities, "sensitivity"),
    FigureKind("contributions", _contributions),
)
