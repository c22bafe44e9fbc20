import numpy as np
import pytest

from textgauge.metrics.numerics import svm
from textgauge.metrics.numerics.svm import Limits, TrainTest, curvatures, rbf, scaled, solve


def cloud(seed, n, shift=0.0, d=12):
    rows = np.random.default_rng(seed).standard_normal((n, d))
    rows[:, 0] += shift
    return rows.astype(np.float32)


def task_of(rows, seed=0, cut=0.8):
    order = np.random.default_rng(seed).permutation(len(rows))
    train, test = np.split(order, [int(cut * len(rows))])
    labels = np.where(train < len(rows) // 2, -1, 1).astype(np.float32)
    return TrainTest(np.sort(train), labels[np.argsort(train)], np.sort(test))


class TestSolver:
    rows = np.vstack([cloud(1, 120), cloud(2, 120, shift=1.0)])

    def test_optimal(self):
        task = task_of(self.rows)
        curvature = curvatures(scaled(self.rows[task.train], self.rows[task.test])[0])
        beta, intercept = solve(curvature, task.labels)
        slack = task.labels - (1.0 - curvature.astype(np.float64)) @ beta - intercept
        assert abs(beta.sum()) < 1e-9
        assert ((beta * task.labels >= 0) & (np.abs(beta) <= 1)).all()
        assert (slack * task.labels)[beta == 0].max() < 2e-3
        assert (slack * task.labels)[np.abs(beta) == 1].min() > -2e-3
        assert np.abs(slack[(beta != 0) & (np.abs(beta) < 1)]).max() < 2e-3

    @pytest.mark.parametrize(
        "limits", [Limits(small_train=10), Limits(shared_rows=10), Limits(block=7, small_train=10)], ids=str
    )
    def test_ways_agree(self, limits):
        tasks = [task_of(self.rows, seed) for seed in range(3)]
        expected = svm.decide(self.rows, tasks)
        for ours, theirs in zip(svm.decide(self.rows, tasks, limits=limits), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=5e-3)

    def test_a_task_does_not_depend_on_the_others(self):
        limits = Limits(small_train=150)
        tasks = [task_of(self.rows, seed, cut) for seed, cut in enumerate((0.3, 0.8, 0.5, 0.7))]
        assert [limits.small(task) for task in tasks] == [True, False, True, False]
        for task, found in zip(tasks, svm.decide(self.rows, tasks, limits=limits), strict=True):
            np.testing.assert_array_equal(svm.decide(self.rows, [task], limits=limits)[0], found)

    def test_large_tasks_are_equal_to_the_bit_among_others(self):
        limits = Limits(small_train=10)
        copies = np.random.default_rng(0).integers(0, 120, 150)
        labels = np.where(np.arange(150) % 4, 1, -1).astype(np.float32)
        tasks = [task_of(self.rows, seed, cut) for seed, cut in enumerate((0.3, 0.8, 0.5))]
        tasks += [
            TrainTest(copies, labels, np.arange(120, 190)),
            TrainTest(np.arange(240)[::-1], np.tile(labels[:60], 4), copies),
        ]
        expected = [svm.decide(self.rows, [task], limits=limits)[0] for task in tasks]
        many = np.vstack([cloud(7, 33, shift=0.5), self.rows, cloud(8, 7)])
        moved = [TrainTest(task.train + 33, task.labels, task.test + 33) for task in tasks]
        far = TrainTest(np.arange(33), labels[:33], np.arange(33, 280))
        for found in (
            svm.decide(self.rows, tasks, limits=limits),
            svm.decide(many, [*moved, far], limits=limits),
            svm.decide(many, moved[::-1], limits=limits)[::-1],
        ):
            for ours, theirs in zip(found, expected, strict=False):
                np.testing.assert_array_equal(ours, theirs)

    @pytest.mark.parametrize("offset", [0.1, 1.0, 30.0, 1000.0])
    def test_large_tasks_far_from_the_origin(self, offset):
        rows = self.rows.astype(np.float64) + offset
        (expected,) = svm.decide(rows, [task_of(rows)])
        found = svm.decide(rows, [task_of(rows)], limits=Limits(small_train=10))[0]
        np.testing.assert_allclose(found, expected, atol=5e-3)

    def test_libsvm_beyond_the_limit(self):
        task = task_of(self.rows)
        (expected,) = svm.decide(self.rows, [task])
        found = svm.decide(self.rows, [task], limits=Limits(small_train=10, kernel_rows=10))[0]
        np.testing.assert_allclose(found, expected, atol=5e-3)

    @pytest.mark.parametrize("small", [10, 512])
    def test_contradicting_copies_cancel(self, small):
        train = np.repeat(np.arange(40), 2)
        task = TrainTest(train, np.tile([-1, 1], 40).astype(np.float32), np.arange(50, 60))
        (decision,) = svm.decide(self.rows, [task], limits=Limits(small_train=small))
        assert (decision == 0.0).all()

    @pytest.mark.parametrize("label", [-1, 1])
    def test_one_label_is_no_problem(self, label):
        beta, _ = solve(curvatures(self.rows[:10]), np.full(10, label, dtype=np.float32))
        assert not beta.any()

    @pytest.mark.parametrize("where", ["one number", "a row", "everywhere", "a label"])
    @pytest.mark.filterwarnings("ignore:invalid value", "ignore:Mean of empty slice")
    def test_nan_ends_at_once(self, where):
        curvature, labels = curvatures(self.rows[:40]), np.where(np.arange(40) % 2, 1, -1).astype(np.float32)
        if where == "a label":
            labels[3] = np.nan
        else:
            curvature[{"one number": (1, 0), "a row": 1, "everywhere": slice(None)}[where]] = np.nan
        steps = 200  # far more than the problem takes without NaN
        once, more = solve(curvature, labels, most_steps=steps), solve(curvature, labels, most_steps=2 * steps)
        np.testing.assert_array_equal(once[0], more[0])

    def test_steps_are_bounded(self):
        curvature, labels = curvatures(self.rows), np.where(np.arange(240) < 120, 1, -1).astype(np.float32)
        beta, _ = solve(curvature, labels, most_steps=1)
        assert np.count_nonzero(beta) == 2
        assert np.count_nonzero(solve(curvature, labels)[0]) > 2


def test_rbf():
    squared = np.random.default_rng(0).uniform(0.0, 9.0, 33).astype(np.float32)
    exact = 1.5 - 0.25 * np.exp(-0.7 * squared.astype(np.float64))
    found = rbf(squared, -0.7, np.float32(1.5), np.float32(-0.25))
    assert found is squared
    assert found == pytest.approx(exact, abs=3e-7)
    assert rbf(np.array([-1e-7], dtype=np.float32), -1.0, np.float32(0.0), np.float32(1.0)) == [1.0]
