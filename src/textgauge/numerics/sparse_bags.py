"""What metrics of bags of tokens share: sums that do not depend on how tokens are numbered, and fast products."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Column = NDArray[np.float64]

_OFTEN = 0.05  # above this share of the texts a dense row is faster than a list of them (measured: 0.03 to 0.1)
_DENSE_CELLS = 8_000_000  # 64 MB of dense rows at most
_BLOCK_CELLS = 2_000_000  # cells of a block of a product; the sparse part of a block takes up to twice its memory


def with_data(bags: csr_matrix, data: NDArray[Any]) -> csr_matrix:
    """The same places with other numbers."""
    return type(bags)((data, bags.indices, bags.indptr), shape=bags.shape)


def with_column(bags: csr_matrix, column: Column) -> csr_matrix:
    """The same bags and one more token, so often in each."""
    from scipy.sparse import csr_matrix, hstack

    return csr_matrix(hstack([bags, csr_matrix(column[:, None])]))


def per_place(bags: csr_matrix, values: Column) -> Column:
    """One value per text, repeated for each of its tokens."""
    return np.repeat(values, np.diff(bags.indptr))


def row_sums(bags: csr_matrix) -> Column:
    """The sum of each row, added from the smallest number up.

    Token numbers depend on which texts were read first; this order does not, so that sums agree to the last bit.
    """
    height = bags.shape[0]
    rows = np.repeat(np.arange(height), np.diff(bags.indptr))
    order = np.lexsort((bags.data, rows))
    sums: Column = np.bincount(rows[order], bags.data[order], minlength=height).astype(np.float64, copy=False)
    return sums


class Factor(NamedTuple):
    """The right-hand side of products, tokens by texts: tokens of many texts as dense rows, the others sparse."""

    often: NDArray[np.int64]
    dense: Column
    seldom: NDArray[np.int64]
    sparse: csr_matrix


def factor(bags: csr_matrix) -> Factor:
    """Prepare texts to be multiplied with others."""
    by_token = bags.T.tocsr()
    texts = np.diff(by_token.indptr)
    most = np.argsort(-texts, kind="stable")[: _DENSE_CELLS // max(1, bags.shape[0])]
    often = most[texts[most] > _OFTEN * bags.shape[0]]
    seldom = np.setdiff1d(np.arange(len(texts)), often)
    return Factor(often, by_token[often].toarray(), seldom, by_token[seldom])


def product(bags: csr_matrix, right: Factor) -> Column:
    """`bags @ right` as a dense matrix, texts by texts."""
    found = np.empty((bags.shape[0], right.dense.shape[1]))
    often, seldom = bags[:, right.often], bags[:, right.seldom]
    step = max(1, _BLOCK_CELLS // max(1, found.shape[1]))
    for start in range(0, len(found), step):
        block = slice(start, start + step)
        np.matmul(often[block].toarray(), right.dense, out=found[block])
        rest = seldom[block] @ right.sparse
        for row, (begin, end) in zip(found[block], pairwise(rest.indptr.tolist()), strict=True):
            row[rest.indices[begin:end]] += rest.data[begin:end]
    return found
