"""Densities on the grid against SciPy's and against plain sums."""

import math

import numpy as np
import pytest
from scipy.stats import gaussian_kde

from textgauge.stats.density import (
    CELLS,
    FALLBACK,
    RESOLVED,
    STEP,
    compute_deviations,
    compute_scott_bandwidth,
    estimate_density,
    group_densities,
)

GRID = np.linspace(-8.0, 8.0, 3_001)


def plain(values, bandwidth):
    scale = len(values) * bandwidth * math.sqrt(2 * math.pi)
    return [sum(math.exp(-0.5 * ((x - v) / bandwidth) ** 2) for v in values) / scale for x in GRID]


@pytest.mark.parametrize("n", [2, 5, 10, 75])
@pytest.mark.parametrize("spread", [0.05, 0.4, 1.5])
def test_a_density_is_that_of_scipy(n, spread):
    values = np.random.default_rng(n).normal(0.3, spread, n)
    found = estimate_density(values, compute_scott_bandwidth(values))
    assert found.shape == (CELLS + 1,)
    np.testing.assert_allclose(found, gaussian_kde(values)(GRID), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("values", "bandwidth"),
    [
        ([0.0], 0.1),
        ([1.2345, 1.2345], RESOLVED),
        ([-7.99, 7.99], 0.3),
        ([-30.0, -8.4, 0.0, 8.0, 9.5, 1e9], 0.25),
        ([0.0, 4.0], 5.0),
    ],
)
def test_values_at_and_beyond_the_ends_of_the_grid(values, bandwidth):
    np.testing.assert_allclose(
        estimate_density(np.array(values), bandwidth), plain(values, bandwidth), rtol=0, atol=1e-12
    )


def test_groups_have_their_own_bandwidths_and_equal_values_the_fallback():
    values = np.array([0.1, 0.2, 0.6, 3.0, 3.0, -2.0, 1.0, 1.0 + 1e-7])
    group = np.array([1, 1, 1, 2, 2, 3, 4, 4])
    rows, bandwidths = group_densities(values, group, np.array([1, 2, 3, 4]))
    assert bandwidths[0] == pytest.approx(np.std([0.1, 0.2, 0.6], ddof=1) * 3**-0.2)
    assert bandwidths[1:3].tolist() == [0.0, 0.0]
    assert 0 < bandwidths[3] < RESOLVED
    for row, name, width in zip(rows, (1, 2, 3, 4), (bandwidths[0], FALLBACK, FALLBACK, FALLBACK), strict=True):
        np.testing.assert_allclose(row, plain(values[group == name], width), rtol=0, atol=1e-12)
    assert rows.sum(axis=1) * STEP == pytest.approx(np.ones(4))


def test_deviations_are_sums_of_squares_and_agree_with_the_integral():
    first, second = (np.array([estimate_density(np.array([at]), 0.2)]) for at in (-1.0, 2.0))
    (found,) = compute_deviations(first, second)
    assert found == pytest.approx(sum((f - g) ** 2 * 16 / 3_000 for f, g in zip(first[0], second[0], strict=True)))
    # Kernels that do not overlap: twice the integral of one squared, 1/(2h√π).
    assert found == pytest.approx(1 / (0.2 * math.sqrt(math.pi)), abs=1e-10)
    assert compute_deviations(first, first).tolist() == [0.0]
