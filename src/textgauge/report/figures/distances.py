"""How distances move: over the steps between mixtures or sets of paraphrases, over sizes; and judgements as a tree.

Kour et al. 2022, figures 2 and 3; Ackerman et al. 2023, figures 10 and 11.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import floor, log10
from typing import Any, Literal

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench.protocols.base import Observations, merge_rounding_ties
from textgauge.bench.protocols.ksc import compute_accuracy, list_corpus_pairs, list_judgements
from textgauge.bench.protocols.size import ASYMPTOTE
from textgauge.bench.results import Group
from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.core.show import BLUE, VERMILION
from textgauge.report.figures import style
from textgauge.report.figures.style import make_chart, make_tooltips
from textgauge.stats.correlation import r_squared
from textgauge.stats.density import HIGH, LOW, group_densities

Sweep = Literal["size", "imbalance"]

LARGEST = 20  # corpora of a tree: the nodes of more overlap on a page
_EDGES = 300  # drawn at most, the worst first
_BOW = 0.12  # of an edge's length: keeps edges off the nodes between their ends
VIOLATED, TIED = "violated: the inner distance is larger", "tie: both are equal"
METRIC = "the metric"
PANELS = 15  # steps at most in a figure of densities: more do not fit a page
_EVERY = 5  # points of the grid that share one in a picture
_SHOWN = 5.0  # standard deviations to each side: nothing lies beyond but outliers
_UNKNOWN = "constant or undefined"
_SWEEPS = {
    "size": ("Convergence as both samples grow", "texts in each sample"),
    "imbalance": ("Convergence over the balance of two samples", "texts in the first sample"),
}


def compute_z_scores(values: Floats) -> Floats:
    """Return values less their mean, in standard deviations; NaN where all are equal. NaN values stay out.

    >>> compute_z_scores(np.array([1.0, 3.0, np.nan])).tolist()
    [-1.0, 1.0, nan]
    """
    known = values[~np.isnan(values)]
    if len(known) < 2 or (known == known[0]).all():
        return np.full(len(values), np.nan)
    return np.asarray((values - known.mean()) / known.std())


def collect_distance_points(group: Group, metric: str) -> pl.DataFrame:
    """Return one row per pair of corpora: step, distance, and the distance z-scored over all repetitions.

    z is null for all rows where a distance is undefined everywhere or all are equal.
    """
    observed = group.observed[metric]
    i, j = observed.columns["i"], observed.columns["j"]
    columns = {"repetition": observed.batch + 1, "i": i + 1, "j": j + 1, "step": j - i}
    z = compute_z_scores(style.drop_infinite(observed.value))
    frame = pl.DataFrame(columns | {"value": style.get_own_values(metric, observed), "z": z})
    return frame.with_columns(pl.col("value", "z").fill_nan(None))


def draw_distance(group: Group) -> alt.ConcatChart:
    """Return one panel per metric: z-scored distance over the step ℓ = j − i, line, 95 % band."""

    def draw(metric: str, points: pl.DataFrame) -> alt.LayerChart:
        known = points.drop_nulls("z")
        x, z = known["step"].to_numpy().astype(np.float64), known["z"].to_numpy()
        at = np.linspace(x.min(), x.max(), int(10 * (x.max() - x.min())) + 1)
        fit, reach = style.compute_regression_band(x, z, at)
        r2 = r_squared(x, z)
        line = pl.DataFrame(
            {"step": at, "fit": fit, "low": fit - reach, "high": fit + reach, "r2": np.full(len(at), r2)}
        )
        step = style.make_steps_axis(float(points["step"].to_numpy().max()))
        low, exact = alt.Y("low:Q", title="distance (z-score)"), make_tooltips("step", "fit", "low", "high", "r2")
        base = make_chart(line).encode(step)
        band, middle = style.draw_band(base, low, "fit", opacity=0.25, exact=exact, color=VERMILION)
        shown, fewer = style.thin_points(known)
        score = alt.Tooltip("z:Q", title="z-score", format=".6g")
        tip = [*_make_corpus_tooltips(), *make_tooltips("repetition:Q", "value"), score]
        dots = make_chart(shown).mark_circle(color=BLUE, size=14, opacity=0.45)
        dots = dots.encode(step, alt.Y("z:Q"), tooltip=tip)
        return style.draw_panel([band, dots, middle], metric, f"R² of the line {r2:.3f}", fewer)

    title = "Distance over the steps between two corpora"
    line = "Each point is a pair of corpora. Line: least squares; band: 95 % if pairs shared no corpus, which they do."
    return style.draw_metrics(group, collect_distance_points, "z", draw, title, line, why=_UNKNOWN, shared=True)


def _make_corpus_tooltips() -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{name}:Q", title=f"corpus {name}") for name in ("i", "j")]


def collect_tree_nodes(group: Group, metric: str, repetition: int) -> pl.DataFrame:
    """Return one row per pair of corpora (i, j): its place above the corpora it spans, and its value."""
    here = _take_repetition(group, metric, repetition)
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
    columns = {
        "inner": [f"({a}, {b})" for a, b in zip(i[inner], j[inner], strict=True)],
        "outer": [f"({a}, {b})" for a, b in zip(i[outer], j[outer], strict=True)],
        "excess": excess[wrong],
        "judged": np.where(excess[wrong] > 0, VIOLATED, TIED).tolist(),
        "x": (i[inner] + j[inner]) / 2,
        "y": (j - i)[inner],
        "x2": (i[outer] + j[outer]) / 2,
        "y2": (j - i)[outer],
    }
    return pl.DataFrame(columns, schema_overrides=dict.fromkeys(("inner", "outer", "judged"), pl.String))


def draw_tree(group: Group, metric: str, *, repetition: int = 0) -> alt.ConcatChart:
    """Corpora on the base, a node for every pair above the two it spans, a line for every judgement that fails."""
    k: int = style.require_protocol(group, "judgements").k
    if k > LARGEST:
        raise InputError(f"a judgement tree is drawn for up to {LARGEST} corpora, not {k}")
    distances = merge_rounding_ties(style.drop_infinite(_take_repetition(group, metric, repetition).value))
    edges = collect_tree_edges(distances, k)
    layers = [
        _draw_structure(k),
        _draw_edges(edges.head(_EDGES), k),
        *_draw_nodes(collect_tree_nodes(group, metric, repetition), k),
        *_draw_base(k),
    ]
    look: dict[str, Any] = {
        "width": style.PAGE - 60,
        "height": min(60 * k, 560),
        "resolve": {"scale": {"stroke": "independent"}},
    }
    key = "Squares: corpora, with their share of texts from the first source; circles: pairs, with their value."
    lines = (group, f"Repetition {repetition + 1}: {_judge_edges(distances, edges, k)}.", key)
    return style.join_panels([style.draw_panel(layers, None, **look)], f"Judgement tree of {metric}", *lines)


def _take_repetition(group: Group, metric: str, repetition: int) -> Observations:
    here = group.observed[metric].of("batch", repetition)
    if not len(here.value):
        raise InputError(f"{metric} has no repetition {repetition + 1} in this run")
    return here


def _judge_edges(distances: Floats, edges: pl.DataFrame, k: int) -> str:
    count, violated = len(list_judgements(k)), edges.filter(pl.col("judged") == VIOLATED).height
    found = "undefined" if np.isnan(distances).any() else f"{compute_accuracy(distances, list_judgements(k)):.4g}"
    drawn = f" (the {_EDGES} worst are drawn)" if len(edges) > _EDGES else ""
    ties = len(edges) - violated
    return f"{violated:,} of {count:,} judgements violated, {ties:,} tied{drawn}; accuracy {found}"


def _draw_edges(edges: pl.DataFrame, k: int) -> alt.Chart:
    """Draw every edge as a curve of points; edges between neighbours are straight."""
    t = np.linspace(0.0, 1.0, 13)
    frames = []
    for number, row in enumerate(edges.iter_rows(named=True)):
        dx, dy = row["x2"] - row["x"], row["y2"] - row["y"]
        bow = 0.0 if dy == 1 else 4 * _BOW * t * (1 - t) * np.sign(dx or 1.0)
        x, y = row["x"] + dx * t + dy * bow, row["y"] + dy * t - dx * bow
        same = (pl.lit(row[name]).alias(name) for name in ("inner", "outer", "excess", "judged"))
        frames.append(pl.DataFrame({"x": x, "y": y, "t": t}).with_columns(pl.lit(number).alias("edge"), *same))
    legend = alt.Legend(orient="bottom", title=None, symbolStrokeWidth=3, symbolType="stroke")
    colour = alt.Scale(domain=[VIOLATED, TIED], range=[VERMILION, style.DARK])
    look = {"strokeWidth": 1.8, "opacity": 0.8} if len(edges) <= 120 else {"strokeWidth": 0.8, "opacity": 0.5}
    lines = make_chart(pl.concat(frames) if frames else pl.DataFrame()).mark_line(**look)  # type: ignore[arg-type]
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
    lines = make_chart(pl.DataFrame(rows)).mark_rule(color="#DDDDDD")
    return _place_nodes(lines, "y", k).encode(alt.X2("x2"), alt.Y2("y2"))


def _place_nodes(chart: alt.Chart, row: str, k: int) -> alt.Chart:
    steps = alt.Axis(values=list(range(1, k)), format="d", grid=False, domain=False, ticks=False)
    return chart.encode(
        alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0.5, k + 0.5], nice=False)),
        alt.Y(f"{row}:Q", title="steps apart (ℓ)", axis=steps, scale=alt.Scale(domain=[-0.5, k - 0.5], nice=False)),
    )


def _draw_nodes(nodes: pl.DataFrame, k: int) -> list[alt.Chart]:
    radius = min(16.0, 0.32 * (style.PAGE - 60) / k)
    # Light colours only, so that dark figures stay readable on all of them.
    shade = alt.Scale(range=["#FFFFFF", "#7FB2D6"], zero=False, interpolate="rgb")
    legend = alt.Legend(orient="bottom", title="value of the metric", format=".3~g", gradientLength=160)
    dots = make_chart(nodes).mark_circle(size=np.pi * radius**2, opacity=1, stroke=style.GREY)
    fill = alt.Fill("value:Q", scale=shade, legend=legend)
    dots = _place_nodes(dots, "step", k).encode(fill=fill, tooltip=[*_make_corpus_tooltips(), *make_tooltips("value")])
    if radius < 10:
        return [dots]
    labelled = nodes.with_columns(pl.Series("text", format_short_numbers(nodes["value"].to_list()), dtype=pl.String))
    label = make_chart(labelled).mark_text(fontSize=9, color=style.DARK, tooltip=None)
    return [dots, _place_nodes(label, "step", k).encode(alt.Text("text:N"))]


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
    base = _place_nodes(make_chart(frame), "y", k)
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


def standardise_distances(group: Group, metric: str) -> tuple[Floats, Ints]:
    """Distances of the first sample of paraphrases, less their mean and over their standard deviation, and their steps.

    NaN where a distance does not exist, or everywhere where all are equal.
    """
    here = group.observed[metric]
    here = here.of("sample", 0) if "sample" in here.columns else here
    return compute_z_scores(style.drop_infinite(here.value)), here.columns["j"] - here.columns["i"]


def collect_trajectory_rows(group: Group, metric: str) -> pl.DataFrame:
    """Return one row per step: mean of the standardised distances, and one standard deviation to each side."""
    z, step = standardise_distances(group, metric)
    return style.measure_spread(pl.DataFrame({"step": step, "value": z}), "step")


def collect_density_rows(group: Group, metric: str) -> pl.DataFrame:
    """Return one row per step and place on the axis: the density of standardised distances that the protocol compares.

    Of every few points of the grid the largest is kept, so that narrow peaks stay.
    """
    z, step = standardise_distances(group, metric)
    schema = {"step": pl.Int64, "z": pl.Float64, "density": pl.Float64}
    if np.isnan(z).any():
        return pl.DataFrame(schema=schema)
    steps = np.unique(step)
    densities, _ = group_densities(z, step, steps)
    grid = np.linspace(LOW, HIGH, densities.shape[1])[:-1].reshape(-1, _EVERY)[:, _EVERY // 2]
    kept = np.abs(grid) <= _SHOWN
    peaks = densities[:, :-1].reshape(len(steps), -1, _EVERY).max(axis=2)[:, kept]
    columns = {"step": np.repeat(steps, kept.sum()), "z": np.tile(grid[kept], len(steps)), "density": peaks.ravel()}
    return pl.DataFrame(columns, schema=schema)


def draw_trajectory(group: Group) -> alt.ConcatChart:
    """Return one panel per metric: its standardised distances over ℓ, on the bands of the two prototypes."""

    def draw(metric: str, rows: pl.DataFrame) -> alt.LayerChart:
        prototypes = {name: key for name, key in list_prototypes(group, metric).items() if key in group.observed}
        frames = {name: collect_trajectory_rows(group, key) for name, key in prototypes.items()}
        frames = {name: frame for name, frame in frames.items() if len(frame)}
        colour, step = _choose_colour(tuple(frames), mark="square"), style.make_steps_axis()
        low, exact = alt.Y("low:Q", title="distance (z-score)"), make_tooltips("step", "mean", "low", "high")
        own = make_chart(rows.with_columns(curve=pl.lit(METRIC))).encode(step, colour, tooltip=exact)
        bands = [
            make_chart(frame.with_columns(curve=pl.lit(name)))
            .mark_area(opacity=0.25)
            .encode(step, low, alt.Y2("high:Q"), colour, tooltip=exact)
            for name, frame in frames.items()
        ]
        line = own.mark_line(strokeWidth=1.5, point={"size": 16}).encode(alt.Y("mean:Q"))
        return style.draw_panel([*bands, own.mark_rule().encode(low, alt.Y2("high:Q")), line], metric)

    line = "Bands and bars: one standard deviation of the standardised distances at a step, to each side of their mean."
    title, lines = "Standardised distance over the steps, with two prototypes", (_name_sample(group), line)
    return style.draw_metrics(group, collect_trajectory_rows, "mean", draw, title, *lines, why=_UNKNOWN, shared=True)


def draw_density(group: Group, metric: str) -> alt.ConcatChart:
    """Return one panel per step ℓ: the density of a metric's standardised distances and those of the prototypes."""
    compared = list_prototypes(group, metric)
    names = {METRIC: metric} | {name: key for name, key in compared.items() if key in group.observed and key != metric}
    frames = {shown: collect_density_rows(group, name) for shown, name in names.items()}
    rows = pl.concat([frame.with_columns(curve=pl.lit(shown)) for shown, frame in frames.items()])
    steps = np.unique(rows["step"].to_numpy())
    chosen = steps[np.unique(np.linspace(0, len(steps) - 1, min(PANELS, len(steps))).round().astype(int))]
    parts = style.prepare_data(rows).partition_by("step", as_dict=True)
    # Without data: panels of a figure differ in nothing else.
    lines = style.write_out_chart(
        alt.Chart()
        .mark_line(strokeWidth=1.5)
        .encode(
            alt.X("z:Q", title=None, axis=alt.Axis(grid=False, tickCount=5)),
            alt.Y("density:Q", title=None, axis=alt.Axis(minExtent=24, tickCount=4)),
            _choose_colour(tuple(compared), mark="stroke"),
            tooltip=make_tooltips("curve:N", "z", "density", form=".4g"),
        )
    )
    panels = [
        style.draw_panel([alt.Chart(parts[(at,)], mark=lines.mark, encoding=lines.encoding)], f"ℓ = {at}", height=90)
        for at in chosen.tolist()
    ]
    fewer = f"{len(chosen)} of {len(steps)} steps are drawn." if len(chosen) < len(steps) else ""
    missing = style.name_left_out([names[shown] for shown, frame in frames.items() if not len(frame)], _UNKNOWN)
    title = f"Densities of {metric} at each step, with two prototypes"
    return style.join_panels(panels, title, group, _name_sample(group), fewer, missing)


