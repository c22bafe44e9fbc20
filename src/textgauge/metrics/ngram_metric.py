"""The base of metrics that depend only on the n-grams two texts share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.core.sizes import blocks
from textgauge.data import Corpus, Pairs
from textgauge.data.pool import Pool
from textgauge.data.view import in_one_pool
from textgauge.encode.tokenizers import Tokens, tokenizer
from textgauge.metrics.numerics.ngram_counts import ngram_totals, shared_ngram_matrices, shared_ngrams
from textgauge.metrics.pair_metric import Columns, PairMetric

_BLOCK_VALUES = 1 << 22  # numbers of a block of a matrix, over all orders


@dataclass(frozen=True, kw_only=True)
class NgramMetric(PairMetric):
    """A pair metric that is a function of counts: n-grams in both texts, in the left one, in the right one."""

    def streams(self, pool: Pool) -> Sequence[tuple[Tokens, int]]:
        """Token sequences of the pool's texts, each with the largest n that counts."""
        raise NotImplementedError

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        """The values; the last axis of all three is n = 1, 2, …, one stream after the other."""
        raise NotImplementedError

    def counts(self, pairs: Pairs) -> tuple[Floats, Floats, Floats]:
        """Shared, left and right n-grams of every pair."""
        a, b = pairs.left.index, pairs.right.index
        found = [
            (shared_ngrams(tokens, a, b, n), ngram_totals(tokens.lengths[a], n), ngram_totals(tokens.lengths[b], n))
            for tokens, n in self.streams(pairs.left.pool)
        ]
        shared, left, right = (np.concatenate(columns, axis=1) for columns in zip(*found, strict=True))
        return shared, left, right

    def compute(self, pairs: Pairs) -> Columns:
        """Values from the counts of every pair."""
        return self.of_counts(*self.counts(pairs))

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """All pairs at once, by products of sparse counts."""
        rows, columns = in_one_pool(rows, columns)
        streams = self.streams(rows.pool)
        orders = sum(n for _, n in streams)
        parts = (rows.index[some] for some in blocks(len(rows), _BLOCK_VALUES, orders * len(columns)))
        found = [self._block(streams, part, columns.index) for part in parts]
        return np.concatenate(found or [_none(columns)])

    def _block(self, streams: Sequence[tuple[Tokens, int]], rows: NDArray[Any], columns: NDArray[Any]) -> Floats:
        shared: list[Floats] = []
        for tokens, n in streams:
            shared.extend(shared_ngram_matrices(tokens.take(np.concatenate([rows, columns])), len(rows), n))
        left, right = (
            np.concatenate([ngram_totals(tokens.lengths[side], n) for tokens, n in streams], axis=1)
            for side in (rows, columns)
        )
        return np.asarray(self.select(self.of_counts(np.stack(shared, axis=-1), left[:, None], right[None])))


def tokens_of(pool: Pool, name: str, *, lowercase: bool = False) -> Tokens:
    """The pool's tokens, of lower-cased texts if `lowercase`."""
    if not lowercase:
        return pool.tokens(name)
    return pool.get_or_compute("lower-case tokens", name, lambda given: _lower(pool, given))  # type: ignore[no-any-return]


def divided(a: Floats, b: Floats) -> Floats:
    """a / b, and 0 where there is nothing to divide by."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b))), where=np.asarray(b) > 0)


def _none(columns: Corpus) -> Floats:
    return np.empty((0, len(columns)))


def _lower(pool: Pool, name: str) -> Tokens:
    return tokenizer(name).encode([text.lower() for text in pool.texts])
