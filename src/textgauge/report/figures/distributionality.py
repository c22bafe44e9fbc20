"""How metrics move over the steps between corpora, with two prototypes, part by part, and as boxes of their values.

Source: Ackerman et al. 2023; boxes are its figures 8 and 13, deviations its figure 12.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from textgauge.bench.results import Group
from textgauge.core.arrays import Floats
from textgauge.core.show import BLUE, VERMILION
from textgauge.metrics import get_metric
from textgauge.report.figures.ksc import compute_z_scores
from textgauge.report.figures.style import (
    DARK,
    QUARTILES,
    Drawn,
    compute_quartiles,
    draw_band,
    draw_panel,
    drop_infinite,
    get_own_values,
    group_words,
    join_panels,
    make_chart,
    make_steps_axis,
    make_tooltips,
    name_left_out,
    prepare_data,
    require_protocol,
    write_out_chart,
)
from textgauge.stats.density import HIGH, LOW, group_densities

METRIC = "the metric"
PANELS = 15  # steps at most in a figure of densities: more do not fit a page
_EVERY = 5  # points of the grid that share one in a picture
_SHOWN = 5.0  # standard deviations to each side: nothing lies beyond but outliers
COMPONENTS = ("pr", "dc")  # metrics whose parts are drawn over k
_WHOLE, _OVER_K, _PARTS = "metrics", "by k", "components"


def standardise_distances(group: Group, metric: str, sample: int = 0) -> tuple[Floats, NDArray[np.int64]]:
    """Distances of one sample of paraphrases, less their mean and over their standard deviation, and their steps ℓ.

    NaN where a distance does not exist, or everywhere where all are equal.
    """
    here = group.observed[metric]
    here = here.of("sample", sample) if "sample" in here.columns else here
    return compute_z_scores(drop_infinite(here.value)), here.columns["j"] - here.columns["i"]


def collect_trajectory_rows(group: Group, metric: str, sample: int = 0) -> pl.DataFrame:
    """Return one row per step: mean of the standardised distances, and one standard deviation to each side."""
    z, step = standardise_distances(group, metric, sample)
    return _with_ends([(int(at), *_spread(z[step == at])) for at in np.unique(step)], {"step": pl.Int64})


def collect_density_rows(group: Group, metric: str, sample: int = 0) -> pl.DataFrame:
    """Return one row per step and place on the axis: the density of standardised distances that the protocol compares.

    Of every few points of the grid the largest is kept, so that narrow peaks stay.
    """
    z, step = standardise_distances(group, metric, sample)
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


def draw_trajectory(group: Group, *, sample: int = 0) -> alt.ConcatChart:
    """Return one panel per metric: its standardised distances over ℓ, on the bands of the two prototypes."""
    compared = {metric: list_prototypes(group, metric) for metric in group.observed}
    frames = {metric: collect_trajectory_rows(group, metric, sample) for metric in group.observed}
    drawn = {metric: frame for metric, frame in frames.items() if len(frame)}
    panels = [
        _draw_trajectory(metric, frame, {name: drawn[key] for name, key in compared[metric].items() if key in drawn})
        for metric, frame in drawn.items()
    ]
    line = "Bands and bars: one standard deviation of the standardised distances at a step, to each side of their mean."
    missing = name_left_out([metric for metric in frames if metric not in drawn], "constant or undefined")
    title = "Standardised distance over the steps, with two prototypes"
    return join_panels(panels, title, group, _choose_prototype(group, sample), line, missing, shared=True)


def draw_density(group: Group, metric: str, *, sample: int = 0) -> alt.ConcatChart:
    """Return one panel per step ℓ: the density of a metric's standardised distances and those of the prototypes."""
    compared = list_prototypes(group, metric)
    names = {METRIC: metric} | {name: key for name, key in compared.items() if key in group.observed and key != metric}
    frames = {shown: collect_density_rows(group, name, sample) for shown, name in names.items()}
    rows = pl.concat([frame.with_columns(curve=pl.lit(shown)) for shown, frame in frames.items()])
    steps = np.unique(rows["step"].to_numpy())
    chosen = steps[np.unique(np.linspace(0, len(steps) - 1, min(PANELS, len(steps))).round().astype(int))]
    parts = prepare_data(rows).partition_by("step", as_dict=True)
    lines = _draw_density_lines(tuple(compared))
    panels = [
        draw_panel([alt.Chart(parts[(at,)], mark=lines.mark, encoding=lines.encoding)], f"ℓ = {at}", height=90)
        for at in chosen.tolist()
    ]
    fewer = f"{len(chosen)} of {len(steps)} steps are drawn." if len(chosen) < len(steps) else ""
    missing = name_left_out(
        [names[shown] for shown, frame in frames.items() if not len(frame)], "constant or undefined"
    )
    title = f"Densities of {metric} at each step, with two prototypes"
    return join_panels(panels, title, group, _choose_prototype(group, sample), fewer, missing)


