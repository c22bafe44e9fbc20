"""Moved groups of points judged with metrics of known verdict, and what the paper's metrics must show."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from tests.oracle.conftest import Oracle, make_oracle

from textgauge.bench import Plan, Store, run
from textgauge.bench.results import Results
from textgauge.metrics import Part, registry
from textgauge_papers.perturbation import POINTS, Perturbation, get_point_metrics

EXACT = Perturbation(n=40, repetitions=4, sigma=0.0, steps=12, largest_q=3)  # without noise only the shift is left


class Moved(Oracle):
    def compute(self, comparison):
        """The group is 4 of 40 points: their shift is ten times that of the mean."""
        means = [side.embeddings("given").mean(axis=0) for side in (comparison.reference, comparison.candidate)]
        return {"value": self.of(10.0 * float(np.linalg.norm(means[0] - means[1])))}


@dataclass(frozen=True, kw_only=True)
class Shift(Moved):
    """The true size of the shift, to a power."""

    name = "shift"
    power: float = 1.0

    def of(self, delta):
        return round(delta, 9) ** self.power


NEARNESS = Part("value", closer="larger", bounds=(-math.inf, math.inf))
METRICS = (
    Shift,
    make_oracle(Moved, "nearness", lambda delta: 5.0 - round(delta, 9), headline=NEARNESS),
    make_oracle(Moved, "late", lambda delta: float(delta > 4.5 + 1e-9)),  # nothing up to 4.5, 1 beyond
    make_oracle(Moved, "blind", lambda delta: 0.3),
)


@pytest.fixture
def verdicts(tmp_path, monkeypatch):
    for kind in METRICS:
        monkeypatch.setitem(registry.METRICS, kind.name, kind)

    def judged(names, protocol=EXACT):
        store = Store(tmp_path / "run")
        report = run([Plan(protocol, POINTS, get_point_metrics(names))], store)
        assert not report.failures
        (group,) = Results(store).groups()
        return group.verdicts

    return judged


@pytest.mark.parametrize("name", ["shift", "nearness"])
def test_the_true_shift_rises_in_proportion(verdicts, name):
    (found,) = verdicts(name).values()
    assert found["early_rise"].value == pytest.approx(0.5)
    assert found["tenth_rise"].value == pytest.approx(0.1)
    assert found["saturation"].value == pytest.approx(0.5)
    for verdict in found.values():
        assert (verdict.low, verdict.high) == pytest.approx((verdict.value, verdict.value))
        assert verdict.reason is None


def test_powers_of_the_shift_rise_late_or_early(verdicts):
    found = verdicts("shift(power=2),shift(power=0.5)")
    area = (EXACT.steps**2 * 2 + 1) / (6 * EXACT.steps**2)  # of δ² by trapezoids
    assert found["shift(power=2)"]["early_rise"].value == pytest.approx(area)
    assert found["shift(power=2)"]["saturation"].value == pytest.approx(0.25)
    assert found["shift(power=0.5)"]["early_rise"].value > 0.6
    assert found["shift(power=0.5)"]["saturation"].value == pytest.approx(0.5**0.5)


def test_a_metric_that_sees_no_shift_never_leaves(verdicts):
    found = verdicts("blind")["blind"]
    assert found["early_rise"].value == 0.0
    assert math.isnan(found["tenth_rise"].value)
    assert math.isnan(found["saturation"].value)
    for verdict in found.values():
        assert "never rises" in verdict.reason


def test_neighbours_rise_before_moments_and_small_balls_before_large_ones(verdicts):
    """Ackerman et al. 2023, section 3, in the order of early rise and of tenth rise; draws are paired."""
    protocol = Perturbation(n=200, repetitions=8, steps=12, largest_q=2)
    found = verdicts("irpr,fid,pr(k=2|15),dc(k=2|15)", protocol)
    pairs = [("irpr@given:euclidean", "fid@given"), *((f"{m}(k=2)@given", f"{m}(k=15)@given") for m in ("pr", "dc"))]
    for first, second in pairs:
        for measure, sign in (("early_rise", 1), ("tenth_rise", -1)):
            sooner, later = found[first][measure], found[second][measure]
            assert sign * (sooner.value - later.value) > 0
            assert np.quantile(sign * np.subtract(sooner.draws, later.draws), 0.01) > 0
