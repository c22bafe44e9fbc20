"""Words that are put together again, and n-gram models on them."""

import random

import pytest

from textgauge.core import InputError
from textgauge.encode.tokenizers import split_folded_words
from textgauge_papers.generate.ngrams import NgramGenerator, join_words, split_words, write_ngram_corpora
from textgauge_papers.generate.word_level import UNKNOWN, Vocabulary

TEXTS = ["It's well-known: don't panic (at all).", "My card isn't here, is it?", "Rock'n'roll at 5 o'clock, a_b 3.5%!"]


@pytest.mark.parametrize("text", [*TEXTS, "", "a", "“Quoted”, she said…", "👍🏽 ok", "नमस्ते"])
def test_words_come_together_again(text):
    assert join_words(split_words(text)) == text


def test_no_order_of_words_makes_a_new_word():
    vocabulary = Vocabulary.of(TEXTS, largest=1_000)
    known = {word for text in TEXTS for word in split_folded_words(text)}
    rng = random.Random(0)
    for _ in range(500):
        text = vocabulary.decode(rng.choices(range(UNKNOWN + 1, len(vocabulary)), k=10))
        assert set(split_folded_words(text)) <= known


def test_a_vocabulary_keeps_frequent_words():
    vocabulary = Vocabulary.of(["a a a b b c", "c d"], largest=2, fewest=2)
    assert vocabulary.words[4:] == (" a", " b")
    assert vocabulary.encode("a d b") == [4, UNKNOWN, 5]
    assert vocabulary.decode([1, 4, UNKNOWN, 5, 2]) == "a b"


def test_ngrams_repeat_what_leaves_no_choice_and_need_something_to_learn():
    model = NgramGenerator(order=3)
    with pytest.raises(InputError, match="learned nothing"):
        model.generate(1)
    model.learn(["  "])
    with pytest.raises(InputError, match="learned nothing"):
        model.generate(1)
    model.learn(["one two three four"] * 500)
    made = model.generate(50)
    assert made.count("one two three four") > 40
    assert made == model.generate(50)
    assert made[:5] == model.generate(5)
    model.learn(["a b", "c d"] * 500)
    assert model.generate(50) != model.generate(50, seed=1)


def test_ngram_corpora_use_more_words_step_by_step():
    texts = [f"word{i} is number{i} of all" for i in range(128)]
    corpora = write_ngram_corpora(texts, steps=5, per_step=60)
    words = [len({word for text in corpus for word in text.split()}) for corpus in corpora]
    assert [len(corpus) for corpus in corpora] == [60] * 5
    assert words == sorted(words)
    assert words[0] <= 2 * 8 + 3
    with pytest.raises(InputError, match="need 256 texts"):
        write_ngram_corpora(texts, steps=9)
