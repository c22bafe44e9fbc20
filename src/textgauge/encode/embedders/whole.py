"""`whole:EMBEDDER`: an embedder that reads long texts to their end, window by window.

Encoders read a few hundred tokens and leave out the rest of a text without a word. Here a text that does not fit is cut
into windows that do; the direction of its vector is that of the windows' mean, weighted by tokens,
its length their mean length: 1 where the encoder gives units. A text that fits has the bits of the plain embedder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats32, Ints
from textgauge.core.errors import UnknownName
from textgauge.core.settings import cap_size, split_into_blocks
from textgauge.encode.embedders import get_embedder
from textgauge.encode.tokenizers import replace_surrogates

_KEPT = 20_000  # windows remembered from one call to the next: some 30 MB
_TEXTS_AT_ONCE = 64  # tokenized together: long ones take memory


@dataclass
class WholeEmbedder:
    """An embedder whose texts are read to their end.

    Windows are remembered for a while: texts that share passages, as altered copies do, share their cost.
    """

    plain: Any
    _known: dict[str, Floats32] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        return f"whole:{self.plain.name}"

    @property
    def identity(self) -> str:
        """That of the plain embedder, and how windows are cut and averaged."""
        return f"whole({self.plain.identity},windows=1)"

    @property
    def dimension(self) -> int:
        return int(self.plain.dimension)

    def encode(self, texts: Sequence[str], *, batch_size: int = 64) -> Floats32:
        if self.plain.window is None:
            return np.asarray(self.plain.encode(texts, batch_size=batch_size))
        cuts, known = self.cut_windows(texts), dict(self._known)
        missing = [text for text in dict.fromkeys(text for row in cuts for text, _ in row) if text not in known]
        known.update(zip(missing, self.plain.encode(missing, batch_size=batch_size), strict=True))
        self._known = known if len(known) <= cap_size(_KEPT) else {}
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for place, row in enumerate(cuts):
            parts = np.stack([known[text] for text, _ in row])
            vectors[place] = parts[0] if len(row) == 1 else average_windows(parts, [tokens for _, tokens in row])
        return vectors

    def cut_windows(self, texts: Sequence[str]) -> list[list[tuple[str, int]]]:
        """Return the windows of each text with their numbers of tokens; that of a text that fits is the text itself."""
        room = self.plain.window or 0
        rows = []
        for text, words in zip(texts, self.plain.words(texts), strict=True):
            fits = words.tokens <= room or len(text) < 2
            rows.append([(text, words.tokens)] if fits else [(part, 0) for part in cut_text(text, words, room)])
        # Cut out of its text a window may have other tokens, so each is counted again.
        pieces = list(dict.fromkeys(piece for row in rows if len(row) > 1 for piece, _ in row))
        again = dict(zip(pieces, self.cut_windows(pieces), strict=True)) if pieces else {}
        return [row if len(row) == 1 else [part for piece, _ in row for part in again[piece]] for row in rows]


def make_whole(name: str) -> WholeEmbedder:
    """Return the embedder of that name, reading texts to their end; it must declare how much of a text it reads."""
    plain = get_embedder(name)
    # Of the class: asking an instance for all it has would load models and call endpoints.
    kind: Any = type(plain)
    if not hasattr(kind, "window") or not (kind.window is None or hasattr(kind, "words")):
        reason = f"{plain.name} does not declare how much of a text it reads"
        raise UnknownName(f"whole:{plain.name} is not possible: {reason}")
    return WholeEmbedder(plain)


def average_windows(vectors: NDArray[np.floating], tokens: Sequence[int]) -> NDArray[np.float64]:
    """Return the mean of vectors weighted by tokens, brought to their mean length.

    >>> average_windows(np.array([[1.0, 0.0], [0.0, 1.0]]), [4, 3])
    array([0.8, 0.6])
    """
    weights = np.array(tokens, dtype=np.float64) / sum(tokens)
    rows = np.asarray(vectors, dtype=np.float64)
    mean = (weights[:, None] * rows).sum(axis=0)
    lengths, length = np.sqrt((rows * rows).sum(axis=1)), np.sqrt((mean * mean).sum())
    return np.asarray(mean * ((weights * lengths).sum() / length) if length else mean)


class WordSpans(NamedTuple):
    """What must not be cut: where each word of a text starts and ends, and how many tokens come before."""

    starts: Ints
    ends: Ints
    until: Ints

    @property
    def tokens(self) -> int:
        """The number of tokens of the text."""
        return int(self.until[-1])


def find_words(tokenizer: Any, texts: Sequence[str]) -> Iterator[WordSpans]:
    """Yield the words of each text, as a tokenizer of the library `tokenizers` has them."""
    for some in split_into_blocks(len(texts), _TEXTS_AT_ONCE):
        batch = [replace_surrogates(text) for text in texts[some]]
        for encoding in tokenizer.encode_batch(batch, add_special_tokens=False):
            yield group_words(encoding.word_ids, encoding.offsets)


def group_words(word_ids: Sequence[int | None], offsets: Sequence[tuple[int, int]]) -> WordSpans:
    """Group tokens into words.

    >>> group_words([0, 0, 1], [(0, 4), (4, 7), (8, 9)])
    WordSpans(starts=array([0, 8]), ends=array([7, 9]), until=array([0, 2, 3]))
    """
    numbers = np.array(word_ids, dtype=np.float64)  # None becomes NaN, unlike every other
    spans = np.array(offsets, dtype=np.int64).reshape(-1, 2)
    firsts = np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]][: len(numbers)])
    until = np.r_[firsts, len(numbers)]
    return WordSpans(spans[firsts, 0], spans[until[1:] - 1, 1], until)


def cut_text(text: str, spans: WordSpans, room: int) -> list[str]:
    """Return a text that does not fit as consecutive windows of at most `room` tokens, at least two of them.

    >>> cut_text("one two three four five", group_words(range(5), [(0, 3), (4, 7), (8, 13), (14, 18), (19, 23)]), 3)
    ['one two', 'three four five']
    """
    starts, ends, until = spans
    if len(starts) == 1:  # one word of many tokens, as in scripts without spaces
        middle = len(text) // 2
        return [text[:middle], text[middle:]]
    windows, first = [], 0
    while until[-1] - until[first] > room and first < len(starts) - 1:
        after = _find_next(text, spans, first, room)
        windows.append(text[starts[first] : ends[after - 1]])
        first = after
    return [*windows, text[starts[first] : ends[-1]]]


def _find_next(text: str, spans: WordSpans, first: int, room: int) -> int:
    """Return the first word of the next window; a word that does not fit is its own window."""
    starts, ends, until = spans
    last = max(first + 1, int(np.searchsorted(until, until[first] + room, side="right")) - 1)
    half = int(np.searchsorted(until, until[first] + (room + 1) // 2))
    places = np.arange(min(max(first + 1, half), last), last + 1)
    # The word before a cut and the two after it.
    begins, stops = starts[places - 1].tolist(), ends[np.minimum(places + 1, len(ends) - 1)].tolist()
    around = (text[begin:stop] for begin, stop in zip(begins, stops, strict=True))
    sums = [crc32(part.encode("utf-8", "surrogatepass")) for part in around]
    return int(places[int(np.argmin(sums))])
