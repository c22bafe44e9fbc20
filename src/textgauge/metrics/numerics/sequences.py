"""Sequences of token numbers: longest common subsequences, and edits with shifts of whole phrases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.parallel import count_workers
from textgauge.core.settings import EDIT_CELLS

if TYPE_CHECKING:
    from textgauge.encode.tokenizers import Tokens

Sentences = Sequence[Sequence[int]]

_CODE_POINTS = 0x110000
_LONGEST_SHIFT = 10  # words
_MOST_TRIED = 1_000  # shifts of one pair
_FARTHEST_SHIFT = 50  # words
# sacrebleu's beam reaches this many cells on each side of the diagonal. It holds all cells of a reference that is no
# longer; otherwise a path of edits that leaves it costs at least twice that, less the difference of the lengths, and
# fewer edits are the same with and without it.
_BEAM = 24


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


def count_union_hits(candidate: Sentences, reference: Sentences) -> int:
    """Tokens of the reference in a longest common subsequence of its sentence with any sentence of the candidate.

    No token counts more often than it is in either text. Where there are several longest subsequences, the one found
    from the end, going back in the reference first, is taken.
    """
    left, right = (Counter(token for sentence in text for token in sentence) for text in (candidate, reference))
    hits: Counter[int] = Counter()
    for sentence in reference:
        places = set[int]().union(*(_find_subsequence(sentence, other) for other in candidate))
        hits.update(sentence[place] for place in places)
    return sum(min(count, left[token], right[token]) for token, count in hits.items())


def _find_subsequence(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Places in `first` of a longest common subsequence."""
    table = [[0] * (len(second) + 1)]
    for token in first:
        above, row = table[-1], [0]
        for j, other in enumerate(second):
            row.append(above[j] + 1 if token == other else max(above[j + 1], row[j]))
        table.append(row)
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


class OutsideBeam(Exception):
    """So many edits that the beam of sacrebleu may matter."""


def count_edits_with_shifts(candidate: str, reference: str) -> int:
    """Shifts, as long as they save edits, and the edits that are left.

    >>> count_edits_with_shifts("bca", "abc"), count_edits_with_shifts("abxc", "abc")
    (1, 1)
    """
    shifts = tried = 0
    while True:
        best = (0, 0, 0, 0, candidate)
        before = _count_edits(candidate, reference)
        for length, start, place in _iterate_shifts(candidate, reference):
            if place < 0:  # the end of a phrase
                if tried >= _MOST_TRIED:
                    break
                continue
            moved = _move_phrase(candidate, start, length, place)
            tried += 1
            best = max(best, (before - _count_edits(moved, reference), length, -start, -place, moved))
        if best[0] <= 0 or tried >= _MOST_TRIED:
            return shifts + before
        candidate, shifts = best[-1], shifts + 1


def _count_edits(candidate: str, reference: str) -> int:
    from rapidfuzz.distance.Levenshtein import distance

    found = int(distance(candidate, reference))
    if len(reference) > _BEAM and found + abs(len(candidate) - len(reference)) >= 2 * _BEAM:
        raise OutsideBeam
    return found


def _iterate_shifts(candidate: str, reference: str) -> Iterator[tuple[int, int, int]]:
    """Length, start and target of shifts worth a try; a target of -1 after those of a phrase."""
    places, left, right = _align(candidate, reference)
    for start, target, length in _iterate_phrases(candidate, reference):
        both_wrong = left[start + length] > left[start] and right[target + length] > right[target]
        if both_wrong and not start <= places[target] < start + length:
            for place in _iterate_targets(places, target, length):
                yield length, start, place
            yield length, start, -1


def _iterate_phrases(candidate: str, reference: str) -> Iterator[tuple[int, int, int]]:
    """Start in the candidate, start in the reference and length of every phrase they share."""
    for start, word in enumerate(candidate):
        target = reference.find(word, max(0, start - _FARTHEST_SHIFT))
        while 0 <= target <= start + _FARTHEST_SHIFT:
            most = min(len(candidate) - start, len(reference) - target, _LONGEST_SHIFT)
            length = 0
            while length < most and candidate[start + length] == reference[target + length]:
                length += 1
                yield start, target, length
            target = reference.find(word, target + 1)


def _iterate_targets(places: list[int], target: int, length: int) -> Iterator[int]:
    """Yield where a phrase can go: to the start, or after what is aligned with the word before or within its target."""
    last = -1
    for word in range(target - 1, min(target + length, len(places))):
        place = places[word] + 1 if word >= 0 else 0
        if place != last:
            yield place
        last = place


def _move_phrase(words: str, start: int, length: int, place: int) -> str:
    rest = words[:start] + words[start + length :]
    cut = place - length if place > start + length else place
    return rest[:cut] + words[start : start + length] + rest[cut:]


def _align(candidate: str, reference: str) -> tuple[list[int], list[int], list[int]]:
    """Align by the fewest edits; of equal ones a match or substitution, then a word dropped, then one put in.

    Gives for each word of the reference the place in the candidate, and for both how many words before each place are
    wrong.
    """
    table = [list(range(len(reference) + 1))]
    for i, word in enumerate(candidate, 1):
        above, row, last = table[-1], [i], i
        for j, other in enumerate(reference):
            last = above[j] if word == other else 1 + min(above[j], above[j + 1], last)
            row.append(last)
        table.append(row)
    i, j = len(candidate), len(reference)
    places, wrong_left, wrong_right = [-1] * j, [1] * i, [1] * j
    while j:
        here = table[i][j]
        if i and here == table[i - 1][j - 1] + (candidate[i - 1] != reference[j - 1]):
            i, j = i - 1, j - 1
            places[j] = i
            wrong_left[i] = wrong_right[j] = int(candidate[i] != reference[j])
        elif i and here == table[i - 1][j] + 1:
            i -= 1
        else:
            j -= 1
            places[j] = i - 1
    return places, [0, *accumulate(wrong_left)], [0, *accumulate(wrong_right)]
