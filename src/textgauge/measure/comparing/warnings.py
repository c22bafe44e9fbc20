"""Warnings: what has no value, and confounds (size, length, repeated and shared texts), which move distances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textgauge.core.arrays import Ints
from textgauge.core.tabular import listed
from textgauge.data import Comparison, Corpus
from textgauge.encode.embedders import get_window
from textgauge.metrics import CorpusMetric, Score
from textgauge.metrics.cautions import script_warnings

_FEW_TEXTS = 50
_SIZE_RATIO = 2.0
_LENGTH_RATIO = 1.5
_REPEATED_SHARE = 0.2


def find_undefined(scores: Sequence[Score]) -> list[str]:
    """Return which metrics have no value, and which no interval, each reason once."""
    sentences = []
    for reason in dict.fromkeys(score.reason for score in scores if score.reason):
        names = [score.metric for score in scores if score.reason == reason]
        sentences.append(f"{listed(names)} {'is' if len(names) == 1 else 'are'} undefined: {reason}")
    lacking: dict[str, list[str]] = {}
    for score in scores:
        if score.no_interval:
            lacking.setdefault(score.no_interval.removeprefix(f"{score.metric} has "), []).append(score.metric)
    return sentences + [f"{listed(of)} {'has' if len(of) == 1 else 'have'} {what}" for what, of in lacking.items()]


def find_confounds(comparison: Comparison, metrics: Sequence[CorpusMetric]) -> list[str]:
    """Return all warnings that apply to this comparison, each one sentence."""
    found = [*_sizes(comparison), *_shared(comparison), *_repeated(comparison), *_fid_bias(comparison, metrics)]
    if comparison.reference.pool.has_texts:
        found += [*_lengths(comparison), *_cut_off(comparison, metrics), *_scripts(comparison, metrics)]
    return found


def _sizes(comparison: Comparison) -> list[str]:
    n, m = len(comparison.reference), len(comparison.candidate)
    found = []
    if min(n, m) < _FEW_TEXTS:
        found.append(f"few texts ({n} and {m}): small samples are far apart by chance; judge a value by its null range")
    if max(n, m) > _SIZE_RATIO * min(n, m):
        found.append(
            f"very different sizes ({n} and {m}): many metrics depend on size; judge a value by its null range"
        )
    return found


def _shared(comparison: Comparison) -> list[str]:
    shared = len(np.intersect1d(comparison.reference.keys, comparison.candidate.keys))
    return [f"{shared} different texts are in both corpora, which makes them look closer"] if shared else []


def _repeated(comparison: Comparison) -> list[str]:
    found = []
    for role, corpus in (("reference", comparison.reference), ("candidate", comparison.candidate)):
        repeated = len(corpus) - len(np.unique(corpus.keys))
        if repeated > _REPEATED_SHARE * len(corpus):
            found.append(f"{repeated} of the {len(corpus)} texts of the {role} repeat another one")
    return found


def _lengths(comparison: Comparison) -> list[str]:
    means = [_mean_words(side) for side in comparison.sides]
    if max(means) <= _LENGTH_RATIO * max(min(means), 1.0):
        return []
    return [f"very different lengths (mean {means[0]:.1f} and {means[1]:.1f} words): part of the distance is length"]


def _mean_words(corpus: Corpus) -> float:
    return float(np.mean(_words(corpus)))


def _words(corpus: Corpus) -> Ints:
    counts: Ints = corpus.pool.get_or_compute("words", "", lambda _: _count_words(corpus.pool.texts))
    return counts[corpus.index]


def _count_words(texts: Sequence[str]) -> Ints:
    return np.fromiter((len(text.split()) for text in texts), dtype=np.int64, count=len(texts))


def _cut_off(comparison: Comparison, metrics: Sequence[CorpusMetric]) -> list[str]:
    """A word is a token at least, so that texts of more words than the window has tokens are surely not read whole."""
    names = {metric.embedder for metric in metrics if not metric.reads_texts}
    windows = {name: get_window(name) for name in sorted(names)}
    words = _words(comparison.joint)
    found = {name: int((words > window).sum()) for name, window in windows.items() if window is not None}
    return [
        f"{count} of {len(words)} texts are longer than {name} reads ({windows[name]} tokens): "
        f"use whole:{name} to embed the full text"
        for name, count in found.items()
        if count
    ]


def _scripts(comparison: Comparison, metrics: Sequence[CorpusMetric]) -> list[str]:
    """Each warning once for all metrics that read the texts alike."""
    return list(dict.fromkeys(text for metric in metrics for text in script_warnings(metric, comparison.joint)))


def _fid_bias(comparison: Comparison, metrics: Sequence[CorpusMetric]) -> list[str]:
    """FID grows by about a/n; at n = 100 in 384 dimensions that is most of it."""
    plain = next((m for m in metrics if m.name == "fid" and getattr(m, "correct", "") == "none"), None)
    if plain is None:
        return []
    smaller = comparison.smaller
    dimension = comparison.reference.pool.dimension(plain.embedder)
    if smaller >= 5 * dimension:
        return []
    return [
        f"fid is strongly biased upwards with {smaller} texts in {dimension} dimensions: "
        "judge it by its null range only, or use fid(correct=extrapolate)"
    ]
