"""NIST against nltk: stored numbers of our own pairs, and all pairs of the style-transfer study."""

from __future__ import annotations

import numpy as np
import pytest
from tests.golden.pair_ngrams import CANDIDATES, LEFT, RIGHT, SEVERAL, numbers, study

from textgauge import get_metric

METRIC = get_metric("nist(normalise=false)@whitespace")


def test_nist_is_that_of_nltk_where_nltk_does_not_fail() -> None:
    stored = numbers(str(METRIC))
    for values, expected in (
        (METRIC(left=LEFT, right=RIGHT).values, stored["pairs"]),
        (METRIC(left=CANDIDATES, right=SEVERAL).values, stored["several"]),
    ):
        there = [row for row, value in enumerate(expected) if value is not None]
        assert there
        np.testing.assert_allclose(values[there], [expected[row] for row in there], rtol=0, atol=1e-12)


@pytest.mark.slow
def test_all_pairs_of_the_style_transfer_study() -> None:
    peer = pytest.importorskip("nltk.translate.nist_score")
    left, right = study()
    long = [row for row, text in enumerate(left) if len(text.split()) >= 5]
    expected = [peer.sentence_nist([right[row].split()], left[row].split()) for row in long]
    np.testing.assert_allclose(METRIC(left=left, right=right).values[long], expected, rtol=0, atol=1e-12)
