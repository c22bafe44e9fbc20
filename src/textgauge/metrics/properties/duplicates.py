"""Near duplicates: texts that have most of their words in common, within a corpus and across two.

Two texts are near duplicates where Jaccard's index of their sets of words is 0.8 or more; case and punctuation do not
count. All of them are found, and each is counted exactly (`numerics/set_search.py`).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from textgauge.data import Corpus
from textgauge.encode.tokenizers import Tokens, hold_letters
from textgauge.metrics.numerics.set_search import SetMatches, nearest_sets
from textgauge.metrics.properties.base import TOKENIZER, MeasuredCorpus, PropertyValue, declare
from textgauge.metrics.properties.intervals import share

NEAR_DUPLICATE = 0.8


def word_matches(corpus: Corpus, others: Corpus | None = None, *, threshold: float = NEAR_DUPLICATE) -> SetMatches:
    """The text with most words in common among the other texts, or among `others`, if that is similar enough.

    >>> word_matches(Corpus.of(["The red cat sat.", "a dog", "the red cat sat down"])).index.tolist()
    [2, -1, 0]
    """
    views = [corpus] if others is None else [corpus, others]
    return nearest_sets(*(_words(view.tokens(TOKENIZER)) for view in views), threshold=threshold)


def _words(tokens: Tokens) -> Tokens:
    """The tokens without signs."""
    known = np.zeros(len(tokens.vocabulary), dtype=bool)
    used = np.unique(tokens.ids)
    known[used] = hold_letters([tokens.vocabulary[token] for token in used.tolist()])
    kept = known[tokens.ids]
    return Tokens(tokens.ids[kept], np.append(0, np.cumsum(kept))[tokens.offsets], tokens.vocabulary)


def duplicates_within(measured: MeasuredCorpus) -> SetMatches:
    """The nearest duplicate of each text among the other texts of the corpus."""
    return word_matches(measured.corpus)


def duplicates_across(measured: MeasuredCorpus) -> SetMatches:
    """The nearest duplicate of each text among the texts it is checked against."""
    return word_matches(measured.corpus, measured.against)


def _shared(measured: MeasuredCorpus, level: float) -> PropertyValue:
    return share(measured.derive(duplicates_across).index >= 0, level=level)


def _repeated(measured: MeasuredCorpus, _: float) -> PropertyValue:
    return PropertyValue(float((measured.derive(duplicates_within).index >= 0).mean()))


_declare = partial(declare, better="lower", backend=f"jaccard>={NEAR_DUPLICATE:g}@{TOKENIZER}", alone=True)
_declare(
    "near_duplicates",
    f"share of texts that have {100 * NEAR_DUPLICATE:g} % or more of their words in common with another text",
    _repeated,
    needs=("tokens",),
    no_interval="no interval: the share grows with the number of texts",
)
_declare("shared", "share of texts with a near duplicate in the other file", _shared, needs=("tokens", "against"))
