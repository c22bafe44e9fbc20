import math
from dataclasses import replace

import numpy as np
import pytest

from textgauge.data import Comparison, Corpus, Draws
from textgauge.errors import ParameterError
from textgauge.metrics.corpus import mauve
from textgauge.metrics.corpus.mauve import Mauve, area_under, divergence_curve, frontier_integral, smoothed
from textgauge.metrics.registry import get_metric
from textgauge.numerics import kmeans_large as _kmeans_large
from textgauge.numerics import kmeans_small as _kmeans_small
from textgauge.numerics.kmeans import Problem, kmeans, kmeans_many
from textgauge.numerics.kmeans_large import in_passes
from textgauge.numerics.kmeans_small import Points, side_by_side
from textgauge.numerics.kmeans_start import Start, split_for_empty
from textgauge.numerics.principal import principal_components

METRIC = Mauve(on="given")


def cloud(seed, n, shift=0.0, d=12):
    rows = np.random.default_rng(seed).standard_normal((n, d))
    rows[:, 0] += shift
    return rows.astype(np.float32)


def value(P, Q, metric=METRIC):
    return metric.compute(Comparison(P, Q))["value"]


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
            split_for_empty(centroids, sizes, rng)
            labels = None


def by_products(X, weights, start):
    """One problem in the form for many, by the kernel where it is compiled."""
    return side_by_side([Points(X, weights)], start)[0]


def in_step(X, weights, start):
    """The same by numpy."""
    return _kmeans_small._in_step([Points(X, weights)], start)[0]


class TestKmeans:
    @pytest.mark.parametrize("run", [by_products, in_step, in_passes])
    @pytest.mark.parametrize(("n", "d", "k"), [(60, 3, 4), (300, 8, 70), (500, 20, 12)])
    def test_is_lloyds_algorithm(self, run, n, d, k):
        rng = np.random.default_rng(n)
        X, weights = rng.standard_normal((n, d)), rng.integers(1, 4, n).astype(float)
        runs = run(X, weights, Start(k, 3, (1,)))
        for (labels, objective), each in zip(runs, np.random.default_rng((1,)).spawn(3), strict=True):
            expected, least = lloyd(X, weights, k, each)
            assert (labels == expected).all()
            assert objective == pytest.approx(least)

    def test_problems_in_step_do_not_meet(self):
        rng = np.random.default_rng(3)
        sizes = [(70, 4, 6), (40, 9, 6), (200, 3, 6), (61, 5, 11), (5, 2, 6), (700, 4, 6)]
        problems = [Problem(rng.standard_normal((n, d)), rng.integers(1, 3, n).astype(float), k) for n, d, k in sizes]
        alone = [kmeans(problem, restarts=4, seed=(7, 1)) for problem in problems]
        for one, many in zip(alone, kmeans_many(problems, restarts=4, seed=(7, 1)), strict=True):
            assert (one == many).all()

    @pytest.mark.parametrize("run", [by_products, in_step])
    def test_clusters_that_become_empty_are_split_for(self, run):
        rng = np.random.default_rng(5)
        X = np.concatenate([rng.standard_normal((60, 2)), 10.0 + np.arange(4.0)[:, None] * [1, 0]])
        weights = np.append(np.ones(60), np.full(4, 200.0))
        runs = run(X, weights, Start(12, 5, (2,)))
        for (labels, _), each in zip(runs, np.random.default_rng((2,)).spawn(5), strict=True):
            assert len(np.unique(labels)) == 12
            assert (labels == lloyd(X, weights, 12, each)[0]).all()

    def test_clusters_that_become_empty_in_passes_are_split_for(self):
        rng = np.random.default_rng(5)
        X = np.concatenate([rng.standard_normal((60, 2)), 10.0 + np.arange(4.0)[:, None] * [1, 0]])
        weights = np.append(np.ones(60), np.full(4, 200.0))
        for labels, objective in in_passes(X, weights, Start(12, 5, (2,))):
            assert len(np.unique(labels)) == 12
            means = _kmeans_large.centroids(X, weights, labels)
            distances = ((X[:, None] - means) ** 2).sum(axis=2)
            assert distances[np.arange(len(X)), labels] == pytest.approx(distances.min(axis=1))
            assert objective == pytest.approx(weights @ distances.min(axis=1))

    def test_ties_and_blocks_do_not_matter(self, monkeypatch):
        rng = np.random.default_rng(0)
        X = np.unique(rng.integers(0, 5, (400, 4)), axis=0).astype(float)
        weights, start = np.ones(len(X)), Start(20, 2, (1,))
        whole = in_passes(X, weights, start)
        monkeypatch.setattr(_kmeans_large, "_BLOCK", 64)
        for once, again in zip(whole, in_passes(X, weights, start), strict=True):
            assert (once[0] == again[0]).all()

    def test_a_wide_error_band_changes_nothing(self, monkeypatch):
        rng = np.random.default_rng(2)
        X, weights, start = rng.standard_normal((300, 6)), np.ones(300), Start(15, 1, (1,))
        narrow = in_passes(X, weights, start)[0]
        made = _kmeans_large._Points.of
        wide = np.float32(0.2)
        monkeypatch.setattr(_kmeans_large._Points, "of", lambda X, weights: replace(made(X, weights), unclear=wide))
        assert (in_passes(X, weights, start)[0][0] == narrow[0]).all()

    def test_no_more_rows_than_clusters(self):
        X = np.arange(4.0)[:, None]
        assert kmeans(Problem(X, np.ones(4), 6), restarts=1, seed=(0,)).tolist() == [0, 1, 2, 3]

    @pytest.mark.parametrize("n", [300, 900])
    def test_samples_when_there_are_many(self, n):
        X = np.concatenate([np.random.default_rng(0).standard_normal((n, 2)), 50 + np.zeros((1, 2))])
        labels = kmeans(Problem(X, np.append(np.ones(n), 300.0), 2), restarts=5, seed=(0,))
        assert (labels[:-1] != labels[-1]).all()

    def test_sample_keeps_the_number_of_texts(self):
        weights = np.array([500.0, 1.0, 30.0, 400.0])
        used = Start(2, 1, (0,)).sampled(weights)
        assert used.sum() == 512
        assert (used <= weights).all()


