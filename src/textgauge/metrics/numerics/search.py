"""The nearest texts of each text: by edits, and by shared words without comparing all of them.

Sets: numbers are ordered from the rarest to the commonest. Two sets with |a ∩ b| ≥ t·|a ∪ b| share one of the first
|a| − ⌈t·|a|⌉ + 1 numbers of the larger and of the first |b| − ⌈2t/(1 + t)·|b|⌉ + 1 of the smaller one (Xiao et al.
2011, PPJoin), so a product of two sparse matrices names all candidates. Sizes drop many of them; what is left is
counted. Where that is too much, as in thousands of texts made from one template, sets that have only common numbers
among their first ones are compared with some of each other, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.parallel import count_workers
from textgauge.core.settings import EDIT_CELLS, split_into_blocks, split_into_runs
from textgauge.metrics.numerics.ngram_counts import find_best_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from textgauge.encode.tokenizers import Tokens

_CELLS = 1 << 21  # distances held at a time
_CODE_POINTS = 0x110000


def as_strings(ids: NDArray[np.integer], offsets: Ints) -> list[Any]:
    """Rows of numbers as strings, a character for each, which rapidfuzz reads fastest; tuples if a number is too large.

    >>> as_strings(np.array([97, 98, 99]), np.array([0, 2, 3])), as_strings(np.array([0x110000]), np.array([0, 1]))
    (['ab', 'c'], [(1114112,)])
    """
    whole: Any = tuple(ids.tolist())
    if int(ids.max(initial=0)) < _CODE_POINTS:
        whole = ids.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [whole[start:end] for start, end in pairwise(offsets.tolist())]


def compare_sequences(left: Sequence[Any], right: Sequence[Any], scorer: Any, *, crossed: bool) -> Floats:
    """Return what a scorer of rapidfuzz gives for sequences row by row, or (`crossed`) for every left and right one."""
    from rapidfuzz.process import cdist, cpdist

    if crossed:
        EDIT_CELLS.check(max(map(len, left), default=0) * max(map(len, right), default=0), "edits between long texts")
        return np.asarray(cdist(left, right, scorer=scorer, dtype=np.float64, workers=count_workers()))
    sizes = (len(one) * len(other) for one, other in zip(left, right, strict=True) if one != other)
    EDIT_CELLS.check(max(sizes, default=0), "edits between long texts")
    return np.asarray(cpdist(left, right, scorer=scorer, dtype=np.float64))


def compute_common_lengths(tokens: Tokens, left: Ints, right: Ints, *, crossed: bool = False) -> Floats:
    """Return the length of the longest common subsequence of texts `left[i]` and `right[i]`, or of all.

    >>> from textgauge.encode.tokenizers import get_tokenizer
    >>> tokens = get_tokenizer("whitespace").encode(["a b c d", "b x d", "y"])
    >>> compute_common_lengths(tokens, np.array([0, 0]), np.array([1, 2]))
    array([2., 0.])
    """
    from rapidfuzz.distance import LCSseq

    first, second = (as_strings(side.ids, side.offsets) for side in (tokens.take(left), tokens.take(right)))
    return compare_sequences(first, second, LCSseq.similarity, crossed=crossed)


def find_best_matches(queries: Tokens, documents: Tokens) -> tuple[Ints, Ints, Floats]:
    """Return the most similar document of each query: its index, its edit distance d in tokens, and the similarity.

    The similarity is (max(|q|, |t|) − d) / max(|q|, |t|), and 1 for two empty texts; 1 / (1 + d / max(|q|, |t|)) orders
    documents in the same way. Of equally similar documents it is the first. The ids of both sides belong to one
    vocabulary. Memory is linear in the tokens.

    >>> from textgauge.encode.tokenizers import get_tokenizer
    >>> tokens = get_tokenizer("words").encode(["a b c d", "a x c d e", "d c b a", "a b c"])
    >>> index, distance, similarity = find_best_matches(tokens.take(np.arange(1)), tokens.take(np.arange(1, 4)))
    >>> index.tolist(), distance.tolist(), similarity.tolist()
    ([2], [1], [0.75])
    """
    from rapidfuzz.distance import Levenshtein

    if len(queries) and not len(documents):
        raise ValueError("there is no document to match")
    # rapidfuzz reads strings fastest: a character for each token, frequent ones below 256.
    ids = np.concatenate([queries.ids, documents.ids])
    used = np.bincount(ids)
    codes = np.empty(len(used), dtype=np.int64)
    codes[np.argsort(-used, kind="stable")] = np.arange(len(used))
    texts = as_strings(codes[ids], np.concatenate([queries.offsets, len(queries.ids) + documents.offsets[1:]]))
    wanted, given = texts[: len(queries)], texts[len(queries) :]
    found: dict[Any, int] = {}
    for row, text in enumerate(given):
        found.setdefault(text, row)
    distinct, rows = list(found), np.fromiter(found.values(), dtype=np.int64)
    new = [text for text in dict.fromkeys(wanted) if text not in found]
    for block in split_into_blocks(len(new), _CELLS, len(distinct)):
        gaps = compare_sequences(new[block], distinct, Levenshtein.normalized_distance, crossed=True)
        found.update(zip(new[block], rows[gaps.argmin(axis=1)].tolist(), strict=True))
    index = np.fromiter((found[text] for text in wanted), dtype=np.int64, count=len(wanted))
    nearest = [given[row] for row in index.tolist()]
    distance = compare_sequences(wanted, nearest, Levenshtein.distance, crossed=False).astype(np.int64)
    longest = np.maximum(queries.lengths, documents.lengths[index])
    return index, distance, np.where(longest > 0, (longest - distance) / np.maximum(longest, 1), 1.0)


_ROUNDING = 1e-9
_BLOCK = 1 << 21  # candidates held at a time
_MOST = 300_000_000  # candidates in all: half a minute
_BESIDE = 32  # sets of about the same size that a set is compared with where candidates are too many


@dataclass(frozen=True, eq=False)
class NearestMatches:
    """For each text the place of its nearest other one, −1 where none is similar enough, and their similarity.

    `units` number what the texts belong to where that matters for an error: groups, the text they have as nearest.
    `complete` says whether every similar text was found; those that were are similar in any case.
    """

    index: Ints
    similarity: Floats
    units: tuple[Ints, ...] = ()
    complete: bool = True

    def take(self, rows: Ints) -> NearestMatches:
        """Return the rows of a selection of the texts."""
        return replace(
            self, index=self.index[rows], similarity=self.similarity[rows], units=tuple(one[rows] for one in self.units)
        )


def find_nearest_sets(
    rows: Tokens, others: Tokens | None = None, *, threshold: float, most: int = _MOST
) -> NearestMatches:
    """Return the most similar of the other rows (or of `others`) as sets, if Jaccard's index is the threshold or more.

    Of equally similar ones it is the first. A row without numbers is similar to none. The ids of both sides belong to
    one vocabulary. More than `most` pairs are not compared.

    >>> from textgauge.encode.tokenizers import get_tokenizer
    >>> tokens = get_tokenizer("words").encode(["a b c d e", "x y", "a b c d f", "a b c d e f"])
    >>> found = find_nearest_sets(tokens, threshold=0.6)
    >>> found.index.tolist(), found.similarity.round(3).tolist()
    ([3, -1, 3, 0], [0.833, 0.0, 0.833, 0.833])
    """
    sets, owners = _find_distinct([rows] if others is None else [rows, others])
    asking, given = owners[0], owners[-1]
    place, second = _find_first_two(given, sets.shape[0])
    index, similarity = np.full(len(place), -1), np.zeros(len(place))
    sizes = np.diff(sets.indptr).astype(np.int64)
    probe, held = (_take_prefixes(sets, sizes, share) for share in (threshold, 2.0 * threshold / (1.0 + threshold)))
    common = _find_common(probe, held, most)
    asked = np.bincount(asking, minlength=len(place)) > 0
    for pairs in _iterate_candidates(probe, held, sizes, common):
        for left, right, values in _find_similar(sets, sizes, pairs, threshold):
            wanted = asked[left] & (place[right] >= 0)
            _fold(index, similarity, left[wanted], place[right[wanted]], values[wanted])
    own = np.arange(len(rows)) if others is None else np.full(len(rows), -1)
    twin = np.where(place[asking] == own, second[asking], place[asking])
    equal = (twin >= 0) & (sizes[asking] > 0)
    return NearestMatches(
        np.where(equal, twin, index[asking]), np.where(equal, 1.0, similarity[asking]), complete=not common.any()
    )


def _find_distinct(tables: Sequence[Tokens]) -> tuple[csr_matrix, list[Ints]]:
    """Return the different sets, numbers renamed so that rarer ones are smaller; and which of them each row is."""
    from scipy.sparse import csr_matrix

    ids = np.concatenate([table.ids for table in tables]).astype(np.int64)
    lengths = np.concatenate([table.lengths for table in tables])
    width = int(ids.max(initial=0)) + 1
    held = np.unique(np.repeat(np.arange(len(lengths)), lengths) * width + ids)
    row, ids = np.divmod(held, width)
    ends = np.searchsorted(row, np.arange(len(lengths) + 1))
    known: dict[bytes, int] = {}
    cells = [ids[start:end].tobytes() for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    owner = np.array([known.setdefault(cell, len(known)) for cell in cells], dtype=np.int64)
    flat = np.frombuffer(b"".join(known), dtype=np.int64)
    starts = np.append(0, np.cumsum([len(cell) // 8 for cell in known])).astype(np.int64)
    rank = np.empty(width, dtype=np.int64)
    rank[np.argsort(np.bincount(flat, minlength=width), kind="stable")] = np.arange(width)
    sets = csr_matrix((np.ones(len(flat), dtype=np.int32), rank[flat], starts), shape=(len(known), width))
    sets.sort_indices()
    return sets, np.split(owner, np.cumsum([len(table) for table in tables])[:-1])


def _find_first_two(owner: Ints, count: int) -> tuple[Ints, Ints]:
    """Return the first and the second row of each set; −1 where there is none."""
    order = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[order], np.arange(count + 1))
    padded = np.append(order, [-1, -1])
    sizes = np.diff(starts)
    return np.where(sizes > 0, padded[starts[:-1]], -1), np.where(sizes > 1, padded[starts[:-1] + 1], -1)


def _fold(index: Ints, similarity: Floats, left: Ints, place: Ints, values: Floats) -> None:
    """Keep the most similar place of each set, the first of equal ones."""
    best = find_best_rows(values, left, place)
    rows, near, value = left[best], place[best], values[best]
    closer = (value > similarity[rows]) | ((value == similarity[rows]) & (near < index[rows]))
    index[rows[closer]], similarity[rows[closer]] = near[closer], value[closer]


def _find_similar(
    sets: csr_matrix, sizes: Ints, pairs: tuple[Ints, Ints], threshold: float
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield the candidates that are similar enough, either way round."""
    large, small = pairs
    total = sizes[large] + sizes[small]
    most = total * (1.0 - threshold) / (1.0 + threshold) + _ROUNDING  # numbers that one of both has alone
    kept = np.abs(sizes[large] - sizes[small]) <= most
    large, small, total = (column[kept] for column in (large, small, total))
    shared = np.asarray(sets[large].multiply(sets[small]).sum(axis=1), dtype=np.int64).reshape(-1)
    values = shared / np.maximum(total - shared, 1)
    hits = values >= threshold - _ROUNDING
    yield large[hits], small[hits], values[hits]
    yield small[hits], large[hits], values[hits]


