import numpy as np
import pytest

from textgauge.metrics.numerics.moments import compute_components, compute_spread


@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
def test_weights_count_copies(shape):
    X = np.random.default_rng(0).standard_normal(shape)
    weights = np.random.default_rng(1).integers(1, 4, len(X))
    scores = compute_components(compute_spread(X, weights.astype(float)), 0.9)
    copied = compute_components(compute_spread(np.repeat(X, weights, axis=0), np.ones(weights.sum())), 0.9)
    assert scores @ scores.T == pytest.approx((copied @ copied.T)[np.ix_(*[np.cumsum(weights) - 1] * 2)], abs=1e-9)


def test_keeps_the_share():
    X = np.random.default_rng(0).standard_normal((200, 4)) * [10.0, 5.0, 1.0, 0.1]
    centred = X - X.mean(axis=0)
    kept = compute_components(compute_spread(X, np.ones(200)), 0.9)
    assert kept.shape == (200, 2)
    assert 0.9 <= (kept**2).sum() / (centred**2).sum() < 1
    everything = compute_components(compute_spread(X, np.ones(200)), 1.0)
    assert (everything**2).sum() == pytest.approx((centred**2).sum())
