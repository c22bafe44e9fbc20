"""p-values are uniform under the null and 95 % intervals cover; minutes of simulation, so behind the slow marker."""

import pytest
from benchmarks.calibration import coverage, p_values
from scipy.stats import kstest

from textgauge import get_metric
from textgauge.testing import without_models

METRICS = ["energy", "mmd", "fid", "irpr", "chi"]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", METRICS)
def test_p_values_are_uniform_under_the_null(name):
    assert kstest(p_values(without_models(get_metric(name)), n=60, simulations=500), "uniform").pvalue > 0.01


@pytest.mark.parametrize("name", METRICS)
def test_intervals_cover(name):
    # 1,500 simulations of a true 95 % give 93.9 to 96.1 % in 95 of 100 runs: a fair test of 93 to 97 %.
    verdict = coverage(without_models(get_metric(name)), "near", n=100, simulations=1_500, fresh=6_000)
    assert 0.93 <= verdict.coverage <= 0.97, verdict
