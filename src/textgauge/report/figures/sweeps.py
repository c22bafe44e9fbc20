"""Curves over a sweep: sizes of samples, steps of a model that learns, how far points are moved, sizes of a change.

Sizes and steps are figures 2 (middle and bottom) and 5 of Kour et al. 2022, moved points figures 1 to 4 of Ackerman
et al. 2023.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

import altair as alt
import numpy as np
import polars as pl

from textgauge.bench import Sensitivity
from textgauge.bench.pieces import PLACES
from textgauge.bench.protocols.document_tasks import compute_ideal_similarity
from textgauge.bench.protocols.size import ASYMPTOTE
from textgauge.bench.results import Group
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.show import BLUE, VERMILION
from textgauge.report.figures.ksc import compute_regression_band
from textgauge.report.figures.style import (
    DARK,
    PALETTE,
    Drawn,
    describe_group,
    draw_band,
    draw_level,
    draw_metrics,
    draw_panel,
    drop_infinite,
    get_own_values,
    group_words,
    join_panels,
    make_chart,
    make_tooltips,
    measure_means,
    name_left_out,
    require_protocol,
    thin_points,
)

Sweep = Literal["size", "imbalance"]

_SWEEPS = {
    "size": ("Convergence as both samples grow", "texts in each sample"),
    "imbalance": ("Convergence over the balance of two samples", "texts in the first sample"),
}

TTR = "type–token ratio"
_RUN = re.compile(r",? ?(?:training )?run[ _-]?\d+")
_BAND = {
    False: (
        "Points: repetitions on the texts of one training run; dashed: the reference against itself.",
        "Line: least squares through the means of the steps, with its 95 % band for this run.",
    ),
    True: (
        "Points: the texts of each training run; dashed: the reference against itself.",
        "Line: mean of the runs' least-squares lines, with its 95 % band for new runs.",
    ),
}

Over = Literal["delta", "p", "q"]

SHIFTED, UNPERTURBED = "shifted", "unperturbed"
OVERS: dict[Over, tuple[str, str]] = {
    "delta": ("Distance over how far a group is moved", "δ"),
    "p": ("Distance over how many points are moved", "p"),
    "q": ("Distance over the number of dimensions", "q"),
}
_COLOURS = {"A": "#999999", "B": BLUE, "moved group": VERMILION}

_REMOVED, _INSERTED = 0.5, 1.0
_NUMBERS = ("x", "mean", "low", "high")


def collect_sweep_points(group: Group, metric: str, sweep: Sweep) -> pl.DataFrame:
    """Return one row per pair of samples: their sizes, the repetition, the metric's value."""
    observed = group.observed[metric]
    here = observed.columns["kind"] == sweep
    columns = {"size": observed.columns["size_a"], "other": observed.columns["size_b"], "repetition": observed.batch}
    frame = pl.DataFrame({name: column[here] for name, column in columns.items()})
    return frame.with_columns(pl.Series("value", get_own_values(metric, observed)[here]).fill_nan(None))


def compute_asymptote(group: Group, metric: str) -> float:
    """Return the mean value of the large samples; NaN where one is undefined."""
    observed = group.observed[metric]
    large = get_own_values(metric, observed)[observed.columns["kind"] == ASYMPTOTE]
    return float(large.mean()) if len(large) else float("nan")


def draw_convergence(group: Group, sweep: Sweep) -> alt.ConcatChart:
    """Return one panel per metric: its value over the size of the samples, with that of large ones."""
    title, across = _SWEEPS[sweep]

    def draw(metric: str, points: pl.DataFrame) -> alt.LayerChart:
        return _draw_convergence_panel(metric, points, compute_asymptote(group, metric), across)

    line = "Points: repetitions; line and band: their mean and its 95 % interval (these texts); dashed: large samples."
    total = require_protocol(group, "total").total
    uneven = f"The two samples have {total:,} texts together." if sweep == "imbalance" else ""
    return draw_metrics(group, partial(collect_sweep_points, sweep=sweep), "value", draw, title, line, uneven)