def list_prototypes(group: Group, metric: str) -> dict[str, str]:
    """Return the names of the two metrics that a metric is compared with, and their keys on its own ground."""
    protocol = require_protocol(group, "prototypes_of")
    return dict(zip(protocol.prototype_names, protocol.prototypes_of(metric), strict=True))


def _choose_prototype(group: Group, sample: int) -> str:
    samples = getattr(group.protocol, "samples", 1)
    return f"Sample {sample + 1} of {samples} of paraphrases." if samples > 1 else ""


def _choose_colour(prototypes: tuple[str, ...], *, mark: str) -> alt.Color:
    scale = alt.Scale(domain=[METRIC, *prototypes], range=[DARK, BLUE, VERMILION])
    return alt.Color("curve:N", scale=scale, legend=alt.Legend(title=None, orient="top", symbolType=mark))


def _draw_trajectory(metric: str, rows: pl.DataFrame, prototypes: dict[str, pl.DataFrame]) -> alt.LayerChart:
    colour = _choose_colour(tuple(prototypes), mark="square")
    step = make_steps_axis()
    exact = make_tooltips("step", "mean", "low", "high")
    layers: list[alt.Chart] = [
        make_chart(frame.with_columns(curve=pl.lit(name)))
        .mark_area(opacity=0.25)
        .encode(step, alt.Y("low:Q", title="distance (z-score)"), alt.Y2("high:Q"), colour, tooltip=exact)
        for name, frame in prototypes.items()
    ]
    own = make_chart(rows.with_columns(curve=pl.lit(METRIC))).encode(step, colour, tooltip=exact)
    layers += [
        own.mark_rule().encode(alt.Y("low:Q", title="distance (z-score)"), alt.Y2("high:Q")),
        own.mark_line(strokeWidth=1.5, point={"size": 16}).encode(alt.Y("mean:Q")),
    ]
    return draw_panel(layers, metric)


def _draw_density_lines(prototypes: tuple[str, ...]) -> alt.Chart:
    """Return the lines of every step, without data: panels of a figure differ in nothing else."""
    tip = make_tooltips("curve:N", "z", "density", form=".4g")
    lines = alt.Chart().mark_line(strokeWidth=1.5)
    return write_out_chart(
        lines.encode(
            alt.X("z:Q", title=None, axis=alt.Axis(grid=False, tickCount=5)),
            alt.Y("density:Q", title=None, axis=alt.Axis(minExtent=24, tickCount=4)),
            _choose_colour(prototypes, mark="stroke"),
            tooltip=tip,
        )
    )


