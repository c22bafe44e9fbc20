"""Meta-evaluation against mt-metrics-eval: the numbers that its own files gave on the shared input of mtme.py."""

import json
from functools import partial

import numpy as np
import pytest
from tests.golden import mtme

from textgauge.bench.protocols.agreement import measure_between_groups
from textgauge.stats.correlation import average_over_groups, find_complete_rows, pearson, spearman
from textgauge.stats.orders import (
    accuracy_eq,
    calibrate_ties,
    compute_soft_accuracy,
    estimate_superiority,
    kendall_b,
    kendall_c,
)
from textgauge.stats.paired_tests import run_williams_test


def tau_eq(gold, metric, epsilon=0.0):
    return 2 * accuracy_eq(gold, metric, epsilon=epsilon) - 1


EXPECTED = json.loads(mtme.PLACE.read_text(encoding="utf-8"))
CORRELATIONS = {
    "pearson": pearson,
    "spearman": spearman,
    "b": kendall_b,
    "c": kendall_c,
    "23": tau_eq,
    "acc23": accuracy_eq,
    "23@0.3": partial(tau_eq, epsilon=mtme.EPSILON),
    "acc23@0.3": partial(accuracy_eq, epsilon=mtme.EPSILON),
}
near = partial(pytest.approx, rel=0, abs=1e-9)


def rated(case):
    """The shared input without the rows that have no rating."""
    gold, metric, group = mtme.shared(case)
    known = find_complete_rows(gold, metric)
    return gold[known], metric[known], group[known]


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize("case", mtme.CASES)
def test_correlations_are_those_of_mt_metrics_eval(case, name):
    gold, metric, group = rated(case)
    assert average_over_groups(CORRELATIONS[name], group)(gold, metric) == near(EXPECTED["cases"][case][name])


@pytest.mark.parametrize("case", mtme.CASES)
def test_tie_calibration_is_that_of_mt_metrics_eval(case):
    found, expected = calibrate_ties(*rated(case), limit=None), EXPECTED["cases"][case]
    assert found.accuracy == near(expected["opt acc23"])
    assert 2 * found.accuracy - 1 == near(expected["opt 23"])
    assert found.epsilon == near(expected["opt acc23 epsilon"])


@pytest.mark.parametrize("case", ["none", "none-missing"])
def test_pairwise_accuracy_of_means_is_that_of_mt_metrics_eval(case):
    gold, metric = mtme.means(case)
    level = measure_between_groups("system", metric, gold, np.arange(len(gold)))
    found = dict(zip(level.names, level.values, strict=True))
    assert found["system_accuracy"] == near(EXPECTED["cases"][case]["agreement of means"])


def test_soft_pairwise_accuracy_is_that_of_mt_metrics_eval():
    gold, metric, _ = mtme.shared("none")
    # The signs that its compute_pairwise_p_values draws.
    drawn = np.random.default_rng(4).random(size=(1_000, len(gold) // mtme.SYSTEMS), dtype=np.float32)
    signs = np.where(np.rint(drawn) > 0, 1.0, -1.0)
    people, mine = (estimate_superiority(column.reshape(mtme.SYSTEMS, -1), signs) for column in (gold, 42 * metric))
    assert compute_soft_accuracy(people, mine) == near(EXPECTED["cases"]["none"]["soft accuracy"])


@pytest.mark.parametrize(("row", "expected"), list(zip(mtme.CORRELATIONS, EXPECTED["williams"], strict=True)))
def test_williams_test_is_that_of_mt_metrics_eval(row, expected):
    found = run_williams_test(*row)
    assert min(found.p_larger, found.p_smaller) == near(expected["one_sided"])
    assert found.p == near(expected["two_sided"])


@pytest.mark.slow
def test_the_oracle_still_says_so():
    pytest.importorskip("mt_metrics_eval.stats", reason="mt-metrics-eval is not on the path")
    found = mtme.made()
    assert found["williams"] == [near(row) for row in EXPECTED["williams"]]
    assert found["cases"] == {case: near(row) for case, row in EXPECTED["cases"].items()}
