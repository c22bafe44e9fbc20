"""What metrics contribute to ensembles: their share in the model, and what the score loses without them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from textgauge.evaluate.ensembles import Contribution
from textgauge.report.figures.style import BLUE, DARK, PANEL, finished, layered, plain, printable, titled

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

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
_SHOWN = ("value", "mean")
_BAR = 18


def contribution_rows(
    found: Sequence[Contribution], ensemble: str, of: Of, metrics: Collection[str] | None = None
) -> pl.DataFrame:
    """One row per task, data set and metric that has a number, beside its mean over the data sets of the task."""
    import polars as pl

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
    import polars as pl

    rows = contribution_rows(found, ensemble, of, metrics)
    if rows.is_empty():
        return None
    names = sorted(rows["metric"].unique())
    title, across, line = _TITLES[of]
    tasks = rows["task"].unique(maintain_order=True).to_list()
    panels = [_panel(task, rows.filter(pl.col("task") == task), names, across, of) for task in tasks]
    several = "Each embedder has an ensemble; metrics that need none are in all of them, and their mean is drawn."
    return finished(panels, title.format(ensemble), line, several)


def _panel(task: str, rows: pl.DataFrame, names: list[str], across: str, of: Of) -> alt.LayerChart:
    import altair as alt

    domain = [printable(name) for name in names]
    axis = alt.Axis(title=None, ticks=False, domain=False, labelLimit=110, minExtent=60)
    y = alt.Y("metric:N", sort=None, scale=alt.Scale(domain=domain), axis=axis)
    x = alt.X("mean:Q", title=across, axis=alt.Axis(tickCount=3), scale=alt.Scale(nice=True))
    tip = [alt.Tooltip("metric:N"), alt.Tooltip("data:N"), *(alt.Tooltip(f"{n}:Q", format=".4f") for n in _SHOWN)]
    means = alt.Chart(plain(rows.unique("metric", maintain_order=True)))
    layers: list[alt.Chart] = [means.mark_bar(color=BLUE, size=10).encode(x, y, tooltip=tip)]
    if of == "importance":
        dots = alt.Chart(plain(rows)).mark_circle(color=DARK, size=14, opacity=0.7)
        layers.append(dots.encode(alt.X("value:Q"), y, tooltip=tip))
    return layered(layers, width=PANEL - 80, height=_BAR * len(names), title=titled(task))
