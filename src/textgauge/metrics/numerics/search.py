"""The nearest texts of each text, by edits and by shared words, found without comparing all of them.

Edits: texts that share c tokens, repeats counted, differ by at least max(|q|, |t|) − c edits. Counting what a query
shares with every document takes one addition per token; few documents are then promising enough to be compared, by
rapidfuzz, the most promising first. A query for which too many are, as in random strings, is compared with all.

Sets: numbers are ordered from the rarest to the commonest. Two sets with |a ∩ b| ≥ t·|a ∪ b| share one of the first
|a| − ⌈t·|a|⌉ + 1 numbers of the larger and of the first |b| − ⌈2t/(1 + t)·|b|⌉ + 1 of the smaller one (Xiao et al.
2011, PPJoin), so a product of two sparse matrices names all candidates. Sizes, and 256 hashed bits of each set, drop
most of them: every bit that differs stands for at least one number that only one of both has. What is left is counted.
Where that is too much, as in thousands of texts made from one template, sets that have only common numbers among
their first ones are compared with some of each other, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.sizes import cap_size, split_into_blocks, split_into_runs
from textgauge.metrics.numerics.ngram_counts import Ragged
from textgauge.metrics.numerics.sequences import as_strings

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Text = str | tuple[int, ...]
Best = tuple[float, int]  # edits per token of the longer text, and the document

_COMMON = 32  # what more than one document of 32 holds is counted for all of them in one addition
_SINGLY, _TOGETHER = 32, 512  # documents compared one by one, to stop early, and then at a time
_MANY = 16  # with more than one document of 16 left, or of 8 at first, comparing all is faster
_FEW_TOKENS, _FEW_QUERIES = 50_000, 100  # so few are compared as fast as they are counted
_PATIENCE = 25  # queries in vain, if they are a third of all, before counting is given up
_CELLS = 1 << 21  # distances held at a time


def find_best_matches(queries: Ragged, documents: Ragged) -> tuple[Ints, Ints, Floats]:
    """Return the most similar document of each query: its index, its edit distance d in tokens, and the similarity.

    The similarity is (max(|q|, |t|) − d) / max(|q|, |t|), and 1 for two empty texts; 1 / (1 + d / max(|q|, |t|)) orders
    documents in the same way. Of equally similar documents it is the first. The ids of both sides belong to one
    vocabulary. The answer is that of the full matrix, whatever the texts hold; memory is linear in the tokens.

    >>> from textgauge.encode.tokenizers import get_tokenizer
    >>> tokens = get_tokenizer("words").encode(["a b c d", "a x c d e", "d c b a", "a b c"])
    >>> index, distance, similarity = find_best_matches(tokens.take(np.arange(1)), tokens.take(np.arange(1, 4)))
    >>> index.tolist(), distance.tolist(), similarity.tolist()
    ([2], [1], [0.75])
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    if len(queries) and not len(documents):
        raise ValueError("there is no document to match")
    wanted, given = _write_texts(queries, documents)
    found: dict[Text, int] = {}
    for row, text in enumerate(given):
        found.setdefault(text, row)
    distinct, new = _to_array(found.values()), {text: row for row, text in enumerate(wanted) if text not in found}
    best = _find_nearest(queries.take(_to_array(new.values())), documents.take(distinct), list(new), list(found))
    found.update(zip(new, distinct[best].tolist(), strict=True))
    index = _to_array(found[text] for text in wanted)
    distance = cpdist(wanted, [given[row] for row in index.tolist()], scorer=Levenshtein.distance, dtype=np.int64)
    longest = np.maximum(queries.lengths, documents.lengths[index])
    return index, distance, np.where(longest > 0, (longest - distance) / np.maximum(longest, 1), 1.0)


def _find_nearest(queries: Ragged, documents: Ragged, wanted: list[Text], given: list[Text]) -> Ints:
    """Return the index of the most similar document, for distinct texts of which none is on both sides."""
    found = np.full(len(wanted), -1, dtype=np.int64)
    if len(wanted) >= cap_size(_FEW_QUERIES) and len(documents.ids) >= cap_size(_FEW_TOKENS):
        ours, theirs = _number_elements(queries, documents)
        search = _Search.build(theirs, documents.lengths, given, ours)
        failed = 0
        for row, (start, end) in enumerate(pairwise(queries.offsets.tolist())):
            found[row] = search(wanted[row], ours[start:end].tolist())
            failed += found[row] < 0
            if failed > _PATIENCE and 3 * failed > row:
                break
    undecided = np.flatnonzero(found < 0)
    for block in split_into_blocks(len(undecided), _CELLS, len(given)):
        rows = undecided[block]
        found[rows] = _compute_gaps([wanted[row] for row in rows.tolist()], given).argmin(axis=1)
    return found


