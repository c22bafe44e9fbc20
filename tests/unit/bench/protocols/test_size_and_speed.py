"""Draws and verdicts of the size and speed protocols."""

from dataclasses import replace

import numpy as np
import pytest
from tests.toys import draw_texts

from textgauge.bench import Size, Sources, Speed
from textgauge.bench.protocols.base import Observations
from textgauge.core.errors import InputError
from textgauge.data import Corpus

SMALL = Size(smallest=3, step=5, total=20, large=15, draws=2, repetitions=3)


def sources(size, *, order=0):
    rows = np.random.default_rng(order).permutation(size)
    return Sources("a,b", {role: Corpus.of([f"{role} {i}" for i in rows]) for role in "ab"})


def test_samples_have_the_sizes_they_say_and_one_source_a_side():
    batches = list(SMALL.trials(sources(20), seed=0))
    kinds = np.concatenate([batch.columns["kind"] for batch in batches])
    sizes = np.array([batch.columns[name] for name in ("size_a", "size_b") for batch in batches[2:]])
    assert kinds.tolist() == ["asymptote"] * 2 + (["size"] * 4 + ["imbalance"] * 4) * 3
    assert sizes[0].tolist() == [3, 8, 13, 18] * 2
    assert sizes[3].tolist() == [3, 8, 13, 18, 17, 12, 7, 2]
    said = [pair for batch in batches for pair in zip(batch.columns["size_a"], batch.columns["size_b"], strict=True)]
    for (left, right), (a, b) in zip(draw_texts(SMALL, sources(20)), said, strict=True):
        assert (len(left), len(right)) == (a, b)
        assert {text[0] for text in left} == {"a"}
        assert {text[0] for text in right} == {"b"}


def test_the_asymptote_can_be_one_distance_of_all_texts():
    whole = replace(SMALL, asymptote="whole")
    (left, right), *sweeps = draw_texts(whole, sources(20))
    assert (len(left), len(right)) == (20, 20)
    assert len(sweeps) == len(draw_texts(SMALL, sources(20))) - SMALL.draws


@pytest.mark.parametrize(
    ("kind", "given", "complaint"),
    [
        (Size, {"total": 51}, "total"),
        (Size, {}, "source a has 20 different texts, but the size protocol needs 3000"),
        (Size, {"large": 10}, "needs 2850"),
        (Speed, {"largest": 50}, "largest of at least n"),
        (Speed, {"n": 5, "largest": 47}, "source a has 20 different texts, but timing needs 40"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_is_needed(kind, given, complaint):
    with pytest.raises(InputError, match=complaint):
        kind(**given).check(sources(20))


def observations(large, sweep, reasons=None):
    kinds = ["asymptote"] * len(large) + ["size", "imbalance"] * len(sweep)
    batch = [*range(len(large)), *np.repeat(np.arange(len(sweep)) + len(large), 2)]
    values = np.array([*large, *np.ravel(sweep)], dtype=float)
    columns = {"kind": np.array(kinds), "reason": np.array(reasons or [None] * len(values))}
    return Observations(values, np.array(batch), columns)


def test_what_is_undefined_has_a_reason():
    for verdict in SMALL.judge(observations([], [[1.0, 2.0]])):
        assert verdict.reason == "the distance of large samples is not finished"
    for verdict in SMALL.judge(observations([1.0, np.nan], [[1.0, 2.0]], [None, "why", None, None])):
        assert verdict.reason == "the distance of large samples is undefined in 1 of 2 trials: why"
    for verdict in SMALL.judge(observations([0.0], [[1.0, 2.0]])):
        assert verdict.reason == "the distance of large samples is zero"
    size, imbalance = SMALL.judge(observations([1.0], [[np.nan, 2.0]], [None, "few", None]))
    assert (np.isnan(size.value), size.reason) == (True, "undefined in 1 of 1 trials: few")
    assert (imbalance.value, imbalance.reason) == (0.0, None)
    assert SMALL.judge(observations([1.0], []))[0].reason == "no repetition is finished"


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_growth_is_the_power_of_time(power):
    protocol = Speed(n=10, largest=85, repetitions=2)
    assert protocol.sizes == [10, 20, 40, 80]
    size = np.tile(protocol.sizes, 2)
    seconds = 1e-3 * (size / 10.0) ** power
    rate, growth = protocol.judge(Observations(seconds, np.repeat([0, 1], 4), {"size": size}))
    assert rate.value == pytest.approx(10.0)
    assert growth.value == pytest.approx(power)


def test_a_comparison_that_takes_no_time_has_no_rate():
    columns = {"size": np.array([10, 20])}
    rate, growth = Speed(n=10, largest=20).judge(Observations(np.array([0.0, 1e-3]), np.zeros(2), columns))
    assert rate.reason == "one comparison took no measurable time"
    assert growth.reason == "fewer than two sizes took any time"
