"""What differs between two corpora besides their distance: words, and confounds that warnings name."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.core.show import Tabular, drop_nonfinite, join_words
from textgauge.data import Comparison, Corpus
from textgauge.encode.embedders import get_window
from textgauge.metrics import CorpusMetric, Score
from textgauge.metrics.cautions import list_script_warnings
from textgauge.metrics.token_counts import count_tokens

_FEW_TEXTS = 50
_SIZE_RATIO = 2.0
_LENGTH_RATIO = 1.5
_REPEATED_SHARE = 0.2
TOKENIZER = "words"
PRIOR = 0.2  # the prior's words per word of the smaller corpus: z-scores of like corpora then have a variance of 0.8


def find_undefined(scores: Sequence[Score]) -> list[str]:
    """Return which metrics have no value, and which no interval, each reason once."""
    sentences = []
    for reason in dict.fromkeys(score.reason for score in scores if score.reason):
        names = [score.metric for score in scores if score.reason == reason]
        sentences.append(f"{join_words(names)} {'is' if len(names) == 1 else 'are'} undefined: {reason}")
    lacking: dict[str, list[str]] = {}
    for score in scores:
        if score.no_interval:
            lacking.setdefault(score.no_interval.removeprefix(f"{score.metric} has "), []).append(score.metric)
    return sentences + [f"{join_words(of)} {'has' if len(of) == 1 else 'have'} {what}" for what, of in lacking.items()]


def find_confounds(comparison: Comparison, metrics: Sequence[CorpusMetric]) -> list[str]:
    """Return all warnings that apply to this comparison, each one sentence."""
    found = [
        *_check_sizes(comparison),
        *_check_shared(comparison),
        *_check_repeated(comparison),
        *_check_fid_bias(comparison, metrics),
    ]
    if comparison.reference.pool.has_texts:
        scripts = dict.fromkeys(text for metric in metrics for text in list_script_warnings(metric, comparison.joint))
        found += [*_check_lengths(comparison), *_check_windows(comparison, metrics), *scripts]
    return found


def _check_sizes(comparison: Comparison) -> list[str]:
    n, m = len(comparison.reference), len(comparison.candidate)
    found = []
    if min(n, m) < _FEW_TEXTS:
        found.append(f"few texts ({n} and {m}): small samples are far apart by chance; judge a value by its null range")
    if max(n, m) > _SIZE_RATIO * min(n, m):
        found.append(
            f"very different sizes ({n} and {m}): many metrics depend on size; judge a value by its null range"
        )
    return found


def _check_shared(comparison: Comparison) -> list[str]:
    shared = len(np.intersect1d(comparison.reference.keys, comparison.candidate.keys))
    return [f"{shared} different texts are in both corpora, which makes them look closer"] if shared else []


def _check_repeated(comparison: Comparison) -> list[str]:
    found = []
    for role, corpus in (("reference", comparison.reference), ("candidate", comparison.candidate)):
        repeated = len(corpus) - len(np.unique(corpus.keys))
        if repeated > _REPEATED_SHARE * len(corpus):
            found.append(f"{repeated} of the {len(corpus)} texts of the {role} repeat another one")
    return found


def _check_lengths(comparison: Comparison) -> list[str]:
    means = [float(np.mean(_count_words(side))) for side in comparison.sides]
    if max(means) <= _LENGTH_RATIO * max(min(means), 1.0):
        return []
    return [f"very different lengths (mean {means[0]:.1f} and {means[1]:.1f} words): part of the distance is length"]


def _count_words(corpus: Corpus) -> Ints:
    pool = corpus.pool
    counts: Ints = pool.get_or_compute("words", "", lambda _: np.array([len(text.split()) for text in pool.texts], int))
    return counts[corpus.index]


def _check_windows(comparison: Comparison, metrics: Sequence[CorpusMetric]) -> list[str]:
    """A word is a token at least, so that texts of more words than the window has tokens are surely not read whole."""
    names = {metric.embedder for metric in metrics if not metric.reads_texts}
    windows = {name: get_window(name) for name in sorted(names)}
    words = _count_words(comparison.joint)
    found = {name: int((words > window).sum()) for name, window in windows.items() if window is not None}
    return [
        f"{count} of {len(words)} texts are longer than {name} reads ({windows[name]} tokens): "
        f"use whole:{name} to embed the full text"
        for name, count in found.items()
        if count
    ]


def _check_fid_bias(comparison: Comparison, metrics: Sequence[CorpusMetric]) -> list[str]:
    """FID grows by about a/n; at n = 100 in 384 dimensions that is most of it."""
    plain = next((m for m in metrics if m.name == "fid" and getattr(m, "correct", "") == "none"), None)
    if plain is None:
        return []
    smaller = comparison.smaller
    dimension = comparison.reference.embeddings(plain.embedder).shape[1]
    if smaller >= 5 * dimension:
        return []
    return [
        f"fid is strongly biased upwards with {smaller} texts in {dimension} dimensions: "
        "judge it by its null range only, or use fid(correct=extrapolate)"
    ]


@dataclass(frozen=True, eq=False, repr=False)
class Terms(Tabular):
    """Words with their log-odds ratio between two corpora, those of the candidate first.

    `log_odds` and `z` are above 0 for words the candidate uses more than the reference.
    """

    words: tuple[str, ...]
    z: Floats
    log_odds: Floats
    count_reference: Floats
    count_candidate: Floats

    @classmethod
    def none(cls) -> Terms:
        """No words."""
        return cls((), *np.empty((4, 0)))

    def __len__(self) -> int:
        return len(self.words)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one flat dictionary per word: term, z, log_odds, count_reference, count_candidate."""
        return [self._row(i) for i in range(len(self))]

    def top(self, n: int, side: str) -> list[dict[str, Any]]:
        """Return the words that speak most for one corpus: `reference` or `candidate`."""
        rows, sign = (range(len(self)), 1) if side == "candidate" else (reversed(range(len(self))), -1)
        return [self._row(i) for i in itertools.islice(rows, n) if sign * self.z[i] > 0]

    def _row(self, i: int) -> dict[str, Any]:
        counts = {"count_reference": int(self.count_reference[i]), "count_candidate": int(self.count_candidate[i])}
        return {
            "term": self.words[i],
            "z": drop_nonfinite(float(self.z[i])),
            "log_odds": float(self.log_odds[i]),
            **counts,
        }


