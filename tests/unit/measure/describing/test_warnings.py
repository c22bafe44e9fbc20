"""Warnings: collapse, another language, sampled yardsticks."""

import numpy as np

from textgauge.measure.describing import Measuring, gather
from textgauge.measure.describing import describe as run
from textgauge.measure.findings import find_warnings

TRAIN = ["a red cat sat here", "the dog ran off", "we like green tea", "it rains all day long"]
TEST = ["a red cow sat there", "they like black tea", "it rains all night"]
GENERATED = ["A red cat sat here!", "a blue cat sat there", "we like tea", "we like tea.", "snow fell!!"]


def describe(generated=GENERATED, train=TRAIN, held_out=TEST, **options):
    return run(generated=generated, train=train, held_out=held_out, **{"embedder": "letters", **options})


def test_one_sentence_over_and_over_is_called_collapsed():
    found = describe(generated=["it rains and rains here"] * 60)
    assert found["unique"].value == 0
    assert found["repetition"].value == 1
    assert any("collapsed" in text and "100%" in text for text in found.warnings)
    assert found.modes().row(0) == ("generated", 60, 1.0, 1, "it rains and rains here")


def test_another_language_is_warned_about():
    german = ["die Katze schläft heute lange", "der Hund lief schnell davon", "wir trinken gerne Tee"]
    assert any("another language" in text for text in describe(generated=german).warnings)
    assert any(
        "another language" in text for text in describe(generated=german, held_out=None, train=TRAIN * 5).warnings
    )
    assert not any("another language" in text for text in describe(generated=TRAIN).warnings)


def test_a_large_train_corpus_is_sampled_for_its_yardsticks_and_that_is_said():
    sets = gather(GENERATED, TRAIN, TEST, None)
    measuring = Measuring(sets, None, "marks", "lengths", ["x"], lambda _: None, train_sample=3)
    warnings = find_warnings(measuring.generated(), measuring.test(), measuring.train)
    assert [text for text in warnings if text.startswith("train:")] == [
        f"train: {name} is that of 3 of its 4 texts, enough for a yardstick" for name in ("grammar", "plausibility")
    ]
    assert np.isfinite(measuring.train.text_values()["grammar"]).sum() == 3
