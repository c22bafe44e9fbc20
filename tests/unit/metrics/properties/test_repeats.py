"""Groups of nearly equal texts against a plain comparison of all pairs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.metrics.properties.repeats import LONGEST, compute_repetition, group_forms

FORMS = st.lists(st.lists(st.sampled_from("abc"), min_size=3, max_size=7).map(" ".join), unique=True, max_size=25)


def left(words):
    return {tuple(words)} | {(*words[:i], *words[i + 1 :]) for i in range(len(words))}


def near(one, other):
    """At most one word replaced, moved, left out or added, in texts of five words and more."""
    a, b = one.split(), other.split()
    return min(len(a), len(b)) >= 5 and bool(left(a) & left(b))


def plain(forms, times):
    found = {}
    for form in sorted(forms, key=lambda text: (-times[forms.index(text)], text)):
        if form not in found:
            found[form] = form
            found |= {other: form for other in forms if other not in found and near(form, other)}
    return [forms.index(found[form]) for form in forms]


@given(FORMS, st.integers(0, 5))
def test_groups_equal_those_of_all_pairs(forms, seed):
    times = np.random.default_rng(seed).integers(1, 4, len(forms))
    assert group_forms(forms, times).tolist() == plain(forms, times)


def test_neighbours_of_neighbours_are_no_group():
    chain = ["a b c d e", "a b c d x", "a b c y x", "a b z y x"]
    found = group_forms(chain, np.array([5, 1, 1, 1]))
    assert found.tolist() == [0, 0, 2, 2]


def test_very_long_and_empty_texts():
    long = " ".join(map(str, range(LONGEST + 1)))
    assert group_forms(["", long, long + " more"], np.ones(3, dtype=np.int64)).tolist() == [0, 1, 2]
    assert group_forms([], np.empty(0, dtype=np.int64)).tolist() == []


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8).filter(lambda sizes: sum(sizes) > 1))
def test_repetition_is_the_share_of_equal_pairs(sizes):
    texts = np.repeat(np.arange(len(sizes)), sizes)
    pairs = [a == b for a, b in combinations(texts.tolist(), 2)]
    assert compute_repetition(np.array(sizes)) == pytest.approx(np.mean(pairs))


def test_one_text_cannot_repeat():
    assert np.isnan(compute_repetition(np.array([1])))
