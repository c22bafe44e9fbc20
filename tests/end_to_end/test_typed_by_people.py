"""Python as people type it: positional texts, results that are short to look at and easy to ask."""

import math
from dataclasses import replace

import numpy as np
import pytest

import textgauge
from textgauge.data import sample

LEFT, RIGHT = ["a red cat", "a red dog", "a cow"], ["one cat", "one dog", "a cow"]


def test_texts_are_positional_or_named():
    named = textgauge.compare(reference=LEFT, candidate=RIGHT, metrics="vocab_overlap@words,jsd@words")
    assert [score.value for score in textgauge.compare(LEFT, RIGHT, metrics="vocab_overlap@words,jsd@words")] == [
        score.value for score in named
    ]
    scores = textgauge.score(LEFT, RIGHT, metrics="bleu")["bleu"].values
    np.testing.assert_array_equal(scores, textgauge.score(left=LEFT, right=RIGHT, metrics="bleu")["bleu"].values)
    assert textgauge.explain(LEFT, RIGHT, metric="cbdf@words").metric == "cbdf@words"
    assert textgauge.get_metric("jsd@words")(LEFT, RIGHT).value == named["jsd@words"].value


def test_two_texts_give_one_number():
    jaccard = textgauge.get_metric("jaccard")
    score = jaccard("a red cat", "a red dog")
    assert (score.value, float(score), f"{score:.2f}", round(score, 1)) == (0.5, 0.5, "0.50", 0.5)
    assert np.mean([score, score]) == 0.5
    assert 0.4 < score <= 0.5 < jaccard("a", "a")
    assert score.signature == jaccard(["a red cat"], ["a red dog"]).signature
    assert jaccard(left="a red cat", right="a red dog").value == 0.5


def test_two_texts_with_parts_references_and_without_a_value():
    rouge = textgauge.get_metric("rouge1")
    assert rouge("a", "a b").parts == pytest.approx({"precision": 1.0, "recall": 0.5})
    assert rouge("a b", ["x y", "a b"]).value == 1
    (undefined,) = textgauge.get_metric("bm25plus")([""], [""]).values
    assert math.isnan(textgauge.get_metric("bm25plus")("", "").value) == math.isnan(undefined)


def test_scores_are_equal_when_they_say_the_same():
    (one,) = textgauge.compare(LEFT, RIGHT, metrics="jsd@words")
    assert one == replace(one)
    assert one != replace(one, value=0.0)
    assert one != "jsd@words"


@pytest.fixture(scope="module")
def results():
    many = [sample(name, n=60).texts for name in ("banking", "travel")]
    compared = textgauge.compare(
        *many, metrics="jsd@words,zipf@words", ci=True, test=True, permutations=19, explain=True
    )
    scored = textgauge.score(*many, metrics="jaccard,chrf")
    return [compared, *compared, compared.terms, *compared.explanations.values(), scored, *scored]


def test_every_result_is_short_to_look_at(results):
    assert len(results) > 6
    for result in results:
        lines = repr(result).splitlines()
        assert 1 <= len(lines) <= 21
        assert max(map(len, lines)) <= 160
        assert not repr(result).startswith(type(result).__name__)
