"""Shares of new texts against plain counting, their curve against random orders, their intervals against simulation."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.metrics.properties.texts import (
    FormCounts,
    compute_curve,
    compute_distinct,
    compute_unique,
    get_form,
    number_forms,
)

FORMS = st.lists(st.integers(0, 12), max_size=30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's GREAT!!", "its great"),
        ("a  b\tc\n", "a b c"),
        ("well - done", "well done"),
        ("¿Qué tal?", "qué tal"),
        ("你好。", "你好"),
        ("good 👍", "good 👍"),
        ("$5 + 3 = <8>", "5 3 8"),
        ("...", ""),
    ],
)
def test_a_form_is_lower_case_without_punctuation(text, expected):
    assert get_form(text) == expected


def test_equal_forms_have_equal_numbers_in_all_corpora():
    first, second = number_forms(["A.", "b", "a"], ["B!", "c"])
    assert first.tolist() == [0, 1, 0]
    assert second.tolist() == [1, 2]


@given(FORMS.filter(bool), FORMS)
def test_unique_is_strict_and_distinct_counts_each_new_text_once(generated, train):
    counts = FormCounts.of(np.array(generated), np.array(train, dtype=np.int64))
    times = Counter(generated)
    strict = sum(times[text] == 1 and text not in train for text in generated)
    assert compute_unique(counts).value == strict / len(generated)
    assert compute_distinct(counts).value == len(set(generated) - set(train)) / len(generated)


def test_the_curve_is_the_mean_over_orders_and_ends_at_the_shares():
    generated = np.repeat([0, 1, 2, 3, 4], [1, 1, 2, 5, 11])
    train = np.array([1])
    counts, rng = FormCounts.of(generated, train), np.random.default_rng(0)
    found = compute_curve(counts)
    drawn = [
        [FormCounts.of(order[:n], train) for n in found["attempts"]]
        for order in rng.permuted([generated] * 1500, axis=1)
    ]
    assert found["attempts"].tolist() == list(range(2, 21, 2))
    np.testing.assert_allclose(
        found["unique"], np.mean([[compute_unique(c).value for c in row] for row in drawn], axis=0), atol=0.02
    )
    np.testing.assert_allclose(
        found["distinct"], np.mean([[compute_distinct(c).value for c in row] for row in drawn], axis=0), atol=0.02
    )
    assert (found["unique"][-1], found["distinct"][-1]) == pytest.approx(
        (compute_unique(counts).value, compute_distinct(counts).value)
    )


def test_the_curve_of_a_single_text():
    found = compute_curve(FormCounts(np.array([1]), 1))
    assert (found["attempts"].tolist(), found["unique"].tolist(), found["distinct"].tolist()) == ([1], [1.0], [1.0])


@given(FORMS.filter(bool), FORMS)
def test_intervals_hold_their_value_and_stay_within_0_and_1(generated, train):
    counts = FormCounts.of(np.array(generated), np.array(train, dtype=np.int64))
    for found in (compute_unique(counts), compute_distinct(counts)):
        assert 0 <= found.low <= found.value + 1e-12
        assert found.value - 1e-12 <= found.high <= 1


def test_nothing_repeated_is_no_proof_that_nothing_repeats():
    counts = FormCounts(np.ones(100, dtype=np.int64), 100)
    found = compute_unique(counts)
    assert found.high == 1
    assert 0.92 < found.low < 0.94  # a mean of 3.7 pairs, 7.4 texts, gives none in one corpus of 40
    assert compute_distinct(counts).low > found.low


def _zipf(size, power):
    weights = np.arange(1, size + 1) ** -power
    return weights / weights.sum()


POPULATIONS = {
    "many": np.full(10_000, 1e-4),
    "few": np.full(500, 1 / 500),
    "zipf": _zipf(100_000, 1.0),
    "steep": _zipf(10_000, 1.5),
    "heavy": np.concatenate([np.full(5, 0.1), np.full(1_000_000, 0.5e-6)]),
}


@pytest.mark.parametrize("name", POPULATIONS)
def test_95_percent_intervals_cover_the_mean_of_fresh_corpora(name):
    chances, rng, n = POPULATIONS[name], np.random.default_rng(0), 300
    train = rng.random(len(chances)) < 0.2
    expected_unique = (chances * (1 - chances) ** (n - 1))[~train].sum()
    expected_distinct = (1 - (1 - chances) ** n)[~train].sum() / n
    covered, steps = [], np.cumsum(chances)
    for _ in range(400):
        drawn = np.searchsorted(steps, rng.random(n)).clip(max=len(chances) - 1)
        counts = FormCounts.of(drawn, np.flatnonzero(train))
        ends = compute_unique(counts), compute_distinct(counts)
        truths = (expected_unique, expected_distinct)
        covered.append([one.low <= truth <= one.high for one, truth in zip(ends, truths, strict=True)])
    assert (np.mean(covered, axis=0) > 0.92).all()  # 0.95, less three standard errors of 400 draws
    assert (np.mean(covered, axis=0) < 0.985).all()
