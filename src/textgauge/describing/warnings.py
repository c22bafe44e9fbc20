"""What a reader of the table should know first: copies, collapse, another language, small or unequal corpora."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from textgauge.data import Corpus
from textgauge.describing.measured import Measured
from textgauge.describing.sets import Sets
from textgauge.metrics.properties.repetition import repetition
from textgauge.metrics.properties.vocabulary import unknown_share

_COPIED = 0.1
_REPEATED, _TIMES_TRAIN = 0.01, 5.0  # two texts in a hundred pairs alike, and so many times train's share
_UNKNOWN, _TIMES_YARDSTICK = 0.4, 2.0
_FEW_TEXTS = 50
_SIZE_RATIO = 2.0


def doubts(sets: Sets, generated: tuple[Measured, ...], test: Measured | None, train: Measured) -> Iterator[str]:
    """All warnings, each one sentence."""
    yield from _sampled(train)
    if test is not None:
        yield from _copies(test, train)
    for measured in generated:
        yield from _few(measured)
        yield from _copies(measured, train)
        yield from _collapse(measured, train)
        yield from _language(measured.name, measured.corpus, sets)
        yield from _sizes(measured, test)


def collapsed(measured: Measured, train: Measured) -> bool:
    """Whether two texts are alike in a hundredth of all pairs or more, and five times as often as in train."""
    mine, usual = repetition(measured.modes.sizes), repetition(train.modes.sizes)
    return mine >= _REPEATED and not mine < _TIMES_TRAIN * usual


def _sampled(train: Measured) -> Iterator[str]:
    rows = {"grammar": train.grammar, "plausibility": train.surprise}
    for name, columns in rows.items():
        input_identity = len(train.corpus) if columns is None else int(np.isfinite(columns[1]).sum())
        if input_identity < len(train.corpus):
            yield f"train: {name} is that of {input_identity} of its {len(train.corpus)} texts, enough for a yardstick"


def _few(measured: Measured) -> Iterator[str]:
    n = len(measured.corpus)
    if n < _FEW_TEXTS:
        yield f"{measured.name}: few texts ({n}); look at the intervals"


def _copies(measured: Measured, train: Measured) -> Iterator[str]:
    copied = int(np.isin(measured.forms, train.forms).sum())
    if copied >= _COPIED * len(measured.corpus):
        yield f"{measured.name}: {copied} of {len(measured.corpus)} texts are train texts, but for case and punctuation"


def _collapse(measured: Measured, train: Measured) -> Iterator[str]:
    if collapsed(measured, train):
        share, largest = repetition(measured.modes.sizes), measured.modes.sizes.max() / len(measured.corpus)
        yield (
            f"{measured.name}: collapsed: two of its texts are alike in {share:.2g} of all pairs, as if it had "
            f"{1 / share:.0f} different ones; the largest mode holds {largest:.0%} of them"
        )


def _language(name: str, corpus: Corpus, sets: Sets) -> Iterator[str]:
    """Many words that train does not know, held against test, or one half of train against the other."""
    unknown = unknown_share(corpus.tokens("words"), sets.train.tokens("words"))
    if not unknown > _UNKNOWN:
        return
    order = sets.train.canonical()
    halves = order.take(np.arange(0, len(order), 2)), order.take(np.arange(1, len(order), 2))
    usual = (sets.test, sets.train) if sets.test is not None else halves
    if not unknown < _TIMES_YARDSTICK * unknown_share(usual[0].tokens("words"), usual[1].tokens("words")):
        yield f"{name}: train does not have {unknown:.0%} of its words: another language or another subject?"


def _sizes(measured: Measured, test: Measured | None) -> Iterator[str]:
    if test is None:
        return
    n, m = len(measured.corpus), len(test.corpus)
    if max(n, m) > _SIZE_RATIO * min(n, m):
        yield f"{measured.name}: {n} texts beside {m} of test: unique, distinct and vocab depend on the number of texts"