def collect_component_rows(group: Group) -> pl.DataFrame:
    """One row per component, k and step: mean of the component's values, and one standard deviation to each side.

    Metrics that differ in more than k have components of their own. Values that do not exist are left out.
    """
    rows = {
        (f"{whole} {part.name}", metric.k, int(at)): _spread(
            drop_infinite(observed.columns[f"part.{part.name}"])[step == at]
        )
        for key, observed in group.observed.items()
        if (metric := get_metric(key)).name in COMPONENTS
        for whole in [replace(metric, part=None, k=type(metric)().k).key]
        for step in [observed.columns["j"] - observed.columns["i"]]
        for part in metric.parts
        for at in np.unique(step)
    }
    schema = {"component": pl.String, "k": pl.Int64, "step": pl.Int64}
    frame = _with_ends([(*key, *value) for key, value in rows.items()], schema)
    return frame.sort("component", "k", "step", maintain_order=True)


def _with_ends(rows: Sequence[tuple[object, ...]], schema: dict[str, Any]) -> pl.DataFrame:
    """Return rows that end with a mean and a spread, as mean, low and high; those without a mean are left out."""
    numbers = {"mean": pl.Float64, "spread": pl.Float64}
    frame = pl.DataFrame(rows, schema={**schema, **numbers}, orient="row").drop_nans("mean")
    mean, spread = pl.col("mean"), pl.col("spread")
    return frame.with_columns((mean - spread).alias("low"), (mean + spread).alias("high")).drop("spread")


def draw_component(group: Group) -> alt.ConcatChart | None:
    """Return one panel per component of pr and dc, a line with its band for every k; None where the run has neither."""
    rows = collect_component_rows(group)
    if not len(rows):
        return None
    panels = [_draw_component_panel(part) for part in rows.partition_by("component", maintain_order=True)]
    line = "Line and band: mean at a step and one standard deviation to each side."
    return join_panels(panels, "Components over the steps between two corpora", group, line)


def _spread(values: Floats) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not len(known):
        return float("nan"), 0.0
    return float(known.mean()), float(known.std(ddof=1)) if len(known) > 1 else 0.0


def _draw_component_panel(rows: pl.DataFrame) -> alt.LayerChart:
    step = make_steps_axis()
    # From blue to yellow by way of green: evenly lighter, so that print and eyes without colour keep the order.
    legend = alt.Legend(title="k", orient="right", symbolOpacity=1)
    base = make_chart(rows).encode(step, alt.Color("k:O", scale=alt.Scale(scheme="viridis"), legend=legend))
    low = alt.Y("low:Q", title=None, axis=alt.Axis(minExtent=30), scale=alt.Scale(zero=False))
    exact = make_tooltips("k", "step", "mean", "low", "high")
    layers = draw_band(base, low, "mean", opacity=0.15, exact=exact, line={"point": {"size": 14}})
    return draw_panel(layers, rows["component"][0])


