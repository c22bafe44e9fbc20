"""N-grams of many texts, numbered and counted, and how many of them texts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.settings import split_into_runs
from textgauge.encode.tokenizers import Tokens

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_BLOCK_TOKENS = 1 << 16  # what is sorted at once stays in the processor's cache


def count_shared_ngrams(tokens: Tokens, left: Ints, right: Ints, orders: int, *, crossed: bool = False) -> Floats:
    """Count the n-grams that texts `left[i]` and `right[i]` share, each as often as it is in both; orders are last.

    `crossed` gives those of every left text with every right one.

    >>> from textgauge.encode.tokenizers import get_tokenizer
    >>> tokens = get_tokenizer("whitespace").encode(["a b a b", "a b a", "c"])
    >>> count_shared_ngrams(tokens, np.array([0, 1]), np.array([1, 2]), 3)
    array([[3., 2., 1.],
           [0., 0., 0.]])
    """
    if crossed:
        used = tokens.take(np.concatenate([left, right]))
        return np.stack(list(_count_crossed(used, len(left), orders)), axis=-1)
    found = np.zeros((len(left), orders))
    for block in split_into_runs(tokens.lengths[left] + tokens.lengths[right], _BLOCK_TOKENS):
        used, pairs = tokens.take(np.concatenate([left[block], right[block]])), block.stop - block.start
        text = np.repeat(np.arange(2 * pairs), used.lengths)
        for order, (gram, starts) in enumerate(number_ngrams(used, orders, apart=text % pairs)):
            lefts, both = np.bincount(gram, text[starts] < pairs), np.bincount(gram)
            pair = np.zeros(len(both), dtype=np.int64)
            pair[gram] = text[starts] % pairs
            found[block, order] = np.bincount(pair, np.minimum(lefts, both - lefts), pairs)
    return found


def count_ngrams(lengths: Ints, orders: int) -> Floats:
    """Give the number of n-grams of texts of these lengths: texts by orders."""
    return np.asarray(np.maximum(lengths[:, None] - np.arange(orders), 0), dtype=np.float64)


def count_grams(ids: Sequence[Any], n: int) -> Counter[tuple[Any, ...]]:
    """Count the n-grams of one text.

    >>> count_grams("abab", 2)[("a", "b")]
    2
    """
    return Counter(zip(*(ids[start:] for start in range(n)), strict=False))


def number_ngrams(tokens: Tokens, most: int, *, apart: Ints | None = None) -> Iterator[tuple[Ints, Ints]]:
    """Yield numbers of the n-grams of all texts, equal ones alike, and the place of the first token of each: n = 1, 2 …

    Those of tokens with different numbers in `apart` have different numbers.

    >>> from textgauge.encode.tokenizers import get_tokenizer
    >>> *_, pairs = number_ngrams(get_tokenizer("whitespace").encode(["a b a b", "b a"]), 2)
    >>> [column.tolist() for column in pairs]
    [[0, 1, 0, 1], [0, 1, 2, 4]]
    """
    starts, width = np.arange(len(tokens.ids)), int(tokens.ids.max(initial=0)) + 1
    ends = np.repeat(tokens.offsets[1:], tokens.lengths)
    gram = np.zeros(len(starts), dtype=np.int64) if apart is None else apart
    for n in range(1, most + 1):
        goes_on = starts + n <= ends[starts]
        starts, gram = starts[goes_on], gram[goes_on]
        gram = np.unique(gram * width + tokens.ids[starts + n - 1], return_inverse=True)[1].reshape(-1)
        yield gram, starts


def find_best_rows(values: NDArray[Any], items: Ints, *ties: NDArray[Any]) -> Ints:
    """Give for every item its row of largest value; of equal ones the one of least `ties`, else the first."""
    order = np.lexsort((*ties[::-1], -values, items))
    return np.asarray(order[np.flatnonzero(np.diff(items[order], prepend=-1))])


def _count_crossed(tokens: Tokens, rows: int, orders: int) -> Iterator[Floats]:
    """For every order, the shared n-grams of the first `rows` texts (rows) and the others (columns).

    The smaller of two counts is the number of k that both reach: so each k-th occurrence of an n-gram in its text is
    a feature, and a product of features counts.
    """
    text = np.repeat(np.arange(len(tokens)), tokens.lengths)
    for gram, starts in number_ngrams(tokens, orders):
        features = _make_features(gram, text[starts], len(tokens))
        yield (features[:rows] @ features[rows:].T).toarray()


def _make_features(gram: Ints, text: Ints, texts: int) -> csr_matrix:
    """Return texts by the k-th occurrences of n-grams, as ones."""
    from scipy.sparse import csr_matrix

    found, count = np.unique(gram * texts + text, return_counts=True)
    nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    gram, text = np.divmod(np.repeat(found, count), texts)
    _, feature = np.unique(gram * (int(count.max(initial=0)) + 1) + nth, return_inverse=True)
    shape = (texts, int(feature.max(initial=-1)) + 1)
    return csr_matrix((np.ones(len(feature)), (text, feature.reshape(-1))), shape=shape)
