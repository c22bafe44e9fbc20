from itertools import starmap

import numpy as np
import pytest

from textgauge.data import Corpus
from textgauge.encode.tokenizers import get_tokenizer
from textgauge.metrics.properties.wording import compute_unknown_share, compute_vocab_interval, count_new_terms


def sides(texts, known):
    both = get_tokenizer("words").encode([*texts, *known])
    return both.take(np.arange(len(texts))), both.take(np.arange(len(texts), len(both)))


def test_new_terms_are_counted_by_the_texts_that_hold_them():
    mine, theirs = sides(["red red fox!", "a red cow ...", "a dog"], ["a dog?"])
    texts, alone = count_new_terms(mine, theirs)
    assert texts.tolist() == [2, 1, 1]  # red, fox, cow
    assert alone.tolist() == [1, 1, 0]


def test_case_and_signs_make_no_new_term():
    mine, theirs = sides(["A DOG -- barks!!", ""], ["a dog barks"])
    texts, alone = count_new_terms(mine, theirs)
    assert len(texts) == 0
    assert alone.tolist() == [0, 0]
    assert compute_vocab_interval(texts, alone)[0] == 0


def test_nothing_is_known_to_an_empty_corpus():
    mine, theirs = sides(["a dog", "a cat"], [])
    assert len(count_new_terms(mine, theirs)[0]) == 3


def test_the_share_of_unknown_words_counts_each_time():
    both = Corpus.of(["red red fox!", "a red cow ...", "a dog", "a dog?"])
    mine, theirs = both.take([0, 1, 2]), both.take([3])
    assert compute_unknown_share(mine, theirs) == pytest.approx(9 / 12)
    assert np.isnan(compute_unknown_share(both.take([]), mine))


def test_the_interval_covers_the_mean_of_fresh_corpora():
    rng, words = np.random.default_rng(0), 3_000
    chances = np.arange(1, words + 1) ** -1.0
    lengths = rng.integers(3, 20, 4_000)
    texts = [" ".join(f"w{w}" for w in rng.choice(words, n, p=chances / chances.sum())) for n in lengths]
    both = get_tokenizer("words").encode(texts)
    known = both.take(np.arange(300))
    found = [count_new_terms(both.take(rng.integers(300, len(both), 200)), known) for _ in range(400)]
    mean = np.mean([len(texts) for texts, _ in found])
    covered = np.mean([low <= mean <= high for low, high in starmap(compute_vocab_interval, found)])
    assert 0.92 < covered < 0.985
