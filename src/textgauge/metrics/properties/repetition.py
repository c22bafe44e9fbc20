"""Modes of a generator: groups of texts that are the same, or differ by one word."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.encode.tokenizers import Tokens, tokenizer
from textgauge.metrics.properties.base import MeasuredCorpus, PropertyValue, declare
from textgauge.metrics.properties.uniqueness import FORM, form

Keys = NDArray[np.uint64]

SHORTEST, LONGEST = 5, 1_000  # words: of fewer, another word is another text; of more, only equal texts are grouped
_BASE = 0x9E3779B97F4A7C15  # any odd number whose powers differ, and its inverse among 64-bit numbers
_INVERSE = pow(_BASE, -1, 1 << 64)


@dataclass(frozen=True, eq=False)
class Modes:
    """The group of each text, and the number of texts of each group."""

    group: Ints
    sizes: Ints


def modes(measured: MeasuredCorpus) -> Modes:
    """The groups of equal and nearly equal texts of a corpus; group g is named after the g-th of its forms."""
    corpus = measured.corpus
    numbers, first, inverse, times = np.unique(
        measured.forms, return_index=True, return_inverse=True, return_counts=True
    )
    texts = corpus.pool.texts
    group = groups([form(texts[row]) for row in corpus.index[first].tolist()], times)[inverse]
    return Modes(group, np.bincount(group, minlength=len(numbers)))


def groups(forms: Sequence[str], times: Ints) -> Ints:
    """The group of each different form: that of the most frequent form it is at most one word away from.

    One word is replaced, moved, left out or added, in forms of 5 to 1,000 words; a group is a form and those next to
    it, not a chain of neighbours. Forms are taken by falling frequency, equally frequent ones in alphabetical order.

    >>> groups(["the red cat sat here", "the red dog sat here", "one two"], np.array([1, 3, 1])).tolist()
    [1, 1, 2]
    """
    shared, owners, starts = _neighbourhoods(tokenizer("whitespace").encode(forms))
    found = np.full(len(forms), -1, dtype=np.int64)
    for number in sorted(range(len(forms)), key=lambda place: (-times[place], forms[place])):
        if found[number] < 0:
            found[number] = number
            for run in shared.get(number, ()):
                near = owners[starts[run] : starts[run + 1]]
                found[near[found[near] < 0]] = number
    return found


def repetition(sizes: Ints) -> float:
    """The chance that two texts drawn from a corpus are of one group: Σ m(m − 1)/(n(n − 1)); NaN for a single text.

    It does not depend on the number of texts, as shares of unique texts do; 1/repetition is the number of different
    texts a generator works with (Simpson's index).

    >>> repetition(np.array([2, 1, 1])), repetition(np.array([4]))
    (0.1666, 1.0)
    """
    n = int(sizes.sum())
    return float((sizes * (sizes - 1)).sum() / (n * (n - 1))) if n > 1 else math.nan


def _neighbourhoods(words: Tokens) -> tuple[dict[int, list[int]], Ints, Ints]:
    """Runs of forms that share a key: the runs of each form, and run r as `owners[starts[r] : starts[r + 1]]`."""
    usable = np.flatnonzero((words.lengths >= SHORTEST) & (words.lengths <= LONGEST))
    keys, owners = _keys(words.take(usable))
    order = np.lexsort((owners, keys))
    keys, owners = keys[order], usable[owners[order]]
    fresh = np.concatenate([[True], (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])])[: len(keys)]
    keys, owners = keys[fresh], owners[fresh]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    starts = np.append(starts, len(keys))
    shared: dict[int, list[int]] = {}
    for run in np.flatnonzero(np.diff(starts) > 1).tolist():
        for owner in owners[starts[run] : starts[run + 1]].tolist():
            shared.setdefault(owner, []).append(run)
    return shared, owners, starts


def _keys(words: Tokens) -> tuple[Keys, Ints]:
    """A key for each form, and one for what is left of it without each of its words; and whose key it is.

    Σ v(wᵢ)·Bⁱ modulo 2⁶⁴ with a random number v for each word: what follows the word left out moves up by one place.
    """
    values = np.random.default_rng(0).integers(0, 1 << 64, len(words.vocabulary), dtype=np.uint64)
    rows = np.repeat(np.arange(len(words)), words.lengths)
    places = np.arange(len(words.ids)) - words.offsets[rows]
    powers = np.multiply.accumulate(np.full(LONGEST, _BASE, dtype=np.uint64))
    parts = values[words.ids] * powers[places]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(parts, dtype=np.uint64)])
    first, last = sums[words.offsets[rows]], sums[words.offsets[rows + 1]]
    without = (sums[:-1] - first) + (last - sums[1:]) * np.uint64(_INVERSE)
    whole = sums[words.offsets[1:]] - sums[words.offsets[:-1]]
    return np.concatenate([whole, without]), np.concatenate([np.arange(len(words)), rows])


declare(
    "repetition",
    "chance that two random texts are the same or differ by one word",
    lambda measured, _: PropertyValue(repetition(measured.derive(modes).sizes)),
    better="lower",
    backend=FORM,
    no_interval="no interval: none that was tried holds its level",
)
