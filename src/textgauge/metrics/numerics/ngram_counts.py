"""N-grams of many texts, numbered and counted, and how many of them texts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.core.settings import split_into_runs

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from textgauge.encode.tokenizers import Tokens

_BITS = 63  # of a whole number that is not negative
_BLOCK_TOKENS = 1 << 16  # what is sorted at once stays in the processor's cache


@dataclass(frozen=True)
class Windows:
    """The `orders` tokens from every token on, packed into `pieces`: earlier tokens in higher bits, 0 after the end."""

    pieces: tuple[Ints, ...]
    bits: int
    orders: int

    @property
    def per_piece(self) -> int:
        """How many tokens a piece holds."""
        return min(self.orders, _BITS // self.bits)

    def place(self, order: int) -> tuple[int, int]:
        """Return the piece that holds the token of this order (from 0), and how far from its end."""
        piece, within = divmod(order, self.per_piece)
        held = min(self.per_piece, self.orders - piece * self.per_piece)
        return piece, self.bits * (held - 1 - within)

    def take(self, places: Ints) -> Windows:
        """Give some of the windows."""
        return Windows(tuple(piece[places] for piece in self.pieces), self.bits, self.orders)


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
        used = tokens.take(np.concatenate([left[block], right[block]]))
        pairs = block.stop - block.start
        pair = np.repeat(np.tile(np.arange(pairs), 2), used.lengths)
        is_left = (np.arange(len(pair)) < used.offsets[pairs]).astype(np.int64)
        found[block] = _count_runs(*_sort_windows(pair, is_left, pack_windows(used, orders), pairs), pairs)
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


def number_ngrams(tokens: Tokens, most: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield numbers of the n-grams of all texts, equal ones alike, and the place of the first token of each: n = 1, 2 …

    >>> from textgauge.encode.tokenizers import get_tokenizer
    >>> *_, pairs = number_ngrams(get_tokenizer("whitespace").encode(["a b a b", "b a"]), 2)
    >>> [column.tolist() for column in pairs]
    [[0, 1, 0, 1], [0, 1, 2, 4]]
    """
    starts = np.arange(len(tokens.ids))
    ends, gram = np.repeat(tokens.offsets[1:], tokens.lengths), np.zeros(len(starts), dtype=np.int64)
    for n in range(1, most + 1):
        goes_on = starts + n <= ends[starts]
        starts, gram = starts[goes_on], gram[goes_on]
        key = gram * len(tokens.vocabulary) + tokens.ids[starts + n - 1]
        gram = np.unique(key, return_inverse=True)[1].reshape(-1)
        yield gram, starts


def find_best_rows(values: Floats, items: Ints) -> Ints:
    """Give for every item its row of largest value, the first of equal ones; `items` rises."""
    order = np.lexsort((np.arange(len(items)), -values, items))
    return np.asarray(order[np.flatnonzero(np.diff(items[order], prepend=-1))])


def pack_windows(tokens: Tokens, orders: int) -> Windows:
    """Pack the tokens from every token of every text on."""
    gaps = np.repeat(np.arange(len(tokens)) * (orders - 1), tokens.lengths)
    places = gaps + np.arange(len(tokens.ids))
    separated = np.zeros(len(tokens.ids) + len(tokens) * (orders - 1), np.int64)
    separated[places] = tokens.ids + 1
    layout = Windows((), int(separated.max(initial=1)).bit_length(), orders)
    pieces: list[Ints] = []
    for order in range(orders):
        if layout.place(order)[0] == len(pieces):
            pieces.append(np.zeros(len(separated), np.int64))
        pieces[-1] <<= layout.bits
        pieces[-1][: len(separated) - order] |= separated[order:]
    return Windows(tuple(pieces), layout.bits, orders).take(places)


def _sort_windows(pair: Ints, is_left: Ints, windows: Windows, pairs: int) -> tuple[Ints, Ints, Windows]:
    """Sort by pair and window: as one number where they fit into it, which is many times as fast."""
    width = windows.bits * windows.orders
    if len(windows.pieces) == 1 and width + 1 + pairs.bit_length() <= _BITS:
        key = ((pair << width | windows.pieces[0]) << 1) | is_left
        key.sort()
        piece = (key >> 1) & ((1 << width) - 1)
        return key >> (width + 1), key & 1, Windows((piece,), windows.bits, windows.orders)
    order = np.lexsort((*windows.pieces[::-1], pair))
    return pair[order], is_left[order], windows.take(order)


def _count_runs(pair: Ints, is_left: Ints, windows: Windows, pairs: int) -> Floats:
    """Sum the smaller of left and right counts over the runs of equal first n tokens, for every n."""
    found = np.zeros((pairs, windows.orders))
    lefts_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_left)])
    changes = [piece[1:] ^ piece[:-1] for piece in windows.pieces]
    goes_on = np.zeros(len(pair) + 1, dtype=bool)
    goes_on[1:-1] = pair[1:] == pair[:-1]
    for order in range(windows.orders):
        piece, shift = windows.place(order)
        goes_on[1:-1] &= changes[piece] < 1 << shift
        # Runs of one window share nothing; of the others, first and last windows take turns.
        edges = np.flatnonzero(goes_on[1:] != goes_on[:-1])
        starts, ends = edges[::2], edges[1::2] + 1
        lefts = lefts_before[ends] - lefts_before[starts]
        both = np.minimum(lefts, ends - starts - lefts)
        both[(windows.pieces[piece][starts] >> shift) & ((1 << windows.bits) - 1) == 0] = 0
        found[:, order] = np.bincount(pair[starts], weights=both, minlength=pairs)
    return found


def _count_crossed(tokens: Tokens, rows: int, orders: int) -> Iterator[Floats]:
    """For every order, the shared n-grams of the first `rows` texts (rows) and the others (columns).

    The smaller of two counts is the number of k that both reach: so each k-th occurrence of an n-gram in its text is
    a feature, and a product of features counts.
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
        here = np.flatnonzero((windows.pieces[piece] >> shift) & ((1 << windows.bits) - 1))
        features = _make_features(np.cumsum(begins)[here], text[here], len(tokens))
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
