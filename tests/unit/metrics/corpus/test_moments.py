import numpy as np
import pytest

from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.corpus.moments import Frechet
from textgauge.metrics.corpus_metric import CorpusMetric
from textgauge.metrics.numerics.moments import compute_components
from textgauge.stats.resampling import draw_permutations


@pytest.mark.parametrize(
    ("dimension", "n", "made", "method"),
    [(128, 130, 399, "permutation, 399 times"), (128, 60, 410, "permutation"), (3, 130, 410, "permutation")],
)
def test_fid_says_where_it_makes_fewer_permutations(dimension, n, made, method):
    rows = np.random.default_rng(0).normal(size=(2 * n, dimension))
    null = Frechet(on="given").null_values(Comparison(rows[:n], rows[n:]), permutations=410, seed=0)
    assert (len(null.permuted), null.method) == (made, method)


@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
def test_weights_count_copies(shape):
    X = np.random.default_rng(0).standard_normal(shape)
    weights = np.random.default_rng(1).integers(1, 4, len(X))
    scores = compute_components(X, weights.astype(float), 0.9)
    copied = compute_components(np.repeat(X, weights, axis=0), np.ones(weights.sum()), 0.9)
    assert scores @ scores.T == pytest.approx((copied @ copied.T)[np.ix_(*[np.cumsum(weights) - 1] * 2)], abs=1e-9)


def test_keeps_the_share():
    X = np.random.default_rng(0).standard_normal((200, 4)) * [10.0, 5.0, 1.0, 0.1]
    centred = X - X.mean(axis=0)
    kept = compute_components(X, np.ones(200), 0.9)
    assert kept.shape == (200, 2)
    assert 0.9 <= (kept**2).sum() / (centred**2).sum() < 1
    everything = compute_components(X, np.ones(200), 1.0)
    assert (everything**2).sum() == pytest.approx((centred**2).sum())


@pytest.mark.parametrize("sizes", [(40, 40), (12, 70)])
@pytest.mark.parametrize("constant", [False, True])
def test_permuted_splits_of_many_rows_have_the_distance_of_each_split(sizes, constant):
    rows = np.random.default_rng(0).normal(size=(sum(sizes), 8)) * np.arange(1, 9) + 3.0
    rows[:, 0] = 1.0 if constant else rows[:, 0]  # a singular covariance has no plain Cholesky factor
    metric, joint = Frechet(on="given"), Corpus.of(rows)
    draws = Draws(*draw_permutations(*sizes, trials=6, seed=0))
    expected = CorpusMetric.compute_many(metric, joint, draws)["value"]
    assert metric.compute_many(joint, draws)["value"] == pytest.approx(expected, rel=1e-9)
