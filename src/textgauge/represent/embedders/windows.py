"""Cut long texts into windows that an encoder reads whole; the words around a cut decide where it is.

Cuts at fixed distances would all move when a word is put in at the beginning. Here a cut lies in the second half of
what fits, before the word whose neighbourhood has the smallest checksum: after a change the same places win again, so
a passage has the same windows in whatever text it stands, and each is encoded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from textgauge.represent.tokenizers import without_surrogates

_TEXTS_AT_ONCE = 64  # tokenized together: long ones take memory

Places = NDArray[np.int64]


class Words(NamedTuple):
    """What must not be cut: where each word of a text starts and ends, and how many tokens come before."""

    starts: Places
    ends: Places
    until: Places

    @property
    def tokens(self) -> int:
        """The number of tokens of the text."""
        return int(self.until[-1])


def words_of(tokenizer: Any, texts: Sequence[str]) -> Iterator[Words]:
    """The words of each text, as a tokenizer of the library `tokenizers` has them."""
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        batch = [without_surrogates(text) for text in texts[start : start + _TEXTS_AT_ONCE]]
        for encoding in tokenizer.encode_batch(batch, add_special_tokens=False):
            yield words(encoding.word_ids, encoding.offsets)


def words(word_ids: Sequence[int | None], offsets: Sequence[tuple[int, int]]) -> Words:
    """Tokens put together to words.

    >>> words([0, 0, 1], [(0, 4), (4, 7), (8, 9)])
    Words(starts=array([0, 8]), ends=array([7, 9]), until=array([0, 2, 3]))
    """
    numbers = np.array(word_ids, dtype=np.float64)  # None becomes NaN, unlike every other
    spans = np.array(offsets, dtype=np.int64).reshape(-1, 2)
    firsts = np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]][: len(numbers)])
    until = np.r_[firsts, len(numbers)]
    return Words(spans[firsts, 0], spans[until[1:] - 1, 1], until)


def cut(text: str, found: Words, room: int) -> list[str]:
    """A text that does not fit as consecutive windows of at most `room` tokens, at least two of them.

    >>> cut("one two three four five", words(range(5), [(0, 3), (4, 7), (8, 13), (14, 18), (19, 23)]), 3)
    ['one two', 'three four five']
    """
    starts, ends, until = found
    if len(starts) == 1:  # one word of many tokens, as in scripts without spaces
        middle = len(text) // 2
        return [text[:middle], text[middle:]]
    windows, first = [], 0
    while until[-1] - until[first] > room and first < len(starts) - 1:
        after = _next(text, found, first, room)
        windows.append(text[starts[first] : ends[after - 1]])
        first = after
    return [*windows, text[starts[first] : ends[-1]]]


def _next(text: str, found: Words, first: int, room: int) -> int:
    """The first word of the next window; a word that fits nowhere is a window by itself."""
    starts, ends, until = found
    last = max(first + 1, int(np.searchsorted(until, until[first] + room, side="right")) - 1)
    half = int(np.searchsorted(until, until[first] + (room + 1) // 2))
    places = np.arange(min(max(first + 1, half), last), last + 1)
    # The word before a cut and the two after it.
    begins, stops = starts[places - 1].tolist(), ends[np.minimum(places + 1, len(ends) - 1)].tolist()
    around = (text[begin:stop] for begin, stop in zip(begins, stops, strict=True))
    sums = [crc32(part.encode("utf-8", "surrogatepass")) for part in around]
    return int(places[int(np.argmin(sums))])
