"""Similarity over how much of a text was inserted or removed, beside the ideal: the task sensitivity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textgauge.errors import InputError
from textgauge.evaluate.protocols import Sensitivity
from textgauge.evaluate.protocols.base import over_repetitions
from textgauge.evaluate.protocols.sensitivity import ideal_similarity
from textgauge.evaluate.transformations import PLACES
from textgauge.report.figures.read import Group, finite
from textgauge.report.figures.style import DARK, PALETTE, PANEL, about, finished, layered, not_shown, plain, titled

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

_REMOVED, _INSERTED = 0.5, 1.0
_NUMBERS = ("x", "mean", "low", "high")


def sensitivity_rows(group: Group) -> pl.DataFrame:
    """One row per metric, place and change: the mean similarity over documents with Student's 95 % interval.

    `x` is the share that was inserted, or less the share that was removed.
    """
    import polars as pl

    rows = []
    for metric, observed in group.observed.items():
        at, value = observed.columns, finite(observed.value)
        x = np.where(at["change"] == "insert", 1.0, -1.0) * at["share"].astype(np.float64)
        for place in PLACES:
            for share in np.unique(x):
                verdict = over_repetitions("value", value[(at["place"] == place) & (x == share)].tolist())
                rows.append((metric, place, float(share), verdict.value, verdict.low, verdict.high))
    schema = {"metric": pl.String, "place": pl.String, **dict.fromkeys(_NUMBERS, pl.Float64)}
    return pl.DataFrame(rows, schema, orient="row").fill_nan(None)


def ideal_rows(protocol: Sensitivity) -> pl.DataFrame:
    """The similarity that each change should have, as a curve."""
    import polars as pl

    x = np.linspace(-_REMOVED, _INSERTED, 61)
    ideal = ideal_similarity(np.where(x < 0, "remove", "insert"), np.abs(x), protocol.ideal)
    return pl.DataFrame({"x": x, "ideal": ideal})


def sensitivity_figure(group: Group) -> alt.ConcatChart:
    """One panel per place of the change: a line for every metric, with its 95 % interval, and the ideal, dashed."""
    import polars as pl

    protocol = _protocol(group)
    rows = sensitivity_rows(group)
    known = rows.drop_nulls("mean")
    metrics = known["metric"].unique(maintain_order=True).to_list()
    ideal = ideal_rows(protocol)
    panels = [_panel(place, known.filter(pl.col("place") == place), ideal, metrics) for place in PLACES]
    line = "Line and band: mean over documents and its 95 % interval; dashed: ideal similarity."
    sides = "Left of 0: a share of the tokens was removed; right of it, a needle of that size was inserted."
    missing = not_shown([metric for metric in group.observed if metric not in metrics], "undefined")
    return finished(panels, "Similarity over the size of a change", about(group), line, sides, missing, shared=True)


def _protocol(group: Group) -> Sensitivity:
    if not isinstance(group.protocol, Sensitivity):
        raise InputError(f"{group.protocol.name} changes no texts by degrees: the figure is of sensitivity")
    return group.protocol


def _panel(place: str, rows: pl.DataFrame, ideal: pl.DataFrame, metrics: list[str]) -> alt.LayerChart:
    import altair as alt

    axis = alt.Axis(format="%", values=[-_REMOVED, 0, 0.5, _INSERTED], grid=False)
    x = alt.X("x:Q", title="removed or inserted", axis=axis, scale=alt.Scale(domain=[-_REMOVED, _INSERTED]))
    y = alt.Y("low:Q", title="similarity", scale=alt.Scale(zero=False))
    # More metrics than colours: the lines of the second round are dotted.
    colours = [PALETTE[number % len(PALETTE)] for number in range(len(metrics))]
    dashes = [[1, 0] if number < len(PALETTE) else [2, 2] for number in range(len(metrics))]
    legend = alt.Legend(title=None, orient="bottom", columns=4, symbolOpacity=1)
    colour = alt.Color("metric:N", scale=alt.Scale(domain=metrics, range=colours), legend=legend)
    dash = alt.StrokeDash("metric:N", scale=alt.Scale(domain=metrics, range=dashes), legend=legend)
    exact = [alt.Tooltip("metric:N"), *(alt.Tooltip(f"{name}:Q", format=".4f") for name in _NUMBERS)]
    base = alt.Chart(plain(rows)).encode(x)
    layers = [
        base.mark_area(opacity=0.15).encode(y, alt.Y2("high:Q"), color=colour),
        base.mark_line(strokeWidth=1.5).encode(alt.Y("mean:Q"), color=colour, strokeDash=dash, tooltip=exact),
        base.mark_circle(size=10).encode(alt.Y("mean:Q"), color=colour, tooltip=exact),
        alt.Chart(plain(ideal)).mark_line(color=DARK, strokeWidth=1.5, strokeDash=[5, 3]).encode(x, alt.Y("ideal:Q")),
    ]
    return layered(layers, width=PANEL, height=220, title=titled(f"{place} of the text"))
