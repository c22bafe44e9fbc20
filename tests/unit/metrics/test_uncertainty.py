import numpy as np
import pytest

from textgauge import get_metric
from textgauge.data import Comparison, Corpus
from textgauge.metrics.base import Undefined
from textgauge.metrics.corpus.diversity import CrossEntropy, SelfBleuGap
from textgauge.metrics.corpus.frequency import JensenShannon, Zipf
from textgauge.metrics.corpus.nearest import AverageHausdorff, DensityCoverage, NearestPrecisionRecall
from textgauge.metrics.numerics.held_out import HeldOut
from textgauge.metrics.uncertainty import (
    DISJOINT,
    DisjointSplits,
    NullValues,
    compute_folded_interval,
    compute_folded_mean,
    compute_normal_reach,
    compute_student_reach,
    cut_mean,
    estimate_likely_range,
    invert_interval,
    wilson,
)


def texts(n, exponent, seed):
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 301) ** exponent
    return [" ".join(f"w{k}" for k in rng.choice(300, 8, p=shares / shares.sum())) for _ in range(n)]


def interval(metric, comparison, seed=0):
    return metric.interval(comparison, metric.measure(comparison), level=0.95, seed=seed)


def error_of(statistic, comparison):
    parts = DisjointSplits.of(comparison, trials=100, seed=0)
    return parts.error(statistic(parts.joint, parts.draws))


def test_error_of_a_difference_of_means_is_the_usual_one():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=120), rng.normal(scale=2.0, size=160)
    comparison = Comparison(x[:, None], y[:, None])

    def difference(joint, draws):
        rows = joint.embeddings("given")[:, 0]
        return draws.left @ rows / draws.left.sum(axis=1) - draws.right @ rows / draws.right.sum(axis=1)

    usual = np.sqrt(x.var(ddof=1) / len(x) + y.var(ddof=1) / len(y))
    assert error_of(difference, comparison) == pytest.approx(usual, rel=0.15)


def test_error_of_a_degenerate_statistic_is_not_doubled():
    # the squared mean of n standard normals has variance 2/n²; leaving texts out would say 4/n²
    rng = np.random.default_rng(1)
    variances = []
    for _ in range(60):
        comparison = Comparison(rng.normal(size=(64, 1)), rng.normal(size=(8, 1)))

        def squared_mean(joint, draws):
            return (draws.left @ joint.embeddings("given")[:, 0] / draws.left.sum(axis=1)) ** 2

        variances.append(error_of(squared_mean, comparison) ** 2)
    assert np.mean(variances) == pytest.approx(2 / 64**2, rel=0.5)


@pytest.mark.parametrize(
    "metric",
    [JensenShannon(on="words"), AverageHausdorff(on="given:euclidean"), SelfBleuGap(), CrossEntropy(on="words")],
)
def test_too_few_texts_have_no_interval_but_a_reason(metric):
    fewest = metric.min_texts_interval
    rows = np.random.default_rng(0).normal(size=(2 * fewest, 3))
    corpus = Corpus.of(texts(2 * fewest, 1.0, 1), embeddings=rows)
    enough = Comparison(corpus.take(range(fewest)), corpus.take(range(fewest, 2 * fewest)))
    assert interval(metric, enough)[2] == DISJOINT
    few = Comparison(corpus.take(range(fewest - 1)), corpus.take(range(fewest, 2 * fewest)))
    with pytest.raises(Undefined, match=f"no interval below {fewest} texts; a corpus has {fewest - 1}"):
        interval(metric, few)


def test_parts_without_values_have_no_error():
    comparison = Comparison(np.zeros((40, 1)), np.zeros((40, 1)))
    with pytest.raises(Undefined, match="quarters"):
        error_of(lambda joint, draws: np.full(len(draws), np.nan), comparison)


def test_the_smaller_corpus_decides_how_far_an_interval_reaches():
    comparison = Comparison(np.zeros((200, 1)), np.zeros((41, 1)))
    assert compute_student_reach(0.95, comparison) == pytest.approx(2.085963, abs=1e-6)  # Student's t with 20 degrees


