"""GLEU and NIST against nltk: stored numbers of our own pairs."""

import numpy as np
from tests.golden.pair_ngrams import CANDIDATES, SEVERAL, numbers
from tests.golden.pairs import LEFT, RIGHT

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
