"""The declarations of all properties, and a property of one's own in the table of `describe`."""

import math

import numpy as np
import pytest

from textgauge.core.errors import UnknownName
from textgauge.measure.describing import describe
from textgauge.metrics.properties import CorpusProperty, PropertyValue, base, list_properties, register_property

TRAIN = ["a red cat sat here", "the dog ran off", "we like green tea", "it rains all day long"]
NEEDS = {"tokens", "embeddings", "grammar", "plausibility", "train", "test", "against"}
PROPERTIES = {known.name: known for known in list_properties(alone=False)}


@pytest.fixture(scope="module")
def found():
    texts = [f"{a} {b} runs" for a in ("a dog", "the cat", "one bird") for b in ("never", "often", "seldom", "now")]
    return describe(generated=texts, train=TRAIN, embedder=None, grammar=None)


@pytest.mark.parametrize("known", PROPERTIES.values(), ids=PROPERTIES)
def test_a_declaration_is_whole_and_its_values_keep_their_bounds(known, found):
    row = found[known.name]
    assert known.about
    assert known.better in ("higher", "lower", None)
    assert set(known.needs) <= NEEDS
    assert set(known.undefined_for) <= {"test", "train"}
    low, high = known.bounds
    for value in (row.value, row.train):
        assert math.isnan(value) or low <= value <= high
    assert math.isnan(row.train) or not known.undefined_for.get("train")
    assert known.no_interval is None or math.isnan(row.low)


def test_a_registered_property_is_a_row_with_values_of_texts_and_reasons(monkeypatch):
    monkeypatch.setattr(base, "_registry", dict(base._registry))

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
    with pytest.raises(UnknownName, match="registered already"):
        register_property(length)
    found = describe(
        generated=["four", "sixsix"], held_out=["one"], train=TRAIN, embedder=None, grammar=None, plausibility=None
    )
    row = found["length"]
    assert (row.value, row.test, row.backend, row.reason) == (5.0, 3.0, "characters", "no interval: not tried")
    assert (math.isnan(row.train), row.train_reason) == (True, "not for train")
    assert found.generated[0].text_values()["length"].tolist() == [4.0, 6.0]
    assert {difference.property for difference in found.differences} == {"length", "syntactic"}
