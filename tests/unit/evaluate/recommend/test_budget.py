"""Budgets as people write them, what is left of them, and what a larger size will take."""

import pytest

from textgauge.errors import InputError
from textgauge.evaluate.recommend.budget import LEAST, Clock, extrapolate, seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"), [("2m", 120), ("90s", 90), ("90", 90), ("1h", 3600), ("1h 30m", 5400), ("1.5m", 90), (7, 7)]
)
def test_lengths_of_time(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "2 days", "-2m", "m", "1.2.3s", "0", "4s", float("nan"), float("inf")])
def test_what_is_no_budget_is_refused(text):
    with pytest.raises(InputError, match="a budget is"):
        seconds_of(text)


def test_a_clock_tells_what_is_left(make_clock, hands):
    hands.seconds = 3.0
    clock = make_clock(20.0)
    hands.seconds = 8.0
    assert (clock.spent, clock.left, clock.until(0.5)) == (5.0, 15.0, 5.0)


def test_times_grow_as_they_did_but_never_shrink():
    assert extrapolate([10, 20], [1.0, 2.0], 80) == pytest.approx(8.0)
    assert extrapolate([10, 20], [5.0, 1.0], 80) == 1.0
    assert extrapolate([10], [1.0], 20) == 4.0
    assert extrapolate([10, 20], [1.0, 100.0], 40) == pytest.approx(100 * 2**2.5)
    assert extrapolate([10], [1.0], 20, (1.0, 1.0)) == 2.0


def test_a_short_budget_is_explained(hands):
    assert Clock(5.0, hands).account == [
        "15 s is what the smallest run may take: a budget of 5 s may be exceeded",
        "this took 0.0 s of a budget of 5 s",
    ]
    assert len(Clock(LEAST, hands).account) == 1
