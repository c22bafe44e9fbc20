"""The number of texts a metric needs: a metric whose power is known, and clocks that run out."""

import numpy as np
import pytest

from textgauge.evaluate.recommend.needed import needed_texts
from textgauge.evaluate.recommend.power import needed_shift, rejection_rate
from textgauge.evaluate.recommend.samples import Contaminated


class Known:
    """A metric whose test has a known power, and takes a known time."""

    def __init__(self, truth, hands, *, seconds=0.0, key="known"):
        self.truth, self.hands, self.seconds, self.key = truth, hands, seconds, key

    def p_value(self, comparison, *, permutations, seed):
        n = len(comparison.reference)
        self.hands.seconds += self.seconds * (n / 100) ** 2
        chance = rejection_rate(np.array([needed_shift(0.8) * n / self.truth]), permutations=permutations)[0]
        return float(np.random.default_rng([n, seed]).random() > chance), "known"


@pytest.fixture
def needs(make_sources, make_clock, hands):
    samples = Contaminated(make_sources(2_000), 0.1)

    def call(*metrics, budget=100.0):
        return needed_texts(metrics, samples, power=0.8, clock=make_clock(budget))

    return call


@pytest.mark.parametrize("truth", [20, 100, 700])
def test_the_number_is_found(needs, hands, truth):
    (found,) = needs(Known(truth, hands))
    assert found.count == pytest.approx(truth, rel=0.25)
    assert found.low < truth < found.high
    assert not found.extrapolated
    assert found.tests == sum(tests for _, tests, _ in found.curve)


def test_where_texts_run_out_the_number_is_extrapolated_or_bounded(needs, hands):
    near, far = needs(Known(1_500, hands), Known(50_000, hands))
    assert near.extrapolated
    assert near.count == pytest.approx(1_500, rel=0.3)
    assert (np.isnan(far.count), np.isnan(far.high)) == (True, True)
    assert far.largest < far.low < 50_000
    assert far.to_dict()["count"] is None


def test_time_is_kept_and_shared(needs, hands):
    found = needs(*(Known(truth, hands, seconds=0.5, key=f"m{truth}") for truth in (300, 600, 900)), budget=60.0)
    assert 30.0 < hands.seconds <= 66.0
    assert all(row.tests >= 20 for row in found)


def test_what_one_metric_does_not_use_goes_to_the_next(needs, hands):
    quick, slow = Known(50, hands, key="quick"), Known(400, hands, seconds=0.5, key="slow")
    alone = needs(slow, budget=30.0)[0].tests
    assert needs(quick, slow, budget=30.0)[1].tests == alone


def test_a_single_hold_up_does_not_leave_a_metric_without_tests(needs, hands):
    class HeldUp(Known):
        calls = 0

        def p_value(self, comparison, **given):
            self.calls += 1
            self.hands.seconds += 3.0 * (self.calls == 2)
            return super().p_value(comparison, **given)

    (found,) = needs(HeldUp(100, hands, seconds=0.01), budget=10.0)
    assert found.count == pytest.approx(100, rel=0.3)


def test_without_time_nothing_is_said(needs, hands):
    (found,) = needs(Known(100, hands), budget=0.0)
    assert (found.tests, np.isnan(found.count), np.isnan(found.low)) == (0, True, True)
