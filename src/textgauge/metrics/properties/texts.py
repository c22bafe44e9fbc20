"""What a corpus is made of, and how many of its texts are new and not generated over and over.

Uniqueness follows from how often each form was generated and which forms train has. The intervals are for the mean over
fresh corpora of this size. With N₁, N₂, … new forms generated once, twice, …, and n texts:

    variance of the number of unique texts  = N₁ − Σ λ²e^(−2λ) − (N₁ − 2N₂)²/n
    variance of the number of different new = Σ (e^(−λ) − e^(−2λ)) − N₁²/n

where λ is a form's expected count: Poisson counts, given their sum. Sums with e^(−2λ) speak of a corpus twice this
size: log Σ λᵏe^(−sλ) is convex in s, and is carried on from s = 1 as a straight line. Simulated coverage of 95 %
intervals: 0.93 to 0.97, less where duplicates or new forms are a handful.
"""

from __future__ import annotations

import math
import string
import sys
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.encode.languages import UNKNOWN, tell_language
from textgauge.metrics.cautions import get_scripts
from textgauge.metrics.properties.base import (
    TOKENIZER,
    MeasuredCorpus,
    PropertyValue,
    average_values,
    declare,
    share,
    share_interval,
)


def count_words(measured: MeasuredCorpus) -> Floats:
    """Return the words of each text, signs among them."""
    return measured.corpus.tokens(TOKENIZER).lengths.astype(np.float64)


def count_languages(measured: MeasuredCorpus) -> dict[str, int]:
    """Return how many texts are in each language, the commonest first; empty for texts whose language is not known."""
    tokens = measured.corpus.tokens(TOKENIZER)
    found = get_scripts(measured.corpus.pool)[measured.corpus.index]
    names = Counter(tell_language(tokens.strings(row), str(script)) for row, script in enumerate(found))
    return dict(sorted(names.items(), key=lambda item: (-item[1], item[0])))


def count_scripts(measured: MeasuredCorpus) -> dict[str, int]:
    """Return how many texts are mostly in each script, the commonest first; texts without letters are left out."""
    names, counts = np.unique(get_scripts(measured.corpus.pool)[measured.corpus.index], return_counts=True)
    found = [(str(name).capitalize(), int(count)) for name, count in zip(names, counts, strict=True) if name]
    return dict(sorted(found, key=lambda item: (-item[1], item[0])))


_declare = partial(declare, bounds=(0.0, math.inf), alone=True)


@_declare("texts", "number of texts", backend="count", no_interval="no interval: a count of what is there")
def _count_texts(measured: MeasuredCorpus, _: float) -> PropertyValue:
    return PropertyValue(float(len(measured.corpus)))


@_declare(
    "words",
    "words per text, punctuation marks included, on average",
    needs=("tokens",),
    backend=TOKENIZER,
    per_text=count_words,
    by_group=True,
)
def _measure_words(measured: MeasuredCorpus, level: float) -> PropertyValue:
    found = average_values(count_words(measured), *measured.units, level=level)
    return replace(found, low=max(found.low, 0.0))


_LANGUAGE = "share of texts in the most common language, by script and common words"


@declare("main_language", _LANGUAGE, backend=TOKENIZER, alone=True)
def _measure_main_language(measured: MeasuredCorpus, level: float) -> PropertyValue:
    known = {name: count for name, count in measured.derive(count_languages).items() if name != UNKNOWN}
    return share(np.arange(len(measured.corpus)) < max(known.values(), default=0), level=level)


STEPS = 10
FORM = "form=lower-case,no-punctuation"


@dataclass(frozen=True, eq=False)
class FormCounts:
    """How often each new form was generated, and the number of all generated texts."""

    times: Ints
    n: int

    @classmethod
    def of(cls, generated: Ints, train: Ints) -> FormCounts:
        """From the numbers of forms of both corpora."""
        forms, times = np.unique(generated, return_counts=True)
        return cls(times[~np.isin(forms, train)], len(generated))

    def exactly(self, times: int) -> int:
        """Return the number of new forms generated `times` times."""
        return int(np.count_nonzero(self.times == times))


def compute_unique(counts: FormCounts, *, level: float = 0.95) -> PropertyValue:
    """Return the share of texts that equal no other one of generated or train; a chance repetition costs two of them.

    >>> found = compute_unique(FormCounts(np.array([1] * 90 + [2] * 5), 100))
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.9, 0.794, 0.954)
    """
    once, twice, n = counts.exactly(1), counts.exactly(2), counts.n
    wider = float((counts.times * (counts.times - 1) * 0.5 ** (np.minimum(counts.times, 60) - 2.0)).sum())
    squares = (2 * twice) ** 3 / wider**2 if wider > 0 else 0.0
    variance = (once - squares - (once - 2 * twice) ** 2 / n) / n**2
    return PropertyValue(once / n, *share_interval(once / n, variance, n=n, lone=2.0, level=level))