def test_a_text_that_is_nearest_to_many_leaves_no_interval():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 4)) + np.repeat([[9.0] * 4, [-9.0] * 4], 100, axis=0)
    for metric in (NearestPrecisionRecall(on="given:euclidean"), AverageHausdorff(on="given:euclidean")):
        assert interval(metric, Comparison(rows[::2], rows[1::2]))[2] == DISJOINT
        with pytest.raises(Undefined, match=r"one text is the nearest of \d+% of the other corpus"):
            interval(metric, Comparison(rows[:100], rows[100:]))


@pytest.mark.parametrize("name", ["hausdorff@given:euclidean", "chi@words"])
def test_metrics_without_an_interval_say_why(name):
    metric = get_metric(name)
    corpus = Corpus.of(texts(200, 1.0, 1), embeddings=np.random.default_rng(0).normal(size=(200, 4)))
    assert metric.no_interval
    with pytest.raises(Undefined, match=f"has no interval: {metric.no_interval}"):
        interval(metric, Comparison(corpus.take(range(100)), corpus.take(range(100, 200))))


@pytest.mark.parametrize("metric", [Zipf(on="words"), JensenShannon(on="words")])
def test_intervals_do_not_depend_on_the_order_of_texts(metric):
    P, Q = texts(110, 1.0, 1), texts(100, 1.2, 2)
    low, high, method = interval(metric, Comparison(P, Q))
    assert method == DISJOINT
    assert low < high
    assert interval(metric, Comparison(P[::-1], Q[::-1]))[:2] == pytest.approx((low, high), abs=1e-9)


def test_the_interval_of_a_biased_discrepancy_begins_at_0_at_least():
    metric = get_metric("mmd(estimator=biased)@given")
    comparison = Comparison(*np.random.default_rng(0).normal(size=(2, 40, 5)))
    assert metric.interval(comparison, metric.measure(comparison), level=0.95, seed=0)[0] == 0


def test_folded_interval_starts_at_0_until_the_difference_is_clear():
    assert compute_folded_interval(1.9, 1.0, 1.96)[0] == 0
    assert compute_folded_interval(2.0, 1.0, 1.96)[0] == pytest.approx(compute_folded_mean(2 - 1.96, 1.0))
    assert compute_folded_interval(-9.0, 1.0, 1.96) == pytest.approx((9 - 1.96, 9 + 1.96), abs=1e-6)
    assert compute_folded_interval(-9.0, 0.5, 1.96) == pytest.approx((9 - 0.98, 9 + 0.98), abs=1e-6)
    assert compute_folded_mean(-2.0, 0.0) == 2.0
    draws = np.abs(np.random.default_rng(0).normal(0.7, 1.3, size=200_000))
    assert compute_folded_mean(0.7, 1.3) == pytest.approx(draws.mean(), abs=0.01)


@pytest.mark.parametrize("value", [0.2, 1.0, 30.0])
def test_inverted_ends_are_as_far_as_their_own_error_reaches(value):
    null = NullValues(value, np.array([0.9, 1.0, 1.1]), "permutation")
    for end in invert_interval(value, 0.3, null, 1.96, (-np.inf, np.inf)):
        variance = 0.3**2 + 2 * 0.1**2 / 1.0 * (end - value)
        assert abs(value - end) == pytest.approx(1.96 * np.sqrt(variance))
    assert invert_interval(value, 99.0, null, 1.96, (0.0, 31.0)) == (0.0, 31.0)


def test_the_mean_of_a_cut_normal_is_that_of_draws():
    draws = np.maximum(np.random.default_rng(0).normal(0.7, 1.3, size=200_000), 0.5)
    assert cut_mean(0.7, 1.3, 0.5) == pytest.approx(draws.mean(), abs=0.01)


