"""Shared n-grams, and the metrics made of them, against plain twins."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge import get_metric
from textgauge.encode.tokenizers import Tokens, get_tokenizer
from textgauge.metrics.numerics.ngram_counts import count_shared_ngrams, find_best_rows
from textgauge.metrics.numerics.search import compute_common_lengths
from textgauge.metrics.pair.rouge import number_characters

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
FEW_WORDS = st.lists(st.sampled_from(["a", "b", "c", "d.", "e"]), max_size=12).map(" ".join)
SEQUENCES = st.lists(st.lists(st.integers(0, 3), max_size=9), min_size=1, max_size=6)
NAMES = ["rouge1", "rouge2", "rouge", "rougeL", "rougeLsum", "bleu", "chrf", "ter", "gleu", "nist"]


def tokens_of(rows, *, factor=1):
    ids = np.array([factor * token for row in rows for token in row], dtype=np.int32)
    return Tokens(ids, np.cumsum([0, *map(len, rows)]), ())


def plain_shared(left, right, n):
    first, second = (Counter(tuple(row[i : i + n]) for i in range(len(row) - n + 1)) for row in (left, right))
    return (first & second).total()


@settings(deadline=None)
@given(SEQUENCES, st.integers(1, 6), st.sampled_from([1, 50_000, 600_000_000]))
def test_shared_ngrams_are_those_of_counters(rows, orders, factor):
    left, right = (side.reshape(-1) for side in np.indices((len(rows), len(rows))))
    expected = [
        [plain_shared(rows[a], rows[b], n) for n in range(1, orders + 1)] for a, b in zip(left, right, strict=True)
    ]
    tokens = tokens_of(rows, factor=factor)
    assert count_shared_ngrams(tokens, left, right, orders).tolist() == expected
    places = np.arange(len(rows))
    matrix = count_shared_ngrams(tokens, places, places, orders, crossed=True)
    assert matrix.reshape(-1, orders).tolist() == expected


def test_the_best_row_of_an_item_is_the_first_of_equal_ones():
    assert find_best_rows(np.array([0.1, 0.5, 0.5, 0.2, 0.0]), np.array([0, 0, 0, 1, 2])).tolist() == [1, 3, 4]


@settings(deadline=None)
@given(FEW_WORDS | ANY_TEXT, FEW_WORDS | ANY_TEXT)
def test_bleu_chrf_and_ter_are_those_of_sacrebleu(left, right):
    from sacrebleu import metrics

    if not (left.split() or right.split()):
        return  # sacrebleu has 0 for two texts without content
    for name, peer in (
        ("bleu", metrics.BLEU(effective_order=True)),
        ("bleu(smoothing=add-k,k=0.5)", metrics.BLEU(effective_order=True, smooth_method="add-k", smooth_value=0.5)),
        ("chrf", metrics.CHRF()),
        ("chrf(word_order=2)", metrics.CHRF(word_order=2)),
        ("ter", metrics.TER()),
    ):
        value = get_metric(name)(left=[left], right=[right]).values[0]
        assert value == pytest.approx(peer.sentence_score(left, [right]).score, abs=1e-9)


@settings(deadline=None)
@given(st.lists(ANY_TEXT, max_size=4))
def test_code_points_leave_out_white_space(texts):
    tokens = number_characters(texts, whitespace=False)
    assert ["".join(tokens.strings(row)) for row in range(len(texts))] == ["".join(text.split()) for text in texts]
    tokens = number_characters(texts, whitespace=True)
    assert ["".join(tokens.strings(row)) for row in range(len(texts))] == texts


def test_a_vocabulary_beyond_the_code_points_keeps_its_subsequences():
    rows = [[0, 1_500_000, 2], [1_500_000, 2, 7]]
    tokens = tokens_of(rows)
    assert compute_common_lengths(tokens, np.array([0]), np.array([1])).tolist() == [2.0]


def test_one_text_without_words():
    for name in NAMES:
        expected = 100.0 if name == "ter" else 0.0
        assert get_metric(name)(left=["", "a word"], right=["a word", ""]).values.tolist() == [expected] * 2


def test_rouge2_of_single_words():
    assert get_metric("rouge2")(left=["yes", "yes", "yes"], right=["Yes!", "no", "yes sir"]).values.tolist() == [
        1,
        0,
        0,
    ]
    assert get_metric("rouge2@rouge_score")(left=["yes"], right=["yes"]).values.tolist() == [0]


def test_rouge_tokens_of_the_style_transfer_study():
    assert get_tokenizer("rouge").encode(["A word. Then.More ,"]).strings(0) == ["A", "word", "Then", "More", ","]


def test_a_normalised_nist_score_is_a_share_of_the_own_score_of_the_reference():
    left, right = ["the cat sat on a mat"], ["the cat sat on the mat"]
    raw = get_metric("nist(normalise=false)")
    assert get_metric("nist")(left=left, right=right).values == pytest.approx(
        raw(left=left, right=right).values / raw(left=right, right=right).values
    )
    rare = f"{'the ' * 90}cat"
    assert get_metric("nist")(left=[rare[:-40] + " cat"], right=[rare]).values[0] <= 1.0
    assert raw.bounds == (0.0, float("inf"))
