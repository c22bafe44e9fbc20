"""Edits with shifts, searched as Tercom does, for texts that are short or close enough for its beam not to matter.

Words are characters of strings here, so that shifts are slices and rapidfuzz counts the edits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

_LONGEST_SHIFT = 10  # words
_MOST_TRIED = 1_000  # shifts of one pair
_FARTHEST_SHIFT = 50  # words
# The beam of sacrebleu reaches so many cells to each side of the diagonal. It holds all cells of a reference that is no
# longer; otherwise a path of edits that leaves it costs at least twice that, less the difference of the lengths, and
# fewer edits are the same with and without it.
_BEAM = 24


class OutsideBeam(Exception):
    """So many edits that the beam of sacrebleu may matter."""


def edits_with_shifts(candidate: str, reference: str) -> int:
    """Shifts, as long as they save edits, and the edits that are left.

    >>> edits_with_shifts("bca", "abc"), edits_with_shifts("abxc", "abc")
    (1, 1)
    """
    shifts = tried = 0
    while True:
        best = (0, 0, 0, 0, candidate)
        before = _edits(candidate, reference)
        for length, start, place in _shifts(candidate, reference):
            if place < 0:  # the end of a phrase
                if tried >= _MOST_TRIED:
                    break
                continue
            moved = _moved(candidate, start, length, place)
            tried += 1
            best = max(best, (before - _edits(moved, reference), length, -start, -place, moved))
        if best[0] <= 0 or tried >= _MOST_TRIED:
            return shifts + before
        candidate, shifts = best[-1], shifts + 1


def _edits(candidate: str, reference: str) -> int:
    from rapidfuzz.distance.Levenshtein import distance

    found = int(distance(candidate, reference))
    if len(reference) > _BEAM and found + abs(len(candidate) - len(reference)) >= 2 * _BEAM:
        raise OutsideBeam
    return found


@dataclass(frozen=True)
class _Alignment:
    """For each word of the reference the place in the candidate, and how many words before each place are wrong."""

    places: list[int]
    wrong_left: list[int]
    wrong_right: list[int]


def _shifts(candidate: str, reference: str) -> Iterator[tuple[int, int, int]]:
    """Length, start and target of shifts worth a try; a target of -1 after those of a phrase."""
    aligned = _align(candidate, reference)
    left, right = aligned.wrong_left, aligned.wrong_right
    for start, target, length in _phrases(candidate, reference):
        both_wrong = left[start + length] > left[start] and right[target + length] > right[target]
        if both_wrong and not start <= aligned.places[target] < start + length:
            for place in _targets(aligned.places, target, length):
                yield length, start, place
            yield length, start, -1


def _phrases(candidate: str, reference: str) -> Iterator[tuple[int, int, int]]:
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


def _targets(places: list[int], target: int, length: int) -> Iterator[int]:
    """Where a phrase can go: to the start, or after what is aligned with the word before or within its target."""
    last = -1
    for word in range(target - 1, min(target + length, len(places))):
        place = places[word] + 1 if word >= 0 else 0
        if place != last:
            yield place
        last = place


def _moved(words: str, start: int, length: int, place: int) -> str:
    rest = words[:start] + words[start + length :]
    cut = place - length if place > start + length else place
    return rest[:cut] + words[start : start + length] + rest[cut:]


def _align(candidate: str, reference: str) -> _Alignment:
    """Align by the fewest edits; of equal ones a match or substitution, then a word dropped, then one put in."""
    table = _table(candidate, reference)
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
    return _Alignment(places, *([0, *accumulate(wrong)] for wrong in (wrong_left, wrong_right)))


def _table(candidate: str, reference: str) -> list[list[int]]:
    """Edits between all beginnings of both."""
    table = [list(range(len(reference) + 1))]
    for i, word in enumerate(candidate, 1):
        above, row, last = table[-1], [i], i
        for j, other in enumerate(reference):
            last = above[j] if word == other else 1 + min(above[j], above[j + 1], last)
            row.append(last)
        table.append(row)
    return table
