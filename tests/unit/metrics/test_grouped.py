"""Groups of texts stand in for texts: sums add up, exchanges are balanced, tests and intervals keep their level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge.data import GIVEN, Draws
from textgauge.data.pool import row_keys
from textgauge.data.stream import StreamPart
from textgauge.metrics import get_corpus_metrics, grouped
from textgauge.metrics.score import Score
from textgauge.metrics.sums import DIRECTIONS, SCATTER, SQUARES, SUM, CorpusSums, SumsWanted, sum_partition
from textgauge.metrics.uncertainty import Parts, student_reach

METRICS = [metric.on_embeddings() for metric in get_corpus_metrics("energy,medoid,ttest,fid")]


def summed(rows, groups, centre, size=None):
    wanted = SumsWanted(
        embeddings=((GIVEN, (SUM, SQUARES, SCATTER, DIRECTIONS)),), centres=((GIVEN, centre),), groups=groups
    )
    sums = CorpusSums({}, wanted)
    for start in range(0, len(rows), size or len(rows)):
        sums.add(sum_partition(StreamPart(rows=rows[start : start + (size or len(rows))]), wanted))
    return sums


@settings(max_examples=30)
@given(n=st.integers(50_000, 10**7), m=st.integers(50_000, 10**7))
def test_groups_of_both_corpora_are_of_about_one_size(n, m):
    found = grouped.group_numbers(n, m)
    if found is None:
        assert max(n, m) > 7 * min(n, m)
        return
    assert sum(found) == grouped.GROUPS
    assert abs(found[0] / grouped.GROUPS - n / (n + m)) <= 1 / 16
    comparison = grouped.units(
        summed(np.ones((2, 1)), found[0], np.ones(1)), summed(np.ones((2, 1)), found[1], np.ones(1))
    )
    draws = grouped.exchanges(comparison, 5, 0)
    assert (draws.left ^ draws.right).all()
    for left in draws.left[1:]:
        assert left.sum() == found[0]
        assert left[: found[0]].mean() == left[found[0] :].mean()  # the same share of either corpus


def test_sums_of_groups_are_sums_of_their_rows():
    rows = np.random.default_rng(0).normal(size=(300, 3)) + 5
    rows[7] = 0
    centre = rows[:20].mean(axis=0)
    sums = summed(rows, 8, centre, size=64)
    mask = np.array([True, False, True, True, False, False, True, False])
    chosen = rows[mask[row_keys(rows) % np.uint64(8)]]
    total = sums.total(mask)
    assert total.texts == len(chosen)
    lengths = np.linalg.norm(chosen, axis=1)
    units = chosen / np.where(lengths > 0, lengths, 1)[:, None]
    for kind, expected in (
        (SUM, (chosen - centre).sum(axis=0)),
        (SQUARES, ((chosen - centre) ** 2).sum(axis=0)),
        (SCATTER, (chosen - centre).T @ (chosen - centre)),
        (DIRECTIONS, np.append(units.sum(axis=0), (lengths == 0).sum())),
    ):
        np.testing.assert_allclose(total.of(GIVEN, kind), expected, rtol=1e-12, atol=1e-12)


def test_values_of_a_draw_are_those_of_its_rows():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(200, 3)), rng.normal(size=(160, 3)) + 0.3
    centre = X.mean(axis=0)
    sides = summed(X, 4, centre), summed(Y, 4, centre)
    left = np.array([True, True, False, False, False, True, False, False])
    members = [row_keys(rows) % np.uint64(4) for rows in (X, Y)]
    in_left = np.concatenate([left[:4][members[0]], left[4:][members[1]]])
    joint = np.vstack([X, Y])
    found = grouped.values_of_draws(METRICS, sides, Draws(left[None], ~left[None]))
    for metric, values in zip(METRICS, found, strict=True):
        expected = metric(joint[in_left], joint[~in_left]).value
        assert values["value"][0] == pytest.approx(expected, rel=1e-9)


def simulated(rng, n, m, shift):
    scale = 1 / np.sqrt(1 + np.arange(20))
    X, Y = (1 + scale * rng.normal(size=(size, 20)) for size in (n, m))
    Y[:, 0] += shift
    first, second = grouped.group_numbers(n, m)
    sides = summed(X, first, X[:100].mean(axis=0)), summed(Y, second, X[:100].mean(axis=0))
    return sides, grouped.units(*sides)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(2_000, 2_000), (3_000, 1_000), (2_000, 1_500)])
def test_one_source_is_seldom_called_two(n, m):
    rng = np.random.default_rng(7)
    p, ratio = [], []
    for run in range(200):
        sides, units = simulated(rng, n, m, 0.0)
        found = grouped.values_of_draws(METRICS, sides, grouped.exchanges(units, 99, run))
        nulls = [grouped.null_of(metric, values) for metric, values in zip(METRICS, found, strict=True)]
        p.append([null.p_value for null in nulls])
        ratio.append([null.observed / null.mean for null in nulls])
    print(n, m, (np.array(p) <= 0.05).mean(axis=0), np.mean(ratio, axis=0))
    assert ((np.array(p) <= 0.05).mean(axis=0) <= 0.09).all()  # 5 % and three standard errors
    assert (abs(np.mean(ratio, axis=0) - 1) < 0.1).all()


@pytest.mark.slow
def test_intervals_cover_the_expected_value():
    rng = np.random.default_rng(8)
    values, ends = [], []
    for run in range(200):
        sides, units = simulated(rng, 2_000, 1_500, 0.3)
        parts, reach = Parts.of(units, trials=grouped.TRIALS, seed=run), student_reach(0.95, units)
        drawn = grouped.values_of_draws(METRICS, sides, parts.draws)
        P, Q = (side.total() for side in sides)
        values.append([metric.of_sums(P, Q)["value"] for metric in METRICS])
        scores = [Score(metric=metric.key, value=value) for metric, value in zip(METRICS, values[-1], strict=True)]
        exchanged = grouped.values_of_draws(METRICS, sides, grouped.exchanges(units, 60, run))
        nulls = [grouped.null_of(*one) for one in zip(METRICS, exchanged, strict=True)]
        found = [
            grouped.interval(metric, score, some, parts, reach, null)
            for metric, score, some, null in zip(METRICS, scores, drawn, nulls, strict=True)
        ]
        ends.append([(score.low, score.high) for score in found])
    expected, offered = np.mean(values, axis=0), ~np.isnan(np.array(ends)[0, :, 0])
    inside = (np.array(ends)[:, :, 0] <= expected) & (expected <= np.array(ends)[:, :, 1])
    print(inside.mean(axis=0))
    assert (inside.mean(axis=0)[offered] >= 0.9).all()
    assert offered.any()
