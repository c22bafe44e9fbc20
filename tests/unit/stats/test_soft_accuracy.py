"""Soft pairwise accuracy: exact p-values of all sign flips, and the normal form that resamples use."""

from itertools import product

import numpy as np
import pytest

from textgauge.bench.protocols.levels import soft_level
from textgauge.stats.soft_accuracy import random_signs, soft_accuracy, superiority, superiority_draws


def test_p_values_are_those_of_all_flips_counted_one_by_one():
    scores = np.random.default_rng(0).normal(size=(3, 8))
    signs = np.array(list(product([-1.0, 1.0], repeat=8)))
    expected = []
    for first, second in ((0, 1), (0, 2), (1, 2)):
        gap = scores[first] - scores[second]
        expected.append(np.mean([(sign * gap).sum() >= gap.sum() - 1e-12 for sign in signs]))
    assert superiority(scores, signs).tolist() == pytest.approx(expected)


def test_the_normal_form_is_near_and_follows_weights():
    scores = np.random.default_rng(1).normal(size=(4, 400)) + np.arange(4)[:, None] * 0.05
    exact = superiority(scores, random_signs(400, flips=4_000))
    assert superiority_draws(scores, np.ones((1, 400)))[0] == pytest.approx(exact, abs=0.03)
    weights = np.random.default_rng(2).multinomial(400, np.full(400, 1 / 400), size=1)
    again = superiority_draws(np.repeat(scores, weights[0], axis=1), np.ones((1, 400)))
    assert superiority_draws(scores, weights) == pytest.approx(again)


def test_the_level_matches_systems_by_item_whatever_the_order():
    rng = np.random.default_rng(3)
    system, item = (grid.ravel() for grid in np.mgrid[:4, :50])
    y = rng.normal(size=200) + 0.3 * system
    x = y + rng.normal(size=200)
    order = rng.permutation(200)
    found = soft_level(x, y, system, item)
    shuffled = soft_level(x[order], y[order], system[order], item[order])
    signs = random_signs(50)
    expected = soft_accuracy(*(superiority(column.reshape(4, 50), signs) for column in (y, x)))
    assert found.values[0] == pytest.approx(expected)
    assert shuffled.values[0] == pytest.approx(expected, abs=0.02)  # other signs are drawn
    assert soft_level(y, y, system, item).values[0] == 1.0
    assert found.chance[0] < 1.0
    missing = soft_level(np.where(item < 49, np.nan, x), y, system, item)
    assert np.isnan(missing.values[0])
    assert "two items" in missing.reasons[0]
