"""How many n-grams each text of one set shares with each of another: sparse products instead of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from textgauge.metrics.pair._ngram_counts import Ids, Matrix, Windows, pack_windows
from textgauge.represent.tokenizers import Tokens

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def shared_ngram_matrices(tokens: Tokens, rows: int, orders: int) -> Iterator[Matrix]:
    """For every order, the shared n-grams of the first `rows` texts (rows) and the others (columns).

    The smaller of two counts is the number of k that both reach: so each k-th occurrence of an n-gram in its text is
    a feature, and a product of features counts.

    >>> from textgauge.represent.tokenizers import tokenizer
    >>> tokens = tokenizer("whitespace").encode(["a b a b", "a b a", "c", "a a a"])
    >>> [matrix.tolist() for matrix in shared_ngram_matrices(tokens, 2, 2)]
    [[[0.0, 2.0], [0.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]]
    """
    windows = pack_windows(tokens, orders)
    text = np.repeat(np.arange(len(tokens)), tokens.lengths)
    sorting = np.lexsort(windows.pieces[::-1])
    windows, text = windows.take(sorting), text[sorting]
    begins = np.ones(len(text), dtype=bool)
    begins[1:] = False
    for order in range(orders):
        piece, shift = windows.place(order)
        begins[1:] |= (windows.pieces[piece][1:] ^ windows.pieces[piece][:-1]) >= 1 << shift
        here = _reach(windows, order)
        features = _features(np.cumsum(begins)[here], text[here], len(tokens))
        yield (features[:rows] @ features[rows:].T).toarray()


def _reach(windows: Windows, order: int) -> Ids:
    """Windows that hold a token at this place."""
    piece, shift = windows.place(order)
    return np.flatnonzero((windows.pieces[piece] >> shift) & ((1 << windows.bits) - 1))


def _features(gram: Ids, text: Ids, texts: int) -> csr_matrix:
    """Texts by the k-th occurrences of n-grams, as ones."""
    from scipy.sparse import csr_matrix

    found, count = np.unique(gram * texts + text, return_counts=True)
    nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    gram, text = np.divmod(np.repeat(found, count), texts)
    _, feature = np.unique(gram * (int(count.max(initial=0)) + 1) + nth, return_inverse=True)
    shape = (texts, int(feature.max(initial=-1)) + 1)
    return csr_matrix((np.ones(len(feature)), (text, feature.reshape(-1))), shape=shape)