def find_separating_terms(comparison: Comparison, *, prior: float | None = None) -> Terms:
    """Return the words of two corpora by how surely one uses them more than the other.

    Per word w with counts y, y′ of n, n′ words (candidate, reference), δ = ln[(y + α)/(n + α₀ − y − α)] −
    ln[(y′ + α)/(n′ + α₀ − y′ − α)] and z = δ/√(1/(y + α) + 1/(y′ + α)), where the prior α = α₀·(y + y′)/(n + n′) draws
    rare words to the rate of both corpora together. α₀ is `prior`, in words; if not given, a fifth of the words of the
    smaller corpus. None where there are no texts, or fewer than two words. Source: Monroe, Colaresi and Quinn 2008.
    """
    if prior is not None and not 0 < prior < float("inf"):
        raise InputError(f"the prior is a number of words above 0, not {prior}")
    if not comparison.joint.pool.has_texts:
        return Terms.none()
    counts = [count_tokens(side, TOKENIZER)[0] for side in (comparison.candidate, comparison.reference)]
    used = np.flatnonzero(counts[0] + counts[1])
    if len(used) < 2:
        return Terms.none()
    mine, yours = counts[0][used], counts[1][used]
    weight = max(PRIOR * float(min(mine.sum(), yours.sum())), 1.0) if prior is None else prior
    delta, z = compute_log_odds(mine, yours, weight)
    vocabulary = comparison.joint.pool.tokens(TOKENIZER).vocabulary
    words = [vocabulary[i] for i in used.tolist()]
    order = np.array(sorted(range(len(words)), key=lambda i: (-z[i], words[i])))
    return Terms(tuple(words[i] for i in order), z[order], delta[order], yours[order], mine[order])


def compute_log_odds(mine: Floats, yours: Floats, prior: float) -> tuple[Floats, Floats]:
    """Log-odds ratio and z-score of each word, for counts of the same words in two corpora."""
    alpha = prior * (mine + yours) / (mine.sum() + yours.sum())
    odds = [np.log((y + alpha) / (y.sum() + prior - y - alpha)) for y in (mine, yours)]
    delta = odds[0] - odds[1]
    return delta, delta / np.sqrt(1.0 / (mine + alpha) + 1.0 / (yours + alpha))
