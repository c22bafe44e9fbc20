from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.corpus import mauve
from textgauge.metrics.corpus.mauve import Mauve, cluster, compute_area, compute_divergence_curve

METRIC = Mauve(on="given")


def cloud(seed, n, shift=0.0, d=12):
    rows = np.random.default_rng(seed).standard_normal((n, d))
    rows[:, 0] += shift
    return rows.astype(np.float32)


def value(P, Q, metric=METRIC):
    return metric.compute(Comparison(P, Q))["value"]


class TestCurve:
    def test_empty_buckets_change_nothing_and_many_at_once(self):
        rng = np.random.default_rng(0)
        p, q = rng.dirichlet(np.ones(6), size=(2, 5))
        padded = [np.pad(side, ((0, 0), (0, 3))) for side in (p, q)]
        one_by_one = [float(compute_area(compute_divergence_curve(*pair))) for pair in zip(p, q, strict=True)]
        assert compute_area(compute_divergence_curve(*padded)) == pytest.approx(one_by_one, abs=1e-14)


class TestCluster:
    @pytest.mark.parametrize("rows", [np.arange(4.0)[:, None], np.repeat(np.eye(3), 4, axis=0)])
    def test_few_different_rows_have_a_bucket_each(self, rows):
        labels = cluster(rows, np.ones(len(rows)), 6, restarts=1, seed=(0,))
        assert len(set(labels.tolist())) == len(np.unique(rows, axis=0))

    def test_threads_change_nothing(self):
        P, Q = cloud(1, 700), cloud(2, 700, shift=0.5)
        with threadpool_limits(1):
            one = METRIC.compute(Comparison(P, Q))
        with threadpool_limits(4):
            assert METRIC.compute(Comparison(P, Q)) == pytest.approx(one, abs=1e-12)


class TestMetric:
    def test_equal_vectors_of_different_texts_share_a_bucket(self):
        rows = cloud(1, 30)
        upper, lower = (Corpus.of([f"{word} {i}" for i in range(30)], embeddings=rows) for word in ("A", "a"))
        assert METRIC.compute(Comparison(upper, lower))["value"] == pytest.approx(0.0, abs=1e-12)

    def test_seeds_are_averaged(self):
        P, Q = cloud(1, 80), cloud(2, 80, shift=1.0)
        metric = replace(METRIC, seed=4, seeds=3)
        several = value(P, Q, metric)
        left, right = sides(80, 80)
        each = [
            METRIC._compute_value("value", *(mauve._count_buckets(side[None], labels, 8) for side in (left, right)))[0]
            for labels in metric._cluster_texts(metric._collect_union(Comparison(P, Q).joint, left, right))
        ]
        assert len(set(each)) > 1
        assert several == pytest.approx(np.mean(each))
        assert value(P, Q, replace(METRIC, seed=4)) == pytest.approx(each[0])

    def test_buckets_are_a_tenth_of_the_smaller_corpus(self):
        for n, m, buckets in [(95, 300, 10), (205, 400, 20), (5, 9, 2)]:
            joint = Comparison(cloud(1, n), cloud(2, m)).joint
            assert METRIC._collect_union(joint, *sides(n, m)).buckets == buckets


def sides(n, m):
    left = np.arange(n + m) < n
    return left, ~left


class TestMany:
    def test_permutations_share_one_clustering(self, monkeypatch):
        calls = []

        def counted(X, weights, k, **options):
            calls.append(k)
            return cluster(X, weights, k, **options)

        monkeypatch.setattr(mauve, "cluster", counted)
        left = np.array([np.random.default_rng(draw).permutation(np.arange(90) < 50) for draw in range(200)])
        values = METRIC.compute_many(Corpus.of(cloud(1, 90)), Draws(left, ~left))["value"]
        assert len(calls) == 1
        assert len(set(values.tolist())) > 100


class TestStandardError:
    def test_nearly_zero_for_identical_corpora_and_not_otherwise(self):
        rows = cloud(1, 60)
        assert METRIC.standard_error(Comparison(rows, rows), seed=0) == pytest.approx(0.0, abs=1e-3)
        found = METRIC.standard_error(Comparison(rows, cloud(2, 60, shift=1.0)), seed=0)
        assert 0.005 < found < 0.3

    def test_does_not_depend_on_order_and_falls_with_seeds(self):
        P, Q = cloud(1, 80), cloud(2, 80, shift=1.0)
        once = METRIC.standard_error(Comparison(P, Q), seed=0)
        assert METRIC.standard_error(Comparison(P[::-1], Q[::-1]), seed=0) == pytest.approx(once)
        assert replace(METRIC, seeds=8).standard_error(Comparison(P, Q), seed=0) < once

    @pytest.mark.parametrize("part", ["frontier_integral", "mauve_star"])
    def test_parts_have_their_own(self, part):
        comparison = Comparison(cloud(1, 60), cloud(2, 60, shift=1.0))
        own = replace(METRIC, part=part).standard_error(comparison, seed=0)
        assert 0 < own != METRIC.standard_error(comparison, seed=0)

    @pytest.mark.slow
    @pytest.mark.parametrize("shift", [0.5, 2.0])
    def test_covers(self, shift):
        found = []
        for draw in range(300):
            comparison = Comparison(cloud([draw, 0], 200), cloud([draw, 1], 200, shift=shift))
            metric = replace(METRIC, seed=draw)
            found.append((metric.compute(comparison)["value"], metric.standard_error(comparison, seed=draw + 1000)))
        values, errors = np.transpose(found)
        assert 0.92 <= (np.abs(values - values.mean()) <= 1.96 * errors).mean() <= 0.98


@pytest.mark.parametrize("rows", [25, 60, 200, 700])
def test_labels_are_those_of_scikit_learn_from_the_same_starts(rows):
    rng = np.random.default_rng(rows)
    X, weights = rng.normal(size=(rows, 8)), rng.integers(1, 4, rows).astype(float)
    for seed in range(5):
        found = cluster(X, weights, rows // 10, restarts=5, seed=(0, seed))
        chance = np.random.RandomState(np.random.MT19937(np.random.SeedSequence((0, seed))))
        model = KMeans(rows // 10, init="random", n_init=5, max_iter=500, tol=0.0, random_state=chance)
        np.testing.assert_array_equal(found, model.fit(X.astype(np.float32), sample_weight=weights).labels_)


def test_a_bucket_that_loses_its_rows_gets_the_farthest():
    X = np.array([[0.0], [1.0], [2.0], [100.0]], dtype=np.float32)
    starts = np.array([[[0.0], [50.0], [1000.0]]], dtype=np.float32)
    ((_, labels),) = mauve._run_lloyd(X, np.ones(4), starts)
    assert len(set(labels.tolist())) == 3
