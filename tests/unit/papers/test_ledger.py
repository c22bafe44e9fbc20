"""Verdicts follow from intervals; what fails comes first."""

import math

import numpy as np
import pytest

from textgauge.evaluate.protocols.base import Verdict
from textgauge.papers.ledger import (
    Claim,
    Finding,
    MeasuredDifference,
    above_all,
    all_hold,
    counts,
    ledger,
    of_values,
    paired,
)


def claim(name, finding):
    return Claim(name, "1", "data", "criterion", None if finding is None else lambda _: finding, why="no model")


def test_failures_come_first_and_what_has_no_test_is_not_testable():
    rows = ledger([claim("a", Finding(True)), claim("b", None), claim("c", Finding(False))], None)
    assert [(row["claim"], row["verdict"]) for row in rows] == [
        ("c", "not replicated"),
        ("a", "replicated"),
        ("b", "not testable here"),
    ]
    assert rows[-1]["why"] == "no model"
    assert counts(rows) == "1 not replicated, 1 replicated, 1 not testable here (3 claims)"


def test_a_claim_holds_only_where_the_whole_interval_does():
    sure, unsure, against = (
        MeasuredDifference(0.3, 0.1, 0.5),
        MeasuredDifference(0.1, -0.1, 0.3),
        MeasuredDifference(-0.3, -0.5, -0.1),
    )
    assert above_all("a", {"b": sure, "c": sure}).holds is True
    assert above_all("a", {"b": sure, "c": unsure}).why == "the interval includes 0"
    found = above_all("a", {"b": sure, "c": against})
    assert (found.holds, found.ours, found.why) == (False, "a − c = -0.3", "the other way round")
    assert above_all("a", {"b": MeasuredDifference(math.nan, math.nan, math.nan)}).holds is None


def test_all_of_several():
    good, bad = Finding(True, interval="x"), Finding(False, interval="y")
    assert all_hold({"p": good, "q": good}).holds is True
    assert (all_hold({"p": good, "q": bad}).interval, all_hold({"p": good, "q": bad}).why) == ("y", "not for q")
    assert all_hold({"p": good, "q": Finding(None)}).holds is None
    assert all_hold({}).holds is None


def test_differences_are_paired():
    shared = np.array([0.1, 0.9, 0.4, 0.6])
    first, second = (Verdict("m", float(v.mean()), values=tuple(v)) for v in (shared + 0.1, shared))
    gap = paired(first, second)
    assert (gap.low, gap.high) == pytest.approx((0.1, 0.1))
    draws = np.random.default_rng(0).normal(size=500)
    one, two = (Verdict("m", v, draws=tuple(draws + v), units=50) for v in (0.5, 0.2))
    assert (paired(one, two).low, paired(one, two).high) == pytest.approx((0.3, 0.3))
    assert not of_values([1.0]).known
