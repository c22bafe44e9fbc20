"""When a difference may be called better."""

from hypothesis import given
from hypothesis import strategies as st

from textgauge.stats.decisions import better

ENDS = st.tuples(st.floats(-1, 1), st.floats(0, 1)).map(lambda ends: (ends[0], ends[0] + ends[1]))


@given(st.lists(ENDS, min_size=1, max_size=3))
def test_one_interval_that_reaches_0_is_enough_to_say_nothing(intervals):
    assert better(*intervals) == (min(low for low, _ in intervals) > 0)


def test_an_interval_that_does_not_exist_is_no_support():
    assert not better((0.1, 0.2), (float("nan"), float("nan")))
