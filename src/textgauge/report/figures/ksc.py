"""Known-similarity corpora: distances over the step between two mixtures, and judgements as a tree.

Kour et al. 2022, figure 2, top, and figure 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench.protocols.base import Observations, merge_rounding_ties
from textgauge.bench.protocols.ksc import compute_accuracy, list_corpus_pairs, list_judgements
from textgauge.bench.results import Group
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.show import BLUE, VERMILION
from textgauge.report.figures import style
from textgauge.stats.correlation import r_squared

LARGEST = 20  # corpora: the nodes of more overlap on a page
_EDGES = 300  # drawn at most, the worst first
_BOW = 0.12  # of an edge's length: keeps edges off the nodes between their ends
VIOLATED, TIED = "violated: the inner distance is larger", "tie: both are equal"


def collect_distance_points(group: Group, metric: str) -> pl.DataFrame:
    """Return one row per pair of corpora: step, distance, and the distance z-scored over all repetitions.

    z is null for all rows where a distance is undefined everywhere or all are equal.
    """
    observed = group.observed[metric]
    i, j = observed.columns["i"], observed.columns["j"]
    columns = {"repetition": observed.batch + 1, "i": i + 1, "j": j + 1, "step": j - i}
    z = compute_z_scores(style.drop_infinite(observed.value))
    scores = {"value": style.get_own_values(metric, observed), "z": z}
    return pl.DataFrame(columns | scores).with_columns(pl.col("value", "z").fill_nan(None))


def fit_distance_line(points: pl.DataFrame) -> pl.DataFrame:
    """Return the least-squares line of z over the step, and its 95 % band, at every tenth of a step."""
    known = points.drop_nulls("z")
    step, z = known["step"].to_numpy().astype(np.float64), known["z"].to_numpy()
    at = np.linspace(step.min(), step.max(), int(10 * (step.max() - step.min())) + 1)
    fit, reach = style.compute_regression_band(step, z, at)
    r2 = np.full(len(at), r_squared(step, z))
    return pl.DataFrame({"step": at, "fit": fit, "low": fit - reach, "high": fit + reach, "r2": r2})


def compute_z_scores(values: Floats) -> Floats:
    """Return values less their mean, in standard deviations; NaN where all are equal. NaN values stay out.

    >>> compute_z_scores(np.array([1.0, 3.0, np.nan])).tolist()
    [-1.0, 1.0, nan]
    """
    known = values[~np.isnan(values)]
    if len(known) < 2 or (known == known[0]).all():
        return np.full(len(values), np.nan)
    return np.asarray((values - known.mean()) / known.std())


def draw_distance(group: Group) -> alt.ConcatChart:
    """Return one panel per metric: z-scored distance over the step ℓ = j − i, line, 95 % band."""
    title, why = "Distance over the steps between two corpora", "constant or undefined"
    line = "Each point is a pair of corpora. Line: least squares; band: 95 % if pairs shared no corpus, which they do."
    draw = _draw_distance_panel
    return style.draw_metrics(group, collect_distance_points, "z", draw, title, line, why=why, shared=True)


def _draw_distance_panel(metric: str, points: pl.DataFrame) -> alt.LayerChart:
    line = fit_distance_line(points)
    step = style.make_steps_axis(float(points["step"].to_numpy().max()))
    low, exact = alt.Y("low:Q", title="distance (z-score)"), style.make_tooltips("step", "fit", "low", "high", "r2")
    base = style.make_chart(line).encode(step)
    band, fit = style.draw_band(base, low, "fit", opacity=0.25, exact=exact, color=VERMILION)
    shown, fewer = style.thin_points(points.drop_nulls("z"))
    tip = [*_draw_both(), *style.make_tooltips("repetition:Q", "value")]
    tip.append(alt.Tooltip("z:Q", title="z-score", format=".6g"))
    dots = style.make_chart(shown).mark_circle(color=BLUE, size=14, opacity=0.45)
    dots = dots.encode(step, alt.Y("z:Q"), tooltip=tip)
    return style.draw_panel([band, dots, fit], metric, f"R² of the line {line['r2'][0]:.3f}", fewer)


def _draw_both() -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{name}:Q", title=f"corpus {name}") for name in ("i", "j")]


def collect_tree_nodes(group: Group, metric: str, repetition: int) -> pl.DataFrame:
    """Return one row per pair of corpora (i, j): its place above the corpora it spans, and its value."""
    here = _of(group, metric, repetition)
    i, j = here.columns["i"] + 1, here.columns["j"] + 1
    value = pl.Series("value", style.get_own_values(metric, here)).fill_nan(None)
    return pl.DataFrame({"i": i, "j": j, "x": (i + j) / 2, "step": j - i}).with_columns(value)


def collect_tree_edges(distances: Floats, k: int) -> pl.DataFrame:
    """One row per judgement that is violated or tied, worst first; `excess` is by how much the inner one is larger."""
    i, j = (side + 1 for side in list_corpus_pairs(k))
    judged = list_judgements(k)
    excess = distances[judged.inner] - distances[judged.outer]
    wrong = np.flatnonzero(excess >= 0)
    wrong = wrong[np.argsort(-excess[wrong], kind="stable")]
    inner, outer = judged.inner[wrong], judged.outer[wrong]
    return pl.DataFrame(
        {
            "inner": [f"({a}, {b})" for a, b in zip(i[inner], j[inner], strict=True)],
            "outer": [f"({a}, {b})" for a, b in zip(i[outer], j[outer], strict=True)],
            "excess": excess[wrong],
            "judged": np.where(excess[wrong] > 0, VIOLATED, TIED).tolist(),
            "x": (i[inner] + j[inner]) / 2,
            "y": (j - i)[inner],
            "x2": (i[outer] + j[outer]) / 2,
            "y2": (j - i)[outer],
        },
        schema_overrides={"inner": pl.String, "outer": pl.String, "judged": pl.String},
    )


def draw_tree(group: Group, metric: str, *, repetition: int = 0) -> alt.ConcatChart:
    """Corpora on the base, a node for every pair above the two it spans, a line for every judgement that fails."""
    k: int = style.require_protocol(group, "judgements").k
    if k > LARGEST:
        raise InputError(f"a judgement tree is drawn for up to {LARGEST} corpora, not {k}")
    distances = merge_rounding_ties(style.drop_infinite(_of(group, metric, repetition).value))
    edges = collect_tree_edges(distances, k)
    height = min(60 * k, 560)
    layers = [
        _draw_structure(k),
        _draw_edges(edges.head(_EDGES), k),
        *_draw_nodes(collect_tree_nodes(group, metric, repetition), k),
    ]
    own_scale = {"scale": {"stroke": "independent"}}
    chart = style.draw_panel([*layers, *_draw_base(k)], None, width=style.PAGE - 60, height=height, resolve=own_scale)
    key = "Squares: corpora, with their share of texts from the first source; circles: pairs, with their value."
    lines = (group, f"Repetition {repetition + 1}: {_judge_edge(distances, edges, k)}.", key)
    return style.join_panels([chart], f"Judgement tree of {metric}", *lines)


def _of(group: Group, metric: str, repetition: int) -> Observations:
    for number, here in zip(np.unique(group.observed[metric].batch), group.observed[metric].batches(), strict=True):
        if number == repetition:
            return here
    raise InputError(f"{metric} has no repetition {repetition + 1} in this run")


def _judge_edge(distances: Floats, edges: pl.DataFrame, k: int) -> str:
    count, violated = len(list_judgements(k)), edges.filter(pl.col("judged") == VIOLATED).height
    found = "undefined" if np.isnan(distances).any() else f"{compute_accuracy(distances, list_judgements(k)):.4g}"
    drawn = f" (the {_EDGES} worst are drawn)" if len(edges) > _EDGES else ""
    ties = len(edges) - violated
    return f"{violated:,} of {count:,} judgements violated, {ties:,} tied{drawn}; accuracy {found}"


def _bend_edges(edges: pl.DataFrame) -> pl.DataFrame:
    """Return every edge as a curve of points; edges between neighbours are straight."""
    t = np.linspace(0.0, 1.0, 13)
    frames = []
    for number, row in enumerate(edges.iter_rows(named=True)):
        dx, dy = row["x2"] - row["x"], row["y2"] - row["y"]
        bow = 0.0 if dy == 1 else 4 * _BOW * t * (1 - t) * np.sign(dx or 1.0)
        x, y = row["x"] + dx * t + dy * bow, row["y"] + dy * t - dx * bow
        same = (pl.lit(row[name]).alias(name) for name in ("inner", "outer", "excess", "judged"))
        frames.append(pl.DataFrame({"x": x, "y": y, "t": t}).with_columns(pl.lit(number).alias("edge"), *same))
    return pl.concat(frames) if frames else pl.DataFrame()


def _draw_edges(edges: pl.DataFrame, k: int) -> alt.Chart:
    legend = alt.Legend(orient="bottom", title=None, symbolStrokeWidth=3, symbolType="stroke")
    colour = alt.Scale(domain=[VIOLATED, TIED], range=[VERMILION, style.DARK])
    few = len(edges) <= 120
    lines = style.make_chart(_bend_edges(edges)).mark_line(strokeWidth=1.8 if few else 0.8, opacity=0.8 if few else 0.5)
    return _place_nodes(lines, "y", k).encode(
        alt.Order("t:Q"),
        alt.Detail("edge:N"),
        stroke=alt.Stroke("judged:N", scale=colour, legend=legend),
        tooltip=[
            alt.Tooltip("inner:N", title="inner pair"),
            alt.Tooltip("outer:N", title="outer pair"),
            alt.Tooltip("excess:Q", title="inner is larger by", format=".6g"),
        ],
    )


def _draw_structure(k: int) -> alt.Chart:
    """Grey lines from every pair to the two just inside it."""
    rows = [
        {"x": (i + j) / 2, "y": j - i, "x2": (i + j + side) / 2, "y2": j - i - 1}
        for i in range(1, k + 1)
        for j in range(i + 1, k + 1)
        for side in (-1, 1)
    ]
    return _place_nodes(style.make_chart(pl.DataFrame(rows)).mark_rule(color="#DDDDDD"), "y", k).encode(
        alt.X2("x2"), alt.Y2("y2")
    )


def _place_nodes(chart: alt.Chart, row: str, k: int) -> alt.Chart:
    steps = alt.Axis(values=list(range(1, k)), format="d", grid=False, domain=False, ticks=False)
    return chart.encode(
        alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0.5, k + 0.5], nice=False)),
        alt.Y(f"{row}:Q", title="steps apart (ℓ)", axis=steps, scale=alt.Scale(domain=[-0.5, k - 0.5], nice=False)),
    )


def _draw_nodes(nodes: pl.DataFrame, k: int) -> list[alt.Chart]:
    radius = min(16.0, 0.32 * (style.PAGE - 60) / k)
    base = _place_nodes(style.make_chart(nodes), "step", k)
    # Light colours only, so that dark figures stay readable on all of them.
    shade = alt.Scale(range=["#FFFFFF", "#7FB2D6"], zero=False, interpolate="rgb")
    legend = alt.Legend(orient="bottom", title="value of the metric", format=".3~g", gradientLength=160)
    dots = base.mark_circle(size=np.pi * radius**2, opacity=1, stroke=style.GREY).encode(
        fill=alt.Fill("value:Q", scale=shade, legend=legend),
        tooltip=[*_draw_both(), *style.make_tooltips("value")],
    )
    if radius < 10:
        return [dots]
    labelled = nodes.with_columns(pl.Series("text", format_short_numbers(nodes["value"].to_list()), dtype=pl.String))
    label = _place_nodes(style.make_chart(labelled), "step", k).mark_text(fontSize=9, color=style.DARK, tooltip=None)
    return [dots, label.encode(alt.Text("text:N"))]


def format_short_numbers(values: list[float | None]) -> list[str]:
    """Return numbers of few signs, all with the same decimals: the largest keeps two figures.

    >>> format_short_numbers([0.0518, 0.00057, None]), format_short_numbers([31.2, 0.4]), format_short_numbers([2e-6])
    (['0.052', '0.001', '–'], ['31', '0'], ['2e-06'])
    """
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    form = ".0e" if 0 < largest < 0.01 or largest >= 10_000 else f".{max(0, min(3, 1 - floor(log10(largest or 1))))}f"
    return ["–" if value is None else f"{value:{form}}" for value in values]


def _draw_base(k: int) -> list[alt.Chart]:
    """Return the corpora, with the share of the first source in each."""
    share = [f"{100 * (k - i) / (k - 1):.0f}%" for i in range(1, k + 1)]
    name = [str(i) for i in range(1, k + 1)]
    frame = pl.DataFrame({"x": list(range(1, k + 1)), "y": [0] * k, "name": name, "share": share})
    base = _place_nodes(style.make_chart(frame), "y", k)
    tip = [alt.Tooltip("name:N", title="corpus"), alt.Tooltip("share:N", title="texts of the first source")]
    return [
        base.mark_square(size=260, color=style.DARK, opacity=1).encode(tooltip=tip),
        base.mark_text(color="white", fontSize=9).encode(alt.Text("name:N")),
        base.mark_text(color=style.DARK, fontSize=9, dy=17).encode(alt.Text("share:N")),
    ]


def draw_trees(groups: Sequence[Group], repetition: int) -> Iterator[style.Drawn]:
    """Yield a chart for each metric that has the repetition, unless corpora are too many."""
    for group in groups:
        if style.require_protocol(group, "k").k <= LARGEST:
            for metric, observed in group.observed.items():
                if repetition in observed.batch:
                    yield [*style.group_words(group), metric], draw_tree(group, metric, repetition=repetition)
