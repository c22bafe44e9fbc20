"""The scores of metrics and ensembles in all tasks, as a heat map: the leaderboard of the unified benchmark."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textgauge.evaluate.leaderboard import leaderboard
from textgauge.evaluate.protocols.base import RESAMPLES, Verdict
from textgauge.evaluate.results import Judged
from textgauge.report.figures.read import Run
from textgauge.report.figures.style import finished, layered, plain, printable, titled
from textgauge.stats.resampling import percentile_interval

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

Floats = NDArray[np.float64]

OVERALL = "overall"
_WIDE, _HIGH = 74, 34


def task_cells(judged: Sequence[Judged]) -> pl.DataFrame:
    """One row per metric, best first, and column of the leaderboard: the score and its 95 % interval.

    Units (documents, queries, folds) are resampled on every data set; null where a metric is undefined.
    """
    import polars as pl

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


def task_figure(run: Run, metrics: Collection[str] | None = None) -> alt.ConcatChart:
    """One cell per metric and task, with the overall score last; `metrics` are the rows that are wanted."""
    import polars as pl

    cells = task_cells(run.tasks)
    if metrics is not None:
        cells = cells.filter(pl.col("metric").is_in(list(metrics)))
    lacking = cells.filter((pl.col("task") == OVERALL) & pl.col("value").is_null())["metric"].to_list()
    data = ", ".join(dict.fromkeys(item.data for item in run.tasks))
    line = "1 is best; beneath each score its 95 % interval over documents, queries or folds."
    missing = f"undefined in a task, so without an overall score: {', '.join(lacking)}" if lacking else ""
    return finished([_panel(cells)], "Scores in all tasks", data, line, missing)


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


def _panel(cells: pl.DataFrame) -> alt.LayerChart:
    import altair as alt
    import polars as pl

    told = cells.with_columns(
        pl.Series("score", ["–" if value is None else f"{value:.2f}" for value in cells["value"]]),
        pl.Series(
            "between",
            ["" if low is None else f"{low:.2f}–{high:.2f}" for low, high in cells.select("low", "high").rows()],
        ),
    )
    names, tasks = ([printable(name) for name in dict.fromkeys(cells[column])] for column in ("metric", "task"))
    axis = alt.Axis(title=None, ticks=False, domain=False, labelLimit=200, labelPadding=4)
    y = alt.Y("metric:N", sort=None, scale=alt.Scale(domain=names), axis=axis)
    across = alt.Axis(title=None, ticks=False, domain=False, labelAngle=0, orient="top")
    x = alt.X("task:N", sort=None, scale=alt.Scale(domain=tasks), axis=across)
    exact = [alt.Tooltip(f"{name}:Q", format=".4f") for name in ("value", "low", "high")]
    base = alt.Chart(plain(told)).encode(x, y, tooltip=[alt.Tooltip("metric:N"), alt.Tooltip("task:N"), *exact])
    shades = alt.Scale(scheme="blues", domain=[0.0, 1.0])
    squares = base.mark_rect(stroke="white").encode(color=alt.Color("value:Q", title="score", scale=shades))
    dark = alt.condition("datum.value > 0.6", alt.value("white"), alt.value("#222222"))
    numbers = base.mark_text(fontSize=11, dy=-5).encode(alt.Text("score:N"), color=dark)
    ends = base.mark_text(fontSize=8, dy=8).encode(alt.Text("between:N"), color=dark)
    width, height = _WIDE * len(tasks), _HIGH * len(names)
    return layered([squares, numbers, ends], width=width, height=height, title=titled(""))
