import numpy as np

from textgauge.metrics.corpus.diversity import find_closest_lengths


def test_closest_length_leaves_the_text_itself_out():
    assert find_closest_lengths(np.array([3, 5, 5, 9, 7, 1])).tolist() == [1, 5, 5, 7, 5, 3]
