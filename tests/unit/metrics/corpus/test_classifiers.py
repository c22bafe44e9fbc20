import numpy as np
import pytest

from textgauge.data import Comparison, Corpus
from textgauge.metrics.base import Undefined
from textgauge.metrics.corpus import classifiers
from textgauge.metrics.corpus.classifiers import Classifier, ClassifierTwoSample, decide_svm
from textgauge.metrics.numerics import held_out as _held_out
from textgauge.metrics.numerics.held_out import TrainTest

BOTH = [Classifier(on="given"), ClassifierTwoSample(on="given")]
CHANCE = {"value": 0.5, "accuracy": 0.5, "balanced": 0.5, "f1": 0.5}


def cloud(seed, n, shift=0.0, d=12):
    rows = np.random.default_rng(seed).standard_normal((n, d))
    rows[:, 0] += shift
    return rows.astype(np.float32)


def task_of(rows, seed=0, cut=0.8):
    order = np.random.default_rng(seed).permutation(len(rows))
    train, test = np.split(order, [int(cut * len(rows))])
    labels = np.where(train < len(rows) // 2, -1, 1).astype(np.float32)
    return TrainTest(np.sort(train), labels[np.argsort(train)], np.sort(test))


class TestSupportVectorMachine:
    rows = np.concatenate([cloud(1, 90), cloud(2, 90, shift=0.7)])

    @pytest.mark.parametrize("limit", ["_SHARED_ROWS", "_KERNEL_ROWS"])
    def test_decides_as_scikit_whatever_the_sizes(self, limit, monkeypatch):
        from sklearn.svm import SVC

        tasks = [task_of(self.rows, seed) for seed in range(4)]
        expected = [SVC().fit(self.rows[t.train], t.labels).decision_function(self.rows[t.test]) for t in tasks]
        np.testing.assert_allclose(decide_svm(self.rows, tasks), expected, atol=2e-3)
        monkeypatch.setattr(classifiers, limit, 10)
        np.testing.assert_allclose(decide_svm(self.rows, tasks), expected, atol=2e-3)


@pytest.mark.parametrize("metric", BOTH, ids=str)
class TestValue:
    def test_copies_that_cannot_be_kept_together(self, metric):
        few = np.repeat(cloud(4, 2), [2, 3], axis=0)
        constant = np.ones((9, 4))
        assert metric.compute(Comparison(few, few)) == CHANCE
        assert metric.compute(Comparison(constant, constant)) == CHANCE
        assert metric.compute(Comparison(0 * constant, 0 * constant)) == CHANCE
        assert metric.compute(Comparison(constant, 2 * constant))["value"] == 1.0

    def test_roles_matter_only_to_f1(self, metric):
        comparison = Comparison(cloud(7, 80), cloud(8, 55, shift=1.0))
        there, back = metric.compute(comparison), metric.compute(comparison.swapped())
        assert there["f1"] != back["f1"]
        assert {**there, "f1": 0} == {**back, "f1": 0}

    def test_repeats_average_over_splits(self, metric):
        comparison = Comparison(cloud(1, 50), cloud(2, 50, shift=1.0))
        repeated = type(metric)(on="given", repeats=3)
        once = [_held_out.average_scores([outcome])["f1"] for outcome in repeated._judge_splits(comparison)]
        assert repeated.compute(comparison)["f1"] == pytest.approx(np.mean(once))
        assert once[0] == metric.compute(comparison)["f1"]

    def test_size_of_the_vectors_does_not_matter(self, metric):
        rows = np.vstack([cloud(1, 40), cloud(2, 40, shift=2.0)]).astype(np.float64)
        (expected,) = metric.decide(rows, [task_of(rows)])
        for scale in (2.0**900, 2.0**-900):
            np.testing.assert_array_equal(metric.decide(scale * rows, [task_of(rows)])[0], expected)


def test_same_text_with_different_vectors_of_the_user():
    texts, left, right = [f"text {i}" for i in range(40)], cloud(1, 40), cloud(2, 40, shift=8.0)
    comparison = Comparison(Corpus.of(texts, embeddings=left), Corpus.of(texts, embeddings=right))
    assert BOTH[0].compute(comparison)["value"] == BOTH[0].compute(Comparison(left, right))["value"] == 1.0


class TestUncertainty:
    @pytest.mark.parametrize("metric", BOTH, ids=str)
    def test_p_of_same_and_of_different(self, metric):
        rows = cloud(1, 100)
        assert metric.null_values(Comparison(rows, rows), permutations=99, seed=0).p_value > 0.4
        null = metric.null_values(Comparison(rows, cloud(2, 100, shift=5.0)), permutations=199, seed=0)
        p, method = null.p_value, null.method
        assert p == 0.001
        assert method == "held-out permutation"

    def test_interval_holds_the_value_and_narrows(self):
        comparison = Comparison(cloud(1, 150), cloud(2, 150, shift=1.0))
        widths = []
        for metric in (Classifier(on="given"), Classifier(on="given", repeats=10)):
            low, high, _ = metric.interval(comparison, metric.measure(comparison), level=0.95, seed=0)
            assert low < metric.compute(comparison)["value"] < high
            widths.append(high - low)
        assert widths[1] < 0.7 * widths[0]

    @pytest.mark.parametrize(("metric", "times", "enough"), [(BOTH[0], 1.2, 120), (BOTH[1], 2, 200)])
    def test_no_interval_of_very_unequal_corpora(self, metric, times, enough):
        usual, unequal = (Comparison(cloud(1, n), cloud(2, 100)) for n in (enough, enough + 1))
        assert metric.interval(usual, metric.measure(usual), level=0.95, seed=0)[2] == "Wilson"
        with pytest.raises(Undefined, match=f"no interval where one corpus is over {times:g} times as large"):
            metric.interval(unequal, metric.measure(unequal), level=0.95, seed=0)


def coverage(metric, shift, n, simulations):
    comparisons = [Comparison(cloud(2 * s, n), cloud(2 * s + 1, n, shift)) for s in range(simulations)]
    truth = np.mean([metric.compute(comparison)["value"] for comparison in comparisons])
    ranges = [metric.interval(comparison, metric.measure(comparison), level=0.95, seed=0) for comparison in comparisons]
    return float(np.mean([low <= truth <= high for low, high, _ in ranges]))


@pytest.mark.slow
@pytest.mark.parametrize("shift", [1.0, 4.0])
@pytest.mark.parametrize("metric", BOTH, ids=str)
def test_intervals_cover(metric, shift):
    assert 0.92 < coverage(metric, shift, 200, 500) < 0.98


@pytest.mark.slow
@pytest.mark.parametrize("texts", [40, 10_000])
@pytest.mark.parametrize("metric", BOTH, ids=str)
def test_p_values_keep_their_level(metric, texts):
    pool, p = cloud(0, texts), []
    for simulation in range(500):
        chosen = np.random.default_rng(simulation).integers(0, texts, 120)
        comparison = Comparison(pool[chosen[:60]], pool[chosen[60:]])
        p.append(metric.null_values(comparison, permutations=199, seed=simulation).p_value)
    above = (np.arange(1, 501) / 500 - np.sort(p)).max()
    assert above < 1.52 / np.sqrt(500)  # one-sided Kolmogorov–Smirnov at 1 %
