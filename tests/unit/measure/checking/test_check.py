import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.measure.check_report import Bound, Measured, Outcome, format_undecided
from textgauge.metrics.properties.base import share


def measured(value, low, high, **more):
    return Measured(what="share", value=value, low=low, high=high, n=100, **more)


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(-1, 1))
def test_a_bound_and_its_mirror_decide_alike(value, below, above, limit):
    low, high = value - below, value + above
    assert Bound("max", limit).decide(low, high) is Bound("min", -limit, upper=False).decide(-high, -low)


def test_the_ends_decide():
    bound = Bound("max", 0.5)
    assert bound.decide(0.1, 0.5) is Outcome.passed
    assert bound.decide(0.5, 0.6) is Outcome.undecided
    assert bound.decide(0.51, 0.6) is Outcome.failed


def test_the_number_of_texts_that_is_named_decides():
    found = share(np.arange(200) < 14)
    bound = Bound("max", 0.05)
    number = Measured(what="copies", value=found.value, low=found.low, high=found.high, n=200)
    assert bound.decide(number.low, number.high) is Outcome.undecided
    needed = round(1.4 * number.count_needed(bound))
    more = share(np.arange(needed) < round(found.value * needed))
    assert bound.decide(more.low, more.high) is Outcome.failed
    fewer = share(np.arange(needed // 2) < round(found.value * needed / 2))
    assert bound.decide(fewer.low, fewer.high) is Outcome.undecided


def test_a_value_at_the_limit_is_not_decided_by_more_texts():
    assert measured(0.5, 0.4, 0.6).count_needed(Bound("max", 0.5)) is None
    assert "a limit of 0.6 passes" in format_undecided(measured(0.5, 0.4, 0.6), Bound("max", 0.5))


def test_a_ratio_grows_with_the_texts_only_where_there_is_a_distance():
    bound = Bound("max_ratio", 3.0)
    assert measured(2.5, 1.5, 3.5, null=0.01).count_needed(bound) is not None
    assert measured(1.2, 0.8, 3.5, null=0.01).count_needed(bound) is None


def test_a_missing_interval_is_the_reason():
    number = measured(0.5, float("nan"), float("nan"), reason="pr has no interval below 300 texts")
    assert format_undecided(number, Bound("max", 0.5)) == "pr has no interval below 300 texts"


@pytest.mark.parametrize(("upper", "said"), [(True, "at most 0.5"), (False, "at least 0.5")])
def test_a_bound_is_said_in_words(upper, said):
    assert str(Bound("x", 0.5, upper)) == said
