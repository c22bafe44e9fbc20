"""What a language model is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Surprise = tuple[NDArray[np.float64], NDArray[np.int64]]
"""−ln P of each text, in nats, and the number of tokens it is the sum over."""

CHARACTERS_AT_ONCE = 4_000_000


@runtime_checkable
class LanguageModel(Protocol):
    """Texts to how surprising they are. What a text gets does not depend on the texts beside it.

    The perplexity of a text is exp(nats / tokens). A text of which nothing can be scored (an empty one) has 0 tokens:
    its perplexity is undefined. Perplexities of models that cut texts into other tokens are not comparable.
    """

    @property
    def name(self) -> str:
        """The name it is called by."""

    @property
    def signature(self) -> str:
        """Everything the numbers depend on."""

    def surprise(self, texts: Sequence[str]) -> Surprise:
        """Give −ln P of each text in nats, and how many tokens were scored."""


def blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut a list of texts into runs of a few million characters, so that what is held at once stays small.

    >>> [len(block) for block in blocks(["a" * 3_000_000, "b", "c" * 2_000_000])]
    [2, 1]
    """
    start = size = 0
    for row, text in enumerate(texts):
        if row > start and size + len(text) > CHARACTERS_AT_ONCE:
            yield texts[start:row]
            start, size = row, 0
        size += len(text)
    if start < len(texts):
        yield texts[start:]


def joined(parts: Sequence[Surprise]) -> Surprise:
    """Put the results of several blocks after each other."""
    nats = np.concatenate([np.empty(0), *(part[0] for part in parts)])
    tokens = np.concatenate([np.empty(0, dtype=np.int64), *(part[1] for part in parts)])
    return nats, tokens


def once(score: Callable[[list[str]], Surprise], texts: Sequence[str]) -> Surprise:
    """Score each different text once; for models that take long."""
    place = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    nats, tokens = score(list(place))
    rows = np.array([place[text] for text in texts], dtype=np.int64)
    return nats[rows], tokens[rows]


def windowed(rows: Sequence[Sequence[int]], longest: int, *, before: Sequence[int]) -> tuple[list[Ids], Ids]:
    """Cut rows of tokens into windows that begin with `before` and are no longer than `longest`, and tell whose
    each is. A row without tokens has no window.

    >>> windows, owner = windowed([[1, 2, 3], [], [4]], 3, before=[0])
    >>> [window.tolist() for window in windows], owner.tolist()
    ([[0, 1, 2], [0, 3], [0, 4]], [0, 0, 2])
    """
    step = longest - len(before)
    cuts = [(row, start) for row, tokens in enumerate(rows) for start in range(0, len(tokens), step)]
    windows = [np.array([*before, *rows[row][start : start + step]], dtype=np.int64) for row, start in cuts]
    return windows, np.array([row for row, _ in cuts], dtype=np.int64)
