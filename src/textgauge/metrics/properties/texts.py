"""What a corpus is made of: how many texts, how long, in which script."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.encode.languages import UNKNOWN, language_of
from textgauge.metrics.properties.base import TOKENIZER, MeasuredCorpus, PropertyValue, declare
from textgauge.metrics.properties.intervals import mean, share
from textgauge.metrics.readable import scripts


def lengths(measured: MeasuredCorpus) -> Floats:
    """The words of each text, signs among them."""
    return measured.corpus.tokens(TOKENIZER).lengths.astype(np.float64)


def language_counts(measured: MeasuredCorpus) -> dict[str, int]:
    """How many texts are in each language, the commonest first; empty for texts whose language is not known."""
    tokens = measured.corpus.tokens(TOKENIZER)
    found = scripts(measured.corpus.pool)[measured.corpus.index]
    names = Counter(language_of(tokens.strings(row), str(script)) for row, script in enumerate(found))
    return dict(sorted(names.items(), key=lambda item: (-item[1], item[0])))


def script_counts(measured: MeasuredCorpus) -> dict[str, int]:
    """How many texts are mostly in each script, the commonest first; texts without letters are left out."""
    names, counts = np.unique(scripts(measured.corpus.pool)[measured.corpus.index], return_counts=True)
    found = [(str(name).capitalize(), int(count)) for name, count in zip(names, counts, strict=True) if name]
    return dict(sorted(found, key=lambda item: (-item[1], item[0])))


def _words(measured: MeasuredCorpus, level: float) -> PropertyValue:
    found = mean(lengths(measured), level=level)
    return replace(found, low=max(found.low, 0.0))


def _main_language(measured: MeasuredCorpus, level: float) -> PropertyValue:
    known = {name: count for name, count in measured.derive(language_counts).items() if name != UNKNOWN}
    return share(np.arange(len(measured.corpus)) < max(known.values(), default=0), level=level)


_declare = partial(declare, backend=TOKENIZER, alone=True)
_declare(
    "texts",
    "number of texts",
    lambda measured, _: PropertyValue(float(len(measured.corpus))),
    bounds=(0.0, math.inf),
    backend="count",
    no_interval="no interval: a count of what is there",
)
_declare(
    "words",
    "words per text, punctuation marks included, on average",
    _words,
    bounds=(0.0, math.inf),
    needs=("tokens",),
    per_text=lengths,
)
_declare("main_language", "share of texts in the most common language, by script and common words", _main_language)
