"""`whole:EMBEDDER`: an embedder that reads long texts to their end, window by window.

Encoders read a few hundred tokens and leave out the rest of a text without a word. Here a text that does not fit is cut
into windows that do (see windows.py); the direction of its vector is that of the windows' mean, weighted by tokens,
its length their mean length: 1 where the encoder gives units. A text that fits has the bits of the plain embedder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from textgauge.errors import UnknownName
from textgauge.represent.embedders.base import Embedder, Progress, Vectors
from textgauge.represent.embedders.windows import Words, cut

_KEPT = 20_000  # windows remembered from one call to the next: some 30 MB


class Windowed(Embedder, Protocol):
    """An embedder that tells how much of a text it reads, and what its tokens are."""

    @property
    def window(self) -> int | None:
        """How many tokens of a text it reads; None for all of them."""

    def words(self, texts: Sequence[str]) -> Iterator[Words]:
        """The words of each text with their numbers of tokens."""


class Window(NamedTuple):
    """A text that fits, and its number of tokens."""

    text: str
    tokens: int


@dataclass(frozen=True)
class WholeEmbedder:
    """An embedder whose texts are read to their end.

    Windows are remembered for a while: texts that share passages, as altered copies do, share their cost.
    """

    plain: Windowed
    _known: dict[bytes, Vectors] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, plain: Embedder) -> WholeEmbedder:
        """Refuse embedders that do not tell where they stop reading."""
        # Of the class: asking an instance for all it has would load models and call endpoints.
        if not (hasattr(type(plain), "words") and hasattr(type(plain), "window")):
            said = f"{plain.name} does not tell how much of a text it reads"
            raise UnknownName(f"whole:{plain.name} is not possible: {said}")
        return cls(cast("Windowed", plain))

    @property
    def name(self) -> str:
        """The name it is called by."""
        return f"whole:{self.plain.name}"

    @property
    def identity(self) -> str:
        """That of the plain embedder, and how windows are cut and put together."""
        return f"whole({self.plain.identity},windows=1)"

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self.plain.dimension

    def encode(self, texts: Sequence[str], *, batch_size: int = 64, progress: Progress | None = None) -> Vectors:
        """Give one vector per text, shape (texts, dimension)."""
        if self.plain.window is None:
            return self.plain.encode(texts, batch_size=batch_size, progress=progress)
        cuts = self.windows(texts)
        windows = [window.text for row in cuts for window in row]
        known = self._encoded(windows, batch_size, _scaled(progress, len(texts)))
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for place, row in enumerate(cuts):
            found = np.stack([known[_key(window.text)] for window in row])
            vectors[place] = found[0] if len(row) == 1 else pooled(found, [window.tokens for window in row])
        if progress is not None and texts:
            progress(len(texts), len(texts))
        return vectors

    def windows(self, texts: Sequence[str]) -> list[list[Window]]:
        """The windows of each text; those of a text that fits are the text itself."""
        room = self.plain.window or 0
        rows: list[list[str] | Window] = []
        for text, words in zip(texts, self.plain.words(texts), strict=True):
            fits = words.tokens <= room or len(text) < 2
            rows.append(Window(text, words.tokens) if fits else cut(text, words, room))
        # Cut out of its text a window may have other tokens, so each is counted again.
        pieces = list(dict.fromkeys(piece for row in rows if not isinstance(row, Window) for piece in row))
        again = dict(zip(pieces, self.windows(pieces), strict=True)) if pieces else {}
        return [[row] if isinstance(row, Window) else [part for piece in row for part in again[piece]] for row in rows]

    def _encoded(self, windows: Sequence[str], batch_size: int, progress: Progress | None) -> dict[bytes, Vectors]:
        by_key = {_key(text): text for text in windows}
        found = {key: self._known[key] for key in by_key if key in self._known}
        missing = [key for key in by_key if key not in found]
        fresh = self.plain.encode([by_key[key] for key in missing], batch_size=batch_size, progress=progress)
        found |= dict(zip(missing, fresh, strict=True))
        if len(self._known) + len(missing) > _KEPT:
            self._known.clear()
        self._known.update(list(zip(missing, fresh, strict=True))[:_KEPT])
        return found


def pooled(vectors: NDArray[np.floating], tokens: Sequence[int]) -> NDArray[np.float64]:
    """The mean of vectors weighted by tokens, brought to their mean length.

    >>> pooled(np.array([[1.0, 0.0], [0.0, 1.0]]), [4, 3])
    array([0.8, 0.6])
    """
    weights = np.array(tokens, dtype=np.float64) / sum(tokens)
    rows = np.asarray(vectors, dtype=np.float64)
    mean = (weights[:, None] * rows).sum(axis=0)
    lengths, length = np.sqrt((rows * rows).sum(axis=1)), np.sqrt((mean * mean).sum())
    return np.asarray(mean * ((weights * lengths).sum() / length) if length else mean)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _scaled(progress: Progress | None, texts: int) -> Progress | None:
    """Report windows as if they were texts."""
    if progress is None:
        return None
    return lambda done, total: progress(done * texts // max(total, 1), texts)
