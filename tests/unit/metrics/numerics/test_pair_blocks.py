"""Passes over all pairs: the same answers in any blocks and company, sums as in float64, and how far they are."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import numpy as np
import pytest

from textgauge.core import progress
from textgauge.core.sizes import cap_sizes
from textgauge.data import Comparison
from textgauge.encode.grounds import euclidean, squared_euclidean
from textgauge.metrics.corpus.kernels import Mmd
from textgauge.metrics.numerics.kernel_sums import row_sums
from textgauge.metrics.numerics.neighbour_blocks import Balls, Reach
from textgauge.metrics.numerics.neighbour_rows import Cloud
from textgauge.metrics.numerics.pair_blocks import BallsHeld, DistanceSums, GaussianSums, NearestRows, PairPasses

ASKED = (NearestRows(), GaussianSums(1.5), *(BallsHeld(k, closed) for k in (1, 5) for closed in (True, False)))


def passes_of(X, Y):
    reaches = [tuple(Reach(Cloud.of(rows, ground)) for rows in (X, Y)) for ground in ("euclidean", "cosine")]
    return PairPasses(lambda directions: reaches[directions])


def some_rows():
    rng = np.random.default_rng(5)
    X, Y = rng.standard_normal((150, 6)), rng.standard_normal((130, 6))
    Y[:20], Y[-10:] = X[:20], Y[0]
    return X, Y


def flat(answer):
    for one in answer:
        yield from vars(one).values() if isinstance(one, Balls) else one if isinstance(one, tuple) else [one]


@pytest.mark.parametrize("most", [16, 50])
def test_small_blocks_one_by_one_find_what_one_large_block_finds(most):
    whole, parts = passes_of(*some_rows()), passes_of(*some_rows())
    for request in ASKED:
        whole.ask(request)
    for request in ASKED:
        exact = not isinstance(request, GaussianSums)
        with cap_sizes(most):
            found = parts.answer(request)
        for one, other in zip(flat(whole.answer(request)), flat(found), strict=True):
            np.testing.assert_allclose(one, other, rtol=0 if exact else 1e-5)


@pytest.mark.parametrize("stretch", [1.0, 3.0, 50.0, 0.0])
@pytest.mark.parametrize("far", [0.0, 30.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_directions_from_the_products_of_rows_are_those_of_their_own_pass(stretch, far, dtype):
    X, Y = ((rows + far).astype(dtype) for rows in some_rows())
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    Y[::7] *= 1.3
    X[:40] = stretch * Y[60:100]  # the same directions; zero vectors have none
    alone, together = passes_of(X, Y), passes_of(X, Y)
    together.ask(NearestRows(directions=True))
    with cap_sizes(32):
        together.answer(NearestRows())
    wanted, found = (some.answer(NearestRows(directions=True)) for some in (alone, together))
    for one, other in zip(flat(wanted), flat(found), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize(("longest", "blocks"), [(3.0, 1), (30.0, 2)])
def test_rows_about_equally_long_need_one_pass_for_both_distances(longest, blocks):
    X, Y = some_rows()
    X, Y = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (X, Y))
    Y[0] *= longest
    passes = passes_of(X, Y)
    passes.ask(NearestRows(directions=True))
    (told,) = reports(lambda: passes.answer(NearestRows()))
    sizes = [len(Cloud.of(rows, "euclidean")) for rows in (X, Y)]
    assert told[-1] == (blocks * sizes[0] * sizes[1],) * 2


def test_company_changes_no_bit_of_a_sum():
    alone, together = passes_of(*some_rows()), passes_of(*some_rows())
    for request in ASKED:
        together.ask(request)
    for one, other in zip(alone.answer(ASKED[1]), together.answer(ASKED[1]), strict=True):
        assert one.tobytes() == other.tobytes()


def test_sums_of_kernels_and_distances_are_those_of_all_texts():
    X, Y = some_rows()
    passes, (P, Q) = passes_of(X, Y), (Cloud.of(rows, "euclidean").inverse for rows in (X, Y))
    xx, yy, xy, yx = passes.answer(GaussianSums(1.5))
    kernels = [np.exp(-squared_euclidean(a, b) / (2 * 1.5**2)) for a, b in ((X, X), (Y, Y), (X, Y))]
    np.testing.assert_allclose(xx[P], kernels[0].sum(axis=1) - 1, rtol=1e-5)
    np.testing.assert_allclose(yy[Q], kernels[1].sum(axis=1) - 1, rtol=1e-5)
    np.testing.assert_allclose(xy[P], kernels[2].sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(yx[Q], kernels[2].sum(axis=0), rtol=1e-5)
    across = passes.answer(DistanceSums("euclidean"))
    np.testing.assert_allclose(across[0][P], euclidean(X, Y).sum(axis=1), rtol=1e-3)  # equal rows err most
    np.testing.assert_allclose(across[1][Q][30:-10], euclidean(X, Y).sum(axis=0)[30:-10], rtol=1e-5)


@pytest.mark.long
def test_mmd_of_many_texts_is_the_one_of_double_precision():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((4_100, 24)).astype(np.float32)
    Y = (0.05 + rng.standard_normal((4_050, 24))).astype(np.float32)
    Y[:100] = Y[0]
    comparison = Comparison(X, Y)
    metric = Mmd(on="given:euclidean")
    width = metric.shared_width(comparison)
    sums = row_sums(X.astype(float), Y.astype(float), lambda a, b: np.exp(-squared_euclidean(a, b) / (2 * width**2)))
    assert metric.compute(comparison)["value"] == pytest.approx(sums.discrepancy(with_self=False), rel=0, abs=1e-8)


def reports(work):
    found = []
    with pytest.MonkeyPatch.context() as patch, progress.listen(lambda stage: found.append((stage.done, stage.total))):
        patch.setattr(progress, "SECONDS_BETWEEN", 0.0)
        work()
    return [list(some) for _, some in groupby(found, key=itemgetter(1))]


def test_all_passes_together_rise_to_their_total():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(1_300, 4)), rng.normal(size=(2_100, 4))
    across, halves = 1_300 * 2_100, 1_300 * 1_301 // 2 + 2_100 * 2_101 // 2

    def asked(*requests):
        passes = passes_of(X, Y)
        for request in requests:
            passes.ask(request)
        return lambda: passes.answer(requests[0])

    for work, total in (
        (asked(NearestRows()), across),
        (asked(BallsHeld(3, True)), halves + across),
        (asked(*ASKED), halves + across),
        (lambda: row_sums(X, Y, euclidean), halves + across),
    ):
        (told,) = reports(work)
        assert told[-1] == (total, total)
        assert len(told) > 2
        assert told[0][0] < total / 2
        assert told == sorted(told)


def test_an_interrupted_search_is_made_again(monkeypatch):
    X, Y = some_rows()
    passes = passes_of(X, Y)
    with monkeypatch.context() as patched:
        patched.setattr(
            "textgauge.metrics.numerics.pair_blocks.visit", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            passes.answer(BallsHeld(5, True))
    again, fresh = (some.answer(BallsHeld(5, True)) for some in (passes, passes_of(X, Y)))
    assert all(np.array_equal(a, b) for a, b in zip(flat(again), flat(fresh), strict=True))
