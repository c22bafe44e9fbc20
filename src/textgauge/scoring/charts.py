"""A chart of scores: how the values of each metric are spread over the pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textgauge.metrics import PairScores

if TYPE_CHECKING:
    import altair as alt

_BINS = 30
_BLUE, _VERMILION = "#0072B2", "#D55E00"


def spread_chart(scores: Sequence[PairScores]) -> alt.VConcatChart:
    """One histogram per metric, each on a scale of its own, with a line at the mean."""
    import altair as alt

    return alt.vconcat(*(_histogram(one) for one in scores), spacing=8)


def _histogram(scores: PairScores) -> alt.LayerChart:
    import altair as alt

    values = scores.defined[np.isfinite(scores.defined)]
    counts, edges = np.histogram(values, bins=_BINS) if len(values) else (np.empty(0), np.empty(1))
    bins = [
        {"low": float(low), "high": float(high), "pairs": int(count)}
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    mean = [{"mean": scores.mean}] if np.isfinite(scores.mean) else []
    axis = alt.Axis(tickCount=5, format=".3~g")
    x = alt.X("low:Q", bin="binned", title=None, scale=alt.Scale(zero=False), axis=axis)
    tip = [alt.Tooltip("low:Q", format=".4g"), alt.Tooltip("high:Q", format=".4g"), alt.Tooltip("pairs:Q")]
    y = alt.Y("pairs:Q", title="pairs", axis=alt.Axis(tickCount=3))
    bars = alt.Chart(alt.InlineData(values=bins)).mark_bar(color=_BLUE).encode(x, y, x2="high:Q", tooltip=tip)
    middle = alt.Chart(alt.InlineData(values=mean)).mark_rule(color=_VERMILION, strokeWidth=2)
    line = middle.encode(x="mean:Q", tooltip=[alt.Tooltip("mean:Q", format=".6g")])
    missing = len(scores) - len(scores.defined)
    title = f"{scores.metric}, mean {scores.mean:.4g}" + (f"; undefined for {missing} pairs" if missing else "")
    return alt.LayerChart(layer=[bars, line]).properties(
        width=360, height=60, title=alt.TitleParams(title, anchor="start", fontSize=11)
    )
