"""Distances when a group of points is moved, and the points themselves: Ackerman et al. 2023, figures 1 to 4."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench.results import Group
from textgauge.core.errors import InputError
from textgauge.core.show import BLUE, VERMILION
from textgauge.report.figures.kind import Drawn, FigureKind, group_words, protocol_with
from textgauge.report.figures.style import (
    DARK,
    PANEL,
    about,
    chart_of,
    finished,
    known_frames,
    mean_interval,
    own_values,
    tips,
    titled,
)  # fmt: skip

Over = Literal["delta", "p", "q"]

SHIFTED, UNPERTURBED = "shifted", "unperturbed"
OVERS: dict[Over, tuple[str, str]] = {
    "delta": ("Distance over how far a group is moved", "δ"),
    "p": ("Distance over how many points are moved", "p"),
    "q": ("Distance over the number of dimensions", "q"),
}
_COLOURS = {"A": "#999999", "B": BLUE, "moved group": VERMILION}


def perturbation_rows(group: Group, metric: str, over: Over) -> pl.DataFrame:
    """One row per place of a sweep: mean of the repetitions with Student's 95 % interval, shifted and unperturbed."""
    observed, protocol = group.observed[metric], protocol_with(group, "drawn")
    value, at = own_values(metric, observed), observed.columns
    fixed = {"delta": protocol.delta, "p": protocol.p, "q": protocol.q}
    shifted = np.all([at[name] == fixed[name] for name in fixed if name != over], axis=0)
    rows = []
    for place in np.unique(at[over][shifted]):
        level = (at["delta"] == 0) & (at["q"] == (place if over == "q" else protocol.q))
        for what, here in ((SHIFTED, shifted & (at[over] == place)), (UNPERTURBED, level)):
            rows.append((float(place), what, *mean_interval(value[here].tolist())))
    numbers = dict.fromkeys(("mean", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema={"x": pl.Float64, "what": pl.String, **numbers}, orient="row").fill_nan(None)


def sample_rows(group: Group, repetition: int = 0) -> pl.DataFrame:
    """One row per point and picture: A and B as they are, then A and B with the group moved by δ."""
    protocol = protocol_with(group, "drawn")
    if protocol.q != 2 or not 0 <= repetition < protocol.repetitions:
        raise InputError(f"points are drawn in 2 dimensions, for repetitions 1 to {protocol.repetitions}")
    drawn = protocol.drawn(2, repetition, group.seed)
    chosen = np.isin(np.arange(protocol.n), drawn.group(protocol.p))
    after = drawn.B.copy()
    after[drawn.group(protocol.p)] = drawn.moved(protocol.p, protocol.delta)
    frames = [
        pl.DataFrame({"x": at[:, 0], "y": at[:, 1], "of": of}).with_columns(picture=pl.lit(picture))
        for picture, B in ((UNPERTURBED, drawn.B), (SHIFTED, after))
        for at, of in ((drawn.A, ["A"] * protocol.n), (B, np.where(chosen, "moved group", "B").tolist()))
    ]
    return pl.concat(frames)


def perturbation_figure(group: Group, over: Over) -> alt.ConcatChart:
    """One panel per metric: d(A, B') over δ, p or q, with the 95 % band of its mean, and the unperturbed level."""
    frames = {metric: perturbation_rows(group, metric, over) for metric in group.observed}
    drawn, missing = known_frames(frames, "mean", "undefined")
    panels = [_panel(metric, frame, OVERS[over][1]) for metric, frame in drawn.items()]
    line = "Line and band: mean over repetitions and its 95 % interval (these points); dashed: unperturbed."
    return finished(panels, OVERS[over][0], about(group), _setting(protocol_with(group, "drawn"), over), line, missing)


def sample_figure(group: Group, *, repetition: int = 0) -> alt.ConcatChart:
    """The points of one repetition in two dimensions, before and after the move; drawn again from the seed."""
    rows, protocol = sample_rows(group, repetition), protocol_with(group, "drawn")
    moved = len(rows.filter((pl.col("of") == "moved group") & (pl.col("picture") == SHIFTED)))
    parts = [(picture, rows.filter(pl.col("picture") == picture)) for picture in (UNPERTURBED, SHIFTED)]
    line = f"Repetition {repetition + 1}: {moved} of {protocol.n} points of B are moved by δ = {protocol.delta:g}."
    panels = [_scatter(picture, part) for picture, part in parts]
    return finished(panels, "Points and the group that is moved", about(group), line, shared=True)


def _setting(protocol: Any, over: Over) -> str:
    fixed = {"delta": f"δ = {protocol.delta:g}", "p": f"p = {protocol.p:g}", "q": f"q = {protocol.q}"}
    said = ", ".join(text for name, text in fixed.items() if name != over)
    return f"{protocol.n} points, {protocol.repetitions} repetitions, {said}, noise {protocol.sigma:g}."


def _panel(metric: str, rows: pl.DataFrame, across: str) -> alt.LayerChart:
    axis = alt.Axis(grid=False, tickCount=5, tickMinStep=1) if across == "q" else alt.Axis(grid=False, tickCount=6)
    x = alt.X("x:Q", title=across, axis=axis, scale=alt.Scale(zero=False, nice=False))
    y = alt.Y("low:Q", title="distance", axis=alt.Axis(minExtent=30), scale=alt.Scale(zero=False))
    exact = tips("x", "mean", "low", "high")
    shifted, level = (chart_of(rows.filter(pl.col("what") == what)) for what in (SHIFTED, UNPERTURBED))
    layers = [
        shifted.mark_area(color=BLUE, opacity=0.25).encode(x, y, y2="high:Q"),
        shifted.mark_line(color=BLUE, strokeWidth=1.5, point={"size": 12, "color": BLUE}).encode(
            x, y="mean:Q", tooltip=exact
        ),
        level.mark_line(color=DARK, strokeWidth=1, strokeDash=[4, 3]).encode(x, y="mean:Q", tooltip=exact),
    ]
    return alt.LayerChart(layer=layers).properties(width=PANEL, height=140, title=titled(metric))


def _scatter(picture: str, rows: pl.DataFrame) -> alt.LayerChart:
    colour = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    dots = (
        chart_of(rows)
        .mark_circle(size=12, opacity=0.6)
        .encode(
            alt.X("x:Q", title=None, axis=alt.Axis(grid=False), scale=alt.Scale(zero=False)),
            alt.Y("y:Q", title=None, axis=alt.Axis(grid=False), scale=alt.Scale(zero=False)),
            alt.Color("of:N", scale=colour, legend=alt.Legend(title=None, orient="bottom")),
            tooltip=tips("of:N", "x", "y", form=".4g"),
        )
    )
    return alt.LayerChart(layer=[dots]).properties(width=260, height=260, title=titled(picture))


def _perturbations(groups: Sequence[Group], repetition: int) -> Iterator[Drawn]:
    for group in groups:
        for over in OVERS:
            yield [over, *group_words(group)], perturbation_figure(group, over)
        protocol = protocol_with(group, "drawn")
        if protocol.q == 2 and repetition < protocol.repetitions:
            yield ["points", *group_words(group)], sample_figure(group, repetition=repetition)


FIGURES = (FigureKind("perturbation", _perturbations, "early_rise"),)
