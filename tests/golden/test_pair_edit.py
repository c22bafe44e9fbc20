"""Edit distances against nltk 3.10.4 (stored numbers).

from nltk.metrics import edit_distance      # of both texts after NFC, or of both lists of str.split
[edit_distance(left, right) for left, right in PAIRS + SCRIPTS]
"""

import numpy as np
import pytest
from tests.golden.pairs import LEFT, RIGHT

from textgauge import get_metric
from textgauge.encode.tokenizers import get_characters

CHARACTER_EDITS = [24, 0, 42, 14, 37, 18, 36, 7, 22, 27, 17, 26, 3, 0, 12, 25, 7, 6, 6, 0, 11, 5]
TOKEN_EDITS = [6, 0, 9, 6, 9, 4, 11, 3, 6, 7, 3, 4, 1, 0, 8, 7, 3, 1, 2, 1, 2, 2]


@pytest.mark.parametrize(
    ("on", "split", "edits"), [("characters", get_characters, CHARACTER_EDITS), ("whitespace", str.split, TOKEN_EDITS)]
)
def test_edits_are_those_of_nltk(on, split, edits):
    lengths = np.array([[len(split(text)) for text in side] for side in (LEFT, RIGHT)])
    for norm, whole in (("sum", lengths.sum(axis=0)), ("max", lengths.max(axis=0))):
        values = get_metric(f"levenshtein(norm={norm})@{on}")(left=LEFT, right=RIGHT).values
        np.testing.assert_allclose(values, 1 - np.array(edits) / whole, rtol=0, atol=1e-15)
