"""Longest common subsequences of token sequences: their lengths for many pairs, and their union over sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from textgauge.numerics.ragged import Ragged

Ids = NDArray[np.int64]
Sentences = Sequence[Sequence[int]]

_CODE_POINTS = 0x110000


def sequences(tokens: Ragged, rows: Ids) -> list[Any]:
    """Token ids of texts as strings, one code point a token, which rapidfuzz reads fastest; lists if there are more."""
    used = tokens.take(rows)
    edges = used.offsets.tolist()
    whole: Any = used.ids.tolist()
    if int(used.ids.max(initial=0)) < _CODE_POINTS:
        whole = used.ids.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [whole[edges[row] : edges[row + 1]] for row in range(len(used))]


def common_lengths(tokens: Ragged, left: Ids, right: Ids) -> NDArray[np.float64]:
    """The length of the longest common subsequence of texts `left[i]` and `right[i]`.

    >>> from textgauge.encode.tokenizers import tokenizer
    >>> tokens = tokenizer("whitespace").encode(["a b c d", "b x d", "y"])
    >>> common_lengths(tokens, np.array([0, 0]), np.array([1, 2]))
    array([2., 0.])
    """
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cpdist

    found = cpdist(sequences(tokens, left), sequences(tokens, right), scorer=LCSseq.similarity, dtype=np.int64)
    return np.asarray(found, dtype=np.float64)


def common_length_matrix(tokens: Ragged, left: Ids, right: Ids) -> NDArray[np.float64]:
    """The same for every text of `left` with every text of `right`."""
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cdist

    found = cdist(sequences(tokens, left), sequences(tokens, right), scorer=LCSseq.similarity, dtype=np.int64)
    return np.asarray(found, dtype=np.float64)


def union_hits(candidate: Sentences, reference: Sentences) -> int:
    """Tokens of the reference in a longest common subsequence of its sentence with any sentence of the candidate.

    No token counts more often than it is in either text. Where there are several longest subsequences, the one found
    from the end, going back in the reference first, is taken.
    """
    left, right = (Counter(token for sentence in text for token in sentence) for text in (candidate, reference))
    hits: Counter[int] = Counter()
    for sentence in reference:
        places = set[int]().union(*(_subsequence(sentence, other) for other in candidate))
        hits.update(sentence[place] for place in places)
    return sum(min(count, left[token], right[token]) for token, count in hits.items())


def _subsequence(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Places in `first` of a longest common subsequence."""
    table = _lengths(first, second)
    i, j, places = len(first), len(second), []
    while i and j:
        if first[i - 1] == second[j - 1]:
            i, j = i - 1, j - 1
            places.append(i)
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return places


def _lengths(first: Sequence[int], second: Sequence[int]) -> list[list[int]]:
    table = [[0] * (len(second) + 1)]
    for token in first:
        above, row = table[-1], [0]
        for j, other in enumerate(second):
            row.append(above[j] + 1 if token == other else max(above[j + 1], row[j]))
        table.append(row)
    return table
