"""Backends: recorded, left out, learned from other texts; progress is reported."""

import math

import pytest

from textgauge.core.progress import listen
from textgauge.measure.describing import describe as run

TRAIN = ["a red cat sat here", "the dog ran off", "we like green tea", "it rains all day long"]
TEST = ["a red cow sat there", "they like black tea", "it rains all night"]
GENERATED = ["A red cat sat here!", "a blue cat sat there", "we like tea", "we like tea.", "snow fell!!"]


def describe(generated=GENERATED, train=TRAIN, held_out=TEST, **options):
    return run(generated=generated, train=train, held_out=held_out, **{"embedder": "letters", **options})


def test_a_backend_of_none_is_left_out():
    found = describe(embedder=None, grammar=None, plausibility=None)
    for name in ("semantic_f1", "grammar", "plausibility"):
        assert (found[name].value, found[name].reason) == (pytest.approx(math.nan, nan_ok=True), "not asked for")
        assert found[name].backend is None


def test_backends_are_recorded():
    found = describe(validation=["one more"])
    assert found["grammar"].backend == "marks(1)"
    assert found["plausibility"].backend == "lengths(5)"  # train and validation
    assert found["semantic_f1"].backend == found["covered"].backend == "cosine@letters(1)"
    assert found["syntactic_f1"].backend.startswith("synsim@words(rapidfuzz=")


def test_other_representative_texts_give_train_a_plausibility():
    found = describe(representative=["some", "other", "texts"])
    assert found["plausibility"].backend == "lengths(3)"
    assert not math.isnan(found["plausibility"].train)


def test_steps_are_reported():
    steps = []
    with listen(steps.append):
        describe()
    assert any(step.startswith("embedding") for step in steps)
    assert any(step.startswith("grammar") for step in steps)
