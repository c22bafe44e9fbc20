"""Columns that tests of correlations share."""

import numpy as np
from hypothesis import strategies as st

from textgauge.stats.orders import count_rows

NAN = float("nan")
values = st.one_of(st.integers(-4, 4).map(float), st.integers(-9, 9).map(lambda tenths: tenths / 10))
rows = st.lists(st.tuples(values, values), min_size=2, max_size=40)


def columns(pairs):
    return np.array(pairs, dtype=float).T


def related(n, seed, *, levels=None):
    rng = np.random.default_rng(seed)
    core = rng.normal(size=n)
    gold, metric = core + rng.normal(size=n), core + rng.normal(size=n)
    return (np.round(gold * levels) / levels if levels else gold), metric


def count_inversions(a, b):
    """Pairs in opposite order, or NaN, from counts over all pairs."""
    return np.nan if np.isnan(a + b).any() else 0.0 if len(a) < 2 else count_rows(a, b).discordant.sum() / 2
