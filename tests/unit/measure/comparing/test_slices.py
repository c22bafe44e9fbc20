import numpy as np
import polars as pl
import pytest
from scipy.stats import false_discovery_control

import textgauge

RNG = np.random.default_rng(3)
WORDS = {"a": ["cat", "dog", "cow"], "b": ["ship", "boat", "sail"], "c": ["red", "blue", "pink"]}


def frame(moved=(), rare=0):
    rows = [(" ".join(RNG.choice(WORDS[label], 3)), label) for label in WORDS for _ in range(40)]
    rows = [(f"{text} new", label) if label in moved else (text, label) for text, label in rows]
    rows += [(f"text {n}", "rare") for n in range(rare)]
    return pl.DataFrame({"text": [row[0] for row in rows], "topic": [row[1] for row in rows]})


def test_the_moved_slice_comes_first_and_alone_differs():
    found = textgauge.compare(frame(rare=3), {"new": frame(moved="b", rare=5)}, by="topic", metrics="jsd@words")
    assert [row["slice"] for row in found.to_dicts() if row["differs"]] == ["b"]
    assert found.to_dicts()[0]["slice"] == "b"
    assert found.answer.startswith("1 of 3 slices differs (false discovery rate 5 %): b.")
    assert "rare" in found.warnings[0]
    assert found["b"] is found["b", "jsd@words", "new"] is found[0]
    assert found[0].share_reference == pytest.approx(40 / 123)


def test_p_values_are_those_of_each_slice_with_the_false_discovery_rate():
    reference, candidate = frame(), frame(moved="a")
    found = textgauge.compare(reference, {"new": candidate}, by="topic", metrics="jsd@words")
    alone = {
        label: textgauge.compare(
            reference.filter(pl.col.topic == label),
            candidate.filter(pl.col.topic == label),
            metrics="jsd@words",
            column="text",
        )["jsd@words"].p_value
        for label in WORDS
    }
    expected = dict(zip(alone, false_discovery_control(list(alone.values())), strict=True))
    assert {row.slice: row.p_adjusted for row in found} == pytest.approx(expected)


def test_one_slice_of_many_can_be_found():
    rows = [(" ".join(RNG.choice(WORDS["a"], 4)), f"topic {number % 14}") for number in range(14 * 25)]
    reference = pl.DataFrame(rows, schema=["text", "topic"], orient="row")
    moved = [(f"new {text}" if topic == "topic 3" else text, topic) for text, topic in rows]
    candidate = pl.DataFrame(moved, schema=["text", "topic"], orient="row")
    found = textgauge.compare(reference, candidate, by="topic", metrics="jsd@words")
    assert [row.slice for row in found if row.differs] == ["topic 3"]
