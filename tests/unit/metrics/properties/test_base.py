"""A property of one's own in the table of `describe`; means, shares and counts with their intervals."""

import math

import numpy as np
import pytest
from scipy import stats

from textgauge.core.errors import InputError
from textgauge.measure.describing import describe
from textgauge.metrics.properties import CorpusProperty, PropertyValue, register_property
from textgauge.metrics.properties.base import PROPERTIES, average_values, count_interval, share, share_interval

TRAIN = ["a red cat sat here", "the dog ran off", "we like green tea", "it rains all day long"]


def test_a_registered_property_is_a_row_with_values_of_texts_and_reasons(monkeypatch):
    monkeypatch.setattr(PROPERTIES, "_entries", dict(PROPERTIES._entries))

    def lengths(measured):
        return np.array([float(len(text)) for text in measured.corpus.texts])

    length = CorpusProperty(
        name="length",
        about="characters of a text, mean",
        better=None,
        bounds=(0.0, math.inf),
        needs=("tokens",),
        compute=lambda measured, _: PropertyValue(float(lengths(measured).mean())),
        backend="characters",
        undefined_for={"train": "not for train"},
        no_interval="no interval: not tried",
        per_text=lengths,
    )
    register_property(length)
    with pytest.raises(InputError, match="registered already"):
        register_property(length)
    found = describe(
        generated=["four", "sixsix"], held_out=["one"], train=TRAIN, embedder=None, grammar=None, plausibility=None
    )
    row = found["length"]
    assert (row.value, row.test, row.backend, row.reason) == (5.0, 3.0, "characters", "no interval: not tried")
    assert (math.isnan(row.train), row.train_reason) == (True, "not for train")
    assert found.generated[0].text_values()["length"].tolist() == [4.0, 6.0]
    assert set(found.differences["property"]) == {"length", "syntactic"}


def test_the_mean_has_students_interval():
    values = np.array([0.2, 0.5, 0.9, 0.4])
    found = average_values(np.append(values, np.nan), level=0.9)
    ends = stats.t.interval(0.9, 3, values.mean(), stats.sem(values))
    assert (found.value, found.low, found.high) == pytest.approx((0.5, *ends))


def test_one_value_has_no_interval_and_no_value_no_mean():
    assert average_values(np.array([0.3])).value == 0.3
    assert math.isnan(average_values(np.array([0.3])).low)
    assert math.isnan(average_values(np.array([np.nan])).value)


def test_shares_and_counts_with_binomial_and_poisson_variance_have_the_known_intervals():
    assert share_interval(0.3, 0.3 * 0.7 / 50, n=50) == pytest.approx((0.1910, 0.4375), abs=1e-4)  # Wilson 1927
    found = share(np.repeat([True, False], [15, 35]))
    assert (found.value, found.low, found.high) == pytest.approx((0.3, 0.1910, 0.4375), abs=1e-4)
    low, high = count_interval(25, 25, n=1_000_000)
    assert (low, high) == pytest.approx((16.93, 36.91), abs=0.01)
    assert np.isnan(count_interval(3, 3, n=1)).all()
