import numpy as np
import pytest

from textgauge.data import Comparison
from textgauge.metrics.corpus.moments import Frechet


@pytest.mark.parametrize(
    ("dimension", "n", "made", "method"),
    [(128, 130, 399, "permutation, 399 times"), (128, 60, 410, "permutation"), (3, 130, 410, "permutation")],
)
def test_fid_says_where_it_makes_fewer_permutations(dimension, n, made, method):
    rows = np.random.default_rng(0).normal(size=(2 * n, dimension))
    null = Frechet(on="given").null_values(Comparison(rows[:n], rows[n:]), permutations=410, seed=0)
    assert (len(null.permuted), null.method) == (made, method)
