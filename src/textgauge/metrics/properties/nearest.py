"""The nearest text of another corpus: by meaning (cosine) and by wording (word edits). Exact, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.encode.tokenizers import Tokens
from textgauge.numerics.edit_search import best_matches

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Vectors = NDArray[np.floating[Any]]

_CELLS = 1 << 23  # similarities held at a time: 32 MB
_ROUNDING = 4e-6  # a float32 product of unit vectors is nearer than this to the exact one


@dataclass(frozen=True, eq=False)
class Nearest:
    """For each text the place of its nearest one in another corpus, and their similarity."""

    index: Ints
    similarity: Floats

    def take(self, rows: Ints) -> Nearest:
        """Those of a selection of the texts."""
        return Nearest(self.index[rows], self.similarity[rows])


def nearest_meaning(queries: Vectors, documents: Vectors) -> Nearest:
    """The document of highest cosine for each query; of equal ones the first.

    Products in float32 leave few candidates, which are compared in float64, so that neither blocks nor the other texts
    change a value. The cosine of a zero vector with any other is 0.

    >>> found = nearest_meaning(np.eye(3)[:2], np.array([[1.0, 1, 0], [0, 2, 0]]))
    >>> found.index.tolist(), found.similarity.round(4).tolist()
    ([0, 1], [0.7071, 1.0])
    """
    asked, given = _unit(queries), _unit(documents)
    index = np.zeros(len(asked), dtype=np.int64)
    similarity = np.zeros(len(asked))
    step = max(_CELLS // max(len(given), 1), 1)
    for start in range(0, len(asked), step):
        block = slice(start, start + step)
        products = asked[block] @ given.T
        rows, places = np.nonzero(products >= products.max(axis=1, keepdims=True) - _ROUNDING)
        values = _cosines(queries[block], documents, rows, places)
        order = np.lexsort((places, -values, rows))
        first = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
        index[block], similarity[block] = places[first], values[first]
    return Nearest(index, similarity)


def nearest_wording(queries: Tokens, documents: Tokens) -> Nearest:
    """The document of highest SynSim = 1/(1 + d/max(|s|, |t|)) for each query, d the word edits between them.

    SynSim lies between 1/2 (nothing in common) and 1 (the same words, or no words at all). Source: Zwerdling et al.

    >>> from textgauge.encode.tokenizers import tokenizer
    >>> tokens = tokenizer("words").encode(["a b c d", "x", "a b c e"])
    >>> nearest_wording(tokens.take(np.arange(1)), tokens.take(np.arange(1, 3))).similarity.tolist()
    [0.8]
    """
    index, _, kept = best_matches(queries, documents)
    return Nearest(index, 1.0 / (2.0 - kept))


def _unit(rows: Vectors) -> NDArray[np.float32]:
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None]
    return np.asarray(rows / np.where(norms > 0, norms, 1.0), dtype=np.float32)


def _cosines(left: Vectors, right: Vectors, rows: Ints, places: Ints) -> Floats:
    """Cosines of chosen pairs, some at a time."""
    step = max(_CELLS // (4 * max(left.shape[1], 1)), 1)
    values = np.zeros(len(rows))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        a, b = left[rows[part]].astype(np.float64), right[places[part]].astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", b, b))
        np.divide(np.einsum("ij,ij->i", a, b), norms, out=values[part], where=norms > 0)
    return np.clip(values, -1.0, 1.0)
