from __future__ import annotations

import numpy as np
import pytest

from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics import CorpusMetric
from textgauge.metrics.corpus.frequency import Chi, JensenShannon, Zipf
from textgauge.metrics.corpus.self_bleu import SelfBleuGap
from textgauge.metrics.uncertainty import DISJOINT, disjoint_error, folded_interval, folded_mean


def texts(n: int, exponent: float, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 301) ** exponent
    return [" ".join(f"w{k}" for k in rng.choice(300, 8, p=shares / shares.sum())) for _ in range(n)]


def interval(metric: CorpusMetric, comparison: Comparison, seed: int = 0) -> tuple[float, float, str]:
    return metric.interval(comparison, metric.measure(comparison), level=0.95, seed=seed)


def test_error_of_a_difference_of_means_is_the_usual_one() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=120), rng.normal(scale=2.0, size=160)
    comparison = Comparison(x[:, None], y[:, None])

    def difference(joint: Corpus, draws: Draws) -> np.ndarray:
        rows = joint.embeddings("given")[:, 0]
        return draws.left @ rows / draws.left.sum(axis=1) - draws.right @ rows / draws.right.sum(axis=1)

    usual = np.sqrt(x.var(ddof=1) / len(x) + y.var(ddof=1) / len(y))
    assert disjoint_error(difference, comparison, seed=0) == pytest.approx(usual, rel=0.15)


def test_error_of_a_degenerate_statistic_is_not_doubled() -> None:
    # the squared mean of n standard normals has variance 2/n²; leaving texts out would say 4/n²
    rng = np.random.default_rng(1)
    variances = []
    for _ in range(60):
        comparison = Comparison(rng.normal(size=(64, 1)), rng.normal(size=(8, 1)))

        def squared_mean(joint: Corpus, draws: Draws) -> np.ndarray:
            return (draws.left @ joint.embeddings("given")[:, 0] / draws.left.sum(axis=1)) ** 2

        variances.append(disjoint_error(squared_mean, comparison, seed=0) ** 2)
    assert np.mean(variances) == pytest.approx(2 / 64**2, rel=0.5)


def test_parts_too_small_have_no_error_but_the_metric_has_an_interval() -> None:
    comparison = Comparison(["a b", "b c", "c c d", "a a", "d"], ["a", "d d", "b a c", "c b", "a d"])
    metric = JensenShannon(on="words")
    assert np.isnan(disjoint_error(lambda joint, draws: metric.compute_many(joint, draws)["value"], comparison, seed=0))
    low, high, method = metric.interval(comparison, metric.measure(comparison), level=0.95, seed=0)
    assert 0 <= low < high <= 1
    assert method != DISJOINT


@pytest.mark.parametrize("metric", [Chi(on="words"), Zipf(on="words"), JensenShannon(on="words"), SelfBleuGap()])
def test_intervals_do_not_depend_on_the_order_of_texts(metric: JensenShannon) -> None:
    P, Q = texts(60, 1.0, 1), texts(50, 1.2, 2)
    low, high, method = interval(metric, Comparison(P, Q))
    assert method == DISJOINT
    assert low < high
    assert interval(metric, Comparison(P[::-1], Q[::-1]))[:2] == pytest.approx((low, high), abs=1e-9)


def test_the_interval_of_p_mirrors_that_of_chi() -> None:
    comparison = Comparison(texts(60, 1.0, 1), texts(50, 1.1, 2))
    low, high, _ = interval(Chi(on="words"), comparison)
    assert interval(Chi(on="words", part="p"), comparison)[:2] == pytest.approx((1 - high, 1 - low))
    bottom, top, _ = interval(Chi(on="words", part="statistic"), comparison)
    assert bottom < Chi(on="words").compute(comparison)["statistic"] < top


def test_folded_interval_starts_at_0_until_the_difference_is_clear() -> None:
    assert folded_interval(1.9, 1.0, 0.95)[0] == 0
    assert folded_interval(2.0, 1.0, 0.95)[0] == pytest.approx(folded_mean(2 - 1.959964, 1.0), abs=1e-6)
    assert folded_interval(-9.0, 1.0, 0.95) == pytest.approx((9 - 1.959964, 9 + 1.959964), abs=1e-6)
    draws = np.abs(np.random.default_rng(0).normal(0.7, 1.3, size=200_000))
    assert folded_mean(0.7, 1.3) == pytest.approx(draws.mean(), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [1.0, 1.06])
def test_intervals_hold_the_expected_value_19_times_in_20(exponent: float) -> None:
    metrics = [Chi(on="words"), JensenShannon(on="words"), Zipf(on="words")]

    def pair(seed: int) -> Comparison:
        return Comparison(texts(100, 1.0, 2 * seed), texts(100, exponent, 2 * seed + 1))

    expected = np.mean([[m.compute(pair(seed))["value"] for m in metrics] for seed in range(2_000)], axis=0)
    ends = np.array([[interval(m, pair(seed), seed)[:2] for m in metrics] for seed in range(2_000, 2_500)])
    covered = ((ends[:, :, 0] <= expected) & (expected <= ends[:, :, 1])).mean(axis=0)
    # 500 trials see 95 % within ± 4 points in all six cells of nearly every run
    assert ((covered > 0.91) & (covered < 0.99)).all(), covered
