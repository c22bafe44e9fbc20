"""What a corpus is made of: how many texts, how long, in which script."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np

from textgauge.arrays import Floats
from textgauge.encode.languages import UNKNOWN, language_of
from textgauge.metrics.properties.base import (
    TOKENIZER,
    CorpusProperty,
    MeasuredCorpus,
    PropertyValue,
    register_property,
)
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


register_property(
    CorpusProperty(
        name="texts",
        about="number of texts",
        better=None,
        bounds=(0.0, math.inf),
        needs=(),
        compute=lambda measured, _: PropertyValue(float(len(measured.corpus))),
        backend="count",
        alone=True,
        no_interval="no interval: a count of what is there",
    )
)
register_property(
    CorpusProperty(
        name="words",
        about="words of a text, signs among them: mean",
        better=None,
        bounds=(0.0, math.inf),
        needs=("tokens",),
        compute=_words,
        backend=TOKENIZER,
        alone=True,
        per_text=lengths,
    )
)
register_property(
    CorpusProperty(
        name="main_language",
        about="share of the texts in the commonest language, by script and common words",
        better=None,
        bounds=(0.0, 1.0),
        needs=(),
        compute=_main_language,
        backend=TOKENIZER,
        alone=True,
    )
)
