"""Metrics that use the kernels have the same values without them."""

import numpy as np
import pytest

from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics import get_metric, neighbours
from textgauge.metrics.corpus import kernels as kernel_metrics
from textgauge.numerics import angles as _angles
from textgauge.numerics import kernel_sums as _kernel_sums
from textgauge.numerics import kmeans as _kmeans
from textgauge.numerics.native import kernels, library

pytestmark = pytest.mark.skipif(not kernels.built(), reason="the kernels are not compiled")

EXACT = ["mauve(buckets=6)", "mauve(seeds=2)", "classifier", "classifier(repeats=2)"]
NEAR = ["fid", "energy@angular", "irpr@angular", "ahd@angular"]


def cloud(seed, n, d, shift=0.0):
    rows = np.random.default_rng(seed).standard_normal((n, d)) / (1.0 + np.arange(d)) ** 0.5
    rows[:, 0] += shift
    return rows.astype(np.float32)


@pytest.fixture
def without(monkeypatch):
    """Do something with the kernels and then without; the first is to call some, the second none."""

    def both(compute):
        called = []

        def counted(name, *values):
            called.append(name)
            return call(name, *values)

        call = library.call
        with monkeypatch.context() as patch:
            patch.setattr(_angles, "_vectorised", lambda: False)
            for module in ("kernels", "lloyd"):
                patch.setattr(f"textgauge.numerics.native.{module}.call", counted)
            ours = compute()
            used, called[:] = set(called), []
            patch.setattr(kernels, "built", lambda: False)
            theirs = compute()
        assert not called
        return ours, theirs, used

    return both


def same(name, ours, theirs, *, beside=0.0):
    """Equal clusters may have other numbers, and a sum over them another last digit."""
    assert ours.keys() == theirs.keys()
    for part, values in theirs.items():
        if name in EXACT:
            np.testing.assert_allclose(ours[part], values, rtol=1e-14, atol=0.0, err_msg=part)
        else:
            np.testing.assert_allclose(ours[part], values, rtol=1e-7, atol=beside, err_msg=part)


def metric_of(name, comparison):
    return get_metric(name).on_given(comparison)


@pytest.mark.parametrize(("n", "m", "d"), [(90, 70, 30), (60, 150, 100), (25, 20, 8)])
@pytest.mark.parametrize("name", EXACT + NEAR)
def test_values(without, name, n, m, d):
    P, Q = cloud(n, n, d), cloud(m, m, d, 1.0)
    ours, theirs, used = without(lambda: values_of(name, P, Q))
    same(name, ours, theirs)
    assert name.endswith("@angular") or used


@pytest.mark.parametrize("name", EXACT + NEAR)
def test_many(without, name):
    rows = np.vstack([cloud(1, 100, 40), cloud(2, 80, 40, 0.7)])
    rows[[4, 120]] = rows[9]
    rng = np.random.default_rng(0)
    left, right = rng.random((12, 180)) < 0.45, rng.random((12, 180)) < 0.4

    def compute():
        joint = Corpus.of(rows)
        return metric_of(name, Comparison(joint, joint)).compute_many(joint, Draws(left, right))

    ours, theirs, used = without(compute)
    same(name, ours, theirs)
    assert name.endswith("@angular") or used


def values_of(name, P, Q):
    comparison = Comparison(P, Q)
    return metric_of(name, comparison).compute(comparison)


@pytest.mark.parametrize("name", ["energy@angular", "irpr@angular", "ahd@angular"])
def test_values_of_many_texts(without, monkeypatch, name):
    for module in (_kernel_sums, neighbours, kernel_metrics):
        monkeypatch.setattr(module, "MANY_ROWS", 200)
    P, Q = cloud(1, 1100, 16), cloud(2, 900, 16, 1.5)
    ours, theirs, used = without(lambda: values_of(name, P, Q))
    same(name, ours, theirs, beside=4e-8)  # energy is a difference of float32 means, which are near 0.4
    assert "angle_sums" in used


def test_mauve_by_bounds(without, monkeypatch):
    monkeypatch.setattr(_kmeans, "_SMALL", 0)
    monkeypatch.setattr(_kmeans, "_MOST", 0)
    P, Q = cloud(1, 400, 20), cloud(2, 300, 20, 1.0)
    ours, theirs, used = without(lambda: values_of("mauve(buckets=20)", P, Q))
    same("mauve(seeds=2)", ours, theirs)
    assert "kmeans_run" in used


def test_classifier_of_many_texts(without):
    P, Q = cloud(1, 450, 20), cloud(2, 450, 20, 1.0)
    ours, theirs, used = without(lambda: values_of("classifier", P, Q))
    same("classifier", ours, theirs)
    assert used >= {"products", "rbf_weighted", "svm"} if kernels.wide() else used >= {"rbf", "svm"}


@pytest.mark.parametrize("exponent", [-240, -130, 130, 240])
def test_fid_of_any_size(without, exponent):
    unit = 2.0**exponent
    P, Q = (unit * cloud(seed, 60, 90, shift).astype(np.float64) for seed, shift in ((1, 0.0), (2, 1.0)))

    def compute():
        comparison = Comparison(P, Q)
        found = metric_of("fid", comparison).compute(comparison)
        return {part: value / unit**2 for part, value in found.items()}

    ours, theirs, _ = without(compute)
    same("fid", ours, theirs)
