"""Token distances against scipy: χ² of a 2 × V table, Jensen–Shannon distance, relative entropy, regression."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import chi2, chi2_contingency, entropy, linregress

from textgauge.metrics.corpus.frequency import Chi, ChiByDf, JensenShannon, KullbackLeibler, Zipf, mark_top_tokens


@pytest.fixture
def counts():
    rng = np.random.default_rng(4)
    rates = 400 / np.arange(1, 900) ** 0.9
    P, Q = rng.poisson(rates).astype(float), rng.poisson(0.6 * rates * rng.lognormal(0, 0.15, len(rates))).astype(float)
    return P[P + Q > 0][None], Q[P + Q > 0][None]


def test_chi_is_the_contingency_test(counts):
    P, Q = counts
    expected = chi2_contingency(np.vstack([P, Q]), correction=False)
    values = Chi().of_counts(P, Q)
    assert values["statistic"][0] == pytest.approx(expected.statistic, rel=1e-12)
    assert values["p"][0] == pytest.approx(expected.pvalue, rel=1e-9)
    assert values["value"][0] == pytest.approx(1 - expected.pvalue, abs=1e-12)
    assert ChiByDf().of_counts(P, Q)["value"][0] == pytest.approx(expected.statistic / expected.dof, rel=1e-12)


def test_chi_of_the_paper_doubles_the_degrees_of_freedom(counts):
    P, Q = counts
    values = Chi(df="paper").of_counts(P, Q)
    assert values["p"][0] == pytest.approx(chi2.sf(values["statistic"][0], 2 * (P.shape[1] - 1)), rel=1e-9)


def test_chi_of_the_top_tokens_is_the_test_of_their_table(counts):
    P, Q = counts
    ordered = -np.sort(-(P + Q)[0])
    top = next(cut for cut in range(50, 200) if ordered[cut - 1] > ordered[cut])
    kept = mark_top_tokens(P + Q, top)[0] > 0
    expected = chi2_contingency(np.vstack([P[:, kept], Q[:, kept]]), correction=False)
    assert Chi(top=top).of_counts(P, Q)["statistic"][0] == pytest.approx(expected.statistic, rel=1e-12)
    assert expected.dof == top - 1


def test_jsd_and_kl_equal_scipy(counts):
    P, Q = counts
    assert JensenShannon(root=True).of_counts(P, Q)["value"][0] == pytest.approx(jensenshannon(P[0], Q[0], 2), rel=1e-9)
    values = KullbackLeibler(alpha=0.25).of_counts(P, Q)
    assert values["value"][0] == pytest.approx(entropy(Q[0] + 0.25, P[0] + 0.25), rel=1e-9)
    assert values["reverse"][0] == pytest.approx(entropy(P[0] + 0.25, Q[0] + 0.25), rel=1e-9)


def test_zipf_equals_regression_over_thinned_ranks(counts):
    def slope(row):
        points: dict[float, tuple[float, float]] = {}
        for rank, count in enumerate(sorted(row[row > 0], reverse=True)[:300], start=1):
            points.setdefault(round(15 * np.log(rank)) / 15, (np.log(rank), np.log(count)))
        return float(linregress(*zip(*points.values(), strict=True)).slope)

    P, Q = counts
    assert Zipf(top=300).of_counts(P, Q)["value"][0] == pytest.approx(abs(slope(P[0]) - slope(Q[0])), rel=1e-10)
