"""The words that separate two corpora: log-odds ratios with an informative prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.tabular import Tabular, plain
from textgauge.data import Comparison
from textgauge.metrics.token_counts import token_totals

TOKENIZER = "words"
PRIOR = 0.2  # the prior's words per word of the smaller corpus: z-scores of like corpora then have a variance of 0.8


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
        """One flat dictionary per word: term, z, log_odds, count_reference, count_candidate."""
        return [self._row(i) for i in range(len(self))]

    def top(self, n: int, side: str) -> list[dict[str, Any]]:
        """The words that speak most for one corpus: `reference` or `candidate`."""
        if side == "candidate":
            return [self._row(i) for i in range(min(n, len(self))) if self.z[i] > 0]
        return [self._row(i) for i in range(len(self) - 1, max(-1, len(self) - 1 - n), -1) if self.z[i] < 0]

    def _row(self, i: int) -> dict[str, Any]:
        counts = {"count_reference": int(self.count_reference[i]), "count_candidate": int(self.count_candidate[i])}
        return {"term": self.words[i], "z": plain(float(self.z[i])), "log_odds": float(self.log_odds[i]), **counts}


def separating_terms(comparison: Comparison, *, prior: float | None = None) -> Terms:
    """The words of two corpora by how surely one uses them more than the other.

    Per word w with counts y, y′ of n, n′ words (candidate, reference), δ = ln[(y + α)/(n + α₀ − y − α)] −
    ln[(y′ + α)/(n′ + α₀ − y′ − α)] and z = δ/√(1/(y + α) + 1/(y′ + α)), where the prior α = α₀·(y + y′)/(n + n′) draws
    rare words to the rate of both corpora together. α₀ is `prior`, in words; if not given, a fifth of the words of the
    smaller corpus. None where there are no texts, or fewer than two words. Source: Monroe, Colaresi and Quinn 2008.
    """
    if prior is not None and not 0 < prior < float("inf"):
        raise InputError(f"the prior is a number of words above 0, not {prior}")
    if not comparison.joint.pool.has_texts:
        return Terms.none()
    counts = [token_totals(side, TOKENIZER)[0] for side in (comparison.candidate, comparison.reference)]
    used = np.flatnonzero(counts[0] + counts[1])
    if len(used) < 2:
        return Terms.none()
    mine, yours = counts[0][used], counts[1][used]
    weight = max(PRIOR * float(min(mine.sum(), yours.sum())), 1.0) if prior is None else prior
    delta, z = log_odds(mine, yours, weight)
    vocabulary = comparison.joint.pool.tokens(TOKENIZER).vocabulary
    words = [vocabulary[i] for i in used.tolist()]
    order = np.array(sorted(range(len(words)), key=lambda i: (-z[i], words[i])))
    return Terms(tuple(words[i] for i in order), z[order], delta[order], yours[order], mine[order])


def log_odds(mine: Floats, yours: Floats, prior: float) -> tuple[Floats, Floats]:
    """Log-odds ratio and z-score of each word, for counts of the same words in two corpora."""
    alpha = prior * (mine + yours) / (mine.sum() + yours.sum())
    odds = [np.log((y + alpha) / (y.sum() + prior - y - alpha)) for y in (mine, yours)]
    delta = odds[0] - odds[1]
    return delta, delta / np.sqrt(1.0 / (mine + alpha) + 1.0 / (yours + alpha))
