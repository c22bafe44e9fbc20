"""n-gram tables with back-off, and their scoring: what Kneser–Ney models, ARPA files and `trigram-en` have in common.

    ln P(w | h) = ln p(hw)                      if hw is in the table
                = ln b(h) + ln P(w | h')        if it is not; h' = h without its first word, b = 1 for an unknown h

A text is scored as <s> w1 … wm </s>; <s> is given, the other m + 1 tokens are scored. A word that is not in the table
is <unk>.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.encode.language_models import Surprise, blocks, joined
from textgauge.encode.tokenizers import Tokenizer, Tokens

SPECIAL = ("<s>", "</s>", "<unk>")
BEGIN, END, UNKNOWN = range(3)
ABSENT = -1


@dataclass(frozen=True)
class NgramLevel:
    """The n-grams of one order, sorted by key; the key is row of the first n − 1 words in the level below × words +
    last word, so that any order fits into 64 bits. Logarithms are natural.
    """

    keys: Ints
    log_probability: Floats
    log_backoff: Floats

    def find(self, keys: Ints) -> Ints:
        """Give the row of each key, −1 where there is none."""
        if not len(self.keys):
            return np.full(len(keys), ABSENT, dtype=np.int64)
        order = np.argsort(keys)  # looked up in order, neighbours lie together in memory: three times faster
        rows = np.empty(len(keys), dtype=np.int64)
        rows[order] = np.searchsorted(self.keys, keys[order])
        rows = np.minimum(rows, len(self.keys) - 1)
        return np.where(self.keys[rows] == keys, rows, ABSENT)


@dataclass(frozen=True)
class Ngrams:
    """A whole table; words 0, 1, 2 are <s>, </s> and <unk>, and row w of the first level is word w."""

    words: tuple[str, ...]
    levels: tuple[NgramLevel, ...]

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of each word; the marks in a text are no words."""
        numbers = {word: number for number, word in enumerate(self.words)}
        return numbers | dict.fromkeys(SPECIAL, UNKNOWN)

    def log_probabilities(self, text: Framed) -> Floats:
        """Give ln P of each token given those before it; 0 for <s>, which is not scored."""
        first = self.levels[0]
        rows, logs = text.ids, first.log_probability[text.ids]
        for level, below in zip(self.levels[1:], self.levels, strict=False):
            context = np.concatenate([[ABSENT], rows[:-1]])
            context[text.ids == BEGIN] = ABSENT
            known = context != ABSENT
            rows = np.where(known, level.find(context * len(self.words) + text.ids), ABSENT)
            backed_off = logs + np.where(known, below.log_backoff[context], 0.0)
            found = rows != ABSENT
            logs = backed_off if not found.any() else np.where(found, level.log_probability[rows], backed_off)
        return np.where(text.ids == BEGIN, 0.0, logs)

    def surprise(self, tokens: Tokens) -> Surprise:
        """Give −ln P of each text in nats, and its tokens with </s>; both 0 for a text without tokens."""
        text = framed(self.numbers(tokens), tokens.offsets)
        logs = self.log_probabilities(text)
        nats = np.bincount(text.text, weights=-logs, minlength=len(tokens))
        scored = np.where(tokens.lengths > 0, tokens.lengths + 1, 0)
        return np.where(scored > 0, nats, 0.0), scored

    def numbers(self, tokens: Tokens) -> Ints:
        """Give the numbers of tokens in this table."""
        numbers = [self.index.get(token, UNKNOWN) for token in tokens.vocabulary]
        return np.array(numbers, dtype=np.int64)[tokens.ids]


