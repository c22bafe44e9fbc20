"""Figures 1 to 4 of Ackerman et al. 2023: points of which a group is moved, and how distances rise with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench import Group
from textgauge.core import InputError
from textgauge.report import style
from textgauge_papers.perturbation import POINTS

BLUE, VERMILION, *_ = style.PALETTE
Over = Literal["delta", "p", "q"]

SHIFTED, UNPERTURBED = "shifted", "unperturbed"
OVERS: dict[Over, tuple[str, str]] = {
    "delta": ("Distance over how far a group is moved", "δ"),
    "p": ("Distance over how many points are moved", "p"),
    "q": ("Distance over the number of dimensions", "q"),
}
_COLOURS = {"A": "#999999", "B": BLUE, "moved group": VERMILION}


def collect_perturbation_rows(group: Group, metric: str, over: Over) -> pl.DataFrame:
    """One row per place of a sweep: mean of the repetitions with Student's 95 % interval, shifted and unperturbed."""
    observed, protocol = group.observed[metric], style.require_protocol(group, "draw_points")
    value, at = style.get_own_values(metric, observed), observed.columns
    fixed = {"delta": protocol.delta, "p": protocol.p, "q": protocol.q}
    shifted = np.all([at[name] == fixed[name] for name in fixed if name != over], axis=0)
    frames = []
    for place in np.unique(at[over][shifted]):
        level = (at["delta"] == 0) & (at["q"] == (place if over == "q" else protocol.q))
        for what, here in ((SHIFTED, shifted & (at[over] == place)), (UNPERTURBED, level)):
            frames.append(pl.DataFrame({"x": float(place), "what": what, "value": value[here]}))
    return style.measure_means(pl.concat(frames), "x", "what")


def sample_rows(group: Group, repetition: int = 0) -> pl.DataFrame:
    """Return one row per point and picture: A and B as they are, then A and B with the group moved by δ."""
    protocol = style.require_protocol(group, "draw_points")
    if protocol.q != 2 or not 0 <= repetition < protocol.repetitions:
        raise InputError(f"points are drawn in 2 dimensions, for repetitions 1 to {protocol.repetitions}")
    drawn = protocol.draw_points(2, repetition, group.seed)
    chosen = np.isin(np.arange(protocol.n), drawn.get_group(protocol.p))
    after = drawn.B.copy()
    after[drawn.get_group(protocol.p)] = drawn.move_group(protocol.p, protocol.delta)
    frames = [
        pl.DataFrame({"x": at[:, 0], "y": at[:, 1], "of": of}).with_columns(picture=pl.lit(picture))
        for picture, B in ((UNPERTURBED, drawn.B), (SHIFTED, after))
        for at, of in ((drawn.A, ["A"] * protocol.n), (B, np.where(chosen, "moved group", "B").tolist()))
    ]
    return pl.concat(frames)


def draw_perturbation(group: Group, over: Over) -> alt.ConcatChart:
    """One panel per metric: d(A, B') over δ, p or q, with the 95 % band of its mean, and the unperturbed level."""
    title, across = OVERS[over]
    setting = _format_setting(style.require_protocol(group, "draw_points"), over, own=group.data != POINTS.name)
    line = "Line and band: mean over repetitions and its 95 % interval (these points); dashed: unperturbed."
    draw = partial(_draw_perturbation_panel, across=across)
    return style.draw_metrics(group, partial(collect_perturbation_rows, over=over), "mean", draw, title, setting, line)


def sample_figure(group: Group, *, repetition: int = 0) -> alt.ConcatChart:
    """Return the points of one repetition in two dimensions, before and after the move; drawn again from the seed."""
    rows, protocol = sample_rows(group, repetition), style.require_protocol(group, "draw_points")
    moved = len(rows.filter((pl.col("of") == "moved group") & (pl.col("picture") == SHIFTED)))
    parts = [(picture, rows.filter(pl.col("picture") == picture)) for picture in (UNPERTURBED, SHIFTED)]
    line = f"Repetition {repetition + 1}: {moved} of {protocol.n} points of B are moved by δ = {protocol.delta:g}."
    panels = [_draw_scatter(picture, part) for picture, part in parts]
    return style.join_panels(panels, "Points and the group that is moved", group, line, shared=True)


def _format_setting(protocol: Any, over: Over, *, own: bool) -> str:
    fixed = {"delta": f"δ = {protocol.delta:g}", "p": f"p = {protocol.p:g}", "q": f"q = {protocol.q}"}
    said = ", ".join(text for name, text in fixed.items() if name != over and not (own and name == "q"))
    return f"{protocol.n} points, {protocol.repetitions} repetitions, {said}, noise {protocol.sigma:g}."


def _draw_perturbation_panel(metric: str, rows: pl.DataFrame, across: str) -> alt.LayerChart:
    axis = alt.Axis(grid=False, tickCount=5, tickMinStep=1) if across == "q" else alt.Axis(grid=False, tickCount=6)
    x = alt.X("x:Q", title=across, axis=axis, scale=alt.Scale(zero=False, nice=False))
    y = alt.Y("low:Q", title="distance", axis=alt.Axis(minExtent=30), scale=alt.Scale(zero=False))
    exact = style.make_tooltips("x", "mean", "low", "high")
    shifted, level = (style.make_chart(rows.filter(pl.col("what") == what)) for what in (SHIFTED, UNPERTURBED))
    dashed = level.mark_line(color=style.DARK, strokeWidth=1, strokeDash=[4, 3])
    point = {"point": {"size": 12, "color": BLUE}}
    layers = [
        *style.draw_band(shifted.encode(x), y, "mean", opacity=0.25, exact=exact, line=point, color=BLUE),
        dashed.encode(x, alt.Y("mean:Q"), tooltip=exact),
    ]
    return style.draw_panel(layers, metric)


def _draw_scatter(picture: str, rows: pl.DataFrame) -> alt.LayerChart:
    colour = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    look: dict[str, Any] = {"title": None, "axis": alt.Axis(grid=False), "scale": alt.Scale(zero=False)}
    shade = alt.Color("of:N", scale=colour, legend=alt.Legend(title=None, orient="bottom"))
    dots = style.make_chart(rows).mark_circle(size=12, opacity=0.6)
    dots = dots.encode(
        alt.X("x:Q", **look), alt.Y("y:Q", **look), shade, tooltip=style.make_tooltips("of:N", "x", "y", form=".4g")
    )
    return style.draw_panel([dots], picture, width=260, height=260)


def draw_perturbations(groups: Sequence[Group], repetition: int) -> Iterator[style.Drawn]:
    """Yield a chart for each sweep, and the points themselves where they have two dimensions."""
    for group in groups:
        own = group.data != POINTS.name  # points of a corpus have one number of dimensions, and stay with it
        for over in OVERS:
            if not (own and over == "q"):
                yield [over, *style.group_words(group)], draw_perturbation(group, over)
        protocol = style.require_protocol(group, "draw_points")
        if not own and protocol.q == 2 and repetition < protocol.repetitions:
            yield ["points", *style.group_words(group)], sample_figure(group, repetition=repetition)


PERTURBATION = draw_perturbations
