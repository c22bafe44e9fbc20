"""mauve against mauve-text 0.4.0 (faiss 1.15.1, numpy 2.4.6) on the same histograms.

The histograms are those mauve-text found, its values were made in a separate environment by

    rng = np.random.default_rng(seed)
    P, Q = rng.normal(size=(n, 3)), rng.normal(size=(m, 3)) + shift
    mauve.compute_mauve(p_features=P, q_features=Q, num_buckets=len(p), mauve_scaling_factor=scaling,
                        divergence_curve_discretization_size=points, seed=seed)

with n, m the sums of the histograms and shift = 0, 0.5, 2, 6, 0.5, 0.5, 0.2, 0.3 for seeds 1 to 8.
"""

import numpy as np
import pytest

from textgauge.metrics.corpus.mauve import compute_area, compute_divergence_curve, compute_frontier_integral, smooth

# seed, scaling, points, p, q, mauve, frontier_integral, mauve_star
CASES = [
    (1, 5, 25, [11, 10, 9, 10], [14, 11, 9, 6], 0.995074702571158, 0.0118460903775206, 0.995976821822105),
    (
        2, 5, 25, [10, 10, 12, 10, 9, 4, 6, 4, 6, 9, 5, 5], [1, 1, 2, 2, 2, 1, 2, 10, 7, 10, 4, 8],
        0.584973323619655, 0.167165833524402, 0.682073216087734,
    ),
    (
        3, 5, 25, [9, 6, 7, 1, 1, 9, 8, 2, 10, 7], [1, 24, 7, 57, 67, 5, 0, 39, 0, 0],
        0.0523765797926334, 0.58515395506708, 0.0798704410462658,
    ),
    (
        4, 5, 25, [12, 10, 12, 8, 13, 13, 15, 17], [0, 0, 0, 100, 0, 0, 0, 0],
        0.0155153041110906, 0.780371422234065, 0.0309289475917715,
    ),
    (
        5, 1, 25, [5, 7, 5, 6, 7, 7, 13, 9, 11], [0, 13, 7, 29, 10, 8, 3, 1, 9],
        0.958857513872807, 0.181607491379, 0.970635074735262,
    ),
    (
        6, 2, 100, [6, 5, 12, 7, 11, 2, 10, 10, 7], [14, 9, 3, 4, 4, 11, 13, 7, 15],
        0.943365995323619, 0.110651007508106, 0.955076467486633,
    ),
    (7, 5, 10, [3, 3, 3], [6, 19, 5], 0.898604748344354, 0.0618631709942266, 0.913892568660293),
    (
        8, 5, 25,
        [17, 18, 8, 8, 5, 9, 3, 10, 10, 7, 5, 14, 13, 10, 16, 6, 12, 5, 6, 13, 16, 8, 9, 12, 15, 7, 7, 11, 11, 9],
        [11, 8, 11, 15, 14, 10, 16, 10, 7, 10, 6, 6, 11, 7, 7, 11, 10, 7, 8, 8, 7, 17, 8, 14, 9, 14, 14, 10, 4, 10],
        0.911329393227142, 0.0574518536085674, 0.925274845247194,
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[f"seed {case[0]}" for case in CASES])
def test_equals_mauve_text_on_its_histograms(case):
    _, scaling, points, p, q, mauve, integral, star = case
    counts = np.array(p, dtype=float), np.array(q, dtype=float)
    p, q = (side / side.sum() for side in counts)
    options = {"scaling": scaling, "points": points}
    assert compute_area(compute_divergence_curve(p, q, **options)) == pytest.approx(mauve, abs=1e-12)
    assert compute_frontier_integral(p, q) == pytest.approx(integral, abs=1e-12)
    assert compute_area(compute_divergence_curve(*map(smooth, counts), **options)) == pytest.approx(star, abs=1e-12)


def test_equal_histograms_are_where_we_differ():
    """mauve-text gives 0.75 here: all points of the curve but the ends coincide, and sorting breaks the tie badly."""
    p = np.full(8, 0.125)
    assert compute_area(compute_divergence_curve(p, p)) == 1.0
