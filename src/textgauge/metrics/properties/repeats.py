"""Texts that come again: near duplicates and passages within a corpus and across two, groups that differ by one word.

Two texts are near duplicates where Jaccard's index of their sets of words is 0.8 or more; case and punctuation do not
count. All of them are found, and each is counted exactly (`numerics/search.py`). So are passages: runs of words that
stand in another text too (`numerics/passages.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.data import Corpus
from textgauge.encode.tokenizers import Tokens, get_tokenizer, hold_letters
from textgauge.metrics.numerics.passages import PASSAGE, Passages, find_passages
from textgauge.metrics.numerics.search import NearestMatches, find_nearest_sets
from textgauge.metrics.properties.base import (
    NOT_FOR_TRAIN,
    TOKENIZER,
    Compute,
    MeasuredCorpus,
    PropertyValue,
    declare,
    share,
)
from textgauge.metrics.properties.texts import FORM, get_form

NEAR_DUPLICATE = 0.8
RUNS = "alphanumeric"  # the words of passages


def find_word_matches(corpus: Corpus, others: Corpus | None = None) -> NearestMatches:
    """Return the text with most words in common among the other texts, or among `others`, if that is similar enough.

    >>> find_word_matches(Corpus.of(["The red cat sat.", "a dog", "the red cat sat down"])).index.tolist()
    [2, -1, 0]
    """
    views = [corpus] if others is None else [corpus, others]
    return find_nearest_sets(*(_get_words(view.tokens(TOKENIZER)) for view in views), threshold=NEAR_DUPLICATE)


def find_copied_passages(corpus: Corpus, others: Corpus | None = None, *, words: int = PASSAGE) -> Passages:
    """Return the runs of so many words or more that stand in other texts of the corpus too, or in `others`.

    Words are runs of letters and digits in lower case: neither punctuation nor white space counts.

    >>> corpus = Corpus.of(["We saw: the red cat!", "The RED\\ncat"])
    >>> find_copied_passages(corpus, words=3).is_contained.tolist()
    [False, True]
    """
    views = [corpus] if others is None else [corpus, others]
    return find_passages(*(view.tokens(RUNS) for view in views), words=words)


def _get_words(tokens: Tokens) -> Tokens:
    """Return the tokens without signs."""
    known = np.zeros(len(tokens.vocabulary), dtype=bool)
    used = np.unique(tokens.ids)
    known[used] = hold_letters([tokens.vocabulary[token] for token in used.tolist()])
    kept = known[tokens.ids]
    return Tokens(tokens.ids[kept], np.append(0, np.cumsum(kept))[tokens.offsets], tokens.vocabulary)


def find_duplicates(measured: MeasuredCorpus, others: Corpus | None) -> NearestMatches:
    """Return the nearest duplicate of each text among other texts, or among the other texts of the corpus."""
    return find_word_matches(measured.corpus, others)


def find_passages_in(measured: MeasuredCorpus, others: Corpus | None) -> Passages:
    """Return the passages of the texts that stand in other texts, or in other texts of the corpus."""
    return find_copied_passages(measured.corpus, others, words=measured.passage)


def get_passages(measured: MeasuredCorpus) -> tuple[Passages, Corpus]:
    """Return the passages of a corpus that stand elsewhere, and the texts in which they do."""
    return measured.derive(find_passages_in, measured.others), measured.others or measured.corpus


def _share_of(find: Callable[..., NearestMatches | Passages], side: str | None) -> Compute:
    """Return how to measure the share of texts with a match on a side, or in the corpus: then there is no interval."""

    def compute(measured: MeasuredCorpus, level: float) -> PropertyValue:
        found = measured.derive(find, getattr(measured, side) if side else None)
        hits = (found.longest if isinstance(found, Passages) else found.index) >= 0
        return share(hits, *measured.units, level=level) if side else PropertyValue(float(hits.mean()))

    return compute


_WITHIN: dict[str, Any] = {
    "needs": ("tokens",),
    "no_interval": "no interval: the share grows with the number of texts",
    "alone": True,
}
_ACROSS: dict[str, Any] = {"needs": ("tokens", "against"), "by_group": True, "alone": True}
_TRAIN: dict[str, Any] = {"needs": ("tokens", "train"), "by_group": True, "undefined_for": NOT_FOR_TRAIN}
_WORDS = f"jaccard>={NEAR_DUPLICATE:g}@{TOKENIZER}"
_PASSAGES = f"runs>={{passage}}@{RUNS}"
_NEAR = f"share of texts that have {100 * NEAR_DUPLICATE:g} % or more of their words in common with another text"
_RUN = f"share of texts with a run of words ({PASSAGE} or more, or as set) that stands in"
_SHARED = "share of texts with a near duplicate in the other file"
for _name, _about, _find, _side, _of in (
    ("near_duplicates", _NEAR, find_duplicates, None, _WITHIN),
    ("shared", _SHARED, find_duplicates, "against", _ACROSS),
    ("copied_passages", f"{_RUN} a train text", find_passages_in, "others", _TRAIN),
    ("shared_passages", f"{_RUN} the other file", find_passages_in, "against", _ACROSS),
    ("repeated_passages", f"{_RUN} another text", find_passages_in, None, _WITHIN),
):
    _backend = _WORDS if _find is find_duplicates else _PASSAGES
    declare(_name, _about, better="lower", backend=_backend, **_of)(_share_of(_find, _side))


@declare(
    "longest_passage",
    "words of the longest such run",
    bounds=(0.0, math.inf),
    needs=("tokens",),
    backend=_PASSAGES,
    undefined_for=NOT_FOR_TRAIN,
    no_interval="no interval: the longest of all",
)
def _measure_longest_passage(measured: MeasuredCorpus, _: float) -> PropertyValue:
    return PropertyValue(float(get_passages(measured)[0].lengths.max(initial=0)))


Keys = NDArray[np.uint64]

SHORTEST, LONGEST = 5, 1_000  # words: of fewer, another word is another text; of more, only equal texts are grouped
_BASE = 0x9E3779B97F4A7C15  # any odd number whose powers differ, and its inverse among 64-bit numbers
_INVERSE = pow(_BASE, -1, 1 << 64)


def group_texts(measured: MeasuredCorpus) -> tuple[Ints, Ints]:
    """Return the group of each text, of equal and nearly equal ones, and the number of texts of each group.

    Group g is named after the g-th form of the corpus.
    """
    corpus = measured.corpus
    numbers, first, inverse, times = np.unique(
        measured.forms, return_index=True, return_inverse=True, return_counts=True
    )
    texts = corpus.pool.texts
    group = group_forms([get_form(texts[row]) for row in corpus.index[first].tolist()], times)[inverse]
    return group, np.bincount(group, minlength=len(numbers))


def group_forms(forms: Sequence[str], times: Ints) -> Ints:
    """Return the group of each different form: that of the most frequent form it is at most one word away from.

    One word is replaced, moved, left out or added, in forms of 5 to 1,000 words; a group is a form and those next to
    it, not a chain of neighbours. Forms are taken by falling frequency, equally frequent ones in alphabetical order.

    >>> group_forms(["the red cat sat here", "the red dog sat here", "one two"], np.array([1, 3, 1])).tolist()
    [1, 1, 2]
    """
    shared, owners, starts = _find_neighbourhoods(get_tokenizer("whitespace").encode(forms))
    found = np.full(len(forms), -1, dtype=np.int64)
    for number in sorted(range(len(forms)), key=lambda place: (-times[place], forms[place])):
        if found[number] < 0:
            found[number] = number
            for run in shared.get(number, ()):
                near = owners[starts[run] : starts[run + 1]]
                found[near[found[near] < 0]] = number
    return found


def compute_repetition(sizes: Ints) -> float:
    """Return the chance that two texts drawn from a corpus are of one group: Σ m(m − 1)/(n(n − 1)).

    NaN for a single text. It does not depend on the number of texts, as shares of unique texts do; 1/repetition is the
    number of different texts a generator works with (Simpson's index).

    >>> compute_repetition(np.array([2, 1, 1])), compute_repetition(np.array([4]))
    (0.1666, 1.0)
    """
    n = int(sizes.sum())
    return float((sizes * (sizes - 1)).sum() / (n * (n - 1))) if n > 1 else math.nan


def _find_neighbourhoods(words: Tokens) -> tuple[dict[int, list[int]], Ints, Ints]:
    """Find forms that share a key: the runs of each form, and run r as `owners[starts[r] : starts[r + 1]]`."""
    usable = np.flatnonzero((words.lengths >= SHORTEST) & (words.lengths <= LONGEST))
    keys, owners = _compute_keys(words.take(usable))
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


def _compute_keys(words: Tokens) -> tuple[Keys, Ints]:
    """Return a key for each form, and one for what is left of it without each of its words; and whose key it is.

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


@declare(
    "repetition",
    "chance that two random texts are the same or differ by one word",
    better="lower",
    backend=FORM,
    no_interval="no interval: none that was tried holds its level",
)
def _measure_repetition(measured: MeasuredCorpus, _: float) -> PropertyValue:
    return PropertyValue(compute_repetition(measured.derive(group_texts)[1]))
