"""What a corpus is made of: how many texts, how long, in which script."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from textgauge.arrays import Floats
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


def script_counts(measured: MeasuredCorpus) -> dict[str, int]:
    """How many texts are mostly in each script, the commonest first; texts without letters are left out."""
    names, counts = np.unique(scripts(measured.corpus.pool)[measured.corpus.index], return_counts=True)
    found = [(str(name).capitalize(), int(count)) for name, count in zip(names, counts, strict=True) if name]
    return dict(sorted(found, key=lambda item: (-item[1], item[0])))


def _words(measured: MeasuredCorpus, level: float) -> PropertyValue:
    found = mean(lengths(measured), level=level)
    return replace(found, low=max(found.low, 0.0))


def _main_script(measured: MeasuredCorpus, level: float) -> PropertyValue:
    most = max(script_counts(measured).values(), default=0)
    hits = np.arange(len(measured.corpus)) < most
    return share(hits, level=level)


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
        name="main_script",
        about="share of the texts in the commonest script",
        better=None,
        bounds=(0.0, 1.0),
        needs=(),
        compute=_main_script,
        backend="script=most letters",
        alone=True,
    )
)