@dataclass(frozen=True, slots=True)
class _Search:
    """Documents by what they hold: `holders[starts[e] : starts[e + 1]]` hold element e; for `common` ones, 0 or 1."""

    given: list[Text]
    lengths: Ints
    holders: Ints
    starts: list[int]
    common: dict[int, NDArray[np.uint8]]
    counts: NDArray[Any]
    distance: Callable[..., int]

    @classmethod
    def build(cls, elements: Ints, lengths: Ints, given: list[Text], wanted: Ints) -> _Search:
        from rapidfuzz.distance import Levenshtein

        n = len(lengths)
        holders = np.sort(elements * n + np.repeat(np.arange(n), lengths)) % n
        held = np.bincount(elements, minlength=int(wanted.max(initial=0)) + 1)
        starts = np.concatenate([[0], np.cumsum(held)]).tolist()
        common = {}
        for element in np.flatnonzero(held * _COMMON > n).tolist():
            common[element] = np.zeros(n, dtype=np.uint8)
            common[element][holders[starts[element] : starts[element + 1]]] = 1
        counts = np.zeros(n, dtype=np.min_scalar_type(int(lengths.max())))
        return cls(given, lengths, holders, starts, common, counts, Levenshtein.distance)

    def __call__(self, query: Text, elements: list[int]) -> int:
        """Return the first of the nearest documents, or −1 where too many would have to be compared."""
        self._count(elements)
        top, best = int(self.counts.max()), (1.0, 0)
        need, enough = top + 1, top - top // 4
        while 0 < enough < need and best[1] >= 0:
            need, promising = enough, self.counts >= enough
            if np.count_nonzero(promising) * 4 > len(self.given):
                return -1
            rows = promising.nonzero()[0]
            longest = np.maximum(self.lengths[rows], len(query))
            best = self._refine(query, rows, longest, (longest - self.counts[rows]) / longest, best)
            self.counts[rows] = 0
            enough = max(int(np.ceil(len(query) * (1 - best[0]) - 1e-6)), 1)  # not above the exact value
        return best[1]

    def _count(self, elements: list[int]) -> None:
        """Count what each document shares with a query."""
        self.counts.fill(0)
        rare = []
        for element in elements:
            if (ones := self.common.get(element)) is None:
                rare.append(self.holders[self.starts[element] : self.starts[element + 1]])
            else:
                np.add(self.counts, ones, self.counts)
        if rare:
            np.add.at(self.counts, np.concatenate(rare), self.counts.dtype.type(1))

    def _refine(self, query: Text, rows: Ints, longest: Ints, bounds: Floats, best: Best) -> Best:
        """Compare what may be better than the best so far, or as good and earlier; document −1 if that is too much."""
        if best[0] < 1:
            rows, longest, bounds = _keep_ahead(rows, longest, bounds, best)
        singly = True
        while len(rows):
            size = cap_size(_SINGLY if singly else _TOGETHER)
            now = bounds.argpartition(size)[:size] if len(rows) > size else slice(None)
            if singly:
                best = self._singly(query, rows[now], longest[now], bounds[now], best)
            else:
                best = min(best, self._together(query, rows[now]))
            if isinstance(now, slice):
                break
            bounds[now] = np.inf
            rows, longest, bounds = _keep_ahead(rows, longest, bounds, best)
            if len(rows) * (_MANY // 2 if singly else _MANY) > len(self.given):
                return best[0], -1
            singly = False
        return best

    def _singly(self, query: Text, rows: Ints, longest: Ints, bounds: Floats, best: Best) -> Best:
        order = bounds.argsort(kind="stable")
        for row, size, bound in zip(*(values[order].tolist() for values in (rows, longest, bounds)), strict=True):
            if bound > best[0]:
                break
            if bound < best[0] or row < best[1]:
                edits = self.distance(query, self.given[row], score_cutoff=int(best[0] * size + 1e-6))
                best = min(best, (edits / size, row))
        return best

    def _together(self, query: Text, rows: Ints) -> Best:
        gaps = _compute_gaps([query], [self.given[row] for row in rows.tolist()])[0]
        least = float(gaps.min())
        return least, int(rows[gaps == least].min())


def _keep_ahead(rows: Ints, longest: Ints, bounds: Floats, best: Best) -> tuple[Ints, Ints, Floats]:
    """Leave out what is not better than the best so far, nor as good and earlier."""
    kept = ((bounds < best[0]) | ((bounds == best[0]) & (rows < best[1]))).nonzero()[0]
    return rows[kept], longest[kept], bounds[kept]


def _compute_gaps(wanted: list[Text], given: list[Text]) -> Floats:
    """Edits per token of the longer text, for all pairs."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    return cdist(wanted, given, scorer=Levenshtein.normalized_distance, dtype=np.float64)


def _write_texts(queries: Ragged, documents: Ragged) -> tuple[list[Text], list[Text]]:
    """Return each text as a string with a character for each token, frequent ones below 256."""
    ids = np.concatenate([queries.ids, documents.ids])
    used = np.bincount(ids)
    codes = np.empty(len(used), dtype=np.int64)
    codes[np.argsort(-used, kind="stable")] = np.arange(len(used))
    texts = as_strings(codes[ids], np.concatenate([queries.offsets, len(queries.ids) + documents.offsets[1:]]))
    return texts[: len(queries)], texts[len(queries) :]


def _number_elements(queries: Ragged, documents: Ragged) -> tuple[Ints, Ints]:
    """Each text as a set of numbers: one for a token, others for the second, third, ... time it stands in the text.

    The order within a text is lost. The common elements of two texts are their common tokens, repeats counted.
    """
    ids = np.concatenate([queries.ids, documents.ids]).astype(np.int64)
    texts = np.repeat(np.arange(len(queries) + len(documents)), np.concatenate([queries.lengths, documents.lengths]))
    size = int(ids.max(initial=0)) + 1
    keys = np.sort(texts * size + ids)
    ids = keys - texts * size
    places = np.arange(len(keys))
    fresh = np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)]
    times = places - np.maximum.accumulate(np.where(fresh, places, 0))
    again = np.flatnonzero(times)
    ids[again] = size + np.unique(times[again] * size + ids[again], return_inverse=True)[1]
    return ids[: len(queries.ids)], ids[len(queries.ids) :]


def _to_array(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


_ROUNDING = 1e-9
_WORDS = 4  # of 64 bits
_BLOCK = 1 << 21  # candidates held at a time
_MOST = 300_000_000  # candidates in all: half a minute
_BESIDE = 32  # sets of about the same size that a set is compared with where candidates are too many
_ONES = np.array([number.bit_count() for number in range(1 << 16)], dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class SetMatches:
    """For each row the most similar other row, −1 where none is similar enough, and the similarity.

    `complete` says whether every similar row was found; those that were are similar in any case.
    """

    index: Ints
    similarity: Floats
    complete: bool


def find_nearest_sets(rows: Ragged, others: Ragged | None = None, *, threshold: float, most: int = _MOST) -> SetMatches:
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
    sizes, bits = np.diff(sets.indptr).astype(np.int64), _hash_bits(sets)
    probe, held = (_take_prefixes(sets, sizes, share) for share in (threshold, 2.0 * threshold / (1.0 + threshold)))
    common = _find_common(probe, held, most)
    asked = np.bincount(asking, minlength=len(place)) > 0
    for pairs in _iterate_candidates(probe, held, sizes, common):
        for left, right, values in _find_similar(sets, bits, sizes, pairs, threshold):
            wanted = asked[left] & (place[right] >= 0)
            _fold(index, similarity, left[wanted], place[right[wanted]], values[wanted])
    own = np.arange(len(rows)) if others is None else np.full(len(rows), -1)
    twin = np.where(place[asking] == own, second[asking], place[asking])
    equal = (twin >= 0) & (sizes[asking] > 0)
    return SetMatches(np.where(equal, twin, index[asking]), np.where(equal, 1.0, similarity[asking]), not common.any())


def _find_distinct(tables: Sequence[Ragged]) -> tuple[csr_matrix, list[Ints]]:
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
    order = np.lexsort((place, -values, left))
    best = order[np.flatnonzero(np.diff(left[order], prepend=-1))]
    rows, near, value = left[best], place[best], values[best]
    closer = (value > similarity[rows]) | ((value == similarity[rows]) & (near < index[rows]))
    index[rows[closer]], similarity[rows[closer]] = near[closer], value[closer]


def _find_similar(
    sets: csr_matrix, bits: NDArray[np.uint64], sizes: Ints, pairs: tuple[Ints, Ints], threshold: float
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield the candidates that are similar enough, either way round."""
    large, small = pairs
    total = sizes[large] + sizes[small]
    most = total * (1.0 - threshold) / (1.0 + threshold) + _ROUNDING  # numbers that one of both has alone
    kept = np.abs(sizes[large] - sizes[small]) <= most
    large, small, total, most = (column[kept] for column in (large, small, total, most))
    alone = _ONES[(bits[large] ^ bits[small]).view(np.uint16)].sum(axis=1, dtype=np.int64)
    large, small, total = (column[alone <= most] for column in (large, small, total))
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


def _hash_bits(sets: csr_matrix) -> NDArray[np.uint64]:
    """Return one of 256 bits for each number, set where a set has it."""
    width = 64 * _WORDS
    chosen = np.random.default_rng(0).integers(0, width, sets.shape[1])[sets.indices]
    flags = np.zeros((sets.shape[0], width), dtype=bool)
    flags[np.repeat(np.arange(sets.shape[0]), np.diff(sets.indptr)), chosen] = True
    return np.packbits(flags, axis=1).view(np.uint64)
