"""Make mtme.json: correlations with ties by google-research/mt-metrics-eval, its own files run as they are.

The package of that name on PyPI (0.0.1) is something else. With stats.py of commit 544e0fc0, tau_optimization.py of
0b82d96b and pce.py (which stats.py imports) of 1b47eab4 in FOLDER/mt_metrics_eval, and numpy and scipy installed:
PYTHONPATH=FOLDER python -m tests.golden.mtme
"""

from __future__ import annotations

import json
from importlib.metadata import version
from itertools import product
from pathlib import Path

import numpy as np

PLACE = Path(__file__).with_name("mtme.json")
COMMITS = {"stats.py": "544e0fc0", "tau_optimization.py": "0b82d96b", "pce.py": "1b47eab4"}
SYSTEMS = 6
CASES = ("none", "sys", "item", "none-missing", "sys-missing", "item-missing")
EPSILON = 0.3
CORRELATIONS = [(0.8, 0.72, 0.89, 26), (0.3, 0.5, 0.1, 103), (0.61, 0.6, 0.2, 13225)]


def shared(case):
    """Gold ratings with many ties (NaN where missing), a metric, and the groups of a case: made by arithmetic."""
    system, item = (grid.ravel() for grid in np.mgrid[:SYSTEMS, :20])
    gold = np.maximum((3 * system + 7 * item + system * item * item) % 11 - 6, 0).astype(float)
    metric = gold / 3 + (5 * system * system + 3 * item**3 + system * item) % 17 / 14
    by, _, missing = case.partition("-")
    if missing:
        gold[(np.arange(len(gold)) % 7 == 3) | (item == 4)] = np.nan
    return gold, metric, {"none": np.zeros_like(item), "sys": system, "item": item}[by]


def means(case):
    """Gold and metric means of the systems, over the items that are rated; two of the gold ones are made equal."""
    gold, metric, _ = shared(case)
    rated = ~np.isnan(gold).reshape(SYSTEMS, -1)
    sums = [np.where(rated, column.reshape(SYSTEMS, -1), 0.0).sum(axis=1) for column in (gold, metric)]
    golden, measured = (total / rated.sum(axis=1) for total in sums)
    golden[1] = golden[4]
    return golden, measured


def _of_case(case):
    import scipy.stats
    from mt_metrics_eval import stats

    gold, metric, _ = shared(case)
    rows, scores = [None if np.isnan(rating) else float(rating) for rating in gold], metric.tolist()
    by = case.partition("-")[0]
    found: dict[str, float] = {}
    for name, of in (("pearson", scipy.stats.pearsonr), ("spearman", scipy.stats.spearmanr)):
        found[name] = stats.AverageCorrelation(of, SYSTEMS, by)(rows, scores)[0]
    for variant, epsilon in [*product(("b", "c", "23", "acc23"), (0.0,)), *product(("23", "acc23"), (EPSILON,))]:
        options = {"variant": variant, "epsilon": epsilon}
        name = variant if not epsilon else f"{variant}@{epsilon}"
        found[name] = stats.AverageCorrelation(stats.KendallVariants, SYSTEMS, by, **options)(rows, scores)[0]
    for variant in ("acc23", "23"):
        best, epsilon, _ = stats.KendallWithTiesOpt(rows, scores, variant, SYSTEMS, by, 1.0)
        found |= {f"opt {variant}": best, f"opt {variant} epsilon": epsilon}
    if by == "none":
        agreed, pairs = stats.Agreement(*(column.tolist() for column in means(case)))
        found["agreement of means"] = agreed / pairs
    if case == "none":
        whole = np.rint(42 * metric).tolist()  # it adds in float32, where only whole numbers tie
        found["soft accuracy"] = stats.PairwiseConfidenceError(rows, whole, SYSTEMS)[0]
    return {name: float(value) for name, value in found.items()}


def _of_correlations(first, second, between, n):
    from mt_metrics_eval.stats import WilliamsTest

    sides = {"one_sided": True, "two_sided": False}
    return {name: float(WilliamsTest(first, second, between, n, one_sided=one)) for name, one in sides.items()}


def made():
    """All numbers of the oracle, with what made them."""
    return {
        "made_with": COMMITS | {name: version(name) for name in ("numpy", "scipy")},
        "cases": {case: _of_case(case) for case in CASES},
        "williams": [_of_correlations(*row) for row in CORRELATIONS],
    }


if __name__ == "__main__":
    PLACE.write_text(json.dumps(made(), indent=1) + "\n", encoding="utf-8")
