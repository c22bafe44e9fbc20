import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rapidfuzz.distance import Levenshtein

from textgauge.core.settings import limit_sizes
from textgauge.encode.tokenizers import get_tokenizer
from textgauge.metrics.properties.meaning import f1, find_nearest_meaning, find_nearest_wording, perplexity

ROWS = arrays(np.float32, st.tuples(st.integers(1, 12), st.just(3)), elements=st.integers(-2, 2).map(float))
TEXTS = st.lists(st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join), min_size=1, max_size=8)


def cosine(a, b):
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / norms) if norms else 0.0


@given(ROWS, ROWS)
def test_meaning_equals_a_plain_loop(queries, documents):
    with limit_sizes(2):
        found = find_nearest_meaning(queries, documents)
    wide = documents.astype(np.float64)
    for row, (index, similarity) in enumerate(zip(found.index, found.similarity, strict=True)):
        values = np.array([cosine(queries[row].astype(np.float64), document) for document in wide])
        assert similarity == pytest.approx(values.max(), abs=1e-12)
        assert values[index] == pytest.approx(values.max(), abs=1e-12)


def test_what_is_equal_in_float32_is_compared_in_float64():
    far = np.array([1.0, 2e-4, 0.0])
    near = np.array([1.0, 1e-4, 0.0])
    found = find_nearest_meaning(np.array([[1.0, 0.0, 0.0]]), np.array([far, near]))
    assert found.index.tolist() == [1]


def test_neither_blocks_nor_other_texts_change_a_bit():
    rng = np.random.default_rng(0)
    queries, documents = (rng.normal(size=(n, 384)).astype(np.float32) for n in (200, 90))
    whole = find_nearest_meaning(queries, documents)
    with limit_sizes(7):
        parts = find_nearest_meaning(queries[::-1], documents)
    np.testing.assert_array_equal(whole.similarity, parts.similarity[::-1])
    np.testing.assert_array_equal(whole.index, parts.index[::-1])
    np.testing.assert_array_equal(find_nearest_meaning(queries[7:8], documents).similarity, whole.similarity[7:8])


@given(TEXTS, TEXTS)
def test_wording_is_synsim_to_the_nearest(queries, documents):
    both = get_tokenizer("words").encode([*queries, *documents])
    found = find_nearest_wording(both.take(np.arange(len(queries))), both.take(np.arange(len(queries), len(both))))
    for row, query in enumerate(queries):
        values = [synsim(query.split(), document.split()) for document in documents]
        assert found.similarity[row] == pytest.approx(max(values))
        assert values[found.index[row]] == pytest.approx(max(values))


def synsim(s, t):
    longest = max(len(s), len(t))
    return 1 / (1 + Levenshtein.distance(s, t) / longest) if longest else 1.0


def test_f1_is_the_harmonic_mean():
    found = f1(np.array([0.4, 0.6]), np.array([0.7, 0.9]))
    assert found.value == pytest.approx(2 * 0.5 * 0.8 / 1.3)
    assert found.low < found.value < found.high <= 1


def test_f1_without_values_or_interval():
    assert math.isnan(f1(np.array([0.5]), np.empty(0)).value)
    assert math.isnan(f1(np.array([0.0]), np.array([0.0])).value)
    assert math.isnan(f1(np.array([0.3, 0.4]), np.array([-0.2, -0.1])).value)
    assert f1(np.array([0.1, 0.9]), np.array([0.01, 0.02])).low == 0.0
    assert math.isnan(f1(np.array([0.5]), np.array([0.5, 0.6])).low)


def test_the_interval_of_f1_covers_the_truth():
    rng, truth = np.random.default_rng(0), 2 * 0.5 * 0.75 / 1.25
    found = [f1(rng.beta(2, 2, 12), rng.beta(6, 2, 60)) for _ in range(600)]
    assert 0.92 < np.mean([one.low <= truth <= one.high for one in found]) < 0.98


def test_perplexity_is_that_of_the_whole_corpus():
    found = perplexity(np.array([2.0, 6.0, np.nan]), np.array([1.0, 3.0, 5.0]))
    assert found.value == pytest.approx(math.exp(2.0))
    assert (found.low, found.high) == pytest.approx((found.value, found.value))
    assert math.isnan(perplexity(np.array([0.0]), np.array([0.0])).value)
    assert perplexity(np.array([1e6]), np.array([1.0])).value < math.inf


def test_the_interval_of_perplexity_covers_the_truth():
    rng, hits = np.random.default_rng(0), []
    for _ in range(600):
        tokens = rng.integers(3, 15, 40).astype(float)
        found = perplexity(tokens * 2.0 + rng.normal(size=40) * np.sqrt(tokens), tokens)
        hits.append(found.low <= math.exp(2.0) <= found.high)
    assert 0.92 < np.mean(hits) < 0.98
