"""Differences in how diverse two corpora are: vendi_gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textgauge.arrays import Floats
from textgauge.data import Comparison, Corpus, Draws
from textgauge.encode.grounds import unit_rows
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.corpus_metric import EmbeddingMetric, GapMetric, ManyValues, Values
from textgauge.metrics.registry import register
from textgauge.metrics.uncertainty import NOT_SHOWN
from textgauge.parallel import map_threads


def vendi(units: Floats) -> float:
    """Effective number of different texts: exp of the entropy of the eigenvalues of the cosine kernel over n."""
    n, d = units.shape
    gram = units @ units.T if n <= d else units.T @ units
    eigenvalues = np.linalg.eigvalsh(gram / n)
    shares = eigenvalues[eigenvalues > len(gram) * np.finfo(np.float64).eps]
    return float(np.exp(-(shares * np.log(shares)).sum()))


def vendi_influences(units: Floats) -> tuple[float, Floats]:
    """The logarithm of the Vendi score, and what each text adds to it to first order (the mean of these is 0).

    The entropy of ρ = Σ u uᵀ/n changes by −uᵀ(ln ρ)u − entropy where a text u comes in. Simulated coverage of 95 %
    intervals made from the deviation of these, for the mean over corpora of one size: docs/reliability.md.

    >>> entropy, influences = vendi_influences(np.array([[1.0, 0], [1, 0], [0, 1]]))
    >>> round(float(np.exp(entropy)), 4), influences.round(4).tolist()
    (1.8899, [-0.231, -0.231, 0.4621])
    """
    n, d = units.shape
    small = n <= d
    values, vectors = np.linalg.eigh((units @ units.T if small else units.T @ units) / n)
    kept = values > len(values) * np.finfo(np.float64).eps
    values, vectors = values[kept], vectors[:, kept]
    squares = n * values * vectors**2 if small else (units @ vectors) ** 2
    entropy = float(-(values * np.log(values)).sum())
    return entropy, -(squares @ np.log(values)) - entropy


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
    no_interval = NOT_SHOWN
    source = "Friedman and Dieng 2023"
    headline = Part(VALUE, bounds=(0.0, float("inf")))
    parts = (
        Part("reference", closer="larger", bounds=(1.0, float("inf"))),
        Part("candidate", closer="larger", bounds=(1.0, float("inf"))),
    )

    @property
    def min_texts(self) -> int:
        """One text has a score of 1."""
        return 1

    def compute(self, comparison: Comparison) -> Values:
        """Both scores and the gap of their logarithms."""
        scores = [side.derive(vendi_of, self.embedder) for side in (comparison.reference, comparison.candidate)]
        return {VALUE: abs(float(np.log(scores[0] / scores[1]))), "reference": scores[0], "candidate": scores[1]}

    def difference(self, values: ManyValues) -> Floats:
        """The difference of the logarithms."""
        return np.asarray(np.log(values["reference"] / values["candidate"]))

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """The eigenvalues of every draw, on all cores."""
        units = unit_rows(joint.embeddings(self.embedder))
        masks = np.concatenate([draws.left, draws.right])
        scores = map_threads(lambda r: vendi(units[masks[r]]) if masks[r].any() else np.nan, len(masks))
        reference, candidate = scores[: len(draws)], scores[len(draws) :]
        gap = np.abs(np.log(reference / candidate))
        lost = np.isnan(gap)
        return {
            VALUE: gap,
            "reference": np.where(lost, np.nan, reference),
            "candidate": np.where(lost, np.nan, candidate),
        }