def _draw_convergence_panel(metric: str, points: pl.DataFrame, large: float, across: str) -> alt.LayerChart:
    shown, fewer = thin_points(points.drop_nulls("value"))
    x = alt.X("size:Q", title=across, axis=alt.Axis(format="~s", tickCount=5, grid=False))
    base = make_chart(measure_means(points, "size").sort("size")).encode(x)
    y = alt.Y("low:Q", title="value", axis=alt.Axis(minExtent=30))
    exact = [*make_tooltips("size", form=","), *make_tooltips("mean", "low", "high")]
    samples = [
        alt.Tooltip(f"{name}:Q", title=f"texts, {which} sample", format=",")
        for name, which in (("size", "first"), ("other", "second"))
    ]
    dots = make_chart(shown).mark_circle(color=BLUE, size=10, opacity=0.45)
    layers = [
        *draw_band(base, y, "mean", opacity=0.25, exact=exact, color=BLUE),
        dots.encode(x, alt.Y("value:Q"), tooltip=[*samples, *make_tooltips("repetition:Q", "value")]),
        *draw_level("large", large, "large samples"),
    ]
    return draw_panel(layers, metric, f"large samples: {f'{large:.4g}' if np.isfinite(large) else 'undefined'}", fewer)


def collect_ifc_points(groups: Sequence[Group], metric: str) -> pl.DataFrame:
    """One row per training run, step and repetition: the metric's value; step 0 is the reference against itself."""
    return _collect_points(groups, [get_own_values(metric, group.observed[metric]) for group in groups])


def collect_ttr_points(groups: Sequence[Group]) -> pl.DataFrame:
    """Return the same rows with the type–token ratio of the corpus; step 0 is the reference."""
    return _collect_points(groups, [next(iter(group.observed.values())).columns["ttr"] for group in groups])


def _collect_points(groups: Sequence[Group], values: Sequence[Floats]) -> pl.DataFrame:
    frames = []
    for run, (group, value) in enumerate(zip(groups, values, strict=True), start=1):
        observed = next(iter(group.observed.values()))
        columns = {"step": observed.columns["step"], "repetition": observed.batch + 1, "value": value}
        frames.append(pl.DataFrame({"run": [run] * len(value), **columns}))
    return pl.concat(frames).with_columns(pl.col("value").fill_nan(None))


def fit_ifc_line(points: pl.DataFrame) -> pl.DataFrame:
    """Return the least-squares line through the means of the steps with its 95 % band, at every tenth of a step.

    Repetitions draw from the same generated texts, so they are not independent points: a step counts once. Of several
    training runs the line is the mean of theirs, and the band is for new runs: what is resampled is the run.
    """
    from scipy.special import stdtrit

    known = points.filter(pl.col("step") > 0).drop_nulls("value")
    means = known.group_by("run", "step").agg(pl.col("value").mean()).sort("run", "step")
    steps = means["step"].to_numpy().astype(np.float64)
    at = np.linspace(steps.min(), steps.max(), int(10 * np.ptp(steps)) + 1)
    bands = [
        compute_regression_band(run["step"].to_numpy().astype(np.float64), run["value"].to_numpy(), at)
        for run in means.partition_by("run")
        if len(run) > 1
    ]
    lines = np.array([fit for fit, _ in bands])
    fit, reach, count = lines.mean(axis=0), bands[0][1], len(lines)
    if count > 1:
        reach = float(stdtrit(count - 1, 0.975)) * lines.std(axis=0, ddof=1) / np.sqrt(count)
    return pl.DataFrame({"step": at, "fit": fit, "low": fit - reach, "high": fit + reach})


