"""Distances over the step between two mixtures, with a line: Kour et al. 2022, figure 2, top."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textgauge.arrays import Floats
from textgauge.evaluate.results import Group
from textgauge.report.figures.kind import FigureKind, one_per_group
from textgauge.report.figures.style import (
    PANEL,
    about,
    chart_of,
    finished,
    finite,
    layered,
    not_shown,
    own_values,
    thinned,
    titled,
)
from textgauge.stats.correlation import r_squared
from textgauge.tabular import BLUE, VERMILION

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


def distance_points(group: Group, metric: str) -> pl.DataFrame:
    """One row per pair of corpora: step, distance, and the distance z-scored over all repetitions.

    z is null for all rows where a distance is undefined everywhere or all are equal.
    """
    import polars as pl

    observed = group.observed[metric]
    i, j = observed.columns["i"], observed.columns["j"]
    columns = {"repetition": observed.batch + 1, "i": i + 1, "j": j + 1, "step": j - i}
    scores = {"value": own_values(metric, observed), "z": z_scores(finite(observed.value))}
    return pl.DataFrame(columns | scores).with_columns(pl.col("value", "z").fill_nan(None))


def distance_line(points: pl.DataFrame) -> pl.DataFrame:
    """The least-squares line of z over the step, and its 95 % band, at every tenth of a step."""
    import polars as pl

    known = points.drop_nulls("z")
    step, z = known["step"].to_numpy().astype(np.float64), known["z"].to_numpy()
    at = np.linspace(step.min(), step.max(), int(10 * (step.max() - step.min())) + 1)
    fit, reach = regression_band(step, z, at)
    r2 = np.full(len(at), r_squared(step, z))
    return pl.DataFrame({"step": at, "fit": fit, "low": fit - reach, "high": fit + reach, "r2": r2})


def z_scores(values: Floats) -> Floats:
    """Values less their mean, in standard deviations; NaN where all are equal. NaN values stay out.

    >>> z_scores(np.array([1.0, 3.0, np.nan])).tolist()
    [-1.0, 1.0, nan]
    """
    known = values[~np.isnan(values)]
    if len(known) < 2 or (known == known[0]).all():
        return np.full(len(values), np.nan)
    return np.asarray((values - known.mean()) / known.std())


def regression_band(x: Floats, y: Floats, at: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """The line at some places and how far its confidence band reaches to each side: t·s·√(1/n + (x − x̄)²/S_xx).

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


def distance_figure(group: Group) -> alt.ConcatChart:
    """One panel per metric: z-scored distance over the step ℓ = j − i, line, 95 % band."""
    frames = {metric: distance_points(group, metric) for metric in group.observed}
    drawn = {metric: frame for metric, frame in frames.items() if frame["z"].drop_nulls().len()}
    panels = [_panel(metric, frame) for metric, frame in drawn.items()]
    missing = not_shown([metric for metric in frames if metric not in drawn], "constant or undefined")
    line = "Each point is a pair of corpora. Line: least squares; band: 95 %."
    return finished(panels, "Distance over the steps between two corpora", about(group), line, missing, shared=True)


def _panel(metric: str, points: pl.DataFrame) -> alt.LayerChart:
    import altair as alt

    line = distance_line(points)
    steps = alt.Scale(domain=[0.5, float(points["step"].to_numpy().max()) + 0.5], nice=False)
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    step = alt.X("step:Q", title="steps apart (ℓ)", axis=axis, scale=steps)
    base = chart_of(line).encode(step)
    band = base.mark_area(color=VERMILION, opacity=0.25).encode(
        alt.Y("low:Q").title("distance (z-score)"), alt.Y2("high:Q")
    )
    fit = base.mark_line(color=VERMILION, strokeWidth=1.5).encode(
        alt.Y("fit:Q"),
        tooltip=[alt.Tooltip(f"{name}:Q", format=".6g") for name in ("step", "fit", "low", "high", "r2")],
    )
    shown, fewer = thinned(points.drop_nulls("z"))
    dots = (
        chart_of(shown)
        .mark_circle(color=BLUE, size=14, opacity=0.45)
        .encode(
            step,
            alt.Y("z:Q"),
            tooltip=[
                alt.Tooltip("i:Q", title="corpus i"),
                alt.Tooltip("j:Q", title="corpus j"),
                alt.Tooltip("repetition:Q"),
                alt.Tooltip("value:Q", format=".6g"),
                alt.Tooltip("z:Q", title="z-score", format=".6g"),
            ],
        )
    )
    heading = titled(metric, f"R² of the line {line['r2'][0]:.3f}", fewer)
    return layered([band, dots, fit], width=PANEL, height=140, title=heading)


FIGURES = (FigureKind("distance", one_per_group(distance_figure)),)
