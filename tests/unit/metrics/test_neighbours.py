"""Neighbour metrics against plain loops, on data full of ties, and what draws must equal."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from textgauge.core.settings import limit_sizes
from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.corpus.nearest import (
    AverageHausdorff,
    DensityCoverage,
    Hausdorff,
    NearestPrecisionRecall,
    PrecisionRecall,
)
from textgauge.metrics.corpus_metric import CorpusMetric
from textgauge.metrics.grounds import find_nearest, is_loop_cheaper
from textgauge.metrics.numerics import neighbours

GROUNDS = ("euclidean", "cosine", "angular")
NEAREST_KINDS = (NearestPrecisionRecall, AverageHausdorff, Hausdorff)
BALL_KINDS = (PrecisionRecall, DensityCoverage)


def distance(x, y, ground):
    if ground == "euclidean":
        return math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))
    norms = math.hypot(*x) * math.hypot(*y)
    zeros_agree = float(not any(x) and not any(y))
    cos = sum(a * b for a, b in zip(x, y, strict=True)) / norms if norms else zeros_agree
    cos = max(-1.0, min(1.0, 1.0 if cos > 1 - 1e-14 else cos))
    return 1 - cos if ground == "cosine" else math.acos(cos) / math.pi


def table(X, Y, ground):
    return np.array([[distance(x, y, ground) for y in Y] for x in X]).astype(np.float32)


def twin_balls(X, Y, k, ground, closed):
    """Shares by plain loops, as the definitions read."""

    def radius(D, i):
        return sorted(np.delete(D[i], i))[k - 1]

    def inside(d, r):
        return d <= r if closed else d < r

    across, within_x, within_y = table(X, Y, ground), table(X, X, ground), table(Y, Y, ground)
    rx, ry = ([radius(D, i) for i in range(len(D))] for D in (within_x, within_y))
    in_x = np.array([[inside(across[i, j], rx[i]) for j in range(len(Y))] for i in range(len(X))])
    in_y = np.array([[inside(across[i, j], ry[j]) for j in range(len(Y))] for i in range(len(X))])
    return in_x.any(axis=0).mean(), in_y.any(axis=1).mean(), in_x.sum() / (k * len(Y)), in_x.any(axis=1).mean()


def f1(a, b):
    return 2 * a * b / (a + b) if a + b > 0 else 0.0


def values(metric, X, Y):
    comparison = Comparison(np.asarray(X, dtype=float), np.asarray(Y, dtype=float))
    return metric.on_given(comparison).compute(comparison)


def draws_of(rng, size, count, shares):
    left = rng.random((count, size)) < rng.choice(shares, (count, 1))
    right = rng.random((count, size)) < rng.choice(shares, (count, 1))
    return Draws(left, right)


def both_ways(metric, joint, draws):
    """Values from lists, and by looping over the draws."""
    assert not is_loop_cheaper(draws)
    return metric.compute_many(joint, draws), CorpusMetric.compute_many(metric, joint, draws)


small_grids = arrays(np.int64, st.tuples(st.integers(4, 9), st.just(2)), elements=st.integers(-2, 2))


@settings(max_examples=60, deadline=None)
@given(X=small_grids, Y=small_grids, k=st.integers(1, 3), closed=st.booleans(), ground=st.sampled_from(GROUNDS))
def test_balls_are_the_plain_loops(X, Y, k, closed, ground):
    ties = "closed" if closed else "open"
    precision, recall, density, coverage = twin_balls(X, Y, k, ground, closed)
    pr = values(PrecisionRecall(k=k, ties=ties, on=ground), X, Y)
    dc = values(DensityCoverage(k=k, ties=ties, on=ground), X, Y)
    assert pr == pytest.approx({"value": 1 - f1(precision, recall), "precision": precision, "recall": recall})
    assert dc == pytest.approx({"value": 1 - f1(min(density, 1), coverage), "density": density, "coverage": coverage})


@settings(max_examples=60, deadline=None)
@given(X=small_grids, Y=small_grids, ground=st.sampled_from(GROUNDS))
def test_nearest_metrics_are_the_plain_loops(X, Y, ground):
    D = np.array([[distance(x, y, ground) for y in Y] for x in X])
    forward, backward = D.min(axis=1), D.min(axis=0)
    near = 1e-7 if ground == "angular" else 1e-12  # arccos of a rounded cosine is off by the root of the rounding
    irpr = values(NearestPrecisionRecall(on=ground), X, Y)
    assert irpr["precision"] == pytest.approx(backward.mean(), abs=near)
    assert irpr["recall"] == pytest.approx(forward.mean(), abs=near)
    assert irpr["value"] == pytest.approx(f1(backward.mean(), forward.mean()), abs=near)
    ahd = values(AverageHausdorff(on=ground), X, Y)
    assert ahd["value"] == pytest.approx((forward.mean() + backward.mean()) / 2, abs=near)
    assert values(Hausdorff(on=ground), X, Y)["value"] == pytest.approx(max(forward.max(), backward.max()), abs=near)


@settings(max_examples=40, deadline=None)
@given(
    rows=arrays(np.int64, st.tuples(st.integers(8, 16), st.just(2)), elements=st.integers(-1, 1)),
    seed=st.integers(0, 10**6),
    kind=st.sampled_from([*BALL_KINDS, *NEAREST_KINDS]),
    ground=st.sampled_from(GROUNDS),
    ties=st.sampled_from(["closed", "open"]),
)
def test_draws_are_the_loop_on_ties(rows, seed, kind, ground, ties):
    rng = np.random.default_rng(seed)
    joint, draws = Corpus.of(rows.astype(float)), draws_of(rng, len(rows), 12, [0.3, 0.6, 1.0])
    options = {"k": 2, "ties": ties} if kind in BALL_KINDS else {}
    metric = kind(on=f"given:{ground}", **options)
    fast, loop = both_ways(metric, joint, draws)
    for name, numbers in loop.items():
        np.testing.assert_allclose(fast[name], numbers, rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("shares", [[0.05], [0.5], [0.1, 0.9]])
@pytest.mark.parametrize("kind", [*BALL_KINDS, *NEAREST_KINDS])
def test_draws_are_the_loop_on_embeddings(kind, shares, ground):
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((160, 12)).astype(np.float32)
    rows[100:130] = rows[:30]
    joint, draws = Corpus.of(rows), draws_of(rng, len(rows), 25, shares)
    fast, loop = both_ways(kind(on=f"given:{ground}"), joint, draws)
    for name, numbers in loop.items():
        np.testing.assert_allclose(fast[name], numbers, rtol=0, atol=1e-9, err_msg=name)
    assert shares == [0.05] or np.isfinite(fast["value"]).any()


def test_short_lists_are_completed():
    rng = np.random.default_rng(3)
    joint, draws = Corpus.of(rng.standard_normal((90, 4))), draws_of(rng, 90, 20, [0.4])
    for kind in (*BALL_KINDS, *NEAREST_KINDS):
        with limit_sizes(3 * 90):
            fast, loop = both_ways(kind(on="given"), joint, draws)
        np.testing.assert_allclose(fast["value"], loop["value"], rtol=0, atol=1e-12)


def test_distances_keep_their_digits_at_every_scale():
    rng = np.random.default_rng(6)
    for X in (
        rng.standard_normal((40, 300)),
        1e4 + rng.standard_normal((40, 300)).astype(np.float32),
        1e30 * rng.standard_normal((40, 5)),
        1e-30 * rng.standard_normal((40, 5)),
        rng.standard_normal((40, 5)) * 10.0 ** rng.integers(-6, 6, (40, 1)),
    ):
        (rows,) = neighbours.Rows.of(neighbours.Cloud.of(X))
        true = ((X[:, None].astype(float) - X[None]) ** 2).sum(axis=2)
        np.testing.assert_allclose(rows.squares(np.arange(40), rows), true, rtol=1e-11, atol=0)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("kind", [*BALL_KINDS, *NEAREST_KINDS])
def test_repeated_texts_are_at_zero_from_themselves(kind, ground):
    rng = np.random.default_rng(9)
    fifteen = np.repeat(rng.standard_normal((15, 384)).astype(np.float32), 10, axis=0)
    for rows in (fifteen, np.ones((12, 3)), np.zeros((12, 3)), rng.standard_normal((40, 384))):
        comparison = Comparison(rows, rows[::-1].copy())
        metric = kind(on=ground).on_given(comparison)
        assert metric.compute(comparison)["value"] == 0.0


def test_shared_texts_tie_exactly_across_corpora():
    rng = np.random.default_rng(10)
    pool = rng.standard_normal((300, 384)).astype(np.float32)
    pool /= np.linalg.norm(pool, axis=1, keepdims=True)
    X, Y = pool[:200], pool[100:]
    D = np.sqrt(((pool[:, None].astype(float) - pool[None]) ** 2).sum(axis=2)).astype(np.float32)
    rx = np.sort(D[:200, :200], axis=1)[:, 5]
    for ties, inside in (("closed", D[:200, 100:] <= rx[:, None]), ("open", D[:200, 100:] < rx[:, None])):
        dc = values(DensityCoverage(ties=ties), X, Y)
        assert dc["density"] == pytest.approx(inside.sum() / (5 * 200), abs=1e-12)
        assert dc["coverage"] == pytest.approx(inside.any(axis=1).mean(), abs=1e-12)


def test_nearest_gives_distance_and_first_position():
    X, Y = np.array([[0.0], [10.0], [0.0]]), np.array([[11.0], [1.0], [1.0]])
    of_reference, of_candidate = find_nearest(Comparison(X, Y), "given:euclidean")
    assert of_reference.distances.tolist() == [1.0, 1.0, 1.0]
    assert of_reference.at.tolist() == [1, 0, 1]
    assert of_candidate.at.tolist() == [1, 0, 0]


def test_work_is_shared_between_metrics(monkeypatch):
    passes = []
    sift = neighbours.Rows.sift
    monkeypatch.setattr(neighbours.Rows, "sift", lambda *args: passes.append(1) or sift(*args))
    rng = np.random.default_rng(12)
    comparison = Comparison(rng.standard_normal((50, 4)), rng.standard_normal((50, 4)))
    for metric in (PrecisionRecall(), DensityCoverage()):
        metric.on_given(comparison).compute(comparison)
    assert len(passes) == 3  # within each corpus, and across
    for metric in (NearestPrecisionRecall(), AverageHausdorff(), Hausdorff()):
        metric.on_given(comparison).compute(comparison)
    assert len(passes) == 4  # across, both ways


def test_compcor_divides_by_the_other_size():
    rng = np.random.default_rng(13)
    X, Y = rng.standard_normal((10, 4)), rng.standard_normal((40, 4))
    right, theirs = (values(NearestPrecisionRecall(compat=compat), X, Y) for compat in ("none", "compcor"))
    assert theirs["precision"] == pytest.approx(right["precision"] * 4)
    assert theirs["recall"] == pytest.approx(right["recall"] / 4)


def test_bounds_follow_the_ground():
    assert NearestPrecisionRecall().bounds == (0.0, 2.0)
    assert AverageHausdorff(on="angular").bounds == (0.0, 1.0)
    assert Hausdorff(on="euclidean").bounds == (0.0, math.inf)
    assert NearestPrecisionRecall(compat="compcor").bounds == (0.0, math.inf)