def draw_ifc(groups: Sequence[Group]) -> alt.ConcatChart:
    """One panel per metric: value over steps, line and band, self-distance; the last panel has type–token ratios.

    Several groups are training runs of one kind of model on the same texts.
    """
    shared = [metric for metric in groups[0].observed if all(metric in group.observed for group in groups)]
    frames = {metric: collect_ifc_points(groups, metric) for metric in shared}
    drawn = {metric: frame for metric, frame in frames.items() if _count_known_steps(frame) > 1}
    missing = name_left_out([metric for metric in frames if metric not in drawn], "undefined")
    panels = [_draw_steps_panel(metric, frame, "value", _fit_trend(groups, metric)) for metric, frame in drawn.items()]
    words = collect_ttr_points(groups)
    if _count_known_steps(words) > 1:
        panels.append(_draw_steps_panel(TTR, words, "different words ÷ words", "dashed: the reference's"))
    said = (
        describe_group(groups[0])
        if len(groups) == 1
        else f"{len(groups)} training runs, {_RUN.sub('', describe_group(groups[0]))}"
    )
    return join_panels(panels, "Distance to the training texts, step by step", said, *_BAND[len(groups) > 1], missing)


def draw_studies(groups: Sequence[Group], _: int) -> Iterator[Drawn]:
    """Yield a chart for each study: training runs differ by the number of the run in the name of their data."""
    studies = defaultdict(list)
    for group in groups:
        studies[_RUN.sub("", group.data), group.protocol, group.seed].append(group)
    for (study, protocol, _seed), runs in studies.items():
        yield [study if len(runs) > 1 else runs[0].data, protocol.title], draw_ifc(runs)


def _count_known_steps(points: pl.DataFrame) -> int:
    return points.filter(pl.col("step") > 0).drop_nulls("value")["step"].n_unique()


def _fit_trend(groups: Sequence[Group], metric: str) -> str:
    trend = np.mean([group.protocol.judge(group.observed[metric])[0].value for group in groups])
    return "" if np.isnan(trend) else f"ρ of step and distance {trend:.2f}"


def _draw_steps_panel(name: str, points: pl.DataFrame, up: str, said: str) -> alt.LayerChart:
    known = points.drop_nulls("value")
    steps, own = known.filter(pl.col("step") > 0), known.filter(pl.col("step") == 0)["value"].to_list()
    shown, fewer = thin_points(steps)
    last = float(steps["step"].to_numpy().max())
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    x = alt.X("step:Q", title="step", axis=axis, scale=alt.Scale(domain=[0.5, last + 0.5], nice=False))
    base = make_chart(fit_ifc_line(points)).encode(x)
    y = alt.Y("low:Q", title=up, axis=alt.Axis(minExtent=30), scale=alt.Scale(zero=False))
    exact = make_tooltips("step:Q", "run:Q", "repetition:Q", "value")
    layers = [
        *draw_band(base, y, "fit", opacity=0.2, color=BLUE),
        make_chart(shown).mark_circle(color=BLUE, size=14, opacity=0.5).encode(x, alt.Y("value:Q"), tooltip=exact),
        *draw_level("own", float(np.mean(own)) if own else np.nan, "the reference"),
    ]
    return draw_panel(layers, name, said, fewer)


def collect_perturbation_rows(group: Group, metric: str, over: Over) -> pl.DataFrame:
    """One row per place of a sweep: mean of the repetitions with Student's 95 % interval, shifted and unperturbed."""
    observed, protocol = group.observed[metric], require_protocol(group, "drawn")
    value, at = get_own_values(metric, observed), observed.columns
    fixed = {"delta": protocol.delta, "p": protocol.p, "q": protocol.q}
    shifted = np.all([at[name] == fixed[name] for name in fixed if name != over], axis=0)
    frames = []
    for place in np.unique(at[over][shifted]):
        level = (at["delta"] == 0) & (at["q"] == (place if over == "q" else protocol.q))
        for what, here in ((SHIFTED, shifted & (at[over] == place)), (UNPERTURBED, level)):
            frames.append(pl.DataFrame({"x": float(place), "what": what, "value": value[here]}))
    return measure_means(pl.concat(frames), "x", "what")


def sample_rows(group: Group, repetition: int = 0) -> pl.DataFrame:
    """Return one row per point and picture: A and B as they are, then A and B with the group moved by δ."""
    protocol = require_protocol(group, "drawn")
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


