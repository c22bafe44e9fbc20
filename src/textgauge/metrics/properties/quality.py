"""How well texts are written: grammatical errors, and perplexity under a language model."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.metrics.properties.base import MeasuredCorpus, PropertyValue, declare
from textgauge.metrics.properties.intervals import mean, student


def perplexity(surprise: Floats, tokens: Floats, *, level: float = 0.95) -> PropertyValue:
    """exp(Σ surprise/Σ tokens), in nats: the perplexity of the whole corpus; the interval is that of a ratio of sums.

    >>> round(perplexity(np.log([4.0, 16.0]), np.array([1.0, 2.0])).value, 4)
    4.0
    """
    known = np.isfinite(surprise) & (tokens > 0)
    n, total = int(known.sum()), float(tokens[known].sum())
    if not n:
        return PropertyValue()
    rate = float(surprise[known].sum()) / total
    rest = surprise[known] - rate * tokens[known]
    error = math.sqrt(n / (n - 1) * float(rest @ rest)) / total if n > 1 else math.nan
    found = student(rate, error, n - 1, level)
    return PropertyValue(*(_exp(end) for end in (found.value, found.low, found.high)))


def errors_per_word(measured: MeasuredCorpus) -> Floats:
    """Grammatical errors per word of each text; NaN for a text without words."""
    return _ratio(measured.grammar)


def surprise_per_token(measured: MeasuredCorpus) -> Floats:
    """The logarithm of the perplexity of each text; NaN for a text without tokens."""
    return _ratio(measured.surprise)


def _grammar(measured: MeasuredCorpus, level: float) -> PropertyValue:
    found = mean(errors_per_word(measured), level=level)
    return replace(found, low=max(found.low, 0.0))


def _plausibility(measured: MeasuredCorpus, level: float) -> PropertyValue:
    return PropertyValue() if measured.surprise is None else perplexity(*measured.surprise, level=level)


def _ratio(columns: tuple[Floats, Floats] | None) -> Floats:
    """NaN where nothing was counted."""
    if columns is None:
        return np.empty(0)
    top, below = columns
    return np.asarray(np.divide(top, below, out=np.full(len(top), np.nan), where=below > 0))


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))  # beyond, there is no such float


_declare = partial(declare, better="lower", bounds=(0.0, math.inf))
_declare(
    "grammar",
    "grammar errors per word, on average over the texts",
    _grammar,
    needs=("grammar",),
    backend="{grammar}",
    per_text=errors_per_word,
)
_declare(
    "plausibility",
    "perplexity under the language model; smaller is more plausible",
    _plausibility,
    needs=("plausibility",),
    backend="{plausibility}",
    per_text=surprise_per_token,
)
