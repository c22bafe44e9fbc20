"""Passes over pairs tell a listener how far they are, and end with all pairs."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import numpy as np

from textgauge.encode.grounds import euclidean
from textgauge.numerics.kernel_sums import row_sums
from textgauge.numerics.neighbour_blocks import Reach, balls_both, nearest_both
from textgauge.numerics.neighbour_rows import Cloud
from textgauge.numerics.progress import listening


def passes(work):
    found = []
    with listening(lambda done, total: found.append((done, total))):
        work()
    return [list(some) for _, some in groupby(found, key=itemgetter(1))]


def test_every_pass_rises_to_its_total():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(1_300, 4)), rng.normal(size=(2_100, 4))
    P, Q = Cloud.of(X, "euclidean"), Cloud.of(Y, "euclidean")
    across, half = 1_300 * 2_100, (1_300**2 // 2, 2_100**2 // 2)
    for work, totals in (
        (lambda: nearest_both(P, Q), [across]),
        (lambda: balls_both(P, Q, (Reach(P), Reach(Q)), k=3, closed=True), [*half, across]),
        (lambda: row_sums(X, Y, euclidean), [*half, across]),
    ):
        told = passes(work)
        assert [one[-1] for one in told] == [(total, total) for total in totals]
        assert all(len(one) > 1 for one in told)


def test_nobody_need_listen():
    rows = np.eye(3)
    assert row_sums(rows, rows, euclidean).xy.shape == (3,)
