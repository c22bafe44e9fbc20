"""p-values are uniform under the null, 95 % intervals and null ranges cover; minutes of simulation, so marked slow."""

import pytest
from benchmarks.calibration import p_values
from benchmarks.coverage import SYNTHETIC, compatible, coverage
from benchmarks.null_range import SIZES, check_ranges, family_error
from scipy.stats import kstest

from textgauge import get_metric
from textgauge.core.errors import ResourceError
from textgauge.data import Corpus, sample
from textgauge.testing import drop_models

METRICS = ["energy", "mmd", "fid", "irpr", "chi"]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", METRICS)
def test_p_values_are_uniform_under_the_null(name):
    assert kstest(p_values(drop_models(get_metric(name)), n=60, simulations=500), "uniform").pvalue > 0.01


@pytest.mark.parametrize(
    ("name", "case", "sizes"),
    [("energy", "near", (30, 30)), ("mmd", "null", (30, 30)), ("irpr", "near", (100, 100)), ("jsd", "near", (30, 30))],
)
def test_intervals_cover(name, case, sizes):
    (cell,) = coverage([name], SYNTHETIC, case, sizes, simulations=600, seed=3)
    assert compatible(cell), cell


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_values_of_equal_sources_lie_in_the_null_range_at_the_actual_sizes(sizes):
    names = ["energy", "medoid", "jsd", "classifier"]
    for name, check in zip(names, check_ranges(names, sizes, simulations=300, seed=1), strict=True):
        spread = 2 * (0.05 * 0.95 / check.runs) ** 0.5
        assert 0.9 < check.ratio < 1.1, name
        assert check.inside >= 0.95 - spread, name  # a value that takes few different numbers is inside more often
        assert check.inside <= 0.95 + spread or name == "classifier", name


@pytest.mark.parametrize(("texts", "sizes"), [("banking", (60, 60)), ("travel", (200, 50))])
def test_compare_seldom_calls_equal_sources_different(texts, sizes):
    try:
        adjusted, raw = family_error(Corpus.of(sample(texts).texts), sizes=sizes, simulations=500)
    except ResourceError as error:
        pytest.skip(str(error))
    assert adjusted <= 0.05 + 2 * (0.05 * 0.95 / 500) ** 0.5
    assert raw > 0.2
