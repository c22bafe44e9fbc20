"""How all figures look.

Colours are those that colour-blind readers can distinguish; a figure is one column of page width.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Any, Literal

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from textgauge.bench.protocols.base import Observations
from textgauge.bench.results import Group
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.show import BLUE, VERMILION, make_printable
from textgauge.metrics import get_metric
from textgauge.stats.rankings import compute_student_interval

GREY, DARK = "#BBBBBB", "#333333"
PALETTE = (BLUE, VERMILION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")

PAGE = 640  # pixels: the text width of an A4 or letter page at 96 to the inch
COLUMNS = 3
POINTS = 2_000
PANEL = 180
HEIGHT = 140  # pixels of a panel with curves
_TITLE, _WIDTH = 28, 108  # characters that fit the title of a panel, and a line under that of a figure
_USUAL = "definition"

Drawn = tuple[list[str], "alt.ConcatChart"]
"""The words of a file name, and a chart."""
Draw = Callable[[Sequence[Group], int], Iterator[Drawn]]
"""A kind of figure: charts of the groups whose protocols list it; those of a single repetition show the one given."""


def draw_each_group(figure: Callable[[Group], alt.ConcatChart | None]) -> Draw:
    """Return a chart for each group that gives one."""

    def draw(groups: Sequence[Group], _: int) -> Iterator[Drawn]:
        for group in groups:
            chart = figure(group)
            if chart is not None:
                yield group_words(group), chart

    return draw


def group_words(group: Group) -> list[str]:
    """Return what distinguishes the files of groups: data, protocol, and its order where that is unusual."""
    order = getattr(group.protocol, "order", _USUAL)
    return [group.data, group.protocol.title, *([f"order {order}"] if order != _USUAL else [])]


def require_protocol(group: Group, name: str) -> Any:
    """Return the group's protocol, which must have what the figure draws."""
    if not hasattr(group.protocol, name):
        raise InputError(f"the figure needs a protocol with {name}, which {group.protocol.name} does not have")
    return group.protocol


