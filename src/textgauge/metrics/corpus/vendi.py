"""Differences in how diverse two corpora are: vendi_gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textgauge.core.arrays import Floats, Masks
from textgauge.core.parallel import map_threads
from textgauge.data import Comparison, Corpus, Draws
from textgauge.encode.grounds import unit_rows
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.corpus_metric import EmbeddingMetric, GapMetric, ManyValues, Values
from textgauge.metrics.registry import register


def vendi(units: Floats) -> float:
    """Effective number of different texts: exp of the entropy of the eigenvalues of the cosine kernel over n."""
    n, d = units.shape
    return float(np.exp(_entropy((units @ units.T if n <= d else units.T @ units) / n)))


def left_out_vendi(units: Floats, groups: Masks) -> Floats:
    """The logarithm of the Vendi score without each group of texts; a row of `groups` marks the texts that stay.

    >>> left_out_vendi(np.eye(3), ~np.eye(3, dtype=bool)).round(4).tolist()
    [0.6931, 0.6931, 0.6931]
    """
    n, d = units.shape
    whole = units @ units.T if n <= d else units.T @ units
    found = []
    for kept in groups:
        gone = units[~kept]
        gram = whole[np.ix_(kept, kept)] if n <= d else whole - gone.T @ gone
        found.append(_entropy(gram / kept.sum()))
    return np.array(found)


def _entropy(gram: Floats) -> float:
    eigenvalues = np.linalg.eigvalsh(gram)
    shares = eigenvalues[eigenvalues > len(gram) * np.finfo(np.float64).eps]
    return float(-(shares * np.log(shares)).sum())


def vendi_of(corpus: Corpus, embedder: str) -> float:
    """The Vendi score of a corpus."""
    return vendi(unit_rows(corpus.embeddings(embedder)))


@register
@dataclass(frozen=True, kw_only=True)
class VendiGap(GapMetric, EmbeddingMetric):
    """Difference of the log Vendi scores: the ratio of the effective numbers of different texts.

    |ln VS(P) − ln VS(Q)|, VS = exp(entropy of the eigenvalues of the cosine kernel over n). Parts are both scores.
    Grows with the difference in size: compare corpora of one size. Source: Friedman and Dieng 2023.
    """

    fitted = True
    name = "vendi_gap"
    label = "Vendi score gap"
    min_texts = 1  # one text has a score of 1
    min_texts_interval = 300
    interval_trials = 12
    source = "Friedman and Dieng 2023"
    headline = Part(VALUE, bounds=(0.0, float("inf")))
    parts = (
        Part("reference", closer="larger", bounds=(1.0, float("inf"))),
        Part("candidate", closer="larger", bounds=(1.0, float("inf"))),
    )

    def compute(self, comparison: Comparison) -> Values:
        """Both scores and the gap of their logarithms."""
        scores = [side.derive(vendi_of, self.embedder) for side in comparison.sides]
        return {VALUE: abs(float(np.log(scores[0] / scores[1]))), "reference": scores[0], "candidate": scores[1]}

    def difference(self, values: ManyValues) -> Floats:
        """The difference of the logarithms."""
        return np.asarray(np.log(values["reference"] / values["candidate"]))

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """The eigenvalues of every draw, on all cores."""
        units = unit_rows(joint.embeddings(self.embedder))
        reference, candidate = (
            map_threads(lambda r, side=side: vendi(units[side[r]]) if side[r].any() else np.nan, len(draws))  # type: ignore[misc]
            for side in (draws.left, draws.right)
        )
        gap = np.abs(np.log(reference / candidate))
        lost = np.isnan(gap)
        return {
            VALUE: gap,
            "reference": np.where(lost, np.nan, reference),
            "candidate": np.where(lost, np.nan, candidate),
        }
