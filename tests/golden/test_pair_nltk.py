"""GLEU and NIST against nltk: stored numbers of our own pairs, and all pairs of the style-transfer study."""

import numpy as np
import pytest
from tests.golden.pair_ngrams import CANDIDATES, SEVERAL, numbers
from tests.golden.pairs import LEFT, RIGHT, study

from textgauge import get_metric
from textgauge.data import Pairs

GLEU, NIST = get_metric("gleu@whitespace"), get_metric("nist(normalise=false)@whitespace")


def test_gleu_is_that_of_nltk():
    stored = numbers(str(GLEU))
    np.testing.assert_array_equal(GLEU(left=LEFT, right=RIGHT).values, stored["pairs"])
    np.testing.assert_array_equal(GLEU(left=CANDIDATES, right=SEVERAL).values, stored["several"])
    for pairs, expected in (
        (Pairs(LEFT, RIGHT), stored["set"]),
        (Pairs.of(CANDIDATES, SEVERAL), stored["set_several"]),
    ):
        sums = GLEU.statistics(pairs).sum(axis=0)
        assert GLEU.of_statistics(np.stack([sums, sums])).tolist() == [expected] * 2


def test_nist_is_that_of_nltk_where_nltk_does_not_fail():
    stored = numbers(str(NIST))
    for values, expected in (
        (NIST(left=LEFT, right=RIGHT).values, stored["pairs"]),
        (NIST(left=CANDIDATES, right=SEVERAL).values, stored["several"]),
    ):
        there = [row for row, value in enumerate(expected) if value is not None]
        assert there
        np.testing.assert_allclose(values[there], [expected[row] for row in there], rtol=0, atol=1e-12)


@pytest.mark.slow
def test_all_pairs_of_the_style_transfer_study():
    translate = pytest.importorskip("nltk.translate")
    left, right = study()
    expected = [translate.gleu_score.sentence_gleu([b.split()], a.split()) for a, b in zip(left, right, strict=True)]
    np.testing.assert_array_equal(GLEU(left=left, right=right).values, expected)
    long = [row for row, text in enumerate(left) if len(text.split()) >= 5]
    expected = [translate.nist_score.sentence_nist([right[row].split()], left[row].split()) for row in long]
    np.testing.assert_allclose(NIST(left=left, right=right).values[long], expected, rtol=0, atol=1e-12)
