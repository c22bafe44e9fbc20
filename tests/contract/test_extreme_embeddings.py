"""Extreme embeddings: refused at the border, or a value that has a reason where it does not exist."""

import numpy as np
import pytest

from textgauge import list_metrics
from textgauge.core.errors import InputError
from textgauge.data import Comparison
from textgauge.metrics import get_metric

METRICS = [metric for metric in list_metrics(kind="corpus") if metric.needs in ("embeddings", "ground")]


def corpora():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(9, 3)), rng.normal(size=(12, 3)) + 1
    yield "large", X * 1e19, Y * 1e19
    yield "small", X * 1e-19, Y * 1e-19
    yield "one large row", np.vstack([X[:1] * 1e18, X[1:]]), Y
    yield "large and small", X * 1e19, Y * 1e-19
    yield "a large constant column", np.hstack([X, np.full((9, 1), 1e16)]), np.hstack([Y, np.full((12, 1), 1e16)])
    yield "one dimension", X[:, :1] * 1e15, Y[:, :1] * 1e15
    yield "constant", np.full((9, 3), 1e9), np.full((12, 3), 1e9)
    yield "refused", X * 1e300, Y * 1e300


def measured(metric, left, right):
    comparison = Comparison(left, right)
    return metric.on_given(comparison).measure(comparison)


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize(("kind", "left", "right"), list(corpora()), ids=[kind for kind, *_ in corpora()])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_value_or_a_reason_whatever_the_order(metric, kind, left, right):
    if kind == "refused":
        with pytest.raises(InputError, match="scale them first"):
            measured(metric, left, right)
        return
    found = measured(metric, left, right)
    assert np.isfinite(found.value) or found.reason
    others = [measured(metric, left[::-1], right[::-1]).value]
    others += [measured(metric, right, left).value] if metric.symmetric else []
    np.testing.assert_allclose(others, found.value, rtol=1e-6, atol=1e-9)


def test_a_kernel_distance_that_is_all_rounding_is_undefined():
    rng = np.random.default_rng(0)
    far = np.hstack([rng.normal(size=(20, 2)), np.full((20, 1), 1e9)])
    found = measured(get_metric("kid"), far[:10], far[10:])
    assert np.isnan(found.value)
    assert "lost in rounding" in found.reason


def _in_any_order(name, left, right):
    metric = get_metric(name)
    found = []
    for first, second in ((left, right), (left[::-1], right[::-1]), (right, left)):
        comparison = Comparison(first, second)
        found.append(metric.on_given(comparison).measure(comparison).value)
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "change",
    [
        np.ones_like,
        lambda X: np.vstack([X[:1] * 1e16, X[1:]]),
        lambda X: np.vstack([X[:1] * 1e-16, X[1:]]),
        lambda X: X * 1e9,
    ],
    ids=["constant", "one huge", "one tiny", "another scale"],
)
def test_mauve_does_not_depend_on_the_order_of_texts_of_very_different_lengths(change, seed):
    rng = np.random.default_rng(seed)
    left, right = change(rng.normal(size=(19, 30))), rng.normal(size=(8, 30))
    assert np.ptp(_in_any_order("mauve", left, right)) < 1e-9


def test_sliced_wasserstein_keeps_its_digits_beside_a_large_common_number():
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(8, 30)), rng.normal(size=(21, 30))
    (plain, *_) = _in_any_order("sliced_wasserstein", np.pad(left, ((0, 0), (0, 1))), np.pad(right, ((0, 0), (0, 1))))
    large = [np.hstack([side, np.full((len(side), 1), 1e16)]) for side in (left, right)]
    np.testing.assert_allclose(_in_any_order("sliced_wasserstein", *large), plain, rtol=1e-12)
