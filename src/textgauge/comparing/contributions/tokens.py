"""What each token and each text adds to a χ² of token counts: chi, cbdf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from textgauge.comparing.contributions.terms import Contributions, Floats, SideTerms
from textgauge.data import Comparison, Corpus
from textgauge.metrics.base import VALUE
from textgauge.metrics.corpus.frequency import Chi, ChiByDf, top_weights
from textgauge.metrics.token_counts import token_totals

_TEXT = "sum over the text's tokens of (observed / expected count of the token in its corpus − 1)"


@dataclass(frozen=True, eq=False)
class Table:
    """Observed and expected counts of tokens in two corpora, and which of them the metric looks at."""

    observed: tuple[Floats, Floats]
    weight: Floats

    @property
    def expected(self) -> tuple[Floats, Floats]:
        """Total × the corpus's share of the table's tokens."""
        total = self.observed[0] + self.observed[1]
        sizes = [float(self.weight @ side) for side in self.observed]
        return total * (sizes[0] / sum(sizes)), total * (sizes[1] / sum(sizes))

    @property
    def excess(self) -> tuple[Floats, Floats]:
        """O/E − 1 of each token in both corpora, weighted."""
        first, second = (
            self.weight * (np.divide(side, normal, out=np.ones_like(side), where=normal > 0) - 1.0)
            for side, normal in zip(self.observed, self.expected, strict=True)
        )
        return first, second

    @property
    def tokens(self) -> Floats:
        """(O − E)²/E of each token, over both corpora."""
        sides = zip(self.observed, self.expected, self.excess, strict=True)
        first, second = ((side - normal) * excess for side, normal, excess in sides)
        return first + second


def of_chi_square(metric: Chi | ChiByDf, comparison: Comparison) -> Contributions:
    """χ²: a token adds Σ over both corpora of (O − E)²/E, a text Σ over its tokens of (O/E − 1) of its own corpus.

    Both sum to the statistic: in each corpus Σ O·(O/E − 1) = Σ (O − E)²/E + Σ (O − E), and the last sum is 0. So a
    text adds less than nothing where its tokens are the other corpus's. The value of `chi`, 1 − p, is no sum: its part
    `statistic`, which decides it, is. For `cbdf` all is divided by the degrees of freedom.
    """
    sides = comparison.reference, comparison.candidate
    P, Q = (token_totals(side, metric.on) for side in sides)
    table = Table((P[0], Q[0]), top_weights(P + Q, metric.top)[0])
    scale, of, formula = 1.0, "statistic", _TEXT
    if isinstance(metric, ChiByDf) and metric.part is None:
        scale, of, formula = 1.0 / float(metric.table(P, Q)[1][0]), VALUE, f"{_TEXT} / degrees of freedom"
    reference, candidate = (
        SideTerms(scale * (side.counts(metric.on) @ excess)) for side, excess in zip(sides, table.excess, strict=True)
    )
    return Contributions(of, formula, reference, candidate, _token_rows(comparison.joint, metric.on, table, scale))


def _token_rows(joint: Corpus, tokenizer: str, table: Table, scale: float) -> tuple[dict[str, Any], ...]:
    """The tokens the metric looks at, those that add most first."""
    vocabulary = joint.pool.tokens(tokenizer).vocabulary
    adds, expected = scale * table.tokens, table.expected
    used = np.flatnonzero(table.weight > 0).tolist()
    return tuple(
        {
            "token": vocabulary[i],
            "contribution": float(adds[i]),
            "count_reference": int(table.observed[0][i]),
            "count_candidate": int(table.observed[1][i]),
            "expected_reference": float(expected[0][i]),
            "expected_candidate": float(expected[1][i]),
        }
        for i in sorted(used, key=lambda i: (-adds[i], vocabulary[i]))
    )
