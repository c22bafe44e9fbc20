"""`trigram-en`: the general English trigram model of CMU Sphinx, read from the resource of that name.

The file is a trie of reversed n-grams: word, the word before it, the word before that. After the header come the
values the quantised logarithms stand for, the words' own logarithms (base 1.0001, as all of Sphinx), the pairs
(word, two quantised logarithms, where its triples begin) and the triples (word, one logarithm), packed bit by bit, and
at last the words, each ended by a zero byte.

Texts are cut into sentences at full stops, question and exclamation marks; signs are left out. The model knows 72,545
words in lower case, no digits and no <unk>: an unknown word costs as much as its rarest word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import ResourceError
from textgauge.encode.language_models import Surprise, blocks, joined
from textgauge.encode.language_models.ngrams import SPECIAL, UNKNOWN, Ngrams, SpacedTokenizer, first_level, next_level
from textgauge.encode.resources import locate, resource
from textgauge.encode.tokenizers import words_of

FILE = "en-us.lm.bin"
_MAGIC = b"Trie Language Model"
_UNIT = float(np.log(1.0001))
_BINS = 1 << 16
_QUANTISED = 16  # bits
_WORD = np.dtype([("probability", "<f4"), ("backoff", "<f4"), ("next", "<u4")])
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++(?=\s|$)")


@dataclass(frozen=True)
class TrigramEn:
    """The model as a language model; sentences of a text are scored separately and summed."""

    name = "trigram-en"

    @property
    def signature(self) -> str:
        """Everything the numbers depend on."""
        return f"trigram-en(sha256={resource('trigram-en').files[FILE][:16]},version=1)"

    def surprise(self, texts: Sequence[str]) -> Surprise:
        """Give −ln P of each text in nats, and its words with one end for each sentence."""
        return joined([_by_sentence(block) for block in blocks(texts)])


def _by_sentence(texts: Sequence[str]) -> Surprise:
    parts = [_SENTENCE_END.split(text) for text in texts]
    text = np.repeat(np.arange(len(texts)), [len(part) for part in parts])
    tokens = SpacedTokenizer(plain_words).encode([sentence for part in parts for sentence in part])
    nats, scored = trigrams().surprise(tokens)
    total = np.bincount(text, weights=nats, minlength=len(texts))
    return total.astype(np.float64), np.bincount(text, weights=scored, minlength=len(texts)).astype(np.int64)


def plain_words(text: str) -> list[str]:
    """Split a text into words as the model has them, without signs.

    >>> plain_words("Well-known: it’s 5 o'clock!")
    ['well', 'known', "it's", '5', "o'clock"]
    """
    return [word for word in words_of(text) if word[0].isalnum()]


@cache
def trigrams() -> Ngrams:
    """Load the table, once."""
    return read_trie(locate("trigram-en") / FILE)


def read_trie(path: Path) -> Ngrams:
    """Read a trigram trie; ResourceError where the bytes do not fit together."""
    data = np.fromfile(path, dtype=np.uint8)
    try:
        return _ngrams(data)
    except (ValueError, IndexError) as error:
        raise ResourceError(f"{path.name} is not a trigram model of CMU Sphinx: {error}") from error


def _ngrams(data: NDArray[np.uint8]) -> Ngrams:
    start = len(_MAGIC) + 1
    if data[:start].tobytes() != _MAGIC + b"\3":
        raise ValueError("it does not begin as one of order 3")
    singles, pairs, triples = (int(count) for count in _part(data, start, np.dtype("<u4"), 3))
    of_pair = _Packed(pairs + 1, (singles.bit_length(), _QUANTISED, _QUANTISED, triples.bit_length()))
    of_triple = _Packed(triples + 1, (singles.bit_length(), _QUANTISED))
    sizes = (16, 3 * _BINS * 4, (singles + 1) * _WORD.itemsize, of_pair.size, of_triple.size)
    bins_at, words_at, pairs_at, triples_at, names_at = list(accumulate(sizes, initial=start))[1:]
    bins = _part(data, bins_at, np.dtype("<f4"), 3 * _BINS).reshape(3, _BINS) * _UNIT
    word = _part(data, words_at, _WORD, singles + 1)
    before, backoff, probability, below = of_pair.columns(data, pairs_at)
    earlier, longest = of_triple.columns(data, triples_at)
    of_word = _parents(word["next"], pairs)
    of_two = _parents(below[: len(of_word) + 1], triples)
    names = _names(data[names_at:], singles)
    number = _numbers(names)
    levels = [first_level(singles + 1, number, word["probability"][:-1] * _UNIT, word["backoff"][:-1] * _UNIT)]
    last, first = number[of_word], number[before[: len(of_word)]]
    pair_logs = bins[0][probability[: len(of_word)]], bins[1][backoff[: len(of_word)]]
    levels.append(next_level(levels, np.column_stack([first, last]), *pair_logs))
    three = np.column_stack([number[earlier[: len(of_two)]], first[of_two], last[of_two]])
    levels.append(next_level(levels, three, bins[2][longest[: len(of_two)]], np.zeros(len(of_two))))
    words = sorted(names, key=dict(zip(names, number.tolist(), strict=True)).__getitem__)
    return Ngrams((*words[:UNKNOWN], SPECIAL[UNKNOWN], *words[UNKNOWN:]), tuple(levels))


def _part(data: NDArray[np.uint8], start: int, kind: np.dtype[Any], count: int) -> NDArray[Any]:
    piece = data[start : start + count * kind.itemsize]
    if len(piece) != count * kind.itemsize:
        raise ValueError("it is too short")
    return piece.view(kind)


@dataclass(frozen=True)
class _Packed:
    """A table packed bit by bit, lowest first, with 8 bytes of slack behind it."""

    rows: int
    widths: tuple[int, ...]

    @property
    def size(self) -> int:
        return (self.rows * sum(self.widths) + 7) // 8 + 8

    def columns(self, data: NDArray[np.uint8], start: int) -> list[Ints]:
        section = _part(data, start, np.dtype(np.uint8), self.size)
        places = accumulate(self.widths, initial=0)
        return [self._column(section, place, width) for place, width in zip(places, self.widths, strict=False)]

    def _column(self, section: NDArray[np.uint8], place: int, width: int) -> Ints:
        if width > 25:  # with a shift of 7 it must fit into the four bytes read
            raise ValueError("it is too large")
        bit = np.arange(self.rows, dtype=np.int64) * sum(self.widths) + place
        overlapping = np.ndarray(len(section) - 3, np.dtype("<u4"), section, strides=(1,))
        value: Ints = overlapping[bit >> 3].astype(np.int64)
        return (value >> (bit & 7)) & ((1 << width) - 1)


def _parents(begins: NDArray[Any], most: int) -> Ints:
    """Give the row above of each entry, from where the entries of each row begin; the last number is their end."""
    whole: Ints = begins.astype(np.int64)
    steps = whole[1:] - whole[:-1]
    if whole[0] != 0 or (steps < 0).any() or whole[-1] > most:
        raise ValueError("its entries do not follow each other")
    return np.repeat(np.arange(len(steps)), steps)


def _names(data: NDArray[np.uint8], count: int) -> list[str]:
    size = int(_part(data, 0, np.dtype("<u4"), 1)[0])
    names = _part(data, 4, np.dtype(np.uint8), size).tobytes().split(b"\0")
    if len(names) != count + 1 or names[-1] or len(set(names)) != len(names):
        raise ValueError("its words are not as many as it says")
    return [name.decode() for name in names[:-1]]


def _numbers(names: list[str]) -> Ints:
    """Give each word the number it has in a table: <s> 0, </s> 1, the others from 3 on."""
    marks = [names.index(mark) for mark in SPECIAL[:UNKNOWN]]
    number = np.empty(len(names), dtype=np.int64)
    number[np.setdiff1d(np.arange(len(names)), marks)] = np.arange(len(names) - len(marks)) + len(SPECIAL)
    number[marks] = np.arange(len(marks))
    return number
