import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.core.sizes import cap_sizes
from textgauge.data import Comparison
from textgauge.metrics import get_metric
from textgauge.metrics.numerics import kmeans as module
from textgauge.metrics.numerics import native
from textgauge.metrics.numerics.kmeans import Start, by_products, centroids, in_passes, kmeans, split_for_empty

needs_library = pytest.mark.skipif(native.library().compiled is None, reason="there is no compiled library")


def lloyd(X, weights, k, rng):
    """k-means as the textbook has it."""
    texts = rng.choice(int(weights.sum()), k, replace=False)
    centroids = X[np.repeat(np.arange(len(X)), weights.astype(int))[texts]]
    labels = None
    while True:
        found = ((X[:, None] - centroids) ** 2).sum(axis=2).argmin(axis=1)
        if labels is not None and (found == labels).all():
            return labels, (weights * ((X - centroids[labels]) ** 2).sum(axis=1)).sum()
        labels = found
        sizes = np.bincount(labels, weights=weights, minlength=k)
        for cluster in np.flatnonzero(sizes):
            rows = labels == cluster
            centroids[cluster] = weights[rows] @ X[rows] / sizes[cluster]
        if not sizes.all():
            split_for_empty(centroids, sizes, rng, X[0])
            labels = None


def problem(seed, n, d, heaviest=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.integers(1, heaviest + 1, n).astype(np.float64)


def few_heavy_rows():
    """Rows of which some are drawn more than once, so that a cluster is left empty."""
    X, weights = problem(5, 64, 2)
    X[60:] = 10.0 + np.arange(4.0)[:, None] * [1, 0]
    weights[60:] = 200.0
    return X, weights


def same(found, expected):
    for (labels, objective), (wanted, least) in zip(found, expected, strict=True):
        assert (labels == wanted).all()
        assert objective == pytest.approx(least, rel=1e-9, abs=1e-9)


class TestPasses:
    @pytest.mark.parametrize(("n", "d", "k"), [(60, 3, 4), (300, 8, 70), (500, 20, 12)])
    def test_is_lloyds_algorithm(self, n, d, k):
        X, weights = problem(n, n, d, 3)
        runs = in_passes(X, weights, Start(k, 3, (1,)))
        same(runs, [lloyd(X, weights, k, each) for each in np.random.default_rng((1,)).spawn(3)])

    @given(st.integers(3, 12), st.integers(1, 3), st.integers(2, 11), st.integers(0, 2**32 - 1))
    def test_tiny_problems(self, n, d, k, seed):
        X, weights = problem(seed, n, d)
        k = min(k, n - 1)
        same(
            in_passes(X, weights, Start(k, 2, (seed,))),
            [lloyd(X, weights, k, each) for each in np.random.default_rng((seed,)).spawn(2)],
        )

    def test_clusters_that_become_empty_are_split_for(self):
        X, weights = few_heavy_rows()
        for labels, objective in in_passes(X, weights, Start(12, 5, (2,))):
            assert len(np.unique(labels)) == 12
            distances = ((X[:, None] - centroids(X, weights, labels)) ** 2).sum(axis=2)
            assert distances[np.arange(len(X)), labels] == pytest.approx(distances.min(axis=1))
            assert objective == pytest.approx(weights @ distances.min(axis=1))

    def test_ties_and_blocks_do_not_matter(self):
        X = np.unique(np.random.default_rng(0).integers(0, 5, (400, 4)), axis=0).astype(float)
        weights, start = np.ones(len(X)), Start(20, 2, (1,))
        whole = in_passes(X, weights, start)
        with cap_sizes(64):
            same(in_passes(X, weights, start), whole)

    def test_a_wide_error_bound_changes_nothing(self, monkeypatch):
        X, weights = problem(2, 300, 6)
        narrow = in_passes(X, weights, Start(15, 1, (1,)))
        monkeypatch.setattr(module, "error_bound", lambda dimension, longest: 0.2)
        same(in_passes(X, weights, Start(15, 1, (1,))), narrow)


@needs_library
class TestCompiled:
    @pytest.mark.parametrize("heaviest", [1, 4])
    @pytest.mark.parametrize(
        ("n", "d", "k"), [(30, 1, 3), (60, 3, 4), (200, 17, 11), (300, 8, 70), (500, 20, 12), (40, 5, 39), (90, 2, 17)]
    )
    def test_equals_numpy(self, n, d, k, heaviest):
        X, weights = problem(n, n, d, heaviest)
        start = Start(k, 3, (n,))
        found = by_products(X, weights, start)
        if found is None:  # rows drawn twice leave a centroid without any
            assert heaviest > 1 or k > n // 2
        else:
            same(found, in_passes(X, weights, start))

    @given(st.integers(3, 12), st.integers(1, 3), st.integers(2, 11), st.integers(0, 2**32 - 1), st.integers(1, 3))
    def test_tiny_problems(self, n, d, k, seed, heaviest):
        X, weights = problem(seed, n, d, heaviest)
        start = Start(min(k, n - 1), 2, (seed,))
        found = by_products(X, weights, start)
        if found is not None:
            same(found, in_passes(X, weights, start))

    @pytest.mark.parametrize("seed", range(5))
    def test_ties_on_whole_numbers(self, seed):
        rng = np.random.default_rng(seed)
        X = np.unique(rng.integers(0, 4, (300, 3)), axis=0).astype(np.float64)
        found = by_products(X, np.ones(len(X)), Start(9, 4, (seed,)))
        assert found is None or found[0][1] == pytest.approx(in_passes(X, np.ones(len(X)), Start(9, 4, (seed,)))[0][1])

    def test_an_empty_cluster_is_left_to_numpy(self):
        X, weights = few_heavy_rows()
        start = Start(12, 5, (2,))
        assert by_products(X, weights, start) is None
        best = min(in_passes(X, weights, start), key=lambda run: run[1])[0]
        assert (kmeans(X, weights, 12, restarts=5, seed=(2,)) == best).all()

    def test_numbers_without_distances_do_no_harm(self):
        X, weights = problem(3, 90, 5)
        X[7, 2] = np.nan
        assert by_products(X, weights, Start(4, 2, (0,))) is None

    @pytest.mark.parametrize("name", ["mauve(buckets=6)", "mauve(seeds=2)"])
    @pytest.mark.parametrize(("n", "m", "d"), [(90, 70, 30), (60, 150, 100), (25, 20, 8)])
    def test_mauve_has_the_same_value_without(self, monkeypatch, name, n, m, d):
        rows = [np.random.default_rng(size).standard_normal((size, d)) for size in (n, m)]
        comparison = Comparison(rows[0], rows[1] + 0.5)
        metric = get_metric(name).on_given(comparison)
        compiled = metric.compute(comparison)
        monkeypatch.setattr(native, "available", lambda: False)
        assert metric.compute(Comparison(rows[0], rows[1] + 0.5)) == pytest.approx(compiled, rel=1e-14)


def test_no_more_rows_than_clusters():
    assert kmeans(np.arange(4.0)[:, None], np.ones(4), 6, restarts=1, seed=(0,)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("n", [300, 900])
def test_samples_when_there_are_many(n):
    X = np.concatenate([np.random.default_rng(0).standard_normal((n, 2)), 50 + np.zeros((1, 2))])
    labels = kmeans(X, np.append(np.ones(n), 300.0), 2, restarts=5, seed=(0,))
    assert (labels[:-1] != labels[-1]).all()


def test_sample_keeps_the_number_of_texts():
    weights = np.array([500.0, 1.0, 30.0, 400.0])
    used = Start(2, 1, (0,)).sampled(weights)
    assert used.sum() == 512
    assert (used <= weights).all()


def test_a_centroid_at_the_origin_is_split_the_same_way_whatever_rounding_left_there():
    landmark = np.array([0.3, -0.2, 0.1])
    found = []
    for rounding in (0.0, 1e-17, -3e-17):
        centroids = np.array([[rounding, -rounding, rounding], [9.0, 9.0, 9.0]])
        split_for_empty(centroids, np.array([8.0, 0.0]), np.random.default_rng(0), landmark)
        found.append(centroids)
    np.testing.assert_allclose(found[1:], [found[0]] * 2, atol=1e-15)
    assert (np.abs(found[0][0] - found[0][1]) > 1e-5).all()


def test_restarts_that_differ_by_rounding_alone_give_the_labels_of_the_first():
    first, second = np.array([0, 0, 1]), np.array([0, 1, 1])
    assert module._best([(first, 1.0 + 1e-13), (second, 1.0)]) is first
    assert module._best([(first, 1.001), (second, 1.0)]) is second
