"""Copied passages against a plain comparison of all places, and on documents with passages cut out of others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from textgauge.core.settings import limit_sizes
from textgauge.data import Corpus, Pool, find_data_table, load_texts
from textgauge.encode.tokenizers import Tokens, compute_offsets
from textgauge.metrics.numerics import passages
from textgauge.metrics.numerics.passages import find_passages
from textgauge.metrics.properties.repeats import find_copied_passages

Rows = list[list[int]]


def _make_tokens(rows: Rows) -> Tokens:
    ids = np.array([word for row in rows for word in row], dtype=np.int32)
    return Tokens(ids, compute_offsets([len(row) for row in rows]), tuple("abcdefgh"))


def _compare_all(row: list[int], others: Rows, k: int) -> tuple[int, int, bool]:
    """Length of the longest common run of k words or more, words in such runs, and whether a longer text holds all."""
    longest, words, contained = 0, set[int](), False
    for other in others:
        for start, place in product(range(len(row)), range(len(other))):
            length = 0
            while length < min(len(row) - start, len(other) - place) and row[start + length] == other[place + length]:
                length += 1
            if length >= k:
                longest, words = max(longest, length), words | set(range(start, start + length))
                contained |= length == len(row) < len(other)
    return longest, len(words), contained


@pytest.mark.parametrize("largest", [10**9, 7])
def test_passages_are_those_of_comparing_all_places(largest: int) -> None:
    rng = np.random.default_rng(largest)
    for _ in range(60):
        kinds, k = int(rng.integers(2, 6)), int(rng.integers(2, 6))
        rows, others = (
            [rng.integers(0, kinds, int(rng.integers(0, 20))).tolist() for _ in range(int(rng.integers(0, 8)))]
            for _ in range(2)
        )
        for given in (others, None):
            with limit_sizes(largest):
                found = find_passages(_make_tokens(rows), None if given is None else _make_tokens(given), words=k)
            beside = [[*rows[:row], *rows[row + 1 :]] if given is None else others for row in range(len(rows))]
            longest = np.append(found.lengths, 0)[found.longest]
            seen = list(zip(longest.tolist(), found.words.tolist(), found.is_contained.tolist(), strict=True))
            assert seen == [_compare_all(row, other, k) for row, other in zip(rows, beside, strict=True)]
            columns = (found.texts, found.starts, found.lengths, found.others, found.places)
            for text, start, length, other, place in zip(*(column.tolist() for column in columns), strict=True):
                held = rows if given is None else others
                assert rows[text][start : start + length] == held[other][place : place + length]
                assert given is not None or text != other


def test_windows_with_one_hash_that_differ_are_no_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    class Colliding:
        def __init__(self, seed: int) -> None:
            del seed

        def integers(self, low: int, high: int, size: int, dtype: type) -> np.ndarray:
            del low, high
            return np.zeros(size, dtype=dtype)

    monkeypatch.setattr(passages.np.random, "default_rng", Colliding)
    found = find_passages(_make_tokens([[1, 2, 3, 4]]), _make_tokens([[5, 6, 7], [2, 3, 4]]), words=3)
    assert (found.starts.tolist(), found.others.tolist()) == ([1], [1])


def test_with_few_places_tried_all_copied_words_are_found_and_complete_is_true_of_the_longest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passages, "_TRIED", 2)
    rng, complete = np.random.default_rng(0), 0
    for _ in range(300):
        rows = [rng.integers(0, 3, int(rng.integers(0, 12))).tolist() for _ in range(int(rng.integers(0, 6)))]
        found = find_passages(_make_tokens(rows), words=4)
        truth = [_compare_all(row, [*rows[:place], *rows[place + 1 :]], 4) for place, row in enumerate(rows)]
        assert found.words.tolist() == [words for _, words, _ in truth]
        if found.complete:
            complete += 1
            assert np.append(found.lengths, 0)[found.longest].tolist() == [longest for longest, _, _ in truth]
    assert 50 < complete < 300


def test_a_window_with_very_many_places_is_not_looked_up_at_all_of_them() -> None:
    rows = [[1, 1, 1, 1, 2, 2, 2]]
    others = [[1, 1, 1, 3]] * 400 + [[1, 1, 1, 1, 2, 4]] + [[2, 2, 2]] * 400
    found = find_passages(_make_tokens(rows), _make_tokens(others), words=2)
    assert found.words.tolist() == [7]
    whole = find_passages(_make_tokens(rows), _make_tokens([[1, 1, 1, 1, 2, 2, 2]] * 400), words=2)
    assert (whole.complete, whole.lengths.tolist()) == (True, [7])


def test_every_passage_cut_out_of_a_document_is_found_and_none_of_other_documents() -> None:
    """96 passages of two sentences of train documents, and 96 of another collection: news do copy each other."""
    names = ("bbc_news/bbc_news", "newsgroups20/newsgroups20_sample")
    tables = [find_data_table(name) for name in names]
    if None in tables:
        pytest.skip(f"TEXTGAUGE_DATA has not both of {names}")
    rng = np.random.default_rng(0)
    collections = [load_texts(str(table), column="text", limit=1_500).texts for table in tables]
    passages = [_cut_passages(texts, rng) for texts in collections]
    for train, cut, control in zip(collections, passages, passages[::-1], strict=True):
        pool = Pool([*cut, *control, *train])
        found = find_copied_passages(Corpus(pool, np.arange(192)), Corpus(pool, np.arange(192, pool.size)))
        assert ((found.longest >= 0).sum(), found.is_contained[:96].sum()) == (96, 96)


def _cut_passages(texts: Sequence[str], rng: np.random.Generator) -> list[str]:
    made: list[str] = []
    for text in texts:
        sentences = text.split(". ")
        long = [place for place in range(1, len(sentences) - 2) if len(sentences[place].split()) >= 8]
        if long and len(made) < 96:
            place = long[int(rng.integers(len(long)))]
            made.append(". ".join(sentences[place : place + 2]))
    return made