def first_level(words: int, given: Ints, probability: Floats, backoff: Floats) -> NgramLevel:
    """Build the level of single words; ValueError where one is given twice, or <s> or </s> is missing.

    Without <unk> an unknown word is as probable as the rarest word.
    """
    _refuse_doubles(np.sort(given))
    missing = [SPECIAL[mark] for mark in (BEGIN, END) if mark not in given]
    if missing:
        raise ValueError(f"the 1-grams have no {missing[0]}")
    level = NgramLevel(np.arange(words), np.zeros(words), np.zeros(words))
    level.log_probability[given], level.log_backoff[given] = probability, backoff
    if UNKNOWN not in given:
        level.log_probability[UNKNOWN] = probability[given != BEGIN].min()
    return level


def next_level(below: Sequence[NgramLevel], grams: Ints, probability: Floats, backoff: Floats) -> NgramLevel:
    """Build the level above others from n-grams in any order, one row each.

    ValueError where one is given twice, or its first n − 1 words are no n-gram of the level below.
    """
    words, length = len(below[0].keys), grams.shape[1]
    rows = grams[:, 0]
    for level, word in zip(below[1:], grams.T[1:-1], strict=True):
        rows = level.find(rows * words + word)
        if (rows == ABSENT).any():
            raise ValueError(f"the first {length - 1} words of one of the {length}-grams are no {length - 1}-gram")
    keys = rows * words + grams[:, -1]
    order = np.argsort(keys)
    _refuse_doubles(keys[order])
    return NgramLevel(keys[order], probability[order], backoff[order])


def _refuse_doubles(keys: Ints) -> None:
    if (keys[1:] == keys[:-1]).any():
        raise ValueError("an n-gram is given twice")


@dataclass(frozen=True)
class Framed:
    """Texts one after another, each between <s> and </s>: the tokens, the text and the place in it of each."""

    ids: Ints
    text: Ints
    place: Ints


def framed(ids: Ints, offsets: Ints) -> Framed:
    """Put <s> and </s> around each text.

    >>> framed(np.array([7, 8, 9]), np.array([0, 2, 3])).ids.tolist()
    [0, 7, 8, 1, 0, 9, 1]
    """
    lengths = np.diff(offsets) + 2
    ends = np.cumsum(lengths)
    text = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(text)) - (ends - lengths)[text]
    marked = np.full(len(text), BEGIN, dtype=np.int64)
    marked[ends - 1] = END
    marked[(place > 0) & (place < lengths[text] - 1)] = ids
    return Framed(marked, text, place)


@dataclass(frozen=True)
class NgramModel:
    """A language model that scores texts, split by a tokenizer, with a table of n-grams."""

    name: str
    signature: str
    ngrams: Ngrams
    tokenizer: Tokenizer

    def surprise(self, texts: Sequence[str]) -> Surprise:
        """Give −ln P of each text in nats, and how many tokens were scored."""
        return joined([self.ngrams.surprise(self.tokenizer.encode(block)) for block in blocks(texts)])

    def to_arpa(self, path: str | Path) -> None:
        """Write the table as an ARPA file."""
        from textgauge.encode.language_models.arpa import write_arpa

        write_arpa(self.ngrams, Path(path))


@dataclass(frozen=True)
class SpacedTokenizer:
    """A tokenizer whose tokens never reach over white space and do not depend on what is beyond it.

    It gives what `SplitTokenizer(split)` gives, several times faster, because most words of a corpus come again.

    >>> from textgauge.encode.tokenizers import words_of
    >>> SpacedTokenizer(words_of).encode(["It's on, on!"]).strings(0)
    ["it's", 'on', ',', 'on', '!']
    """

    split: Callable[[str], Iterable[str]]

    def encode(self, texts: Sequence[str]) -> Tokens:
        """Split each text and number the distinct tokens by first appearance."""
        numbers: dict[str, int] = {}
        known: dict[str, list[int]] = {}
        ids: list[int] = []
        ends = [0]
        for text in texts:
            for piece in text.split():
                if piece not in known:
                    known[piece] = [numbers.setdefault(token, len(numbers)) for token in self.split(piece)]
                ids += known[piece]
            ends.append(len(ids))
        return Tokens(np.array(ids, dtype=np.int32), np.array(ends, dtype=np.int64), tuple(numbers))