def draw_perturbation(group: Group, over: Over) -> alt.ConcatChart:
    """One panel per metric: d(A, B') over δ, p or q, with the 95 % band of its mean, and the unperturbed level."""
    title, across = OVERS[over]
    protocol = require_protocol(group, "drawn")
    setting = _format_setting(protocol, over, own=group.data != protocol.data.points.name)
    line = "Line and band: mean over repetitions and its 95 % interval (these points); dashed: unperturbed."
    draw = partial(_draw_perturbation_panel, across=across)
    return draw_metrics(group, partial(collect_perturbation_rows, over=over), "mean", draw, title, setting, line)


def sample_figure(group: Group, *, repetition: int = 0) -> alt.ConcatChart:
    """Return the points of one repetition in two dimensions, before and after the move; drawn again from the seed."""
    rows, protocol = sample_rows(group, repetition), require_protocol(group, "drawn")
    moved = len(rows.filter((pl.col("of") == "moved group") & (pl.col("picture") == SHIFTED)))
    parts = [(picture, rows.filter(pl.col("picture") == picture)) for picture in (UNPERTURBED, SHIFTED)]
    line = f"Repetition {repetition + 1}: {moved} of {protocol.n} points of B are moved by δ = {protocol.delta:g}."
    panels = [_draw_scatter(picture, part) for picture, part in parts]
    return join_panels(panels, "Points and the group that is moved", group, line, shared=True)


def _format_setting(protocol: Any, over: Over, *, own: bool) -> str:
    fixed = {"delta": f"δ = {protocol.delta:g}", "p": f"p = {protocol.p:g}", "q": f"q = {protocol.q}"}
    said = ", ".join(text for name, text in fixed.items() if name != over and not (own and name == "q"))
    return f"{protocol.n} points, {protocol.repetitions} repetitions, {said}, noise {protocol.sigma:g}."


def _draw_perturbation_panel(metric: str, rows: pl.DataFrame, across: str) -> alt.LayerChart:
    axis = alt.Axis(grid=False, tickCount=5, tickMinStep=1) if across == "q" else alt.Axis(grid=False, tickCount=6)
    x = alt.X("x:Q", title=across, axis=axis, scale=alt.Scale(zero=False, nice=False))
    y = alt.Y("low:Q", title="distance", axis=alt.Axis(minExtent=30), scale=alt.Scale(zero=False))
    exact = make_tooltips("x", "mean", "low", "high")
    shifted, level = (make_chart(rows.filter(pl.col("what") == what)) for what in (SHIFTED, UNPERTURBED))
    dashed = level.mark_line(color=DARK, strokeWidth=1, strokeDash=[4, 3])
    point = {"point": {"size": 12, "color": BLUE}}
    layers = [
        *draw_band(shifted.encode(x), y, "mean", opacity=0.25, exact=exact, line=point, color=BLUE),
        dashed.encode(x, alt.Y("mean:Q"), tooltip=exact),
    ]
    return draw_panel(layers, metric)


def _draw_scatter(picture: str, rows: pl.DataFrame) -> alt.LayerChart:
    colour = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    look: dict[str, Any] = {"title": None, "axis": alt.Axis(grid=False), "scale": alt.Scale(zero=False)}
    shade = alt.Color("of:N", scale=colour, legend=alt.Legend(title=None, orient="bottom"))
    dots = make_chart(rows).mark_circle(size=12, opacity=0.6)
    dots = dots.encode(
        alt.X("x:Q", **look), alt.Y("y:Q", **look), shade, tooltip=make_tooltips("of:N", "x", "y", form=".4g")
    )
    return draw_panel([dots], picture, width=260, height=260)


def draw_perturbations(groups: Sequence[Group], repetition: int) -> Iterator[Drawn]:
    """Yield a chart for each sweep, and the points themselves where they have two dimensions."""
    for group in groups:
        protocol = require_protocol(group, "drawn")
        # Points of a corpus have one number of dimensions, and stay with it.
        own = group.data != protocol.data.points.name
        for over in OVERS:
            if not (own and over == "q"):
                yield [over, *group_words(group)], draw_perturbation(group, over)
        if not own and protocol.q == 2 and repetition < protocol.repetitions:
            yield ["points", *group_words(group)], sample_figure(group, repetition=repetition)


