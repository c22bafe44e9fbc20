"""Any texts at all: every pair metric gives a number within bounds, or NaN with a reason, and never an error."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textgauge import Pairs, list_metrics

HOSTED = ("model", "service", "column")
METRICS = [metric for metric in list_metrics(kind="pair") if metric.needs not in HOSTED]

FRAGMENTS = st.sampled_from(
    ["the", "The", "cat", "cats", "don't", "3.5%", "$1,200", "e.g.", "नमस्ते", "你好", "世界", "مرحبا", "ありがとう",
     "สวัสดี", "👍🏽", "👨\u200d👩\u200d👧", "e\u0301", "\u0301", "\u200d", "\ufeff", "\ud800", "\udfff", "\x00", "\n",
     "\t", " ", "\u00a0", "-", "'", "''", "&amp;", "<s>", "[CLS]", "##ing", "a_b", "ß", "İ", "ﬁ", "Ⅷ", "١٢٣"]
)  # fmt: skip
SIDE = st.one_of(
    st.text(max_size=12), st.lists(FRAGMENTS, max_size=8).map(" ".join), st.lists(FRAGMENTS, max_size=5).map("".join)
)
SOME_PAIRS = st.lists(st.tuples(SIDE, SIDE), min_size=100, max_size=100)


def _check(metric, some):
    left, right = [a for a, _ in some], [b for _, b in some]
    scores = metric.measure(Pairs(left, right))
    low, high = metric.bounds
    known = scores.values[~np.isnan(scores.values)]
    assert np.isfinite(known).all()
    assert ((known >= low - 1e-9) & (known <= high + 1e-9)).all()
    assert len(known) == len(left) or scores.reason
    same = metric.measure(Pairs(left, left)).values
    np.testing.assert_allclose(same, metric.value_at_identity, atol=2e-6)


@pytest.mark.parametrize("metric", METRICS, ids=str)
@settings(max_examples=3, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(SOME_PAIRS)
def test_some_odd_pairs(metric, some):
    _check(metric, some)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS, ids=str)
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(SOME_PAIRS)
def test_ten_thousand_odd_pairs(metric, some):
    _check(metric, some)
