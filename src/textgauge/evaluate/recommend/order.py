"""Which of the metrics that cannot be told apart is named first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from textgauge.evaluate.recommend.answer import Cost
from textgauge.evaluate.recommend.needed import Needed

Span = tuple[float, float]

_ALIKE = 0.02  # robustness that differs by less than twice this shares a place
_AS_QUICK = 1.25  # times that differ by less than the square of this share a place


def in_order(
    top: Sequence[str], robustness: Mapping[str, float], costs: Sequence[Cost], needed: Sequence[Needed]
) -> tuple[list[str], tuple[str, ...]]:
    """Metrics by their mean place in robustness to size, cost and texts needed; and which of these were known.

    What can hardly be told apart shares a place; where the mean is equal, the given order stays.
    """
    by: dict[str, dict[str, Span]] = {
        "robustness to size": {name: (-value - _ALIKE, -value + _ALIKE) for name, value in robustness.items()},
        "cost": {cost.metric: (cost.seconds / _AS_QUICK, cost.seconds * _AS_QUICK) for cost in costs},
        "texts needed": {row.metric: (row.low, np.inf if np.isnan(row.high) else row.high) for row in needed},
    }
    used = {name: known for name, spans in by.items() if (known := _known(spans, top))}
    if len(top) < 2 or not used:
        return list(top), ()
    unknown = (np.inf, np.inf)
    means = np.mean([_places([spans.get(metric, unknown) for metric in top]) for spans in used.values()], axis=0)
    return [top[place] for place in np.argsort(means, kind="stable")], tuple(used)


def _known(spans: Mapping[str, Span], top: Sequence[str]) -> dict[str, Span]:
    return {metric: span for metric, span in spans.items() if metric in top and not np.isnan(span).any()}


def _places(spans: Sequence[Span]) -> list[int]:
    """One more than the number of those that lie wholly below; spans that overlap share a place.

    >>> _places([(1.0, 2.0), (1.5, 3.0), (4.0, 5.0)])
    [1, 1, 3]
    """
    return [1 + sum(high < low for _, high in spans) for low, _ in spans]