def test_dc_has_the_interval_of_its_density_below_1_and_of_its_coverage_above():
    rng = np.random.default_rng(0)
    metric = DensityCoverage(on="given:euclidean")
    for shift, part in ((2.0, "density"), (0.0, "coverage")):
        rows = rng.normal(size=(400, 3)) * ([1.0] * 3 if part == "density" else [0.3] * 3)
        comparison = Comparison(rng.normal(size=(400, 3)), rows + shift)
        score = metric.measure(comparison)
        assert (score.parts["density"] < 0.9) == (part == "density")
        low, high, _ = metric.interval_ends(comparison, score, level=0.95, seed=0)
        assert low < score.value < high
        assert high - low < 0.3


def test_corpora_of_one_size_are_cut_alike_by_place():
    reference, first, second = (np.random.default_rng(seed).normal(size=(40, 2)) for seed in range(3))
    one, two = (DisjointSplits.of_rows(Comparison(reference, other), trials=3, seed=0) for other in (first, second))
    assert np.array_equal(one.draws.left, two.draws.left)
    assert np.array_equal(one.draws.left[:, :40], one.draws.right[:, 40:])
    assert not one.draws.left[:, 40:].any()
    assert np.array_equal(one.joint.embeddings("given")[:40], reference)
    unequal = DisjointSplits.of_rows(Comparison(reference, first[:30]), trials=3, seed=0).draws
    assert unequal.left[:12].sum(axis=0).tolist() == [3] * 40 + [0] * 30  # in one quarter of each cut
    assert unequal.right[:12].sum(axis=0).tolist() == [0] * 40 + [3] * 30
    assert (unequal.left[:12].sum(axis=1) == 10).all()
    assert set(unequal.right[:12].sum(axis=1)) == {7, 8}  # of 30, as equal as can be in every cut


def test_differences_are_those_of_disjoint_halves():
    parts = DisjointSplits.of(Comparison(np.zeros((8, 1)), np.zeros((8, 1))), trials=2, seed=0)
    values = np.arange(20.0).reshape(10, 2) ** 2  # quarters 1 to 4, then six halves; a column for each trial
    halves = values[4:]
    expected = [halves[a] - halves[a + 1] for a in (0, 2, 4)]
    assert parts.half_differences(values.reshape(-1)).tolist() == np.concatenate(expected).tolist()
    assert parts.half_differences(np.stack([values.reshape(-1)] * 3)).shape == (3, 6)
    members = [(parts.draws.left | parts.draws.right)[place::2] for place in range(2)]
    for cut in members:
        assert (cut[4::2] ^ cut[5::2]).all()


@pytest.mark.parametrize(("right", "n"), [(7, 10), (10, 10), (0, 10), (350, 1_000)])
def test_wilsons_ends_are_as_far_as_their_own_error_reaches(right, n):
    value, (low, high) = right / n, wilson(right / n, n, 1.96)
    assert 0 <= low <= value <= high <= 1
    for end in (end for end in (low, high) if 0 < end < 1):
        assert abs(value - end) == pytest.approx(1.96 * np.sqrt(end * (1 - end) / n))


def held_out(right_reference, right_candidate, n):
    predicted = np.concatenate([np.arange(n) >= right_reference, np.arange(n) < right_candidate])
    return HeldOut(np.arange(2 * n) >= n, predicted.astype(float))


def test_one_split_has_wilsons_interval_widened_for_other_training_texts():
    low, high = estimate_likely_range([held_out(30, 36, 40)], "accuracy", share=0.5, reach=1.96)
    rates = (np.array([30, 36]) + 0.5) / 41
    variance = 1.2 * (rates * (1 - rates)).sum() / 40 / 4  # accuracy is the mean of both; training adds a fifth
    level = rates.mean()
    assert (low, high) == pytest.approx(wilson(66 / 80, level * (1 - level) / variance, 1.96), rel=1e-5)


def test_more_splits_narrow_the_interval_as_far_as_they_are_not_alike():
    one, many = (
        estimate_likely_range([held_out(30, 36, 40)] * count, "balanced", share=0.2, reach=1.96) for count in (1, 1_000)
    )
    assert np.ptp(many) / np.ptp(one) == pytest.approx(np.sqrt(0.2), abs=0.02)  # a fifth held out: alike by 0.2
    assert compute_normal_reach(0.95) == pytest.approx(1.959964, abs=1e-6)
