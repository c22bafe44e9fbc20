"""The solver and the radial kernel against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.numerics.native import kernels
from textgauge.numerics.svm_kernel import ABOVE_ONE
from textgauge.numerics.svm_solver import TOLERANCE, _intercept, solve, solve_by_numpy

pytestmark = pytest.mark.skipif(not kernels.built(), reason="the kernels are not compiled")


def curvature_of(rows):
    squared = ((rows[:, None] - rows) ** 2).sum(axis=2)
    return (ABOVE_ONE - np.exp(-squared / rows.shape[1])).astype(np.float32)


def cloud(seed, n, d=4, digits=6):
    return np.random.default_rng(seed).standard_normal((n, d)).round(digits)


def equal_to_the_bit(curvature, labels):
    beta, rise, fall = kernels.svm(curvature, labels, tolerance=TOLERANCE)
    expected, intercept = solve_by_numpy(curvature, labels)
    assert beta.tobytes() == expected.tobytes()
    assert _intercept(rise, fall) == intercept
    assert solve(curvature, labels)[1] == intercept


class TestSolver:
    @pytest.mark.parametrize("n", [2, 3, 7, 8, 9, 16, 31, 150, 401])
    @pytest.mark.parametrize("digits", [6, 0])  # whole numbers bring copies, with either label
    def test_bit_for_bit_that_of_numpy(self, n, digits):
        labels = np.where(np.arange(n) % 2, 1, -1).astype(np.float32)
        equal_to_the_bit(curvature_of(cloud(n, n, digits=digits)), labels)

    @pytest.mark.parametrize("few", [1, 5])
    def test_few_of_one_label(self, few):
        labels = np.where(np.arange(60) < few, 1, -1).astype(np.float32)
        equal_to_the_bit(curvature_of(cloud(1, 60)), labels)

    def test_all_rows_equal(self):
        equal_to_the_bit(curvature_of(np.ones((20, 3))), np.where(np.arange(20) < 9, 1, -1).astype(np.float32))

    @pytest.mark.parametrize("label", [-1, 1])
    def test_one_label_is_no_problem(self, label):
        curvature = curvature_of(cloud(2, 10))
        assert not kernels.svm(curvature, np.full(10, label, dtype=np.float32), tolerance=TOLERANCE)[0].any()

    def test_a_wide_tolerance_stops_early(self):
        labels = np.where(np.arange(50) % 2, 1, -1).astype(np.float32)
        curvature = curvature_of(cloud(3, 50))
        assert not kernels.svm(curvature, labels, tolerance=3)[0].any()
        assert kernels.svm(curvature, labels, tolerance=1.0)[0].any()

    @given(st.integers(2, 40), st.integers(0, 2**32 - 1), st.integers(0, 2), st.integers(1, 39))
    def test_any_small_problem(self, n, seed, digits, positive):
        labels = np.where(np.arange(n) < max(1, min(positive, n - 1)), 1, -1).astype(np.float32)
        equal_to_the_bit(curvature_of(cloud(seed, n, 2, digits)), np.random.default_rng(seed).permutation(labels))


def products_of(rows):
    """Products of rows, those of each with itself, and the curvature that they stand for."""
    products, squares = kernels.products(rows), kernels.squares(rows)
    squared = (squares[:, None] + squares) - np.float32(2.0) * products
    return products, squares, kernels.rbf(squared, -0.3, ABOVE_ONE, -1.0)


def by_products(products, places, squares, labels):
    return kernels.svm_by_products(products, places, squares, labels, factor=-0.3, above=ABOVE_ONE, tolerance=TOLERANCE)


class TestSolverByProducts:
    rows = cloud(5, 90).astype(np.float32)

    @pytest.mark.parametrize(
        "places",
        [np.arange(90), np.arange(3, 80, 2), np.array([7, 7, 1, 88, 1, 40, 7]), np.arange(90)[::-1].copy()],
        ids=["all", "some", "copies", "turned"],
    )
    def test_bit_for_bit_that_of_the_curvature(self, places):
        products, squares, curvature = products_of(self.rows)
        before, labels = products.copy(), np.where(np.arange(len(places)) % 3, 1, -1).astype(np.float32)
        expected = kernels.svm(np.ascontiguousarray(curvature[np.ix_(places, places)]), labels, tolerance=TOLERANCE)
        found = by_products(products, places, squares[places], labels)
        assert [part.tobytes() for part in found] == [part.tobytes() for part in expected]
        assert (products == before).all()

    def test_in_the_place_of_the_products(self):
        products, squares, curvature = products_of(self.rows)
        labels = np.where(np.arange(90) % 2, 1, -1).astype(np.float32)
        expected = kernels.svm(curvature, labels, tolerance=TOLERANCE)
        assert (by_products(products, None, squares, labels)[0] == expected[0]).all()

    def test_only_rows_that_are_looked_at_are_made(self):
        rows = np.vstack([self.rows[:5], self.rows[5:] + 9.0])
        products, squares, curvature = products_of(rows)
        before, labels = products.copy(), np.where(np.arange(90) < 5, 1, -1).astype(np.float32)
        beta, _, _ = by_products(products, None, squares, labels)
        made = (products != before).any(axis=1)
        assert made[beta != 0].all()
        assert 0 < made.sum() < 90
        assert (products[made] == curvature[made]).all()


class TestWeighted:
    left, right = cloud(1, 9).astype(np.float32), cloud(2, 21).astype(np.float32)
    weights = np.random.default_rng(3).standard_normal(21)

    def decide(self, left, right):
        products, squares = (
            kernels.products(self.left, self.right),
            (kernels.squares(self.left), kernels.squares(self.right)),
        )
        squares = squares[0][left], squares[1][right]
        return kernels.rbf_weighted(products, (left, right), squares, self.weights[right], factor=-0.3)

    def test_is_the_sum(self):
        squared = ((self.left[:, None].astype(np.float64) - self.right) ** 2).sum(axis=2)
        found = self.decide(np.arange(9), np.arange(21))
        assert found == pytest.approx(np.exp(-0.3 * squared) @ self.weights, abs=1e-5)

    def test_of_some(self):
        right = np.array([20, 3, 4, 4, 9, 0, 1, 2, 5, 6, 7])
        some = self.decide(np.array([8, 2, 2]), right)
        assert (some == self.decide(np.arange(9), right)[[8, 2, 2]]).all()
        assert len(self.decide(np.arange(0), right)) == 0

    def test_of_none_it_is_zero(self):
        assert (self.decide(np.arange(9), np.arange(0)) == 0.0).all()


def ulps(found, exact):
    return np.abs(found.astype(np.float64) - exact) / np.spacing(exact.astype(np.float32)).astype(np.float64)


class TestRbf:
    def test_is_exp(self):
        exponents = -np.linspace(0.0, 86.9, 500_001, dtype=np.float32)
        exact = np.exp(exponents.astype(np.float64))
        assert ulps(kernels.rbf(exponents.copy(), 1.0, 0.0, 1.0), exact).max() <= 3.0

    def test_of_the_smallest_exponents(self):
        exponents = -np.geomspace(1e-45, 1e-3, 10_000).astype(np.float32)
        exact = np.exp(exponents.astype(np.float64))
        assert ulps(kernels.rbf(exponents.copy(), 1.0, 0.0, 1.0), exact).max() <= 3.0

    def test_above_zero_it_is_one(self):
        above = np.array([0.0, 1e-45, 1e-7, 1.0, 88.0, 3e38, np.inf], dtype=np.float32)
        assert (kernels.rbf(above, 1.0, 0.0, 1.0) == 1.0).all()

    def test_far_below_it_is_zero(self):
        below = np.array([-87.0, -87.5, -88.0, -104.0, -1e30, -np.inf], dtype=np.float32)
        assert (kernels.rbf(below, 1.0, 0.0, 1.0) == 0.0).all()

    @pytest.mark.parametrize("size", [0, 1, 5, 8, 33])
    def test_factor_start_and_sign(self, size):
        squared = np.random.default_rng(size).uniform(0.0, 9.0, size).astype(np.float32)
        exact = 1.5 - 0.25 * np.exp(-0.7 * squared.astype(np.float64))
        found = kernels.rbf(squared, -0.7, 1.5, -0.25)
        assert found is squared
        assert found == pytest.approx(exact, abs=3e-7)

    def test_place_in_the_array_does_not_matter(self):
        squared = np.random.default_rng(0).uniform(0.0, 90.0, 77).astype(np.float32)
        alone = [kernels.rbf(squared[at : at + 1].copy(), -1.0, 0.0, 1.0)[0] for at in range(77)]
        assert (kernels.rbf(squared.copy(), -1.0, 0.0, 1.0) == alone).all()


class TestPicked:
    @pytest.mark.parametrize(
        ("left", "right"), [([3, 0, 3], [5, 1, 4, 4, 2, 0, 5, 3, 1, 1]), ([], [1]), ([2], []), ([5], [5])]
    )
    def test_equals_rbf_of_the_picked(self, left, right):
        squared = np.random.default_rng(1).uniform(0.0, 20.0, (6, 6)).astype(np.float32)
        before, left, right = squared.copy(), np.array(left, dtype=np.intp), np.array(right, dtype=np.intp)
        found = kernels.rbf_picked(squared, left, right, -0.3, 1.0, -1.0)
        assert (squared == before).all()
        assert (found == kernels.rbf(squared[np.ix_(left, right)], -0.3, 1.0, -1.0)).all()
        assert found.shape == (len(left), len(right))

    def test_narrow_places(self):
        squared = np.arange(9, dtype=np.float32).reshape(3, 3)
        places = np.array([2, 0], dtype=np.int32)
        found = kernels.rbf_picked(squared, places, places, -1.0, 0.0, 1.0)
        assert found == pytest.approx(np.exp(-squared[np.ix_(places, places)]), rel=1e-6)
