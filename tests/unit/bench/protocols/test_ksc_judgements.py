"""Judgements against plain twins: nested loops, and the recursion that the authors' code is described to be."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.bench.protocols.base import merge_rounding_ties
from textgauge.bench.protocols.ksc import (
    compute_accuracy,
    estimate_sampling_error,
    list_corpus_pairs,
    list_judgements,
    sample_judgements,
)


def as_counter(of, k):
    i, j = list_corpus_pairs(k)
    rows = zip(of.inner, of.outer, of.count, strict=True)
    return Counter({((i[a], j[a]), (i[b], j[b])): int(count) for a, b, count in rows})


def contained(k):
    """Every pair inside another pair, once."""
    pairs = list(combinations(range(k), 2))
    return Counter((q, o) for q in pairs for o in pairs if q != o and o[0] <= q[0] and q[1] <= o[1])


def by_recursion(k):
    """The pairs inside a pair, then the same for the pair without its first and without its last corpus."""
    found = Counter()

    def visit(first, last):
        inside = combinations(range(first, last + 1), 2)
        found.update((pair, (first, last)) for pair in inside if pair != (first, last))
        if last - first > 1:
            visit(first + 1, last)
            visit(first, last - 1)

    visit(0, k - 1)
    return found


@pytest.mark.parametrize("k", [3, 4, 5, 7, 9])
def test_judgements_are_those_of_the_twins(k):
    assert as_counter(list_judgements(k), k) == contained(k)
    recursion = by_recursion(k)
    assert as_counter(list_judgements(k, "paper"), k) == recursion
    assert len(list_judgements(k, "paper")) == recursion.total()


@pytest.mark.parametrize("which", ["distinct", "paper"])
@pytest.mark.parametrize("k", [3, 6, 12])
def test_samples_come_from_the_judgements_by_their_counts(k, which):
    size = 60_000
    every, drawn = as_counter(list_judgements(k, which), k), sample_judgements(k, which, size, seed=1)
    found = as_counter_of_rows(drawn, k)
    assert found.keys() <= every.keys()
    expected = np.array([every[pair] for pair in every]) * size / every.total()
    gaps = np.array([found[pair] for pair in every]) - expected
    squares = float((gaps**2 / expected).sum())
    freedom = len(every) - 1
    assert abs(squares - freedom) < 4 * np.sqrt(2 * freedom)
    assert (drawn.gap > 0).all()
    assert (
        drawn.gap == np.subtract(*(np.subtract(*list_corpus_pairs(k))[row] for row in (drawn.inner, drawn.outer)))
    ).all()


def as_counter_of_rows(of, k):
    i, j = list_corpus_pairs(k)
    return Counter(((i[a], j[a]), (i[b], j[b])) for a, b in zip(of.inner, of.outer, strict=True))


def test_a_sample_of_many_corpora_does_not_list_all_judgements():
    drawn = sample_judgements(400, "distinct", 500, seed=0)  # 1,071,913,500 judgements
    i, j = list_corpus_pairs(400)
    assert ((i[drawn.inner] >= i[drawn.outer]) & (j[drawn.inner] <= j[drawn.outer])).all()
    assert (drawn.inner != drawn.outer).all()


def plain_accuracy(distances, counts, k, weighted, ties):
    place = {pair: row for row, pair in enumerate(combinations(range(k), 2))}
    right = total = 0.0
    for (inner, outer), count in counts.items():
        weight = count / ((outer[1] - outer[0]) - (inner[1] - inner[0])) if weighted else count
        small, large = distances[place[inner]], distances[place[outer]]
        tie = {"half": 0.5, "right": 1.0, "wrong": 0.0}[ties]
        right += weight * (1.0 if small < large else tie if small == large else 0.0)
        total += weight
    return right / total


@given(
    st.sampled_from([3, 4, 6]),
    st.data(),
    st.booleans(),
    st.sampled_from(["half", "right", "wrong"]),
    st.sampled_from(["distinct", "paper"]),
)
def test_accuracy_is_that_of_the_twin(k, data, weighted, ties, which):
    pairs = k * (k - 1) // 2
    distances = np.array(data.draw(st.lists(st.integers(0, 5), min_size=pairs, max_size=pairs)), dtype=float)
    counts = contained(k) if which == "distinct" else by_recursion(k)
    found = compute_accuracy(distances, list_judgements(k, which), weighted=weighted, ties=ties)
    assert found == pytest.approx(plain_accuracy(distances, counts, k, weighted, ties))


def test_accuracy_of_a_missing_distance_is_undefined():
    assert np.isnan(compute_accuracy(np.array([1.0, np.nan, 2.0]), list_judgements(3)))


def test_the_standard_error_is_that_of_repeated_samples():
    distances = np.random.default_rng(3).random(66) + np.subtract(*list_corpus_pairs(12)[::-1]) / 11
    for weighted in (False, True):
        drawn = [sample_judgements(12, "distinct", 300, seed) for seed in range(300)]
        values = [compute_accuracy(distances, sample, weighted=weighted) for sample in drawn]
        errors = [estimate_sampling_error(distances, sample, weighted=weighted) for sample in drawn]
        assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)
        assert np.mean(values) == pytest.approx(
            compute_accuracy(distances, list_judgements(12), weighted=weighted), abs=0.01
        )


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=20), st.integers(0, 2**32))
def test_settled_values_forget_rounding_and_nothing_else(numbers, seed):
    exact = np.array(numbers, dtype=float) / 7
    rng = np.random.default_rng(seed)
    blurred = exact * (1 + rng.uniform(-1e-14, 1e-14, len(exact)))
    made = merge_rounding_ties(blurred)
    assert made == pytest.approx(exact, rel=1e-13)
    assert (np.sign(made[:, None] - made) == np.sign(exact[:, None] - exact)).all()


def test_two_infinite_distances_are_a_tie():
    distances = np.array([1.0, np.inf, np.inf])
    found = [compute_accuracy(distances, list_judgements(3), ties=ties) for ties in ("half", "right", "wrong")]
    assert found == [0.75, 1.0, 0.5]