def collect_deviation_rows(group: Group) -> pl.DataFrame:
    """Return one row per metric and prototype: its deviation with the interval, those nearest to the first on top."""
    measures = [measure.name for measure in group.protocol.measures]
    judged = {metric: of for metric, of in group.verdicts.items() if not np.isnan(of[measures[2]].value)}
    rows = [
        (metric, name.removeprefix("deviation_"), of[name].value, of[name].low, of[name].high)
        for metric, of in sorted(judged.items(), key=lambda item: -item[1][measures[2]].value)
        for name in measures[:2]
    ]
    schema = {"metric": pl.String, "prototype": pl.String, **dict.fromkeys(("deviation", "low", "high"), pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def draw_deviation(group: Group) -> alt.ConcatChart | None:
    """Draw how far every metric is from both prototypes, with intervals; None where no metric is judged."""
    rows = collect_deviation_rows(group)
    if not len(rows):
        return None
    names = rows["prototype"].unique(maintain_order=True).to_list()
    colour = alt.Scale(domain=names, range=[BLUE, VERMILION])
    legend = alt.Legend(title="deviation from", orient="bottom")
    y = alt.Y("metric:N", sort=None, title=None, axis=alt.Axis(grid=True, labelLimit=260))
    offset = alt.YOffset("prototype:N", sort=None, scale=alt.Scale(paddingOuter=0.6))
    base = make_chart(rows).encode(y, alt.Color("prototype:N", scale=colour, legend=legend), yOffset=offset)
    exact = make_tooltips("metric:N", "prototype:N", "deviation", "low", "high")
    layers = [
        base.mark_rule(strokeWidth=1.5).encode(alt.X("low:Q", title="deviation"), alt.X2("high:Q")),
        base.mark_point(filled=True, size=55, opacity=1).encode(
            alt.X("deviation:Q", scale=alt.Scale(zero=True)),
            shape=alt.Shape("prototype:N", scale=alt.Scale(domain=names), legend=legend),
            tooltip=exact,
        ),
    ]
    panel = draw_panel(layers, "", width=360, height=20 * rows["metric"].n_unique())
    line = "Point and line: the deviation and its 95 % interval; a metric is of the class of the nearer prototype."
    return join_panels([panel], "Deviation from both prototypes", group, line)


def draw_densities(groups: Sequence[Group], _: int) -> Iterator[Drawn]:
    """Yield a chart for each metric of a group that is not a prototype."""
    for group in groups:
        for metric in group.observed:
            if metric not in list_prototypes(group, metric).values():
                yield [*group_words(group), metric], draw_density(group, metric)


def step_quartiles(group: Group, metric: str) -> pl.DataFrame:
    """Return one row per step: quartiles and range of the metric's values; steps without a value are left out."""
    observed = group.observed[metric]
    value, step = get_own_values(metric, observed), observed.columns["j"] - observed.columns["i"]
    known = {int(at): value[(step == at) & ~np.isnan(value)] for at in np.unique(step)}
    rows = [(at, *compute_quartiles(part)) for at, part in known.items() if len(part)]
    schema = {"step": pl.Int64, **dict.fromkeys(QUARTILES, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def step_box_figure(group: Group, metrics: Sequence[str]) -> alt.ConcatChart:
    """Return one panel per metric: a box for every step."""
    frames = {metric: step_quartiles(group, metric) for metric in metrics}
    panels = [_draw_box_panel(metric, frame) for metric, frame in frames.items() if len(frame)]
    line = "Box: quartiles and median of the values at a step, in the metric's own units; whisker: smallest to largest."
    return join_panels(panels, "Values over the steps between two corpora", group, line)


def _draw_box_panel(metric: str, rows: pl.DataFrame) -> alt.LayerChart:
    x = alt.X("step:O", title="steps apart (ℓ)", axis=alt.Axis(labelAngle=0, ticks=False, labelOverlap=True))
    base = make_chart(rows).encode(x, tooltip=make_tooltips("step:O", *QUARTILES))
    least = alt.Y("smallest:Q", title=None, axis=alt.Axis(minExtent=30, tickCount=5), scale=alt.Scale(zero=False))
    layers = [
        base.mark_rule(color=DARK).encode(least, alt.Y2("largest")),
        base.mark_bar(color="#9CC8E3", size=7).encode(alt.Y("lower_quartile:Q"), alt.Y2("upper_quartile")),
        base.mark_tick(color=DARK, size=7, thickness=1.5, orient="horizontal").encode(alt.Y("median:Q")),
    ]
    return draw_panel(layers, metric)


def _get_class(key: str) -> str:
    metric = get_metric(key)
    return _PARTS if metric.part is not None else _OVER_K if metric.name in COMPONENTS else _WHOLE


def _order(key: str) -> tuple[str, str, int]:
    metric = get_metric(key)
    return metric.name, metric.part or "", getattr(metric, "k", 0)


def draw_step_boxes(groups: Sequence[Group], _: int) -> Iterator[Drawn]:
    """Yield charts of whole metrics, of metrics over k, and of their parts."""
    for group in groups:
        for kind in (_WHOLE, _OVER_K, _PARTS):
            metrics = sorted((key for key in group.observed if _get_class(key) == kind), key=_order)
            if any(len(step_quartiles(group, metric)) for metric in metrics):
                yield [kind, *group_words(group)], step_box_figure(group, metrics)
