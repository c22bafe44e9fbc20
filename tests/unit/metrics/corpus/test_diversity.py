import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge.metrics.corpus.diversity import SelfBleuGap, find_closest_lengths


def grams(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def bleu(tokens, others, smoothing, orders):
    """BLEU by its definition, one text at a time."""
    logs = 0.0
    for n in range(1, orders + 1):
        own = grams(tokens, n)
        matched = float(sum(min(count, max(grams(o, n)[g] for o in others)) for g, count in own.items()))
        possible = max(sum(own.values()), 1)
        if n == 1 and matched == 0:
            return 0.0
        if n > 1 and smoothing == "add1":
            matched, possible = matched + 1, possible + 1
        if matched == 0 and smoothing == "floor":
            matched = 0.1
        if matched == 0:
            return 0.0
        logs += math.log(matched / possible) / orders
    nearest = min((abs(len(o) - len(tokens)), len(o)) for o in others)[1]
    return math.exp(logs + min(0.0, 1 - nearest / len(tokens)))


def twin(texts, smoothing, orders):
    split = [text.split() for text in texts]
    return float(np.mean([bleu(s, split[:i] + split[i + 1 :], smoothing, orders) for i, s in enumerate(split)]))


corpora = st.lists(
    st.lists(st.sampled_from("abc"), max_size=7).map(" ".join), min_size=2, max_size=6
).filter(any)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(corpora, corpora, st.sampled_from(["floor", "add1", "none"]), st.integers(1, 4))
def test_equals_the_plain_twin(reference, candidate, smoothing, n):
    score = SelfBleuGap(n=n, smoothing=smoothing)(reference=reference, candidate=candidate)  # type: ignore[arg-type]
    assert score.parts["reference"] == pytest.approx(twin(reference, smoothing, n), abs=1e-12)
    assert score.parts["candidate"] == pytest.approx(twin(candidate, smoothing, n), abs=1e-12)
    assert score.value == pytest.approx(abs(score.parts["reference"] - score.parts["candidate"]), abs=1e-12)


def test_repeated_texts_score_1_and_strangers_0():
    score = SelfBleuGap()(reference=["a b c d e"] * 3, candidate=["a b c d", "e f g h"])
    assert score.parts["reference"] == pytest.approx(1)
    assert score.parts["candidate"] == 0


def test_closest_length_leaves_the_text_itself_out():
    assert find_closest_lengths(np.array([3, 5, 5, 9, 7, 1])).tolist() == [1, 5, 5, 7, 5, 3]