def prepare_data(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame as data of a chart: numbers that are not finite become null, text is printable."""
    import polars.selectors as cs

    numbers = cs.float()
    text = [_clean_texts(column) for column in frame.select(cs.string())]
    return frame.with_columns(pl.when(numbers.is_finite()).then(numbers).name.keep(), *text)


def make_chart(frame: pl.DataFrame) -> alt.Chart:
    """Return a chart of a frame, to be given marks."""
    return alt.Chart(prepare_data(frame))


def _clean_texts(column: pl.Series) -> pl.Series:
    """Few texts repeat in many rows: each is cleaned once."""
    known = {text: text if text is None else make_printable(text) for text in column.unique()}
    return pl.Series(column.name, [known[text] for text in column], dtype=pl.String)


def thin_points(points: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return a regular part of very many points, evenly, and a line that says so.

    Beyond `POINTS` they hide each other.
    """
    every = -(-len(points) // POINTS)
    return (points.gather_every(every), f"1 point in {every} is drawn") if every > 1 else (points, "")


def draw_metrics(
    group: Group,
    collect: Callable[[Group, str], pl.DataFrame],
    column: str,
    draw: Callable[[str, pl.DataFrame], alt.LayerChart],
    title: str,
    *lines: str,
    least: int = 1,
    why: str = "undefined",
    shared: bool = False,
) -> alt.ConcatChart:
    """Return one panel per metric whose column has so many different values, and a line that names the other ones."""
    frames = {metric: collect(group, metric) for metric in group.observed}
    known = {metric: frame for metric, frame in frames.items() if frame[column].drop_nulls().n_unique() >= least}
    missing = name_left_out([metric for metric in frames if metric not in known], why)
    panels = [draw(metric, frame) for metric, frame in known.items()]
    return join_panels(panels, title, group, *lines, missing, shared=shared)


def measure_spread(points: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Return one row per group of points: the mean of the values that exist, one standard deviation to each side."""
    mean, spread = pl.col("value").mean(), pl.col("value").std().fill_null(0.0)
    groups = points.filter(pl.col("value").is_finite()).group_by(*by)
    return groups.agg(mean=mean, low=mean - spread, high=mean + spread).sort(*by)


def measure_means(points: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Return one row per group of points, in their order: the mean of the values that exist, Student's 95 % interval.

    All three are null where none exists.
    """
    rows = []
    for key, part in points.with_columns(pl.col("value").fill_nan(None)).group_by(*by, maintain_order=True):
        values = part["value"].drop_nulls().to_numpy()
        n, mean = len(values), values.mean() if len(values) else np.nan
        error = values.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
        rows.append((*key, mean, *compute_student_interval(mean, error, n - 1, 0.95)))
    schema = {name: points.schema[name] for name in by} | dict.fromkeys(("mean", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)


def compute_regression_band(x: Floats, y: Floats, at: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return the line at some places and how far its confidence band reaches to each side: t·s·√(1/n + (x − x̄)²/S_xx).

    Points count as independent, though pairs share corpora: the band is a guide for the eye.
    """
    from scipy.special import stdtrit

    n, centre = len(x), x.mean()
    spread = float(((x - centre) ** 2).sum())
    slope = float(((x - centre) * y).sum()) / spread
    fit = y.mean() + slope * (at - centre)
    rest = y - y.mean() - slope * (x - centre)
    error = np.sqrt((rest @ rest) / max(n - 2, 1))
    t = float(-stdtrit(max(n - 2, 1), (1 - level) / 2))
    return fit, t * error * np.sqrt(1 / n + (at - centre) ** 2 / spread)


def make_tooltips(*names: str, form: str = ".6g") -> list[alt.Tooltip]:
    """Tooltips of columns: numbers in a format; `name:N` or `name:Q` as they are."""
    return [alt.Tooltip(name) if ":" in name else alt.Tooltip(f"{name}:Q", format=form) for name in names]


def make_steps_axis(largest: float | None = None) -> alt.X:
    """Return the x-axis of steps between two corpora, up to the largest."""
    scale = alt.Undefined if largest is None else alt.Scale(domain=[0.5, largest + 0.5], nice=False)
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    return alt.X("step:Q", title="steps apart (ℓ)", axis=axis, scale=scale)


def draw_band(
    base: alt.Chart, y: alt.Y, middle: str, *, opacity: float, exact: Any = alt.Undefined, line: Any = None, **look: Any
) -> list[alt.Chart]:
    """Return a band from `low`, whose axis is `y`, to `high`, and the line of a column through its middle."""
    return [
        base.mark_area(opacity=opacity, **look).encode(y, alt.Y2("high:Q")),
        base.mark_line(strokeWidth=1.5, **look, **(line or {})).encode(alt.Y(f"{middle}:Q"), tooltip=exact),
    ]


def draw_boxes(base: alt.Chart, *, size: int) -> alt.Chart:
    """Return boxes of the values of a chart: quartiles and median, whiskers from the smallest to the largest."""
    dark = {"color": DARK}
    look: dict[str, Any] = {"size": size, "ticks": False, "box": {"color": "#9CC8E3"}, "median": dark, "rule": dark}
    boxes: alt.Chart = base.mark_boxplot(extent="min-max", **look)
    return boxes


def draw_level(name: str, value: float, title: str) -> list[alt.Chart]:
    """Return a dashed line at a value; none where it is not finite."""
    if not np.isfinite(value):
        return []
    rule = make_chart(pl.DataFrame({name: [value]})).mark_rule(color=VERMILION, strokeDash=[5, 3], size=2)
    return [rule.encode(alt.Y(f"{name}:Q"), tooltip=[alt.Tooltip(f"{name}:Q", title=title, format=".6g")])]


def draw_heat_map(
    cells: pl.DataFrame,
    column: str,
    value: str,
    texts: Sequence[tuple[alt.Text, dict[str, Any]]],
    *,
    title: str,
    domain: tuple[float, float],
    size: tuple[int, int],
    angle: int = 0,
) -> alt.LayerChart:
    """Return a square per metric and column, shaded by a value.

    `texts`, with their looks, are white where it is dark.
    """
    names, others = ([make_printable(name) for name in dict.fromkeys(cells[side])] for side in ("metric", column))
    bare: dict[str, Any] = {"title": None, "ticks": False, "domain": False, "labelLimit": 240}
    y = alt.Y("metric:N", sort=None, scale=alt.Scale(domain=names), axis=alt.Axis(labelPadding=4, **bare))
    top = alt.Axis(labelAngle=angle, orient="top", **bare)
    x = alt.X(f"{column}:N", sort=None, scale=alt.Scale(domain=others), axis=top)
    ends = [name for name in ("low", "high") if name in cells.columns]
    exact = [alt.Tooltip(f"{value}:Q", title=title, format=".4f"), *make_tooltips(*ends, form=".4f")]
    base = make_chart(cells).encode(x, y, tooltip=[*make_tooltips("metric:N", f"{column}:N"), *exact])
    shade = alt.Color(f"{value}:Q", title=title, scale=alt.Scale(scheme="blues", domain=list(domain)))
    dark = alt.condition(f"datum.{value} > 0.6", alt.value("white"), alt.value("#222222"))
    marks = [base.mark_text(**look).encode(text, color=dark) for text, look in texts]
    squares = base.mark_rect(stroke="white").encode(color=shade)
    width, height = size[0] * len(others), size[1] * len(names)
    return draw_panel([squares, *marks], "", width=width, height=height)


def _make_title(text: str | list[str], lines: Sequence[str], **look: Any) -> alt.TitleParams:
    beneath = [_join_lines(line) for line in lines if line]
    return alt.TitleParams(text, anchor="start", subtitle=beneath or alt.Undefined, **look)


def break_name(name: str) -> str | list[str]:
    """Return a name that is too long for a panel, broken after a comma or before a sign that begins a part.

    >>> break_name("fid"), break_name("zipf(padding=source,ranks=paper)")
    ('fid', ['zipf(padding=source,', 'ranks=paper)'])
    """
    if len(name) <= _TITLE:
        return name
    places = [found.start() for found in re.finditer(r"(?<=,)|(?=[@:(])", name) if 0 < found.start() <= _TITLE]
    return [name[: places[-1]], name[places[-1] :]] if places else name


def _join_lines(text: str) -> str:
    return make_printable(text).replace("\n", " ")


def draw_panel(
    layers: Iterable[alt.Chart],
    title: str | None,
    *lines: str,
    width: float = PANEL,
    height: float = HEIGHT,
    **more: Any,
) -> alt.LayerChart:
    """Return a panel of layers, with smaller lines under its title; long titles have two lines.

    Altair copies all that a chart consists of whenever charts are put together, and its objects hold every property
    there is: marks, encodings and the title are written out first, as dictionaries of the few that are set.
    """
    if title is not None:
        heading = _make_title(break_name(_join_lines(title)), lines, limit=PANEL, fontSize=11, frame="group")
        more["title"] = heading.to_dict(validate=False)
    return alt.LayerChart(layer=[write_out_chart(layer) for layer in layers], width=width, height=height, **more)


def write_out_chart(chart: alt.Chart) -> alt.Chart:
    """Return the chart with its mark and its encoding as dictionaries."""
    mark: Any = chart.mark.to_dict(validate=False) if isinstance(chart.mark, alt.MarkDef) else chart.mark
    return alt.Chart(chart.data, mark=mark, encoding=alt.FacetedEncoding(**chart.encoding.to_dict(validate=False)))


def join_panels(
    charts: Sequence[alt.LayerChart], title: str, *lines: str | Group, shared: bool = False
) -> alt.ConcatChart:
    """Panels side by side under one title and lines, a group in words; `shared` gives all the same axes."""
    axes: Literal["shared", "independent"] = "shared" if shared else "independent"
    texts = [line if isinstance(line, str) else describe_group(line) for line in lines]
    beneath = [part for line in texts for part in wrap(_join_lines(line), _WIDTH)]
    return alt.ConcatChart(  # altair copies a chart whole at every change: all at once
        concat=list(charts),
        columns=COLUMNS,
        spacing={"row": 24, "column": 18},
        title=_make_title(_join_lines(title), beneath, limit=PAGE, fontSize=14, offset=12),
        background="white",
        padding=12,
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(x=axes, y=axes)),
        config=alt.Config(
            font="sans-serif",
            title=alt.TitleConfig(subtitleColor="#555555", subtitleFontSize=11),
            axis=alt.AxisConfig(labelFontSize=9, titleFontSize=10, titleFontWeight="normal", gridColor="#EEEEEE"),
            legend=alt.LegendConfig(labelFontSize=10, titleFontSize=10, titleFontWeight="normal", labelLimit=300),
            view=alt.ViewConfig(stroke=None),
        ),
    )


def describe_group(group: Group) -> str:
    """Return the data and protocol in one line of plain words."""
    seed = f", seed {group.seed}" if group.seed else ""
    return f"{group.data}: {group.protocol.summary}{seed}"


def name_left_out(metrics: Sequence[str], why: str) -> str:
    """Return a line that names metrics which are left out; empty where there are none."""
    return f"not shown ({why}): {', '.join(metrics)}" if metrics else ""


def get_own_values(metric: str, observed: Observations) -> NDArray[np.float64]:
    """Return the values as the metric itself gives them; NaN for those that are not finite."""
    return np.asarray(get_metric(metric).orient(drop_infinite(observed.value)))


def drop_infinite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values, with NaN for infinite ones: they have no place in a picture."""
    return np.where(np.isfinite(values), values, np.nan)
