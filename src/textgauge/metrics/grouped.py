"""Intervals and null values of sum metrics, from the sums of groups of texts in place of single texts.

Texts are put into groups by their content, as good as at random, about equally many in every group of both corpora. So
a group is to these methods what a text is to those of `uncertainty` and `null_values`: groups are cut into quarters and
halves, and exchanged between the corpora.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from textgauge.core.progress import report
from textgauge.data import Comparison, Draws
from textgauge.metrics.base import Undefined
from textgauge.metrics.corpus_metric import CorpusMetric, ManyValues
from textgauge.metrics.null_values import GROUPS as EXCHANGED
from textgauge.metrics.null_values import NullValues
from textgauge.metrics.score import Score
from textgauge.metrics.sums import CorpusSums, Sums
from textgauge.metrics.uncertainty import Parts

GROUPS = 128  # of both corpora together
TRIALS = 12  # cuts into quarters
_STEP = 16  # numbers of groups are multiples of this: then a corpus's share of all groups, squared, is a whole number
METHOD = "disjoint groups of texts"


def group_numbers(n: int, m: int) -> tuple[int, int] | None:
    """How many groups each corpus is cut into, for groups of one size; None where one corpus is too small for that.

    >>> group_numbers(300_000, 100_000), group_numbers(1_000_000, 1_000)
    ((96, 32), None)
    """
    first = _STEP * round(GROUPS / _STEP * n / (n + m))
    return (first, GROUPS - first) if 0 < first < GROUPS else None


def units(reference: CorpusSums, candidate: CorpusSums) -> Comparison:
    """A comparison whose rows stand for the groups."""
    sizes = reference.wanted.groups, candidate.wanted.groups
    rows = np.arange(1.0, sum(sizes) + 1)[:, None]
    return Comparison(rows[: sizes[0]], rows[sizes[0] :])


def values_of_draws(
    metrics: Sequence[CorpusMetric], sides: tuple[CorpusSums, CorpusSums], draws: Draws
) -> list[ManyValues]:
    """The values of metrics on draws of groups; NaN where undefined."""
    n = sides[0].wanted.groups
    found: list[dict[str, list[float]]] = [{name: [] for name in metric.value_names} for metric in metrics]
    splits = bool((draws.left ^ draws.right).all())
    whole = sides[0].total() + sides[1].total() if splits else None
    for number, (left, right) in enumerate(zip(draws.left, draws.right, strict=True)):
        report(number, len(draws))
        P = sides[0].total(left[:n]) + sides[1].total(left[n:])
        Q = sides[0].total(right[:n]) + sides[1].total(right[n:]) if whole is None else whole - P
        for metric, columns in zip(metrics, found, strict=True):
            values = _values_or_nan(metric, P, Q)
            for name, column in columns.items():
                column.append(values.get(name, float("nan")))
    return [{name: np.array(column) for name, column in columns.items()} for columns in found]


def _values_or_nan(metric: CorpusMetric, P: Sums, Q: Sums) -> dict[str, float]:
    try:
        return metric.of_sums(P, Q)
    except Undefined:
        return {}


def interval(
    metric: CorpusMetric, score: Score, values: ManyValues, parts: Parts, reach: float, null: NullValues
) -> Score:
    """The score with an interval, from values on quarters and halves of the groups, `reach` errors to either side."""
    if metric.no_interval is not None:
        return replace(score, no_interval=f"{metric.key} has no interval: {metric.no_interval}")
    try:
        low, high = metric.ends_from_parts(score, values, parts, reach, lambda: null)
    except Undefined as undefined:
        return replace(score, no_interval=str(undefined))
    return replace(score, low=low, high=high, interval=METHOD)


def exchanges(comparison: Comparison, permutations: int, seed: int) -> Draws:
    """The observed split of the groups, then groups exchanged between the corpora.

    Both sides get the same share of each corpus's groups. Groups are few: in a free exchange these shares would differ
    by chance by more than single texts ever do, and the distance of the corpora would show in their null values.
    """
    n, m = len(comparison.reference), len(comparison.candidate)
    rng = np.random.default_rng([seed, 128])
    kept, moved = n * n // (n + m), n * m // (n + m)
    left = np.hstack([_marked(rng, n, kept, permutations), _marked(rng, m, moved, permutations)])
    observed = np.arange(n + m) < n
    return Draws(np.vstack([observed, left]), np.vstack([~observed, ~left]))


def _marked(rng: np.random.Generator, size: int, count: int, rows: int) -> NDArray[np.bool_]:
    """Rows with `count` marks each at random places."""
    return rng.permuted(np.tile(np.arange(size) < count, (rows, 1)), axis=1)


def null_of(metric: CorpusMetric, values: ManyValues) -> NullValues:
    """The null values of a metric, from its values on exchanged groups, the observed split first."""
    shown = metric.select(values)
    return NullValues(float(shown[0]), shown[1:], EXCHANGED, int(metric.orient(1)))