def list_prototypes(group: Group, metric: str) -> dict[str, str]:
    """Return the names of the two metrics that a metric is compared with, and their keys on its own ground."""
    protocol = style.require_protocol(group, "prototypes_of")
    return dict(zip(protocol.prototype_names, protocol.prototypes_of(metric), strict=True))


def _name_sample(group: Group) -> str:
    samples = getattr(group.protocol, "samples", 1)
    return f"Sample 1 of {samples} of paraphrases." if samples > 1 else ""


def _choose_colour(prototypes: tuple[str, ...], *, mark: str) -> alt.Color:
    scale = alt.Scale(domain=[METRIC, *prototypes], range=[style.DARK, BLUE, VERMILION])
    return alt.Color("curve:N", scale=scale, legend=alt.Legend(title=None, orient="top", symbolType=mark))


def draw_densities(groups: Sequence[Group], _: int) -> Iterator[style.Drawn]:
    """Yield a chart for each metric of a group that is not a prototype."""
    for group in groups:
        for metric in group.observed:
            if metric not in list_prototypes(group, metric).values():
                yield [*style.group_words(group), metric], draw_density(group, metric)


def collect_sweep_points(group: Group, metric: str, sweep: Sweep) -> pl.DataFrame:
    """Return one row per pair of samples: their sizes, the repetition, the metric's value."""
    here = group.observed[metric].of("kind", sweep)
    columns = {"size": here.columns["size_a"], "other": here.columns["size_b"], "repetition": here.batch}
    return pl.DataFrame(columns | {"value": style.get_own_values(metric, here)}).with_columns(
        pl.col("value").fill_nan(None)
    )


