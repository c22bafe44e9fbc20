"""Runs of words that stand in other texts too, all of them and exact.

Windows of k words are hashed to 64 bits and looked up on the other side, a part of all hashes at a time, so that memory
is bounded. Where a window stands there after another word, a run begins, and words are compared one by one. Hashes only
say where to look.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.settings import cap_size, split_into_blocks, split_into_runs
from textgauge.encode.tokenizers import Tokens, compute_offsets
from textgauge.metrics.numerics.ngram_counts import find_best_rows

Hashes = NDArray[np.uint64]

PASSAGE = 8
"""Words of the shortest run that counts as copied."""
_BLOCK = 1 << 20  # windows hashed at a time
_SORTED = 1 << 24  # windows sorted at a time: a quarter of a gigabyte
_CELLS = 1 << 21  # pairs of places, or words, compared at a time
_TRIED = 256  # places at which a window is looked up
_BASE = np.uint64(0x9E3779B97F4A7C15)


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
        found, best = np.full(len(self.sizes), -1), find_best_rows(self.lengths, self.texts, self.starts)
        found[self.texts[best]] = best
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
    within = others is None
    others = rows if others is None else others
    where, windows, places, offsets = _match_windows(rows, others, words, within)
    counts = offsets[windows + 1] - offsets[windows]
    is_many = counts > _TRIED
    follows_many = (np.diff(where, prepend=-2) == 1) & np.append(False, is_many)[:-1]
    found = [np.empty((0, 4), dtype=np.int64)]
    for block in split_into_runs(np.minimum(counts, _TRIED), _CELLS >> 3):
        sizes = np.minimum(counts[block], _TRIED)
        window = np.repeat(np.arange(len(sizes)), sizes)
        turn = np.arange(len(window)) - compute_offsets(sizes)[window]
        # Both ends are among those tried: of one text alone they cannot be.
        turn = turn * (counts[block] - 1)[window] // np.maximum(sizes - 1, 1)[window]
        here, there = where[block][window], places[offsets[windows[block]][window] + turn].astype(np.int64)
        mine, theirs = _find_owners(rows, here), _find_owners(others, there)
        if within:
            columns = (window, here, there, mine, theirs)
            window, here, there, mine, theirs = (column[mine != theirs] for column in columns)
        begins = (here == rows.offsets[mine]) | (there == others.offsets[theirs])
        begins |= rows.ids[here - 1] != others.ids[there - 1]
        # Of many places the one where a run begins may not be among those tried: what is found then is a part of it.
        is_part = (follows_many[block][window] | (is_many[block][window] & (np.diff(window, prepend=-1) > 0))) & ~begins
        tried = np.flatnonzero(begins | is_part)
        window, here, there, mine, theirs = (column[tried] for column in (window, here, there, mine, theirs))
        room = np.minimum(rows.offsets[mine + 1] - here, others.offsets[theirs + 1] - there)
        length = _count_equal(rows, others, here, there, room)
        best = find_best_rows(length, window, there)
        best = best[length[best] >= words]
        found.append(np.column_stack([here[best], length[best], there[best], is_part[tried[best]]]))
    start, length, place, is_part = _drop_nested(np.concatenate(found)).T
    mine, theirs = _find_owners(rows, start), _find_owners(others, place)
    return Passages(
        mine,
        start - rows.offsets[mine],
        length,
        theirs,
        place - others.offsets[theirs],
        rows.lengths,
        others.lengths,
        complete=not is_part.any(),
    )


def _find_owners(side: Tokens, places: Ints) -> Ints:
    return np.searchsorted(side.offsets, places, side="right") - 1


def _match_windows(
    rows: Tokens, others: Tokens, words: int, within: bool
) -> tuple[Ints, Ints, NDArray[np.int32], Ints]:
    """Return where windows of rows begin that stand on the other side too, their numbers, and the places of each."""
    width = max(int(side.ids.max(initial=-1)) for side in (rows, others)) + 1
    values = np.random.default_rng(0).integers(0, 1 << 64, width, dtype=np.uint64)
    total = len(rows.ids) + (0 if within else len(others.ids))
    bits = max(-(-total // cap_size(_SORTED)) - 1, 0).bit_length()
    numbers = np.full(len(rows.ids), -1, dtype=np.int32)
    places, sizes, known = [np.empty(0, np.int32)], [np.empty(0, np.int64)], 0
    for part in range(1 << bits):
        hashes, at = _hash_windows(rows, values, words, part, bits)
        if within:
            common, sought, there = _find_repeated(hashes), hashes, at
        else:
            sought, there = _hash_windows(others, values, words, part, bits)
            common = _find_repeated(np.concatenate([_sort_different(side) for side in (hashes, sought)]))
        number, is_known = _look_up(common, hashes)
        numbers[at[is_known]] = known + number
        number, is_known = _look_up(common, sought)
        places.append(there[is_known][np.argsort(number, kind="stable")])
        sizes.append(np.bincount(number, minlength=len(common)))
        known += len(common)
    where = np.flatnonzero(numbers >= 0)
    return where, numbers[where].astype(np.int64), np.concatenate(places), compute_offsets(np.concatenate(sizes))


def _sort_different(hashes: Hashes) -> Hashes:
    """Return each hash once, in order; NumPy's `unique` takes several times as long and as much memory."""
    hashes = np.sort(hashes)
    return np.asarray(hashes[np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)]])


