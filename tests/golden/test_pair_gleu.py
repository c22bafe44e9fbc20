"""GLEU against nltk: stored numbers of our own pairs, and all pairs of the style-transfer study."""

from __future__ import annotations

import numpy as np
import pytest
from tests.golden.pair_ngrams import CANDIDATES, LEFT, RIGHT, SEVERAL, numbers, study

from textgauge import get_metric
from textgauge.data import Pairs

METRIC = get_metric("gleu@whitespace")


def test_gleu_is_that_of_nltk() -> None:
    stored = numbers(str(METRIC))
    np.testing.assert_array_equal(METRIC(left=LEFT, right=RIGHT).values, stored["pairs"])
    np.testing.assert_array_equal(METRIC(left=CANDIDATES, right=SEVERAL).values, stored["several"])


def test_gleu_of_a_set_is_that_of_nltk() -> None:
    stored = numbers(str(METRIC))
    for pairs, expected in (
        (Pairs(LEFT, RIGHT), stored["set"]),
        (Pairs.of(CANDIDATES, SEVERAL), stored["set_several"]),
    ):
        sums = METRIC.statistics(pairs).sum(axis=0)
        assert METRIC.of_statistics(np.stack([sums, sums])).tolist() == [expected] * 2


@pytest.mark.slow
def test_all_pairs_of_the_style_transfer_study() -> None:
    peer = pytest.importorskip("nltk.translate.gleu_score")
    left, right = study()
    expected = [peer.sentence_gleu([b.split()], a.split()) for a, b in zip(left, right, strict=True)]
    np.testing.assert_array_equal(METRIC(left=left, right=right).values, expected)
