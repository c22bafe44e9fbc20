import numpy as np
import pytest

from textgauge.core.errors import ParameterError
from textgauge.core.settings import limit_sizes
from textgauge.data import Pairs
from textgauge.encode.token_vectors import get_token_encoder
from textgauge.metrics import get_metric

LEFT = ["a cat sat", "same text", "", "", "one", " ", "lone \ud800", "a b c d e f"]
RIGHT = ["the dog", "same text", " ", "word", "", "", "नमस्ते दुनिया", "f e d c b a"]


def plain(encoder, left, right):
    """Mean by mean, pair by pair."""
    found = get_token_encoder(encoder).encode([left, right])
    means = []
    for row in range(2):
        kept = ~found.special[found.offsets[row] : found.offsets[row + 1]]
        means.append(
            [float(np.mean([float(x) for x in column])) for column in found[row][kept].T] if kept.any() else None
        )
    if None in means:
        return 0.0 if means[0] is means[1] else float("nan")
    return float(sum((a - b) ** 2 for a, b in zip(*means, strict=True)) ** 0.5)


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("encoder", ["toy", "bare"])
def test_equals_loops(encoder):
    found = get_metric(f"contextual_l2@{encoder}")(left=LEFT, right=RIGHT)
    expected = [plain(encoder, *pair) for pair in zip(LEFT, RIGHT, strict=True)]
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-6)
    assert found.values[1] == 0
    assert found.reason.startswith("one of the two texts has no tokens")
    assert "tokens=toy(layer=-1)" in found.signature


@pytest.mark.usefixtures("toy")
def test_small_groups_change_no_bit():
    metric, pairs = get_metric("contextual_l2@toy"), Pairs(LEFT, RIGHT)
    whole = metric.compute(pairs)["value"]
    with limit_sizes(3):
        np.testing.assert_array_equal(metric.compute(pairs)["value"], whole)


def test_a_layer_below_the_first():
    with pytest.raises(ParameterError, match="layer=-2"):
        get_metric("contextual_l2(layer=-2)")
