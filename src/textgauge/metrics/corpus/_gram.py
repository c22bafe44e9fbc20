"""Inner products between all texts of a small corpus: one matrix serves all metrics and all of its sub-corpora."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Corpus
from textgauge.metrics.corpus._sides import Sides

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

MOST_ROWS = 4_096  # a matrix of 128 MiB
_LARGEST, _SMALLEST = 1e100, 1e-100  # beyond these, products of entries leave the range of float64


@dataclass(frozen=True)
class Gram:
    """Products of the rows less their mean, in float64, the mean's products with these and itself, the rows' lengths.

    Equal rows have equal products to the last bit. `place` tells where in the matrix a row is: rows that are looked at
    together are best kept together.
    """

    centred: Floats
    along: Floats
    offset: float
    lengths: Floats
    place: Index

    @classmethod
    def of(cls, rows: NDArray[np.floating[Any]], order: Index) -> Gram:
        """The products of these rows, put into this order."""
        X = rows.astype(np.float64)
        lengths, mean = np.sqrt(np.einsum("ij,ij->i", X, X)), X.mean(axis=0)
        X -= mean
        along, place = X @ mean, np.argsort(order)
        X = X[order]
        products = X @ X.T
        seen: dict[bytes, int] = {}
        for row, content in enumerate(rows):
            first = seen.setdefault(content.tobytes(), row)
            if first != row:
                along[row], products[place[row]] = along[first], products[place[first]]
                products[:, place[row]] = products[:, place[first]]
        return cls(products, along, float(mean @ mean), lengths, place)

    @property
    def squares(self) -> Floats:
        """Squared lengths of the rows less their mean."""
        return self.centred.diagonal()[self.place]

    def block(self, first: Index, second: Index) -> Floats:
        """Products of rows less their mean, first by second."""
        return self.centred[np.ix_(self.place[first], self.place[second])]

    def cosines(self, first: Index, second: Index) -> Floats:
        """Products of the rows themselves brought to length one; a zero vector stays zero."""
        block = self.block(first, second)
        block += self.along[first, None]
        block += self.along[second] + self.offset
        block *= self._shrink[first, None]
        block *= self._shrink[second]
        return block

    @cached_property
    def _shrink(self) -> Floats:
        return np.divide(1.0, self.lengths, out=np.zeros_like(self.lengths), where=self.lengths > 0)


def gram_of(corpus: Corpus, embedder: str, sides: Sides) -> Gram | None:
    """The products of a corpus's embeddings for these sides; None for large corpora and extreme numbers."""
    return corpus.derive(_gram_of, embedder, sides)


def _gram_of(corpus: Corpus, embedder: str, sides: Sides) -> Gram | None:
    if not 0 < len(corpus) <= MOST_ROWS:
        return None
    rows = corpus.embeddings(embedder)
    largest = max(float(rows.max()), -float(rows.min()))
    return Gram.of(rows, np.lexsort(sides.masks)) if _SMALLEST < largest < _LARGEST else None