class TestCurve:
    def test_by_hand(self):
        p, q, half = np.array([1.0, 0.0]), np.array([0.5, 0.5]), 0.5
        x, y = divergence_curve(p, q, scaling=1.0, points=3)[2]
        mixture = half * p + half * q
        assert x == pytest.approx(math.exp(-sum(q * np.log(q / mixture))))
        assert y == pytest.approx(math.exp(-math.log(1 / mixture[0])))

    def test_empty_buckets_change_nothing_and_many_at_once(self):
        rng = np.random.default_rng(0)
        p, q = rng.dirichlet(np.ones(6), size=(2, 5))
        padded = [np.pad(side, ((0, 0), (0, 3))) for side in (p, q)]
        one_by_one = [float(area_under(divergence_curve(*pair))) for pair in zip(p, q, strict=True)]
        assert area_under(divergence_curve(*padded)) == pytest.approx(one_by_one, abs=1e-14)

    def test_area_and_integral_are_symmetric_and_bounded(self):
        p, q = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.0, 0.1, 0.2, 0.7])
        assert area_under(divergence_curve(p, q)) == pytest.approx(area_under(divergence_curve(q, p)), abs=1e-14)
        assert frontier_integral(p, q) == pytest.approx(frontier_integral(q, p), abs=1e-14)
        assert frontier_integral(p, p) == 0.0
        assert area_under(divergence_curve(p, p)) == 1.0

    def test_integral_is_the_integral(self):
        p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.1, 0.7])
        share = (np.arange(20_000)[:, None] + 0.5) / 20_000
        mixture = share * p + (1 - share) * q
        terms = share[:, 0] * (p * np.log(p / mixture)).sum(axis=1) + (1 - share[:, 0]) * (q * np.log(q / mixture)).sum(
            axis=1
        )
        assert frontier_integral(p, q) == pytest.approx(2 * terms.mean(), abs=1e-7)

    def test_smoothing_adds_half_a_text(self):
        assert smoothed(np.array([3.0, 0.0])).tolist() == [3.5 / 4, 0.5 / 4]


