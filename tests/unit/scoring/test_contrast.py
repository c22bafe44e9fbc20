import numpy as np
import pytest
from scipy.stats import kstest

from textgauge import contrast
from textgauge.errors import InputError

WORDS = np.array(["red", "blue", "cat", "dog", "old", "new", "tea", "sees", "likes", "the", "a", "near"])


def _systems(n, quality, seed):
    """References and two systems that keep a word of the reference with the given probabilities."""
    rng = np.random.default_rng(seed)
    references = WORDS[rng.integers(0, len(WORDS), (n, 8))]
    sides = []
    for kept in quality:
        noise = WORDS[rng.integers(0, len(WORDS), (n, 8))]
        sides.append(np.where(rng.random((n, 8)) < kept, references, noise))
    return [[" ".join(row) for row in side] for side in (*sides, references)]


def test_a_better_system_is_told_from_a_worse_one_by_means_and_by_scores_of_the_set():
    better, worse, references = _systems(80, (0.9, 0.5), 0)
    for row in contrast(left=better, baseline=worse, right=references, metrics="jaccard,bleu,chrf"):
        assert row.difference == pytest.approx(row.value - row.baseline)
        assert 0 < row.low < row.difference < row.high
        assert row.p_bootstrap < 0.01
        assert row.p_randomisation < 0.01
        assert row.of == ("mean" if row.metric == "jaccard" else "whole set")
        assert row.n == 80


def test_a_system_does_not_differ_from_itself():
    better, _, references = _systems(40, (0.9, 0.5), 1)
    row = contrast(left=better, baseline=better, right=references, metrics="chrf")[0]
    assert (row.difference, row.low, row.high) == (0.0, 0.0, 0.0)
    assert row.p_bootstrap == row.p_randomisation == 1.0


def test_exchanging_the_systems_turns_the_difference_round():
    better, worse, references = _systems(30, (0.8, 0.6), 2)
    there = contrast(left=better, baseline=worse, right=references, metrics="jaccard")[0]
    back = contrast(left=worse, baseline=better, right=references, metrics="jaccard")[0]
    assert there.difference == pytest.approx(-back.difference)
    assert there.low == pytest.approx(-back.high)
    assert there.p_randomisation == back.p_randomisation


def test_p_values_are_uniform_when_systems_are_alike():
    found = [
        contrast(left=a, baseline=b, right=references, metrics="jaccard", resamples=200, seed=trial)[0]
        for trial in range(200)
        for a, b, references in [_systems(30, (0.7, 0.7), 100 + trial)]
    ]
    assert kstest([row.p_randomisation for row in found], "uniform").pvalue > 0.01
    assert kstest([row.p_bootstrap for row in found], "uniform").pvalue > 0.01


def test_several_references_are_shared_by_both_systems():
    better, worse, references = _systems(20, (0.9, 0.3), 3)
    both = [[text, "something else"] for text in references]
    assert contrast(left=better, baseline=worse, right=both, metrics="rouge1")[0].difference > 0


def test_systems_of_different_sizes_are_refused():
    with pytest.raises(InputError):
        contrast(left=["a", "b"], baseline=["a"], right=["a", "b"], metrics="jaccard")
