"""What a reader of the table should know first: copies, collapse, another language, small or unequal corpora."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from textgauge.data import Corpus
from textgauge.metrics.properties.base import TOKENIZER, MeasuredCorpus
from textgauge.metrics.properties.repetition import modes, repetition
from textgauge.metrics.properties.vocabulary import unknown_share

_COPIED = 0.1
_REPEATED, _TIMES_TRAIN = 0.01, 5.0  # share of pairs that are alike, and its ratio to that of train
_UNKNOWN, _TIMES_YARDSTICK = 0.4, 2.0
_FAR, _OFF_TOPIC = 0.05, 0.5  # share of train that is as far from test, share of generated texts that are
_FEW_TEXTS = 50
_SIZE_RATIO = 2.0


def find_warnings(
    generated: tuple[MeasuredCorpus, ...], test: MeasuredCorpus | None, train: MeasuredCorpus
) -> Iterator[str]:
    """All warnings, each one sentence."""
    yield from _sampled(train)
    if test is not None:
        yield from _copies(test, train)
    for measured in generated:
        yield from _few(measured)
        yield from _copies(measured, train)
        yield from _collapse(measured, train)
        yield from _language(measured, test, train)
        yield from _off_topic(measured, train)
        yield from _sizes(measured, test)


def collapsed(measured: MeasuredCorpus, train: MeasuredCorpus) -> bool:
    """Whether two texts are alike in a hundredth of all pairs or more, and five times as often as in train."""
    mine, usual = (repetition(one.derive(modes).sizes) for one in (measured, train))
    return mine >= _REPEATED and not mine < _TIMES_TRAIN * usual


def _sampled(train: MeasuredCorpus) -> Iterator[str]:
    rows = {"grammar": train.grammar, "plausibility": train.surprise}
    for name, columns in rows.items():
        n = len(train.corpus)
        known = n if columns is None else int(np.isfinite(columns[1]).sum())
        if known < n:
            yield f"train: {name} is that of {known} of its {n} texts, enough for a yardstick"


def _few(measured: MeasuredCorpus) -> Iterator[str]:
    n = len(measured.corpus)
    if n < _FEW_TEXTS:
        yield f"{measured.name}: few texts ({n}); look at the intervals"


def _copies(measured: MeasuredCorpus, train: MeasuredCorpus) -> Iterator[str]:
    copied = int(np.isin(measured.forms, train.forms).sum())
    if copied >= _COPIED * len(measured.corpus):
        among = f"{copied} of {len(measured.corpus)} texts"
        yield f"{measured.name}: {among} equal train texts, except for case and punctuation"


def _collapse(measured: MeasuredCorpus, train: MeasuredCorpus) -> Iterator[str]:
    if collapsed(measured, train):
        sizes = measured.derive(modes).sizes
        share, largest = repetition(sizes), sizes.max() / len(measured.corpus)
        yield (
            f"{measured.name}: collapsed: two of its texts are alike in {share:.2g} of all pairs, as if it had "
            f"{1 / share:.0f} different ones; the largest mode holds {largest:.0%} of them"
        )


def _language(measured: MeasuredCorpus, test: MeasuredCorpus | None, train: MeasuredCorpus) -> Iterator[str]:
    """Many words that train does not have: twice the share of test, or of one half of train given the other."""
    unknown = _unknown(measured.corpus, train.corpus)
    if not unknown > _UNKNOWN:
        return
    order = train.corpus.canonical()
    halves = order.take(np.arange(0, len(order), 2)), order.take(np.arange(1, len(order), 2))
    usual = _unknown(*halves) if test is None else _unknown(test.corpus, train.corpus)
    if not unknown < _TIMES_YARDSTICK * usual:
        yield f"{measured.name}: train does not have {unknown:.0%} of its words: another language or another subject?"


def _off_topic(measured: MeasuredCorpus, train: MeasuredCorpus) -> Iterator[str]:
    """Test texts are covered by whatever is nearest, so that `covered` says little of texts about something else."""
    if measured.semantic is None or train.semantic is None:
        return
    usual = np.quantile(train.semantic.similarity, _FAR)
    far = float(np.mean(measured.semantic.similarity < usual))
    if far >= _OFF_TOPIC:
        yield (
            f"{measured.name}: off topic: {far:.0%} of its texts are farther from every test text than {1 - _FAR:.0%} "
            "of the train texts are; covered says little then"
        )


def _sizes(measured: MeasuredCorpus, test: MeasuredCorpus | None) -> Iterator[str]:
    if test is None:
        return
    n, m = len(measured.corpus), len(test.corpus)
    if max(n, m) > _SIZE_RATIO * min(n, m):
        yield f"{measured.name}: {n} texts and {m} of test: unique, distinct and vocab depend on the number of texts"


def _unknown(corpus: Corpus, known: Corpus) -> float:
    return unknown_share(corpus.tokens(TOKENIZER), known.tokens(TOKENIZER))
