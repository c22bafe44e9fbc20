"""Names, and Kneser–Ney against a plain twin."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.core.errors import InputError, UnknownName
from textgauge.core.settings import limit_sizes
from textgauge.encode.language_models import LanguageModel, get_language_model, list_language_models
from textgauge.encode.language_models.kneser_ney import FALLBACK, UNKNOWN, train
from textgauge.encode.tokenizers import SplitTokenizer, get_tokenizer, split_folded_words

CORPUS = ["the cat sat on the mat", "the dog sat", "a cat ran", "", "the cat ran on", "a dog sat on a cat"]

texts = st.lists(st.lists(st.sampled_from("abcd"), max_size=7).map(" ".join), min_size=1, max_size=12)


class Twin:
    """Modified Kneser–Ney from the formula, one n-gram at a time."""

    def __init__(self, texts, order):
        rows = [["<s>", *text.split(), "</s>"] for text in texts if text.split()]
        self.order = order
        self.words = {word for row in rows for word in row} - {"<s>"} | {"<unk>"}
        seen = [
            Counter(tuple(row[i : i + n]) for row in rows for i in range(len(row) - n + 1)) for n in range(order + 2)
        ]
        self.counts: list[dict[tuple[str, ...], int]] = [{}]
        for n in range(1, order + 1):
            before = defaultdict(set)
            for gram in seen[n + 1]:
                before[gram[1:]].add(gram[0])
            raw = {gram for gram in seen[n] if n == order or gram[0] == "<s>"}
            adjusted = {gram: seen[n][gram] if gram in raw else len(before[gram]) for gram in seen[n]}
            adjusted.pop(("<s>",), None)
            self.counts.append(adjusted)

    def discount(self, n, count):
        t = [sum(value == k for value in self.counts[n].values()) for k in range(5)]
        if 0 in t[1:]:
            return FALLBACK[min(count, 3) - 1]
        y = t[1] / (t[1] + 2 * t[2])
        found = [k - (k + 1) * y * t[k + 1] / t[k] for k in (1, 2, 3)]
        return (found if min(found) > 0 else FALLBACK)[min(count, 3) - 1]

    def probability(self, word, context):
        return self._probability(word, context[max(0, len(context) - self.order + 1) :])

    def _probability(self, word, context):
        n = len(context) + 1
        lower = self._probability(word, context[1:]) if context else 1 / len(self.words)
        after = {gram[-1]: count for gram, count in self.counts[n].items() if gram[:-1] == context}
        if not after:
            return lower
        total = sum(after.values())
        left = sum(self.discount(n, count) for count in after.values())
        here = after[word] - self.discount(n, after[word]) if word in after else 0.0
        return here / total + left / total * lower

    def nats(self, text):
        row = ["<s>", *(word if word in self.words else "<unk>" for word in text.split()), "</s>"]
        return -sum(np.log(self.probability(row[i], tuple(row[:i]))) for i in range(1, len(row)))


@given(texts.filter(any), st.integers(1, 4))
def test_as_the_plain_twin(corpus, order):
    twin, model = Twin(corpus, order), train(corpus, order=order)
    queries = [*corpus, "d c b a", "unseen a unseen"]
    nats, tokens = model.surprise(queries)
    expected = [twin.nats(text) if text else 0.0 for text in queries]
    np.testing.assert_allclose(nats, expected, rtol=1e-12, atol=1e-12)
    assert tokens.tolist() == [len(text.split()) + 1 if text else 0 for text in queries]


def larger_corpus():
    draw = np.random.default_rng(0)
    return [" ".join(f"w{int(20 * share**2)}" for share in draw.random(size)) for size in draw.integers(1, 9, 300)]


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("context", ["", "the", "the cat", "cat unseen", "sat on the cat"])
def test_probabilities_sum_to_one(order, context):
    ngrams = train(CORPUS, order=order)
    begin = [0, *(ngrams.numbers.get(word, UNKNOWN) for word in context.split())]
    rows = np.array([[*begin, word] for word in range(1, len(ngrams.numbers))])
    logs = ngrams.compute_log_probabilities(rows.ravel())
    assert np.exp(logs.reshape(rows.shape)[:, -1]).sum() == pytest.approx(1, abs=1e-12)


def test_the_order_of_texts_and_batches_changes_no_bit():
    corpus = larger_corpus()
    model, turned = train(corpus), train(corpus[::-1])
    nats, _ = model.surprise(corpus)
    assert model.signature == turned.signature
    np.testing.assert_array_equal(turned.surprise(corpus)[0], nats)
    with limit_sizes(50):
        np.testing.assert_array_equal(model.surprise(corpus)[0], nats)
        np.testing.assert_array_equal(model.surprise(corpus[::-1])[0], nats[::-1])


def test_marks_in_a_text_are_unknown_words():
    model = train(["<s> a </s>", "a b <unk>"], on="whitespace")
    assert list(model.numbers) == ["<s>", "</s>", "<unk>", "a", "b"]
    nats, tokens = model.surprise(["<s> a", "nothing a"])
    assert nats[0] == nats[1]
    assert tokens.tolist() == [3, 3]


def test_nothing_to_score():
    model = train(CORPUS)
    for found in (model.surprise([]), model.surprise(["", "  \n"])):
        assert found[0].tolist() == [0.0] * len(found[0])
        assert found[1].tolist() == [0] * len(found[0])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("kneser-nay", "did you mean kneser-ney"),
        ("smollm", "did you mean smollm2"),
        ("smollm2(order=2)", "smollm2 has no parameters"),
        ("kneser-ney(n=2)", "it has order, tokenizer"),
        ("kneser-ney(order=0)", "from 1 to 10"),
        ("kneser-ney(order=two)", "from 1 to 10"),
        ("kneser-ney(tokenizer=wards)", "did you mean words"),
        ("kneser-ney:x", "unknown language model"),
        ("hf-causal:", "unknown language model"),
        ("kneser-ney@words", "unknown language model"),
    ],
)
def test_wrong_names(name, says):
    with pytest.raises(UnknownName, match=says):
        get_language_model(name, representative=CORPUS)


def test_kneser_ney_needs_texts():
    with pytest.raises(InputError, match="representative"):
        get_language_model("kneser-ney")
    for nothing in ([], ["", " "]):
        with pytest.raises(InputError, match="with words in it"):
            get_language_model("kneser-ney", representative=nothing)


def test_models_are_of_one_kind():
    made = [get_language_model(name, representative=CORPUS) for name in list_language_models() if ":" not in name]
    assert all(isinstance(model, LanguageModel) for model in made)
    assert made[0].name == "kneser-ney"
    assert get_language_model("kneser-ney( order = 5 )", representative=CORPUS).name == "kneser-ney(order=5)"
    assert get_language_model("smollm2") is get_language_model("smollm2")
    signature = made[0].signature
    assert signature.startswith("kneser-ney(order=3,tokenizer=words,representative=")
    assert signature != train(CORPUS[1:]).signature


@given(st.lists(st.text(), max_size=5))
def test_splitting_by_space_first_changes_nothing(texts):
    spaced, whole = get_tokenizer("words").encode(texts), SplitTokenizer(split_folded_words).encode(texts)
    assert spaced.vocabulary == whole.vocabulary
    np.testing.assert_array_equal(spaced.ids, whole.ids)
    np.testing.assert_array_equal(spaced.offsets, whole.offsets)
