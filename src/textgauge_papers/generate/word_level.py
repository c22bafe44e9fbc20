"""The vocabulary of models that learn words from scratch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from textgauge_papers.generate.ngrams import join_words, split_words

PAD, START, END, UNKNOWN = 0, 1, 2, 3
_SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")


@dataclass(frozen=True)
class Vocabulary:
    """The words of a corpus, most frequent first, after four special signs: pad, start, end, unknown."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str], *, largest: int, fewest: int = 1) -> Vocabulary:
        """Return words that occur `fewest` times or more, `largest` of them at most; ties by the alphabet."""
        counts = Counter(piece for text in texts for piece in split_words(text))
        order = sorted((-count, word) for word, count in counts.items() if count >= fewest)
        return cls((*_SPECIAL, *(word for _, word in order[:largest])))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's words."""
        return [self._numbers.get(piece, UNKNOWN) for piece in split_words(text)]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of numbers; the vocabulary's own signs are left out."""
        return join_words(self.words[number] for number in ids if number >= len(_SPECIAL))
