from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge.data import Corpus
from textgauge.metrics.corpus.diversity import CrossEntropy, list_orders, witten_bell


class Twin:
    """The Witten–Bell model as dictionaries, one token at a time."""

    def __init__(self, texts, order, vocabulary):
        self.order, self.vocabulary = order, vocabulary
        self.after: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for text in texts:
            for history, token in self.steps(text):
                for k in range(order):
                    self.after[history[len(history) - k :]][token] += 1

    def steps(self, text):
        tokens = ["<"] * (self.order - 1) + text.split() + [">"]
        return [(tuple(tokens[i - self.order + 1 : i]), tokens[i]) for i in range(self.order - 1, len(tokens))]

    def probability(self, token, history):
        below = self.probability(token, history[1:]) if history else 1 / self.vocabulary
        seen = self.after.get(history)
        if not seen:
            return below
        return (seen[token] + len(seen) * below) / (seen.total() + len(seen))

    def entropy(self, texts):
        steps = [step for text in texts for step in self.steps(text)]
        return -sum(math.log(self.probability(token, history)) for history, token in steps) / len(steps)


corpora = st.lists(
    st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join), min_size=2, max_size=6
).filter(any)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(corpora, corpora, st.integers(1, 4))
def test_equals_the_plain_twin(reference, candidate, order):
    vocabulary = len(set(" ".join(reference + candidate).split())) + 1
    score = CrossEntropy(on="words", order=order)(reference=reference, candidate=candidate)
    crossed = Twin(reference, order, vocabulary).entropy(candidate)
    own = Twin(candidate, order, vocabulary).entropy(candidate)
    assert score.parts["cross_entropy"] == pytest.approx(crossed, abs=1e-12)
    assert score.parts["own_entropy"] == pytest.approx(own, abs=1e-12)
    assert score.value == pytest.approx(crossed - own, abs=1e-12)


def test_probabilities_of_a_context_sum_to_1():
    # each text of the second half ends the context "a b" (or one never seen) in another way: all its continuations
    endings = ["c", "d", "e", "a", "b", ""]
    continued = [f"{context} {token}" for context in ("a b", "e") for token in endings]
    corpus = Corpus.of(["a b c", "a b d d", "b a", *continued])
    table = list_orders(corpus, "words", 3)
    learnt = np.arange(len(corpus)) < 3
    counts = [order.counts.T @ learnt[:, None].astype(float) for order in table]
    probabilities = witten_bell(table, counts, np.array([6.0]))[:, 0]
    sums = np.bincount(table[-1].context, probabilities)
    complete = np.bincount(table[-1].context) == 6
    assert complete.sum() == 2
    np.testing.assert_allclose(sums[complete], 1.0, atol=1e-12)
    assert (sums <= 1 + 1e-12).all()