def _find_repeated(hashes: Hashes) -> Hashes:
    hashes = np.sort(hashes)
    return _sort_different(hashes[1:][hashes[1:] == hashes[:-1]])


def _look_up(common: Hashes, hashes: Hashes) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the place of each hash that is common, and which are."""
    place = np.searchsorted(common, hashes)
    is_known = np.append(common, 0)[place] == hashes
    is_known &= place < len(common)
    return place[is_known], is_known


def _hash_windows(side: Tokens, values: Hashes, words: int, part: int, bits: int) -> tuple[Hashes, NDArray[np.int32]]:
    """Return hashes of windows, Σ v(wᵢ)·Bⁱ modulo 2⁶⁴, that begin with the bits of a part, and where these begin."""
    inside = np.ones(max(len(side.ids) - words + 1, 0), dtype=bool)  # no text ends within
    starts, ends = (ends[side.lengths > 0] for ends in (side.offsets[:-1], side.offsets[1:]))
    for back in range(1, words):
        last = np.maximum(ends - back, starts)
        inside[last[last < len(inside)]] = False
    hashes, places = [np.empty(0, np.uint64)], [np.empty(0, np.int32)]
    for block in split_into_blocks(len(inside), _BLOCK):
        found = np.zeros(block.stop - block.start, dtype=np.uint64)
        for place in range(words):
            found = found * _BASE + values[side.ids[block.start + place : block.stop + place]]
        kept = inside[block] & (found >> np.uint64(64 - bits) == part) if bits else inside[block]
        hashes.append(found[kept])
        places.append((np.flatnonzero(kept) + block.start).astype(np.int32))
    return np.concatenate(hashes), np.concatenate(places)


def _count_equal(rows: Tokens, others: Tokens, here: Ints, there: Ints, room: Ints) -> Ints:
    """Return how many words from two places on are equal, as far as there is room."""
    counts, going, width = np.zeros(len(here), dtype=np.int64), np.arange(len(here)), 8
    while len(going):
        width = max(min(2 * width, _CELLS // len(going)), 8)
        step = counts[going, None] + np.arange(width)
        inside = step < room[going, None]
        step = np.where(inside, step, 0)
        same = rows.ids[here[going, None] + step] == others.ids[there[going, None] + step]
        equal = np.logical_and.accumulate(same & inside, axis=1).sum(axis=1)
        counts[going] += equal
        going = going[(equal == width) & (counts[going] < room[going])]
    return counts


def _drop_nested(runs: Ints) -> Ints:
    """Return runs (start, length, …) by their start, without those that lie within another one."""
    runs = runs[np.lexsort((-runs[:, 1], runs[:, 0]))]
    ends = runs[:, 0] + runs[:, 1]
    return runs[ends > np.maximum.accumulate(np.append(-1, ends))[:-1]]
