"""Robustness to size and imbalance judged with metrics whose verdict is known beforehand."""

import math

import numpy as np
import pytest

from textgauge.bench import Size

SMALL = Size(smallest=2, step=4, total=20, large=25, draws=3, repetitions=4)
BOTH = ("size_robustness", "imbalance_robustness")


def test_a_metric_that_does_not_depend_on_size_gets_one(verdicts):
    found = verdicts("perfect", SMALL, size=40)
    assert tuple(found) == BOTH
    for verdict in found.values():
        assert (verdict.value, verdict.std, verdict.reason) == (1.0, 0.0, None)
        assert len(verdict.values) == 4


@pytest.mark.parametrize("scale", ["definition", "paper"])
def test_a_bias_that_is_known_is_found(verdicts, scale):
    found = verdicts("biased", SMALL, size=40, scale=scale)
    truth, sizes = 1 + 1 / 25, np.array([2, 6, 10, 14, 18])
    assert SMALL.sizes == sizes.tolist()
    size_gap = np.mean(np.abs(1 / sizes - 1 / 25))
    imbalance_gap = np.mean(np.abs(1 / np.minimum(sizes, 20 - sizes) - 1 / 25))
    assert found["size_robustness"].value == pytest.approx(1 - size_gap / truth)
    scaled = truth if scale == "definition" else 1.0
    assert found["imbalance_robustness"].value == pytest.approx(1 - imbalance_gap / scaled)


def test_random_distances_are_robust_by_their_spread_alone(verdicts):
    found = verdicts("random", Size(smallest=2, step=2, total=40, large=41, draws=100, repetitions=20), size=60)
    for name in BOTH:
        error = found[name].std / math.sqrt(20)
        assert abs(found[name].value - 0.5) < 3 * error + 0.1  # E|u − ½|/½ = ½, and ½ itself is from 100 draws


def test_no_distance_no_verdict(verdicts):
    for verdict in verdicts("constant(at=0)", SMALL, size=40).values():
        assert math.isnan(verdict.value)
        assert "large samples is zero" in verdict.reason
