"""Tokenizing by what stands between white space, each different piece split once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from textgauge.represent.tokenizers import Tokens


@dataclass(frozen=True)
class SpacedTokenizer:
    """A tokenizer whose tokens never reach over white space and do not depend on what is beyond it.

    It gives what `SplitTokenizer(split)` gives, several times faster, because most words of a corpus come again.

    >>> from textgauge.represent.tokenizers import words_of
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
