"""Order correlations of all pairs of metrics and people, as a heat map: Yamshchikov et al. 2021, figure 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textgauge.evaluate.agreement import set_means
from textgauge.report.figures.read import Group
from textgauge.report.figures.style import about, finished, layered, not_shown, plain, printable, titled
from textgauge.stats.orders import order_correlations, ranks

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

Floats = NDArray[np.float64]

PEOPLE = "people"
_CELL = 34


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
    import polars as pl

    _, found = set_orders(group)
    names, matrix = list(found), order_correlations(np.array(list(found.values())))
    rows = [(a, b, float(matrix[i, j])) for i, a in enumerate(names) for j, b in enumerate(names)]
    schema = {"metric": pl.String, "other": pl.String, "rho": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col("rho").fill_nan(None))


def order_figure(group: Group) -> alt.ConcatChart:
    """One cell per two metrics, or metric and people: how alike they order the sets."""
    import polars as pl

    cells = order_cells(group)
    absent = cells.filter((pl.col("metric") == pl.col("other")) & pl.col("rho").is_null())["metric"].to_list()
    known = cells.filter(~pl.col("metric").is_in(absent) & ~pl.col("other").is_in(absent))
    line = "Spearman's ρ of the orders of sets by their means; 1: the same order."
    missing = not_shown(absent, "a set without a value, or all means equal")
    return finished([_panel(known)], "How alike metrics and people order the sets", about(group), line, missing)


def _panel(cells: pl.DataFrame) -> alt.LayerChart:
    import altair as alt

    names = [printable(name) for name in dict.fromkeys(cells["metric"])]
    axis = alt.Axis(title=None, ticks=False, domain=False, labelLimit=180, labelPadding=4)
    y = alt.Y("metric:N", sort=None, scale=alt.Scale(domain=names), axis=axis)
    across = alt.Axis(title=None, ticks=False, domain=False, labelLimit=180, labelAngle=-60, orient="top")
    x = alt.X("other:N", sort=None, scale=alt.Scale(domain=names), axis=across)
    tip = [alt.Tooltip("metric:N"), alt.Tooltip("other:N"), alt.Tooltip("rho:Q", title="ρ", format=".4f")]
    base = alt.Chart(plain(cells)).encode(x, y, tooltip=tip)
    shades = alt.Scale(scheme="blues", domain=[min(0.0, float(np.nanmin(cells["rho"].to_numpy()))), 1.0])
    squares = base.mark_rect(stroke="white").encode(color=alt.Color("rho:Q", title="ρ", scale=shades))
    dark = alt.condition("datum.rho > 0.6", alt.value("white"), alt.value("#222222"))
    numbers = base.mark_text(fontSize=9).encode(text=alt.Text("rho:Q", format=".2f"), color=dark)
    side = _CELL * len(names)
    return layered([squares, numbers], width=side, height=side, title=titled(""))
