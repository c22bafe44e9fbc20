"""How metrics move over the steps between corpora, with two prototypes.

Source: Ackerman et al. 2023, figures 10 and 11.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from textgauge.bench.results import Group
from textgauge.core.arrays import Floats
from textgauge.core.show import BLUE, VERMILION
from textgauge.report.figures import style
from textgauge.report.figures.ksc import compute_z_scores
from textgauge.stats.density import HIGH, LOW, group_densities

METRIC = "the metric"
PANELS = 15  # steps at most in a figure of densities: more do not fit a page
_EVERY = 5  # points of the grid that share one in a picture
_SHOWN = 5.0  # standard deviations to each side: nothing lies beyond but outliers


def standardise_distances(group: Group, metric: str) -> tuple[Floats, NDArray[np.int64]]:
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
        compared = {
            name: collect_trajectory_rows(group, key)
            for name, key in list_prototypes(group, metric).items()
            if key in group.observed
        }
        return _draw_trajectory(metric, rows, {name: frame for name, frame in compared.items() if len(frame)})

    line = "Bands and bars: one standard deviation of the standardised distances at a step, to each side of their mean."
    title, why = "Standardised distance over the steps, with two prototypes", "constant or undefined"
    lines = (_name_sample(group), line)
    return style.draw_metrics(group, collect_trajectory_rows, "mean", draw, title, *lines, why=why, shared=True)


def draw_density(group: Group, metric: str) -> alt.ConcatChart:
    """Return one panel per step ℓ: the density of a metric's standardised distances and those of the prototypes."""
    compared = list_prototypes(group, metric)
    names = {METRIC: metric} | {name: key for name, key in compared.items() if key in group.observed and key != metric}
    frames = {shown: collect_density_rows(group, name) for shown, name in names.items()}
    rows = pl.concat([frame.with_columns(curve=pl.lit(shown)) for shown, frame in frames.items()])
    steps = np.unique(rows["step"].to_numpy())
    chosen = steps[np.unique(np.linspace(0, len(steps) - 1, min(PANELS, len(steps))).round().astype(int))]
    parts = style.prepare_data(rows).partition_by("step", as_dict=True)
    lines = _draw_density_lines(tuple(compared))
    panels = [
        style.draw_panel([alt.Chart(parts[(at,)], mark=lines.mark, encoding=lines.encoding)], f"ℓ = {at}", height=90)
        for at in chosen.tolist()
    ]
    fewer = f"{len(chosen)} of {len(steps)} steps are drawn." if len(chosen) < len(steps) else ""
    missing = style.name_left_out(
        [names[shown] for shown, frame in frames.items() if not len(frame)], "constant or undefined"
    )
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


def _draw_trajectory(metric: str, rows: pl.DataFrame, prototypes: dict[str, pl.DataFrame]) -> alt.LayerChart:
    colour = _choose_colour(tuple(prototypes), mark="square")
    step = style.make_steps_axis()
    exact = style.make_tooltips("step", "mean", "low", "high")
    layers: list[alt.Chart] = [
        style.make_chart(frame.with_columns(curve=pl.lit(name)))
        .mark_area(opacity=0.25)
        .encode(step, alt.Y("low:Q", title="distance (z-score)"), alt.Y2("high:Q"), colour, tooltip=exact)
        for name, frame in prototypes.items()
    ]
    own = style.make_chart(rows.with_columns(curve=pl.lit(METRIC))).encode(step, colour, tooltip=exact)
    layers += [
        own.mark_rule().encode(alt.Y("low:Q", title="distance (z-score)"), alt.Y2("high:Q")),
        own.mark_line(strokeWidth=1.5, point={"size": 16}).encode(alt.Y("mean:Q")),
    ]
    return style.draw_panel(layers, metric)


def _draw_density_lines(prototypes: tuple[str, ...]) -> alt.Chart:
    """Return the lines of every step, without data: panels of a figure differ in nothing else."""
    tip = style.make_tooltips("curve:N", "z", "density", form=".4g")
    lines = alt.Chart().mark_line(strokeWidth=1.5)
    return style.write_out_chart(
        lines.encode(
            alt.X("z:Q", title=None, axis=alt.Axis(grid=False, tickCount=5)),
            alt.Y("density:Q", title=None, axis=alt.Axis(minExtent=24, tickCount=4)),
            _choose_colour(prototypes, mark="stroke"),
            tooltip=tip,
        )
    )


def draw_densities(groups: Sequence[Group], _: int) -> Iterator[style.Drawn]:
    """Yield a chart for each metric of a group that is not a prototype."""
    for group in groups:
        for metric in group.observed:
            if metric not in list_prototypes(group, metric).values():
                yield [*style.group_words(group), metric], draw_density(group, metric)
