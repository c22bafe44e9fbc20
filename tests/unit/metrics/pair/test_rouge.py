"""The one-sided form of ROUGE-1 and 2."""

import pytest

from textgauge.metrics import get_metric

LEFT, RIGHT = "a b c d", "a b x"


def test_the_left_side_is_the_share_of_its_ngrams_that_the_right_has():
    metric = get_metric("rouge(side=left)@whitespace")
    assert metric(left=[LEFT], right=[RIGHT]).values[0] == pytest.approx((2 / 4 + 1 / 3) / 2)
    assert metric(left=[RIGHT], right=[LEFT]).values[0] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert not metric.symmetric
    assert get_metric("rouge").symmetric