class TestComponents:
    @pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
    def test_weights_count_copies(self, shape):
        X = np.random.default_rng(0).standard_normal(shape)
        weights = np.random.default_rng(1).integers(1, 4, len(X))
        scores = principal_components(X, weights.astype(float), 0.9)
        copied = principal_components(np.repeat(X, weights, axis=0), np.ones(weights.sum()), 0.9)
        assert scores @ scores.T == pytest.approx((copied @ copied.T)[np.ix_(*[np.cumsum(weights) - 1] * 2)], abs=1e-9)

    def test_keeps_the_share(self):
        X = np.random.default_rng(0).standard_normal((200, 4)) * [10.0, 5.0, 1.0, 0.1]
        centred = X - X.mean(axis=0)
        kept = principal_components(X, np.ones(200), 0.9)
        assert kept.shape == (200, 2)
        assert 0.9 <= (kept**2).sum() / (centred**2).sum() < 1
        everything = principal_components(X, np.ones(200), 1.0)
        assert (everything**2).sum() == pytest.approx((centred**2).sum())


class TestMetric:
    def test_tells_clouds_apart(self):
        assert value(cloud(1, 100), cloud(2, 100)) < 0.3
        assert value(cloud(1, 100), cloud(2, 100, shift=20.0)) > 0.9

    @pytest.mark.parametrize(
        "rows", [cloud(1, 40), np.repeat(cloud(1, 6), 5, axis=0), np.ones((9, 4)), np.zeros((5, 3))]
    )
    def test_identical_corpora(self, rows):
        found = METRIC.compute(Comparison(rows, rows[::-1]))
        assert found == pytest.approx({"value": 0.0, "frontier_integral": 0.0, "mauve_star": 1.0}, abs=1e-12)

    def test_equal_vectors_of_different_texts_share_a_bucket(self):
        rows = cloud(1, 30)
        upper, lower = (Corpus.of([f"{word} {i}" for i in range(30)], embeddings=rows) for word in ("A", "a"))
        assert METRIC.compute(Comparison(upper, lower))["value"] == pytest.approx(0.0, abs=1e-12)

    def test_neither_order_nor_roles_nor_length_matter(self):
        P, Q = cloud(1, 83), np.concatenate([cloud(2, 60, shift=1.0), cloud(1, 9)])
        expected = METRIC.compute(Comparison(P, Q))
        shuffled = [np.random.default_rng(3).permutation(side) for side in (P, Q)]
        assert METRIC.compute(Comparison(*shuffled)) == expected
        assert METRIC.compute(Comparison(Q, P)) == pytest.approx(expected, abs=1e-12)
        assert value(P * np.float32(4), Q * np.float32(4)) == pytest.approx(expected["value"], abs=1e-9)

    def test_unequal_sizes_and_fewer_texts_than_dimensions(self):
        assert 0 <= value(cloud(1, 5, d=50), cloud(2, 700, d=50)) <= 1
        assert 0 <= value(cloud(1, 2), cloud(2, 3)) <= 1

    def test_too_few_texts(self):
        assert math.isnan(METRIC.measure(Comparison(cloud(1, 1), cloud(2, 5))).value)

    def test_seeds_are_averaged(self):
        P, Q = cloud(1, 80), cloud(2, 80, shift=1.0)
        metric = replace(METRIC, seed=4, seeds=3)
        several = value(P, Q, metric)
        left, right = sides(80, 80)
        each = [
            METRIC._value("value", *(mauve._counts(side[None], labels, 8) for side in (left, right)))[0]
            for (labels,) in metric._clustered([metric._union(Comparison(P, Q).joint, left, right)])
        ]
        assert len(set(each)) > 1
        assert several == pytest.approx(np.mean(each))
        assert value(P, Q, replace(METRIC, seed=4)) == pytest.approx(each[0])

    def test_buckets_are_a_tenth_of_the_smaller_corpus(self):
        for n, m, buckets in [(95, 300, 10), (205, 400, 20), (5, 9, 2)]:
            joint = Comparison(cloud(1, n), cloud(2, m)).joint
            assert METRIC._union(joint, *sides(n, m)).buckets == buckets

    @pytest.mark.parametrize(
        "text", ["buckets=1", "buckets=-2", "restarts=0", "points=0", "seeds=0", "seed=-1", "scaling=0", "pca=1.5"]
    )
    def test_refuses(self, text):
        with pytest.raises(ParameterError):
            get_metric(f"mauve({text})")


