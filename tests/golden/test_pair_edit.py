"""Edit distances against nltk 3.10.4 (stored numbers) and, on full-size data, against rapidfuzz one pair at a time.

from nltk.metrics import edit_distance      # of both texts after NFC, or of both lists of str.split
[edit_distance(left, right) for left, right in PAIRS + SCRIPTS]
"""

import numpy as np
import pytest
from tests.golden.pairs import LEFT, RIGHT, study

from textgauge import get_metric
from textgauge.data import Pairs
from textgauge.encode.tokenizers import get_characters

CHARACTER_EDITS = [24, 0, 42, 14, 37, 18, 36, 7, 22, 27, 17, 26, 3, 0, 12, 25, 7, 6, 6, 0, 11, 5]
TOKEN_EDITS = [6, 0, 9, 6, 9, 4, 11, 3, 6, 7, 3, 4, 1, 0, 8, 7, 3, 1, 2, 1, 2, 2]


@pytest.mark.parametrize(
    ("on", "split", "edits"),
    [("characters", get_characters, CHARACTER_EDITS), ("whitespace", str.split, TOKEN_EDITS)],
)
def test_edits_are_those_of_nltk(on, split, edits):
    lengths = np.array([[len(split(text)) for text in side] for side in (LEFT, RIGHT)])
    for norm, whole in (("sum", lengths.sum(axis=0)), ("max", lengths.max(axis=0))):
        values = get_metric(f"levenshtein(norm={norm})@{on}")(left=LEFT, right=RIGHT).values
        np.testing.assert_allclose(values, 1 - np.array(edits) / whole, rtol=0, atol=1e-15)


@pytest.mark.slow
def test_all_pairs_of_the_style_transfer_study_are_those_of_rapidfuzz():
    from rapidfuzz.distance import OSA, DamerauLevenshtein, Indel, Levenshtein

    texts = study()
    pairs = Pairs(*texts)
    for kind, peer in (("levenshtein", Levenshtein), ("indel", Indel), ("osa", OSA), ("damerau", DamerauLevenshtein)):
        for on, split in (("characters", get_characters), ("whitespace", str.split)):
            sides = [(split(left), split(right)) for left, right in zip(*texts, strict=True)]
            whole = np.array([len(left) + len(right) for left, right in sides])
            expected = 1 - np.array([peer.distance(left, right) for left, right in sides]) / whole
            values = get_metric(f"levenshtein(kind={kind})@{on}").measure(pairs).values
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
