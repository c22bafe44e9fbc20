"""Inner products between all texts of a small corpus: one matrix serves all metrics and all of its sub-corpora."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Corpus

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

MOST_ROWS = 4_096  # a matrix of 128 MiB
_LARGEST, _SMALLEST = 1e100, 1e-100  # beyond these, products of entries leave the range of float64


@dataclass(frozen=True)
class Gram:
    """Products of the rows less their mean, in float64, and the mean's products with these rows and with itself.

    Equal rows have equal products to the last bit.
    """

    centred: Floats
    along: Floats
    offset: float

    @classmethod
    def of(cls, rows: NDArray[np.floating[Any]]) -> Gram:
        """The products of these rows."""
        X = rows.astype(np.float64)
        mean = X.mean(axis=0)
        X -= mean
        products, along = X @ X.T, X @ mean
        seen: dict[bytes, int] = {}
        for row, content in enumerate(rows):
            first = seen.setdefault(content.tobytes(), row)
            if first != row:
                products[row], along[row] = products[first], along[first]
                products[:, row] = products[:, first]
        return cls(products, along, float(mean @ mean))

    @property
    def squares(self) -> Floats:
        """Squared lengths of the rows less their mean."""
        return self.centred.diagonal()

    @property
    def lengths(self) -> Floats:
        """Lengths of the rows."""
        return np.sqrt(np.maximum(self.squares + 2.0 * self.along + self.offset, 0.0))

    def between(self, first: Index, second: Index) -> Floats:
        """Products of the rows themselves, first by second."""
        block = self.centred[np.ix_(first, second)]
        block += self.along[first, None]
        block += self.along[second] + self.offset
        return block


def gram_of(corpus: Corpus, embedder: str) -> Gram | None:
    """The products of a corpus's embeddings, remembered; None for large corpora and extreme numbers."""
    return corpus.derive(_gram_of, embedder)


def _gram_of(corpus: Corpus, embedder: str) -> Gram | None:
    if not 0 < len(corpus) <= MOST_ROWS:
        return None
    rows = corpus.embeddings(embedder)
    largest = max(float(rows.max()), -float(rows.min()))
    return Gram.of(rows) if _SMALLEST < largest < _LARGEST else None
