"""Meta-evaluation against mt-metrics-eval: stored numbers on an input made by arithmetic.

The oracle is google-research/mt-metrics-eval: stats.py at commit 544e0fc0, tau_optimization.py at 0b82d96b, run with
numpy 2.4.6 and scipy 1.17.1. The package of that name on PyPI (0.0.1) is something else. Run were the functions below
and what they call, taken over from these files; they give what the repository's own tests expect of them. With gold and
metric as lists, None for a missing rating, `by` one of none, sys, item:

stats.AverageCorrelation(scipy.stats.pearsonr, 6, by)(gold, metric)[0]                             # and spearmanr
stats.AverageCorrelation(stats.KendallVariants, 6, by, variant=v, epsilon=e)(gold, metric)[0]      # b, c, 23, acc23
stats.KendallWithTiesOpt(gold, metric, v, 6, by, 1.0)[:2]                                          # opt
stats.WilliamsTest(r1, r2, r12, n), stats.WilliamsTest(r1, r2, r12, n, one_sided=False)
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from textgauge.stats.correlation import averaged, complete, pearson, spearman
from textgauge.stats.dependent import williams_test
from textgauge.stats.kendall import accuracy_eq, kendall_b, kendall_c, tau_eq
from textgauge.stats.ties import calibrate_ties

EXPECTED = {
    "none": {
        "pearson": 0.7868704700062474, "spearman": 0.6679401707672842, "b": 0.5542746673432438,
        "c": 0.4557291666666667, "23": -0.10448179271708684, "acc23": 0.4477591036414566,
        "acc23@0.3": 0.6224089635854342, "opt acc23": 0.7401960784313726, "opt epsilon": 0.8571428571428572,
        "opt 23": 0.4803921568627451,
    },
    "sys": {
        "pearson": 0.786502334437346, "spearman": 0.6677318538886716, "b": 0.5595936550231809,
        "c": 0.5468055555555554, "23": -0.12982456140350876, "acc23": 0.43508771929824563,
        "acc23@0.3": 0.6035087719298246, "opt acc23": 0.7587719298245578, "opt epsilon": 0.8571428571428572,
        "opt 23": 0.5175438596491235,
    },
    "item": {
        "pearson": 0.794605513511653, "spearman": 0.7090262837002402, "b": 0.6440224738883829,
        "c": 0.6177983539094649, "23": -0.03333333333333333, "acc23": 0.4833333333333332,
        "acc23@0.3": 0.6133333333333333, "opt acc23": 0.723333333333333, "opt epsilon": 0.6428571428571429,
        "opt 23": 0.4466666666666662,
    },
    "none-missing": {
        "pearson": 0.8100271272387076, "spearman": 0.7056094179675453, "b": 0.583642464575723,
        "c": 0.5023948354852145, "23": -0.038922785609088996, "acc23": 0.4805386071954555,
        "acc23@0.3": 0.6421207658321061, "opt acc23": 0.7357458447296444, "opt epsilon": 0.7857142857142857,
        "opt 23": 0.4714916894592889,
    },
    "sys-missing": {
        "pearson": 0.8011944246508036, "spearman": 0.7004023686227369, "b": 0.585587403665205,
        "c": 0.6030973663975394, "23": -0.07990196078431372, "acc23": 0.4600490196078431,
        "acc23@0.3": 0.6200163398692811, "opt acc23": 0.7627450980392158, "opt epsilon": 0.8571428571428572,
        "opt 23": 0.5254901960784307,
    },
    "item-missing": {
        "pearson": 0.8523446423778006, "spearman": 0.7768119742494034, "b": 0.7134221929866742,
        "c": 0.7069675925925926, "23": 0.042105263157894736, "acc23": 0.5210526315789474,
        "acc23@0.3": 0.6403508771929824, "opt acc23": 0.7298245614035089, "opt epsilon": 0.6428571428571429,
        "opt 23": 0.4596491228070174,
    },
}  # fmt: skip
WILLIAMS = [
    (0.8, 0.72, 0.89, 26, 0.09340200241693257, 0.18680400483386514),
    (0.3, 0.5, 0.1, 103, 0.04357987129796486, 0.08715974259592972),
    (0.61, 0.6, 0.2, 13225, 0.09647170976361713, 0.19294341952723426),
]
CORRELATIONS = {
    "pearson": pearson,
    "spearman": spearman,
    "b": kendall_b,
    "c": kendall_c,
    "23": tau_eq,
    "acc23": accuracy_eq,
    "acc23@0.3": partial(accuracy_eq, epsilon=0.3),
}


def shared(case):
    """Gold ratings with many ties, a metric, and the groups of a case; rows without a rating left out."""
    system, item = (grid.ravel() for grid in np.mgrid[:6, :20])
    gold = np.maximum((3 * system + 7 * item + system * item * item) % 11 - 6, 0).astype(float)
    metric = gold / 3 + (5 * system * system + 3 * item**3 + system * item) % 17 / 14
    by, _, missing = case.partition("-")
    if missing:
        gold[(np.arange(len(gold)) % 7 == 3) | (item == 4)] = np.nan
    group = {"none": np.zeros_like(item), "sys": system, "item": item}[by]
    rated = complete(gold, metric)
    return gold[rated], metric[rated], group[rated]


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize("case", EXPECTED)
def test_correlations_are_those_of_mt_metrics_eval(case, name):
    gold, metric, group = shared(case)
    assert averaged(CORRELATIONS[name], group)(gold, metric) == pytest.approx(EXPECTED[case][name], rel=0, abs=1e-9)


@pytest.mark.parametrize("case", EXPECTED)
def test_tie_calibration_is_that_of_mt_metrics_eval(case):
    gold, metric, group = shared(case)
    found = calibrate_ties(gold, metric, group, limit=None)
    assert found.epsilon == pytest.approx(EXPECTED[case]["opt epsilon"], rel=0, abs=1e-12)
    assert found.accuracy == pytest.approx(EXPECTED[case]["opt acc23"], rel=0, abs=1e-9)
    assert 2 * found.accuracy - 1 == pytest.approx(EXPECTED[case]["opt 23"], rel=0, abs=1e-9)


@pytest.mark.parametrize(("first", "second", "between", "n", "one_sided", "two_sided"), WILLIAMS)
def test_williams_test_is_that_of_mt_metrics_eval(first, second, between, n, one_sided, two_sided):
    found = williams_test(first, second, between, n)
    assert min(found.p_larger, found.p_smaller) == pytest.approx(one_sided, rel=0, abs=1e-9)
    assert found.p == pytest.approx(two_sided, rel=0, abs=1e-9)
