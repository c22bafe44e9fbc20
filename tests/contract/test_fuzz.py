"""Any texts and vectors at all: every metric and property gives a number within bounds or a reason, never an error."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textgauge import Pairs, list_metrics
from textgauge.core.errors import InputError
from textgauge.data import Comparison
from textgauge.measure.describing import Measuring, load_corpora
from textgauge.metrics.properties import list_properties
from textgauge.testing import drop_models

HOSTED = ("model", "service", "column")
METRICS = [metric for metric in list_metrics(kind="pair") if metric.needs not in HOSTED]
CORPUS_METRICS = list(map(drop_models, list_metrics(kind="corpus")))

FRAGMENTS = st.sampled_from(
    ["the", "The", "cat", "cats", "don't", "3.5%", "$1,200", "e.g.", "नमस्ते", "你好", "世界", "مرحبا", "ありがとう",
     "สวัสดี", "👍🏽", "👨\u200d👩\u200d👧", "e\u0301", "\u0301", "\u200d", "\ufeff", "\ud800", "\udfff", "\x00", "\n",
     "\t", " ", "\u00a0", "-", "'", "''", "&amp;", "<s>", "[CLS]", "##ing", "a_b", "ß", "İ", "ﬁ", "Ⅷ", "١٢٣"]
)  # fmt: skip
SIDE = st.one_of(
    st.text(max_size=12), st.lists(FRAGMENTS, max_size=8).map(" ".join), st.lists(FRAGMENTS, max_size=5).map("".join)
)
CORPUS = st.lists(SIDE, min_size=1, max_size=8)
NUMBER = st.one_of(st.floats(-10, 10), st.floats(-1e19, 1e19), st.floats(allow_nan=False, allow_infinity=False))
ROWS = st.lists(st.lists(NUMBER, min_size=3, max_size=3), min_size=1, max_size=8)
SOME_PAIRS = st.lists(st.tuples(SIDE, SIDE), min_size=100, max_size=100)


def _check(metric, some):
    left, right = [a for a, _ in some], [b for _, b in some]
    scores = metric.measure(Pairs(left, right))
    low, high = metric.bounds
    known = scores.values[~np.isnan(scores.values)] / metric.factor
    assert np.isfinite(known).all(), metric.key
    assert ((known >= low - 1e-9) & (known <= high + 1e-9)).all(), metric.key
    assert len(known) == len(left) or scores.reason, metric.key
    same = metric.measure(Pairs(left, left)).values / metric.factor
    np.testing.assert_allclose(same, metric.value_at_identity, atol=2e-6, err_msg=metric.key)


@settings(max_examples=2, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(SOME_PAIRS)
def test_some_odd_pairs(some):
    for metric in METRICS:
        _check(metric, some)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS, ids=str)
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(SOME_PAIRS)
def test_ten_thousand_odd_pairs(metric, some):
    _check(metric, some)


def _check_corpora(metric, sides):
    try:
        score = metric.measure(Comparison(*sides))
    except InputError:
        return
    low, high = metric.bounds
    assert low - 1e-9 <= score.value <= high + 1e-9 or (np.isnan(score.value) and score.reason), metric.key


def _sides(metric, texts, rows):
    return texts if metric.reads_texts else tuple(map(np.array, rows))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.tuples(CORPUS, CORPUS), st.tuples(ROWS, ROWS))
def test_some_odd_corpora(texts, rows):
    for metric in CORPUS_METRICS:
        _check_corpora(metric, _sides(metric, texts, rows))


@pytest.mark.slow
@pytest.mark.parametrize("metric", CORPUS_METRICS, ids=str)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=1_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.tuples(CORPUS, CORPUS), st.tuples(ROWS, ROWS))
def test_a_thousand_odd_corpora(metric, texts, rows):
    _check_corpora(metric, _sides(metric, texts, rows))


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(CORPUS, CORPUS, CORPUS)
def test_every_property_of_odd_corpora(generated, train, test):
    try:
        corpora = load_corpora({"generated": generated}, train, test)
    except InputError:
        return
    (corpus,) = Measuring(corpora, "wordllama", None, "kneser-ney").generated
    for known in list_properties():
        found, reason = known.of(corpus, 0.95)
        low, high = known.bounds
        assert reason or low - 1e-9 <= found.value <= high + 1e-9, known.name
