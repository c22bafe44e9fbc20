import numpy as np
import pytest

from textgauge.metrics.corpus.diversity import SelfBleuGap, find_closest_lengths


def test_repeated_texts_score_1_and_strangers_0():
    score = SelfBleuGap()(reference=["a b c d e"] * 3, candidate=["a b c d", "e f g h"])
    assert score.parts["reference"] == pytest.approx(1)
    assert score.parts["candidate"] == 0


def test_closest_length_leaves_the_text_itself_out():
    assert find_closest_lengths(np.array([3, 5, 5, 9, 7, 1])).tolist() == [1, 5, 5, 7, 5, 3]