def compute_distinct(counts: FormCounts, *, level: float = 0.95) -> PropertyValue:
    """Return the share of different new texts, each counted once; one chance repetition costs one of them."""
    once, twice, n = counts.exactly(1), counts.exactly(2), counts.n
    slope, value = 2 * twice / once if once else 0.0, len(counts.times) / n
    variance = (once * (-math.expm1(-slope) / slope if slope else 1.0) - once**2 / n) / n**2
    return PropertyValue(value, *share_interval(value, variance, n=n, level=level))


def compute_curve(counts: FormCounts, *, steps: int = STEPS) -> dict[str, Ints | Floats]:
    """Return `unique` and `distinct` of the first `attempts` texts, 1/steps, 2/steps, ... of all; means over orders.

    A form generated m times in n is among k of them once with probability m·C(n − m, k − 1)/C(n, k) and not at all with
    C(n − m, k)/C(n, k): the mean over all orders, whatever the order of the file.

    >>> found = compute_curve(FormCounts(np.array([1, 1, 2]), 4), steps=4)
    >>> found["unique"].round(3).tolist(), found["distinct"].round(3).tolist()
    ([1.0, 0.833, 0.667, 0.5], [1.0, 0.917, 0.833, 0.75])
    """
    attempts = np.unique(np.maximum(counts.n * np.arange(1, steps + 1) // steps, 1))
    times, forms = np.unique(counts.times, return_counts=True)
    k, m = attempts[:, None].astype(np.float64), times.astype(np.float64)
    all_ways = _log_choose(counts.n, k)
    once = m * np.exp(_log_choose(counts.n - m, k - 1) - all_ways)
    never = np.exp(_log_choose(counts.n - m, k) - all_ways)
    shares = {"unique": once @ forms / attempts, "distinct": (1.0 - never) @ forms / attempts}
    return {"attempts": attempts, **shares}


def _log_choose(n: Floats | int, k: Floats) -> Floats:
    """Logarithm of C(n, k); −∞ where k > n."""
    from scipy.special import gammaln

    inside = np.maximum(n - k, 0.0)
    ways = gammaln(np.asarray(n) + 1.0) - gammaln(k + 1.0) - gammaln(inside + 1.0)
    return np.where(k > n, -np.inf, ways)


def get_form(text: str) -> str:
    """Return the text in lower case without punctuation.

    Punctuation is Unicode's category P and the ASCII signs ``$+<=>^`|~``; it leaves no space behind, but runs of white
    space become one. Emoji and other symbols stay. A text of signs alone has the empty form.

    >>> get_form("Don't  panic -- it's $5, OK?")
    'dont panic its 5 ok'
    """
    return " ".join(text.lower().translate(_get_signs()).split())


def number_forms(*corpora: Sequence[str]) -> list[Ints]:
    """For each corpus the number of each text's form; equal forms have equal numbers in all of them.

    >>> [numbers.tolist() for numbers in number_forms(["A cat.", "a dog", "a cat"], ["A dog!"])]
    [[0, 1, 0], [1]]
    """
    known: dict[str, int] = {}
    return [
        np.fromiter((known.setdefault(get_form(text), len(known)) for text in texts), dtype=np.int64, count=len(texts))
        for texts in corpora
    ]


@cache
def _get_signs() -> dict[int, None]:
    points = range(128, sys.maxunicode + 1)
    wide = (point for point in points if unicodedata.category(chr(point))[0] == "P")
    return dict.fromkeys([*map(ord, string.punctuation), *wide])


def count_forms(measured: MeasuredCorpus) -> FormCounts:
    """Return how often each form that train does not have was generated."""
    known = np.empty(0, dtype=np.int64) if measured.train is None else measured.train.forms
    return FormCounts.of(measured.forms, known)


_declare = partial(declare, better="higher", backend=FORM, depends_on_size=True)


@_declare("unique", "share of texts that occur once, and not in train (case and punctuation ignored)")
def _measure_unique(measured: MeasuredCorpus, level: float) -> PropertyValue:
    return compute_unique(measured.derive(count_forms), level=level)


@_declare("distinct", "number of distinct texts, without those of train, as a share of all")
def _measure_distinct(measured: MeasuredCorpus, level: float) -> PropertyValue:
    return compute_distinct(measured.derive(count_forms), level=level)
