"""A chart of a leaderboard: the ranks that each metric may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt


def rank_chart(rows: Sequence[dict[str, Any]]) -> alt.LayerChart:
    """One line per metric, best first: rank with its interval, coloured by cluster."""
    import altair as alt

    kept = ("metric", "overall", "rank", "rank_low", "rank_high", "cluster")
    data = alt.InlineData(values=[{name: row[name] for name in kept} for row in rows])
    axis = alt.Axis(labelLimit=220, ticks=False, domain=False)
    y = alt.Y("metric:N", title=None, sort=alt.EncodingSortField("rank"), axis=axis)
    x = alt.X("rank:Q", title="rank", scale=alt.Scale(domain=[0.5, len(rows) + 0.5], nice=False))
    tip = [
        alt.Tooltip("metric:N"),
        alt.Tooltip("overall:Q", format=".4g"),
        *(alt.Tooltip(f"{name}:Q") for name in kept[2:]),
    ]
    base = alt.Chart(data).encode(y, color=alt.Color("cluster:O", scale=alt.Scale(scheme="tableau10")), tooltip=tip)
    span = base.mark_rule(strokeWidth=3, opacity=0.5).encode(x=alt.X("rank_low:Q"), x2="rank_high:Q")
    point = base.mark_point(filled=True, size=60, opacity=1).encode(x)
    return alt.LayerChart(layer=[span, point]).properties(width=360, height=18 * max(len(rows), 1))
