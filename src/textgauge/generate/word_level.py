"""Texts as words and signs that join to the text again: what word-level generators read and write."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

PAD, START, END, UNKNOWN = 0, 1, 2, 3
_SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
_INSIDE = "'’"  # signs that belong to a word when letters stand on both sides
_PIECES = re.compile(rf"\s?(?:[^\W_]+(?:[{_INSIDE}][^\W_]+)*|\S)")


def split_words(text: str) -> list[str]:
    """Words and signs with the space before them, if any; the text counts as following a space.

    >>> split_words("It's fine, Ann (24).")
    [" It's", ' fine', ',', ' Ann', ' (', '24', ')', '.']
    """
    return _PIECES.findall(" " + " ".join(unicodedata.normalize("NFC", text).split()))


def join_words(pieces: Iterable[str]) -> str:
    """The text of words and signs; a space is put between two words that would join into one.

    >>> join_words([" It's", " fine", "24", ","])
    "It's fine 24,"
    """
    text = ""
    for piece in pieces:
        inside = text[-1:] in _INSIDE and text[-2:-1].isalnum()
        text += " " + piece if piece[:1].isalnum() and (text[-1:].isalnum() or inside) and text else piece
    return text.strip()


@dataclass(frozen=True)
class Vocabulary:
    """The words of a corpus, most frequent first, after four special signs: pad, start, end, unknown."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str], *, largest: int, fewest: int = 1) -> Vocabulary:
        """Words that occur `fewest` times or more, `largest` of them at most; ties by the alphabet."""
        counts = Counter(piece for text in texts for piece in split_words(text))
        order = sorted((-count, word) for word, count in counts.items() if count >= fewest)
        return cls((*_SPECIAL, *(word for _, word in order[:largest])))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, text: str) -> list[int]:
        """The numbers of a text's words."""
        return [self._numbers.get(piece, UNKNOWN) for piece in split_words(text)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of numbers; the vocabulary's own signs are left out."""
        return join_words(self.words[number] for number in ids if number >= len(_SPECIAL))