def collect_sensitivity_rows(group: Group) -> pl.DataFrame:
    """Return one row per metric, place and change: the mean similarity over documents with Student's 95 % interval.

    `x` is the share that was inserted, or less the share that was removed.
    """
    frames = []
    for metric, observed in group.observed.items():
        at = observed.columns
        x = np.where(at["change"] == "insert", 1.0, -1.0) * at["share"].astype(np.float64)
        columns = {"place": at["place"], "x": x, "value": drop_infinite(observed.value)}
        frames.append(pl.DataFrame(columns).select(pl.lit(metric).alias("metric"), pl.all()))
    return measure_means(pl.concat(frames), "metric", "place", "x").sort("metric", "x", maintain_order=True)


def collect_ideal_rows(protocol: Sensitivity) -> pl.DataFrame:
    """Return the similarity that each change should have, as a curve."""
    x = np.linspace(-_REMOVED, _INSERTED, 61)
    ideal = compute_ideal_similarity(np.where(x < 0, "remove", "insert"), np.abs(x), protocol.ideal)
    return pl.DataFrame({"x": x, "ideal": ideal})


def draw_sensitivity(group: Group) -> alt.ConcatChart:
    """One panel per place of the change: a line for every metric, with its 95 % interval, and the ideal, dashed."""
    protocol = require_protocol(group, "ideal")
    rows = collect_sensitivity_rows(group)
    known = rows.drop_nulls("mean")
    metrics = known["metric"].unique(maintain_order=True).to_list()
    ideal = collect_ideal_rows(protocol)
    panels = [
        _draw_sensitivity_panel(place, known.filter(pl.col("place") == place), ideal, metrics) for place in PLACES
    ]
    line = "Line and band: mean over documents and its 95 % interval; dashed: ideal similarity."
    sides = "Left of 0: a share of the tokens was removed; right of it, a needle of that size was inserted."
    missing = name_left_out([metric for metric in group.observed if metric not in metrics], "undefined")
    return join_panels(panels, "Similarity over the size of a change", group, line, sides, missing, shared=True)


def _draw_sensitivity_panel(place: str, rows: pl.DataFrame, ideal: pl.DataFrame, metrics: list[str]) -> alt.LayerChart:
    axis = alt.Axis(format="%", values=[-_REMOVED, 0, 0.5, _INSERTED], grid=False)
    x = alt.X("x:Q", title="removed or inserted", axis=axis, scale=alt.Scale(domain=[-_REMOVED, _INSERTED]))
    y = alt.Y("low:Q", title="similarity", scale=alt.Scale(zero=False))
    # More metrics than colours: the lines of the second round are dotted.
    colours = [PALETTE[number % len(PALETTE)] for number in range(len(metrics))]
    dashes = [[1, 0] if number < len(PALETTE) else [2, 2] for number in range(len(metrics))]
    legend = alt.Legend(title=None, orient="bottom", columns=4, symbolOpacity=1)
    colour = alt.Color("metric:N", scale=alt.Scale(domain=metrics, range=colours), legend=legend)
    dash = alt.StrokeDash("metric:N", scale=alt.Scale(domain=metrics, range=dashes), legend=legend)
    exact = make_tooltips("metric:N", *_NUMBERS, form=".4f")
    base = make_chart(rows).encode(x)
    layers = [
        base.mark_area(opacity=0.15).encode(y, alt.Y2("high:Q"), color=colour),
        base.mark_line(strokeWidth=1.5).encode(alt.Y("mean:Q"), color=colour, strokeDash=dash, tooltip=exact),
        base.mark_circle(size=10).encode(alt.Y("mean:Q"), color=colour, tooltip=exact),
        make_chart(ideal).mark_line(color=DARK, strokeWidth=1.5, strokeDash=[5, 3]).encode(x, alt.Y("ideal:Q")),
    ]
    return draw_panel(layers, f"{place} of the text", height=220)


def draw_sensitivities(groups: Sequence[Group], _: int) -> Iterator[Drawn]:
    """Yield a chart for each group."""
    for group in groups:
        yield [group.data], draw_sensitivity(group)