def _iterate_candidates(probe: csr_matrix, held: csr_matrix, sizes: Ints, common: Masks) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of different sets, among them all that are similar enough and share a number that is not too common."""
    columns = held[:, np.flatnonzero(~common)].T.tocsr()
    rare = probe[:, np.flatnonzero(~common)]
    for block in split_into_runs(rare @ np.diff(columns.indptr), _BLOCK):
        found = (rare[block] @ columns).tocoo()
        large, small = found.row.astype(np.int64) + block.start, found.col.astype(np.int64)
        kept = (sizes[small] < sizes[large]) | ((sizes[small] == sizes[large]) & (small < large))
        yield large[kept], small[kept]
    for number in np.flatnonzero(common).tolist():
        members = probe[:, [number]].nonzero()[0].astype(np.int64)
        members = members[np.argsort(sizes[members], kind="stable")]
        for distance in range(1, min(_BESIDE, len(members) - 1) + 1):
            yield members[distance:], members[:-distance]


def _find_common(probe: csr_matrix, held: csr_matrix, most: int) -> Masks:
    """Return the numbers that are left out of the search because they alone would make too many candidates."""
    counts = [np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(np.int64) for matrix in (probe, held)]
    pairs = counts[0] * counts[1]
    order = np.argsort(pairs, kind="stable")
    common = np.zeros(len(pairs), dtype=bool)
    common[order[np.cumsum(pairs[order]) > most]] = True
    return common


def _take_prefixes(sets: csr_matrix, sizes: Ints, share: float) -> csr_matrix:
    """Return the rarest numbers of each set: as many as leave less than this share of it."""
    kept = np.where(sizes > 0, sizes - np.ceil(share * sizes - _ROUNDING).astype(np.int64) + 1, 0)
    place = np.arange(len(sets.indices)) - np.repeat(sets.indptr[:-1], sizes)
    chosen = place < np.repeat(kept, sizes)
    starts = np.append(0, np.cumsum(kept))
    return type(sets)((sets.data[chosen], sets.indices[chosen], starts), shape=sets.shape)
