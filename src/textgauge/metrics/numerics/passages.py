"""Runs of words that stand in other texts too, all of them and exact.

Windows of k words are hashed to 64 bits and sorted, a part of all hashes at a time, so that memory is bounded. Windows
that both sides have, one after the other, make a stretch. Its rarest window is looked up at its places on the other
side, and from there words are compared one by one to the left and to the right. What does not hold this window lies
left or right of it, and is searched in the same way. Hashes only say where to look: two windows with one hash that
differ would be noticed, and the search begun anew with other hashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.settings import cap_size, split_into_blocks, split_into_runs
from textgauge.encode.tokenizers import Tokens, compute_offsets

PASSAGE = 8
"""Words of the shortest run that counts as copied."""
_BLOCK = 1 << 20  # windows hashed at a time
_SORTED = 1 << 24  # windows sorted at a time: a quarter of a gigabyte
_CELLS = 1 << 21  # pairs of places, or words, compared at a time
_TRIED = 256  # places at which a window is looked up
_BASE = np.uint64(0x9E3779B97F4A7C15)
_INVERSE = np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))


@dataclass(frozen=True, eq=False)
class Passages:
    """Copied passages, by text and place: none of them lies within another one of its text.

    Passage p is the `lengths[p]` words of text `texts[p]` from `starts[p]` on, and stands in `others[p]` from
    `places[p]` on; `sizes` and `other_sizes` are the words of all texts. All copied words are in one of them. Without
    `complete` the longest passage of a text may be longer: it consists of windows with more places than are looked up.
    """

    texts: Ints
    starts: Ints
    lengths: Ints
    others: Ints
    places: Ints
    sizes: Ints
    other_sizes: Ints
    complete: bool

    @property
    def longest(self) -> Ints:
        """The number of the longest passage of each text, the first of equal ones; −1 where there is none."""
        order = np.lexsort((self.starts, -self.lengths, self.texts))
        texts, first = np.unique(self.texts[order], return_index=True)
        found = np.full(len(self.sizes), -1)
        found[texts] = order[first]
        return found

    @property
    def words(self) -> Ints:
        """How many words of each text stand in a passage."""
        ends = self.starts + self.lengths
        before = np.where(np.diff(self.texts, prepend=-1) == 0, np.append(0, ends[:-1])[: len(ends)], 0)
        return np.bincount(self.texts, ends - np.maximum(self.starts, before), len(self.sizes)).astype(np.int64)

    @property
    def shares(self) -> Floats:
        """The share of the words of each text that stands in a passage."""
        return np.asarray(self.words / np.maximum(self.sizes, 1))

    @property
    def is_contained(self) -> NDArray[np.bool_]:
        """Whether a text stands as a whole within a longer one."""
        whole = (self.lengths == self.sizes[self.texts]) & (self.lengths < self.other_sizes[self.others])
        return np.bincount(self.texts, whole, len(self.sizes)) > 0


def find_passages(rows: Tokens, others: Tokens | None = None, *, words: int = PASSAGE) -> Passages:
    """Return the runs of at least so many words that stand in `others` too, or in another one of the rows.

    The ids of both sides belong to one vocabulary.

    >>> from textgauge.encode.tokenizers import get_tokenizer
    >>> tokens = get_tokenizer("words").encode(["we saw the red cat again", "the red cat", "now the red cat is red"])
    >>> found = find_passages(tokens, words=3)
    >>> found.starts.tolist(), found.lengths.tolist(), found.others.tolist(), found.places.tolist()
    ([2, 0, 1], [3, 3, 3], [1, 0, 0], [0, 2, 2])
    >>> found.is_contained.tolist(), found.shares.tolist()
    ([False, True, False], [0.5, 1.0, 0.5])
    """
    if words < 2:
        raise ValueError(f"a passage has 2 words or more, not {words}")
    seed = 0
    while not ((found := _Search(rows, others, words, seed).find()).lengths >= words).all():
        seed += 1
    return found


class _Search:
    """One search: the windows of `rows` that stand in `others`, and the places where they stand there."""

    def __init__(self, rows: Tokens, others: Tokens | None, words: int, seed: int) -> None:
        self.rows, self.others, self.within, self.words = (
            rows,
            rows if others is None else others,
            others is None,
            words,
        )
        width = max(int(side.ids.max(initial=-1)) for side in (rows, self.others)) + 1
        self.values = np.random.default_rng(seed).integers(0, 1 << 64, width, dtype=np.uint64)
        self.windows = np.full(len(rows.ids), -1, dtype=np.int32)  # the number of the window that begins at each word
        total = len(rows.ids) + (0 if self.within else len(self.others.ids))
        bits = max(-(-total // cap_size(_SORTED)) - 1, 0).bit_length()
        parts, sizes, known = [np.empty(0, np.int32)], [np.empty(0, np.int64)], 0
        for part in range(1 << bits):
            places, counts = self._join_windows(part, bits, known)
            parts.append(places)
            sizes.append(counts)
            known += len(counts)
        self.places, self.offsets = np.concatenate(parts), compute_offsets(np.concatenate(sizes))

    def _join_windows(self, part: int, bits: int, known: int) -> tuple[NDArray[np.int32], Ints]:
        """Give numbers to windows of a part of the hashes that both sides have; return their places and how many."""
        sides = [self.rows] if self.within else [self.rows, self.others]
        hashed = [list(self._hash_windows(side, part, bits)) for side in sides]
        own = sum(len(places) for _, places in hashed[0])
        blocks = [block for side in hashed for block in side]
        hashes = np.concatenate([np.empty(0, np.uint64), *(block[0] for block in blocks)])
        places = np.concatenate([np.empty(0, np.int32), *(block[1] for block in blocks)])
        del hashed, blocks
        order = np.argsort(hashes)
        hashes = hashes[order]
        starts = np.flatnonzero(np.concatenate([np.ones(min(len(order), 1), bool), hashes[1:] != hashes[:-1]]))
        counts = np.diff(np.append(starts, len(order)))
        if self.within:
            chosen = counts > 1
        else:
            mine = np.add.reduceat(order < own, starts, dtype=np.int64) if len(starts) else counts
            chosen = (mine > 0) & (mine < counts)
        here = np.repeat(chosen, counts)
        number = np.repeat(np.arange(chosen.sum()), counts[chosen])
        order, places = order[here], places[order[here]]
        if self.within:  # only windows that two texts have
            texts = np.searchsorted(self.rows.offsets, places, side="right")
            starts = np.append(0, np.cumsum(counts[chosen]))[:-1]
            several = (
                np.maximum.reduceat(texts, starts) > np.minimum.reduceat(texts, starts) if len(starts) else chosen[:0]
            )
            here = several[number]
            number, order, places = (np.cumsum(several) - 1)[number[here]], order[here], places[here]
        mine = order < own
        self.windows[places[mine]] = known + number[mine]
        theirs = slice(None) if self.within else ~mine
        number, places = number[theirs], places[theirs]
        kept = np.lexsort((places, number))
        return places[kept].astype(np.int32), np.bincount(number)

    def _hash_windows(self, side: Tokens, part: int, bits: int) -> Iterator[tuple[NDArray[np.uint64], Ints]]:
        """Yield hashes of windows, Σ v(wᵢ)·Bⁱ modulo 2⁶⁴, that begin with the bits of a part, and where they are."""
        k, last = self.words, len(side.ids)
        for block in split_into_blocks(last, _BLOCK):
            stop = min(block.stop + k - 1, last)
            n = stop - block.start
            if n < k:
                return
            powers, inverse = (np.multiply.accumulate(np.full(n, base)) for base in (_BASE, _INVERSE))
            sums = np.zeros(n + 1, dtype=np.uint64)
            np.cumsum(self.values[side.ids[block.start : stop]] * powers, out=sums[1:])
            hashes = (sums[k:] - sums[:-k]) * inverse[: n - k + 1]
            ends = side.offsets[slice(*np.searchsorted(side.offsets, [block.start + 1, stop]))] - block.start
            crossed = np.zeros(n, dtype=np.int32)
            crossed[ends] = 1
            crossed = np.cumsum(crossed, dtype=np.int32)
            kept = crossed[k - 1 :] == crossed[: n - k + 1]  # no text ends within
            if bits:
                kept &= hashes >> np.uint64(64 - bits) == part
            where = np.flatnonzero(kept)
            yield hashes[where], (where + block.start).astype(np.int32)

    def find(self) -> Passages:
        """Return the passages of all stretches of windows."""
        edges = np.diff((self.windows >= 0).astype(np.int8), prepend=0, append=0)
        first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
        del edges
        rows, complete = [np.empty((0, 3), dtype=np.int64)], True
        while len(first):
            halves = []
            for block in split_into_runs(last - first + 1, _CELLS):
                anchor, many = self._find_rarest(first[block], last[block])
                start, length, place = self._find_longest(anchor)
                rows.append(np.column_stack([start, length, place]))
                left, right = start > first[block], start + length < last[block] + self.words
                complete &= not (many & (left | right)).any()
                halves += [(first[block][left], anchor[left] - 1), (anchor[right] + 1, last[block][right])]
            first, last = (np.concatenate(ends) for ends in zip(*halves, strict=True))
            kept = first <= last
            first, last = first[kept], last[kept]
        return self._make_passages(np.concatenate(rows), complete)

    def _find_rarest(self, first: Ints, last: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the window of each stretch that has fewest places, nearest to the middle, and where these are many."""
        sizes = last - first + 1
        offsets = compute_offsets(sizes)
        segment = np.repeat(np.arange(len(first)), sizes)
        where = np.arange(offsets[-1]) + (first - offsets[:-1])[segment]
        number = self.windows[where]
        places = np.minimum(self.offsets[number + 1] - self.offsets[number], _TRIED + 1)
        keys = (places << 40) + np.abs(2 * where - (first + last)[segment])
        least = np.flatnonzero(keys == np.minimum.reduceat(keys, offsets[:-1])[segment])
        chosen = least[np.searchsorted(segment[least], np.arange(len(first)))]
        return where[chosen], places[chosen] > _TRIED

    def _find_longest(self, anchor: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the longest run around each window: where it begins, its length, and where it begins elsewhere."""
        number = self.windows[anchor]
        sizes = np.minimum(self.offsets[number + 1] - self.offsets[number], _TRIED)
        found = np.empty((3, len(anchor)), dtype=np.int64)
        for block in split_into_runs(sizes, _CELLS >> 3):
            some, tried = anchor[block], sizes[block]
            segment = np.repeat(np.arange(len(some)), tried)
            turn = np.arange(len(segment)) - compute_offsets(tried)[segment]
            spread = self.offsets[number[block] + 1] - self.offsets[number[block]] - 1
            # Both ends are among those tried: of one text alone they cannot be.
            turn = turn * spread[segment] // np.maximum(tried - 1, 1)[segment]
            here, there = some[segment], self.places[self.offsets[number[block]][segment] + turn].astype(np.int64)
            mine = np.searchsorted(self.rows.offsets, here, side="right") - 1
            theirs = np.searchsorted(self.others.offsets, there, side="right") - 1
            room = np.minimum(here - self.rows.offsets[mine], there - self.others.offsets[theirs])
            left = self._count_equal(here - 1, there - 1, room, -1)
            room = np.minimum(self.rows.offsets[mine + 1] - here, self.others.offsets[theirs + 1] - there)
            right = self._count_equal(here, there, room, 1)
            length = np.where((mine == theirs) & self.within, -1, left + right)
            order = np.lexsort((there, -length, segment))
            best = order[np.searchsorted(segment[order], np.arange(len(some)))]
            found[:, block] = here[best] - left[best], length[best], there[best] - left[best]
        return found[0], found[1], found[2]

    def _count_equal(self, here: Ints, there: Ints, room: Ints, way: int) -> Ints:
        """Return how many words from two places on, to the right or to the left, are equal, as far as there is room."""
        counts, going, width = np.zeros(len(here), dtype=np.int64), np.flatnonzero(room > 0), 8
        while len(going):
            width = max(min(2 * width, _CELLS // len(going)), 8)
            step = np.arange(width)
            inside = (counts[going, None] + step) < room[going, None]
            shift = np.where(inside, way * (counts[going, None] + step), 0)
            same = self.rows.ids[here[going, None] + shift] == self.others.ids[there[going, None] + shift]
            equal = np.logical_and.accumulate(same & inside, axis=1).sum(axis=1)
            counts[going] += equal
            going = going[(equal == width) & (counts[going] < room[going])]
        return counts

    def _make_passages(self, rows: Ints, complete: bool) -> Passages:
        """Return passages by text and place, without those that lie within another one."""
        start, length, place = rows[np.lexsort((-rows[:, 1], rows[:, 0]))].T
        ends = np.maximum.accumulate(np.append(-1, start + length))
        kept = start + length > ends[:-1]
        start, length, place = start[kept], length[kept], place[kept]
        mine = np.searchsorted(self.rows.offsets, start, side="right") - 1
        theirs = np.searchsorted(self.others.offsets, place, side="right") - 1
        return Passages(
            mine,
            start - self.rows.offsets[mine],
            length,
            theirs,
            place - self.others.offsets[theirs],
            self.rows.lengths,
            self.others.lengths,
            complete,
        )
