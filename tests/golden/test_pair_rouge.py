"""ROUGE against rouge-score: stored numbers of our own pairs."""

import numpy as np
import pytest
from tests.golden.pair_ngrams import CANDIDATES, SEVERAL, SUMMARIES, numbers
from tests.golden.pairs import LEFT, RIGHT

from textgauge import get_metric

NAMES = [f"{name}{stem}" for name in ("rouge1", "rouge2", "rougeL", "rougeLsum") for stem in ("", "(stem=true)")]


def columns(scores):
    return np.column_stack([scores.parts["precision"], scores.parts["recall"], scores.values]).tolist()


@pytest.mark.parametrize("name", NAMES)
def test_rouge_is_that_of_rouge_score_to_the_bit(name):
    metric, stored = get_metric(f"{name}@rouge_score"), numbers(name)
    assert columns(metric(left=LEFT, right=RIGHT)) == stored["pairs"]
    assert columns(metric(left=CANDIDATES, right=SEVERAL)) == stored["several"]
    left, right = zip(*SUMMARIES, strict=True)
    assert columns(metric(left=left, right=right)) == stored["summaries"]


@pytest.mark.parametrize("name", NAMES)
def test_the_default_tokens_are_the_same_on_ascii_texts_of_two_words_and_more(name):
    kept = [row for row, pair in enumerate(zip(LEFT, RIGHT, strict=True)) if "".join(pair).isascii() and " " in pair[0]]
    scores = get_metric(name)(left=[LEFT[row] for row in kept], right=[RIGHT[row] for row in kept])
    assert columns(scores) == [numbers(name)["pairs"][row] for row in kept]


def test_rouge_of_usmb_is_the_mean_of_both():
    first, second, mean = (get_metric(name)(left=LEFT, right=RIGHT).values for name in ("rouge1", "rouge2", "rouge"))
    np.testing.assert_array_equal(mean, (first + second) / 2)