def sides(n, m):
    left = np.arange(n + m) < n
    return left, ~left


@pytest.mark.parametrize(("d", "dtype"), [(1, np.float32), (2, np.float32), (3, np.float64), (5, np.float32)])
def test_ranks_are_those_of_the_contents(d, dtype):
    rows = np.random.default_rng(d).integers(-2, 3, (60, d)).astype(dtype)
    contents = [row.tobytes() for row in rows]
    order = sorted(set(contents))
    assert mauve._ranks(rows).tolist() == [order.index(content) for content in contents]


class TestMany:
    def test_equals_one_by_one(self):
        joint = Corpus.of(np.concatenate([cloud(1, 60), cloud(2, 45, shift=1.0), cloud(1, 15)]))
        rng = np.random.default_rng(0)
        left = np.array([rng.permutation(np.arange(120) < 70) for _ in range(4)] * 2)
        right = ~left
        right[4:, :40] = False
        right[6] |= rng.random(120) < 0.5
        left[7, :] = False
        many = METRIC.compute_many(joint, Draws(left, right))
        for draw, comparison in enumerate(Draws(left, right).comparisons(joint)):
            for name, expected in METRIC.values_or_nan(comparison).items():
                assert many[name][draw] == pytest.approx(expected, abs=1e-12, nan_ok=True)
        assert math.isnan(many["value"][7])

    def test_few_texts_at_a_time_change_nothing(self, monkeypatch):
        joint = Corpus.of(cloud(1, 120))
        masks = np.array([np.random.default_rng(draw).permutation(120) for draw in range(5)])
        draws = Draws(masks < 40, masks >= 70)
        many = METRIC.compute_many(joint, draws)["value"]
        monkeypatch.setattr(mauve, "_TEXTS", 150)
        assert (METRIC.compute_many(joint, draws)["value"] == many).all()

    def test_permutations_share_one_clustering(self, monkeypatch):
        calls = []

        def counted(problems, **options):
            calls.extend(problems)
            return kmeans_many(problems, **options)

        monkeypatch.setattr(mauve, "kmeans_many", counted)
        left = np.array([np.random.default_rng(draw).permutation(np.arange(90) < 50) for draw in range(200)])
        values = METRIC.compute_many(Corpus.of(cloud(1, 90)), Draws(left, ~left))["value"]
        assert len(calls) == 1
        assert len(set(values.tolist())) > 100


class TestStandardError:
    def test_nearly_zero_for_identical_corpora_and_not_otherwise(self):
        rows = cloud(1, 60)
        assert METRIC.standard_error(Comparison(rows, rows), seed=0)[0] == pytest.approx(0.0, abs=1e-3)
        found, method = METRIC.standard_error(Comparison(rows, cloud(2, 60, shift=1.0)), seed=0)
        assert 0.005 < found < 0.3
        assert "jackknife" in method

    def test_does_not_depend_on_order_and_falls_with_seeds(self):
        P, Q = cloud(1, 80), cloud(2, 80, shift=1.0)
        once = METRIC.standard_error(Comparison(P, Q), seed=0)[0]
        assert METRIC.standard_error(Comparison(P[::-1], Q[::-1]), seed=0)[0] == pytest.approx(once)
        assert replace(METRIC, seeds=8).standard_error(Comparison(P, Q), seed=0)[0] < once

    @pytest.mark.parametrize("part", ["frontier_integral", "mauve_star"])
    def test_parts_have_their_own(self, part):
        comparison = Comparison(cloud(1, 60), cloud(2, 60, shift=1.0))
        own = replace(METRIC, part=part).standard_error(comparison, seed=0)[0]
        assert 0 < own != METRIC.standard_error(comparison, seed=0)[0]

    @pytest.mark.slow
    @pytest.mark.parametrize("shift", [0.5, 2.0])
    def test_covers(self, shift):
        found = []
        for draw in range(300):
            comparison = Comparison(cloud([draw, 0], 200), cloud([draw, 1], 200, shift=shift))
            metric = replace(METRIC, seed=draw)
            found.append((metric.compute(comparison)["value"], metric.standard_error(comparison, seed=draw + 1000)[0]))
        values, errors = np.transpose(found)
        assert 0.92 <= (np.abs(values - values.mean()) <= 1.96 * errors).mean() <= 0.98
