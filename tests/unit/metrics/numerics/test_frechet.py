import numpy as np
import pytest

from textgauge.metrics.numerics.moments import Subsets, frechet, frechet_many
from textgauge.stats.resampling import draw_permutations


@pytest.mark.parametrize("sizes", [(40, 40), (12, 70)])
@pytest.mark.parametrize("constant", [False, True])
def test_permuted_splits_of_many_rows_have_the_distance_of_each_split(sizes, constant):
    rows = np.random.default_rng(0).normal(size=(sum(sizes), 8)) * np.arange(1, 9) + 3.0
    rows[:, 0] = 1.0 if constant else rows[:, 0]  # a singular covariance has no plain Cholesky factor
    left, right = draw_permutations(*sizes, trials=6, seed=0)
    expected = [frechet(rows[a], rows[b]) for a, b in zip(left, right, strict=True)]
    assert frechet_many(rows, Subsets.of(left, right)) == pytest.approx(expected, rel=1e-9)
