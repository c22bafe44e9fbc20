"""Texts as pooled word vectors: wordvec_cosine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Corpus, Pairs
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.pair._words import NO_WORD, WordCounts, WordVectorMetric, alike, gathered
from textgauge.metrics.pair_metric import Columns
from textgauge.metrics.registry import register

Pooling = Literal["minmaxmean", "mean"]

_BLOCK_PAIRS = 4_096  # pairs whose texts are pooled at once: some tens of megabytes
_BLOCK_NUMBERS = 1 << 17


def pooled(words: WordCounts, rows: NDArray[np.int64], pool: Pooling) -> NDArray[np.float64]:
    """Unit vectors of texts: least, largest and mean value per dimension, or the mean; NaN where there is none."""
    width = words.vectors.shape[1] * (3 if pool == "minmaxmean" else 1)
    found = np.full((len(rows), width), np.nan)
    sizes = np.diff(words.counts.indptr)[rows]
    for size in np.unique(sizes[sizes > 0]):
        alike_long = np.flatnonzero(sizes == size)
        step = max(1, _BLOCK_NUMBERS // (size * words.vectors.shape[1]))
        for start in range(0, len(alike_long), step):
            block = alike_long[start : start + step]
            found[block] = _pooled(*gathered(words.counts, rows[block]), words.vectors, pool)
    lengths = np.sqrt(np.einsum("td,td->t", found, found))
    return found / np.where(lengths > 0, lengths, np.nan)[:, None]


def _pooled(
    ids: NDArray[np.int64], counts: NDArray[np.float64], table: NDArray[np.float32], pool: Pooling
) -> NDArray[np.float64]:
    vectors = table[ids]
    mean = (vectors * counts[:, :, None]).sum(axis=1) / counts.sum(axis=1)[:, None]
    return np.hstack([vectors.min(axis=1), vectors.max(axis=1), mean]) if pool == "minmaxmean" else mean


@register
@dataclass(frozen=True, kw_only=True)
class WordvecCosine(WordVectorMetric):
    """How far apart the directions of two texts' pooled word vectors are.

    1 − cos(u, v), where a text's vector holds the least, the largest and the mean value of its words' vectors in each
    dimension, or (`pool=mean`) the mean alone. A word counts in the mean as often as it stands there; words without a
    vector are left out. Undefined (NaN) when a text has no word with a vector, or only zeros, and the texts differ.
    Source: Yamshchikov et al. 2021.
    """

    name = "wordvec_cosine"
    label = "Word-vector cosine"
    source = "Yamshchikov et al. 2021"
    headline = Part(VALUE, bounds=(0.0, 2.0))
    undefined = f"{NO_WORD} that is not zero"
    pool: Pooling = "minmaxmean"

    def compute(self, pairs: Pairs) -> Columns:
        """Cosine distances; 0 for equal texts."""
        words = self.words(pairs.left.pool)
        values = np.empty(len(pairs))
        for start in range(0, len(pairs), _BLOCK_PAIRS):
            block = slice(start, start + _BLOCK_PAIRS)
            left, right = (pooled(words, side.index[block], self.pool) for side in (pairs.left, pairs.right))
            values[block] = 1.0 - np.einsum("td,td->t", left, right)
        return {VALUE: np.where(alike(pairs.left, pairs.right, words), 0.0, np.clip(values, 0.0, 2.0))}

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> NDArray[np.float64]:
        """All pairs, by one product."""
        joint = rows | columns
        words = self.words(joint.pool)
        vectors = pooled(words, joint.index, self.pool)
        left, right = joint.index[: len(rows)], joint.index[len(rows) :]
        values = np.clip(1.0 - vectors[: len(rows)] @ vectors[len(rows) :].T, 0.0, 2.0)
        keys, blank = joint.pool.keys, words.blank
        same = (keys[left][:, None] == keys[right]) | (blank[left][:, None] & blank[right])
        return np.where(same, 0.0, values)
