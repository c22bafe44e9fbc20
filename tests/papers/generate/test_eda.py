"""Easy data augmentation: what each operation changes, and what it leaves alone."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge_papers.generate.eda import (
    STOP_WORDS,
    SplitText,
    delete_words,
    eda,
    insert_words,
    replace_words,
    swap_words,
)

KNOWN = {"card": ("bill", "menu"), "lost": ("missing",), "new": ("fresh", "novel"), "bank": ("depository",)}
TEXTS = ["I lost my new Card!", "Is the BANK open, please?", "My card: stolen (again).", "one two three four five six"]


def synonyms(word):
    return KNOWN.get(word, ())


def changed(**options):
    return eda(TEXTS, n=40, synonyms=synonyms, **options)


@given(st.text(max_size=40))
def test_any_text_is_its_words_and_gaps(text):
    assert str(SplitText.of(text)) == text


def test_synonyms_keep_case_and_signs_and_replace_every_occurrence():
    rng = np.random.default_rng(0)
    made = replace_words(
        SplitText.of("Lost: my card, a CARD. The card!"), 0.5, lambda word: synonyms(word.lower()), rng
    )
    assert made.words[0] == "Missing"
    assert made.words[2] == made.words[6] in {"bill", "menu"}
    assert made.words[4] in {"BILL", "MENU"}
    assert made.gaps == SplitText.of("Lost: my card, a CARD. The card!").gaps


@pytest.mark.parametrize(("words", "alpha", "count"), [(10, 0.1, 1), (20, 0.1, 2), (5, 0.1, 1), (29, 0.1, 2)])
def test_the_number_of_insertions_follows_alpha(words, alpha, count):
    text = SplitText.of(" ".join(["card"] * words) + ".")
    made = insert_words(text, alpha, synonyms, np.random.default_rng(0))
    assert len(made.words) == words + count
    assert str(made).endswith(".")
    assert Counter(made.words)["card"] == words


def test_swaps_keep_the_words_and_the_signs_in_place():
    text = SplitText.of("a, b. c; d!")
    made = swap_words(text, 0.5, np.random.default_rng(1))
    assert sorted(made.words) == ["a", "b", "c", "d"]
    assert made.gaps == text.gaps


def test_deletion_keeps_one_word_and_the_last_sign():
    rng = np.random.default_rng(0)
    for _ in range(20):
        made = str(delete_words(SplitText.of("one two three."), 0.9, rng))
        assert made.endswith(".")
        assert len(SplitText.of(made).words) >= 1
    shares = [len(delete_words(SplitText.of("w " * 200), 0.1, rng).words) / 200 for _ in range(50)]
    assert np.mean(shares) == pytest.approx(0.9, abs=0.01)


def test_stop_words_are_not_replaced():
    made = eda(["the and of"], n=4, alpha_rs=0, p_rd=0, synonyms=lambda _: ("wrong",))
    assert made == ["the and of"] * 4
    assert {"the", "don't", "i"} <= STOP_WORDS


def test_variants_differ_from_their_text_and_from_each_other():
    made = changed()
    assert len(made) == 40
    assert not set(made) & set(TEXTS)
    assert len(set(made)) == 40


def test_a_variant_depends_on_seed_and_content_not_on_its_neighbours():
    assert changed(seed=1) == changed(seed=1)
    assert changed(seed=1) != changed(seed=2)
    alone = eda(TEXTS[2:3], n=10, seed=1, synonyms=synonyms)
    backwards = eda(TEXTS[::-1], n=40, seed=1, synonyms=synonyms)
    assert alone == backwards[10:20] == changed(seed=1)[20:30]


def test_fewer_texts_than_given_are_chosen_by_content():
    some = eda(TEXTS, n=2, seed=3, synonyms=synonyms)
    other = eda(TEXTS[::-1], n=2, seed=3, synonyms=synonyms)
    assert sorted(some) == sorted(other)
    assert len(eda(TEXTS, synonyms=synonyms)) == len(TEXTS)
