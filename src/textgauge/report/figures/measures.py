"""The measures of each metric, as radars and as boxes over repetitions: Kour et al. 2022, figures 4 and 6."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench.protocols.base import Measure, Verdict
from textgauge.bench.results import Group
from textgauge.core.show import BLUE, VERMILION, make_printable
from textgauge.report.figures import style
from textgauge.report.figures.style import make_chart, make_tooltips

FEWEST = 3  # measures: a radar of two has no area
_WIDE, _HIGH = 1.9, 1.6  # half the width and height of a panel, in radii: leaves room for names
_LINE = 11  # pixels from one line of a label to the next


def collect_radar_values(groups: Sequence[Group]) -> pl.DataFrame:
    """Return one row per metric and measure: its value and its share of the way from the worst to the best.

    A measure of several protocols is their mean, as in the leaderboard. Measures without two ends (time) stay out. The
    value is null where the metric was not run, NaN where it is undefined.
    """
    found: dict[tuple[str, str], list[float]] = {}
    measures: dict[str, Measure] = {}
    for group in groups:
        measures |= {measure.name: measure for measure in group.protocol.measures if measure.best == "larger"}
        for metric, verdict in _list_verdicts(group):
            found.setdefault((metric, verdict.measure), []).append(verdict.value)
    metrics = dict.fromkeys(metric for metric, _ in found)
    means = {key: float(np.mean(values)) for key, values in found.items()}
    rows = [
        (metric, name, value, float(measure.share(np.nan if value is None else value)))
        for metric in metrics
        for name, measure in measures.items()
        for value in [means.get((metric, name))]
    ]
    schema = {"metric": pl.String, "measure": pl.String, "value": pl.Float64, "share": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _list_verdicts(group: Group) -> list[tuple[str, Verdict]]:
    return [(metric, verdict) for metric, of in group.verdicts.items() for verdict in of.values()]


def draw_radar(groups: Sequence[Group]) -> alt.ConcatChart | None:
    """One radar per metric: a corner for every measure, the rim is the best possible; None for under three measures."""
    values = collect_radar_values(groups)
    if values["measure"].n_unique() < FEWEST:
        return None
    parts = [place_measures(part) for part in values.partition_by("metric", maintain_order=True)]
    panels = [
        style.draw_panel(
            [*_draw_web(p), *_draw_shape(p), *_draw_labels(p)], p["metric"][0], height=style.PANEL * _HIGH / _WIDE
        )
        for p in parts
    ]
    line = "Centre: worst possible; rim: best possible; numbers: the measures themselves, mean over repetitions."
    data = groups[0].data + (f", seed {groups[0].seed}" if groups[0].seed else "")
    mixed = {getattr(group.protocol, "k", 0): group.protocol.summary for group in groups if _get_order(group)}
    return style.join_panels(panels, "Measures of each metric", data, *(mixed[k] for k in sorted(mixed)), line)


def place_measures(values: pl.DataFrame) -> pl.DataFrame:
    """Return the measures of one metric at their angle, clockwise from the top: corner, rim and label."""
    n = len(values)
    angle = 2 * np.pi * np.arange(n) / n
    across, up = np.round(np.sin(angle), 12), np.round(np.cos(angle), 12)
    share = values["share"].to_numpy()
    text = [
        name.replace("_", "\n") + f"\n{_format_value(value)}"
        for name, value in values.select("measure", "value").iter_rows()
    ]
    rim = (pl.Series("rim_x", across), pl.Series("rim_y", up))
    corner = (pl.Series("x", share * across), pl.Series("y", share * up))
    return values.with_columns(pl.Series("text", text), pl.Series("order", np.arange(n)), *rim, *corner)


def _format_value(value: float | None) -> str:
    if value is None:
        return "not run"
    return f"{value:.2f}" if np.isfinite(value) else "undefined"


def compute_rings(corners: int) -> pl.DataFrame:
    """Return the points of four closed rings, at each quarter of the way."""
    angle = 2 * np.pi * np.arange(corners + 1) / corners
    level = np.repeat([0.25, 0.5, 0.75, 1.0], corners + 1)
    order = np.tile(np.arange(corners + 1), 4)
    return pl.DataFrame(
        {"level": level, "order": order, "x": level * np.sin(angle[order]), "y": level * np.cos(angle[order])}
    )


def _place(chart: alt.Chart, x: str = "x", y: str = "y") -> alt.Chart:
    across, up = (alt.Scale(domain=[-edge, edge], nice=False) for edge in (_WIDE, _HIGH))
    return chart.encode(alt.X(f"{x}:Q", axis=None, scale=across), alt.Y(f"{y}:Q", axis=None, scale=up))


def _draw_web(values: pl.DataFrame) -> list[alt.Chart]:
    ring = _place(make_chart(compute_rings(len(values))).mark_line(color="#DDDDDD", strokeWidth=1))
    spoke = _place(make_chart(values).mark_rule(color="#DDDDDD"), "rim_x", "rim_y")
    centre = alt.datum(0)
    return [ring.encode(alt.Order("order:Q"), alt.Detail("level:N")), spoke.encode(x2=centre, y2=centre)]


def _draw_shape(values: pl.DataFrame) -> list[alt.Chart]:
    """Return a filled outline; where a measure is undefined, only the sides between defined ones."""
    corners = values.filter(pl.col("share").is_not_nan())
    names = ("share", "x", "y")
    after = pl.concat([values[1:], values[:1]]).select(pl.col(names).name.prefix("next_"))
    sides = pl.concat([values, after], how="horizontal")
    sides = sides.filter(pl.col("share").is_not_nan() & pl.col("next_share").is_not_nan())
    share = alt.Tooltip("share:Q", title="share of the best", format=".6g")
    exact = [*make_tooltips("metric:N", "measure:N", "value"), share]
    side = _place(make_chart(sides).mark_rule(color=BLUE, strokeWidth=2)).encode(alt.X2("next_x"), alt.Y2("next_y"))
    dots = _place(make_chart(corners).mark_circle(color=BLUE, size=28, opacity=1)).encode(tooltip=exact)
    if len(corners) < len(values):
        return [side, dots]
    fill = _place(make_chart(corners).mark_line(filled=True, fill=BLUE, fillOpacity=0.2, strokeWidth=0))
    return [fill.encode(alt.Order("order:Q")), side, dots]


def _draw_labels(values: pl.DataFrame) -> list[alt.Chart]:
    """Return names and numbers outside the rim, on the side of the circle they belong to."""
    x, more = pl.col("rim_x"), pl.col("text").str.count_matches("\n")
    half_a_line = _WIDE * _LINE / style.PANEL
    y = pl.col("rim_y") * (1.1 + half_a_line * (more + 1))
    away = values.with_columns((x * 1.12).alias("text_x"), (y + half_a_line * more).alias("text_y"))
    sides = {"left": x > 0.01, "right": x < -0.01, "center": x.abs() <= 0.01}
    return [
        _place(make_chart(away.filter(here)), "text_x", "text_y")
        .mark_text(align=align, baseline="middle", fontSize=9, lineBreak="\n", lineHeight=_LINE, color=style.DARK)  # type: ignore[arg-type]
        .encode(alt.Text("text:N"))
        for align, here in sides.items()
    ]


def collect_box_rows(group: Group) -> pl.DataFrame:
    """One row per metric and measure: the mean of repetitions with its 95 % interval, or why there is none."""
    rows = [
        (metric, of.measure, of.reason or "undefined", int(np.isfinite(of.values).sum()), of.value, of.low, of.high)
        for metric, of in _list_verdicts(group)
    ]
    schema = {"metric": pl.String, "measure": pl.String, "reason": pl.String, "repetitions": pl.Int64}
    return pl.DataFrame(rows, schema | dict.fromkeys(("mean", "low", "high"), pl.Float64), orient="row")


def collect_box_points(group: Group) -> pl.DataFrame:
    """Return one row per metric, measure and repetition."""
    rows = [
        (metric, verdict.measure, number, value)
        for metric, verdict in _list_verdicts(group)
        for number, value in enumerate(verdict.values, 1)
        if np.isfinite(value)
    ]
    schema = {"metric": pl.String, "measure": pl.String, "repetition": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def draw_box(group: Group) -> alt.ConcatChart:
    """Return one panel per measure, one box per metric: quartiles, range, and a point for every repetition."""
    rows, every = collect_box_rows(group), collect_box_points(group)
    metrics = [make_printable(metric) for metric in group.observed]
    tip = make_tooltips("metric:N", "repetitions:Q", "mean", "low", "high")
    scale, look = alt.Scale(domain=metrics), {"labelLimit": 200, "labelPadding": 6, "grid": True}
    numbers = alt.Axis(tickCount=4, format=",~r", labelOverlap=True)
    x = alt.X("value:Q", title=None, scale=alt.Scale(zero=False, nice=True), axis=numbers)
    panels = []
    for place, measure in enumerate(rows["measure"].unique(maintain_order=True)):
        here, points = rows.filter(pl.col("measure") == measure), every.filter(pl.col("measure") == measure)
        axis = alt.Axis(labels=place % style.COLUMNS == 0, ticks=False, domain=False, **look)  # type: ignore[arg-type]
        y = alt.Y("metric:N", title=None, sort=None, scale=scale, axis=axis)
        diamond = make_chart(here.filter(pl.col("repetitions") > 0)).encode(y, tooltip=tip)
        diamond = diamond.mark_point(color=VERMILION, filled=True, shape="diamond", size=30, opacity=1)
        absent = make_chart(here.filter(pl.col("repetitions") == 0)).encode(y)
        absent = absent.mark_text(text="undefined", align="left", fontSize=9, color="#777777")
        dots = make_chart(points).mark_circle(color=BLUE, size=12, opacity=0.7)
        layers = [
            style.draw_boxes(make_chart(points).encode(y, x), size=10),
            dots.encode(y, alt.X("value:Q"), tooltip=make_tooltips("metric:N", "repetition:Q", "value")),
            diamond.encode(alt.X("mean:Q")),
            absent.encode(x=alt.value(4), tooltip=make_tooltips("metric:N", "reason:N")),
        ]
        panels.append(style.draw_panel(layers, measure.replace("_", " "), width=150, height=18 * len(metrics)))
    line = "Box: quartiles and median; whisker: smallest to largest; points: repetitions; diamond: mean."
    return style.join_panels(panels, "Measures over repetitions", group, line)


def draw_radars(groups: Sequence[Group], _: int) -> Iterator[style.Drawn]:
    """Yield a chart for each data set and order of mixtures, with the measures of all its protocols."""
    alike: dict[tuple[str, str, int], list[Group]] = {}
    for group in groups:
        alike.setdefault((group.data, group.fingerprint, group.seed), []).append(group)
    for members in alike.values():
        orders = dict.fromkeys(order for group in members if (order := _get_order(group)) is not None)
        for order in orders or [None]:
            own = [group for group in members if _get_order(group) == order]
            keys = {key for group in own for key in group.observed}
            others = [] if order is None else [group for group in members if _get_order(group) is None]
            chart = draw_radar([*own, *(_select_metrics(group, keys) for group in others)])
            if chart is not None:
                yield [*style.group_words(own[0])[:1], *style.group_words(own[0])[2:]], chart


def _get_order(group: Group) -> str | None:
    """Return the order of mixtures; None for protocols that have none."""
    return getattr(group.protocol, "order", None)


def _select_metrics(group: Group, metrics: Collection[str]) -> Group:
    return replace(group, observed={key: seen for key, seen in group.observed.items() if key in metrics})
