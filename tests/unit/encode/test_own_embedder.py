"""Embedders of one's own: functions and models give the numbers of their vectors, bad ones are one line."""

import numpy as np
import pytest

from textgauge import compare, describe, score, watch
from textgauge.core.errors import InputError
from textgauge.encode.embedders import get_embedder, name_embedder

CATS = [f"{colour} cat {i}" for i in range(15) for colour in ("a red", "one blue")]
SHIPS = [f"{size} ships sail {i}" for i in range(15) for size in ("ten large", "few")]


def count(texts):
    return [[float(text.count(letter)) for letter in "abcdeghilst"] for text in texts]


class Model:
    """A model as other libraries have them."""

    def encode(self, texts):
        return np.array(count(texts))


@pytest.mark.parametrize("embedder", [count, Model(), Model().encode])
def test_numbers_are_those_of_ready_made_vectors(embedder):
    ready = compare(np.array(count(CATS)), np.array(count(SHIPS)), metrics="energy")[0]
    own = compare(CATS, SHIPS, metrics="energy", embedder=embedder)[0]
    assert own.value == pytest.approx(ready.value, rel=1e-6)
    assert own.metric.startswith("energy@")
    pairs = score(CATS, SHIPS, metrics="cosine,jaccard", embedder=embedder)
    ready = score(np.array(count(CATS)), np.array(count(SHIPS)), metrics="cosine")[0]
    np.testing.assert_allclose(pairs[0].values, ready.values, rtol=1e-6)
    assert pairs[1].metric == "jaccard"
    assert get_embedder(name_embedder(embedder)).encode([]).shape == (0, 11)


def test_functions_that_agree_on_a_few_texts_are_not_mixed_up():
    """Neither in this process nor through vectors on disk."""
    others = [lambda texts, sign=sign: [[sign * text.count("ships"), 1.0] for text in texts] for sign in (1.0, 2.0)]
    values = [compare(CATS, SHIPS, metrics="fid", embedder=other)[0].value for other in others]
    assert values[1] == pytest.approx(4 * values[0])


def test_every_function_takes_one():
    assert score(CATS, CATS, baseline=SHIPS, metrics="cosine", embedder=count)[0].metric.startswith("cosine@count-")
    assert describe(CATS, embedder=count, grammar=None, plausibility=None).answer
    assert watch(CATS, SHIPS, embedder=count).answer
    assert (
        compare(CATS, {"a": SHIPS, "b": CATS[::-1]}, metrics="energy", embedder=count).metrics[0].startswith("energy@")
    )


@pytest.mark.parametrize("embedder", [3, lambda texts: [1.0] * len(texts), lambda texts: [[1.0]]])
def test_what_is_no_embedder_is_one_line(embedder):
    with pytest.raises(InputError, match="embedder"):
        compare(CATS, SHIPS, metrics="energy", embedder=embedder)