def compute_asymptote(group: Group, metric: str) -> float:
    """Return the mean value of the large samples; NaN where one is undefined."""
    large = style.get_own_values(metric, group.observed[metric].of("kind", ASYMPTOTE))
    return float(large.mean()) if len(large) else float("nan")


def draw_convergence(group: Group, sweep: Sweep) -> alt.ConcatChart:
    """Return one panel per metric: its value over the size of the samples, with that of large ones."""
    title, across = _SWEEPS[sweep]

    def draw(metric: str, points: pl.DataFrame) -> alt.LayerChart:
        shown, fewer = style.thin_points(points.drop_nulls("value"))
        x = alt.X("size:Q", title=across, axis=alt.Axis(format="~s", tickCount=5, grid=False))
        base = make_chart(style.measure_means(points, "size").sort("size")).encode(x)
        y = alt.Y("low:Q", title="value", axis=alt.Axis(minExtent=30))
        exact = [*make_tooltips("size", form=","), *make_tooltips("mean", "low", "high")]
        samples = [
            alt.Tooltip(f"{name}:Q", title=f"texts, {which} sample", format=",")
            for name, which in (("size", "first"), ("other", "second"))
        ]
        dots = make_chart(shown).mark_circle(color=BLUE, size=10, opacity=0.45)
        large = compute_asymptote(group, metric)
        layers = [
            *style.draw_band(base, y, "mean", opacity=0.25, exact=exact, color=BLUE),
            dots.encode(x, alt.Y("value:Q"), tooltip=[*samples, *make_tooltips("repetition:Q", "value")]),
            *style.draw_level("large", large, "large samples"),
        ]
        said = f"large samples: {f'{large:.4g}' if np.isfinite(large) else 'undefined'}"
        return style.draw_panel(layers, metric, said, fewer)

    line = "Points: repetitions; line and band: their mean and its 95 % interval (these texts); dashed: large samples."
    total = style.require_protocol(group, "total").total
    uneven = f"The two samples have {total:,} texts together." if sweep == "imbalance" else ""
    return style.draw_metrics(group, partial(collect_sweep_points, sweep=sweep), "value", draw, title, line, uneven)
