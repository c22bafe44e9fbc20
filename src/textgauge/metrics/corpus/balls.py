"""Balls around texts that reach to the k-th neighbour: pr, dc."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from textgauge.core.arrays import Floats, Masks
from textgauge.data import Comparison
from textgauge.metrics.base import VALUE, Part, Range
from textgauge.metrics.contributions import Contributions, SideTerms
from textgauge.metrics.corpus_metric import ManyValues, Values
from textgauge.metrics.neighbours import BallCounts, NeighbourMetric, ball_counts, harmonic_mean
from textgauge.metrics.null_values import NullValues
from textgauge.metrics.numerics import neighbour_lists as many
from textgauge.metrics.numerics.neighbour_lists import Lists
from textgauge.metrics.registry import register
from textgauge.metrics.score import Score
from textgauge.metrics.uncertainty import DisjointSplits, cut_mean

_PR = (
    "0 inside a ball of the other corpus; outside: 1 / number of texts × recall/(precision + recall) for the "
    "candidate's, precision/(precision + recall) for the reference's"
)
_DC = (
    "reference: 1 / number of texts × density/(density + coverage) where its ball holds no candidate text; candidate: "
    "(1 − reference balls around it / k) / number of texts × coverage/(density + coverage); density cut at 1, and then "
    "the candidate adds 0"
)


def harmonic_weights(a: float, b: float) -> tuple[float, float]:
    """Shares b/(a + b) and a/(a + b): 1 − 2ab/(a + b) = (1 − a)·b/(a + b) + (1 − b)·a/(a + b); halves where both are 0.

    >>> harmonic_weights(0.2, 0.6)
    (0.75, 0.25)
    """
    return (b / (a + b), a / (a + b)) if a + b > 0 else (0.5, 0.5)


@dataclass(frozen=True, kw_only=True)
class _BallMetric(NeighbourMetric):
    """What pr and dc share: k, the rule for ties, and the counts of texts in balls."""

    default_on = "minilm:euclidean"
    uses_ground_scale = False
    min_texts_interval = 300
    ranges = (Range("k", 1),)

    k: int = 5
    ties: Literal["closed", "open"] = "closed"

    @property
    def min_texts(self) -> int:  # type: ignore[override]
        """A text and its k neighbours."""
        return self.k + 1

    def balls(self, comparison: Comparison) -> BallCounts:
        """Return which balls hold which texts."""
        return ball_counts(comparison, self.on, self.k, self.ties)

    def _held(self, lists: Lists, own: Masks, other: Masks) -> many.Held:
        radii = many.radii_within(lists, own, self.k)
        return many.held_across(lists, own, other, radii, closed=self.ties == "closed")


@register
@dataclass(frozen=True, kw_only=True)
class PrecisionRecall(_BallMetric):
    """How much of each corpus lies inside the other's k-neighbour balls.

    The ball of a text reaches to its k-th neighbour in its own corpus, itself excluded. Precision: share of
    candidate texts inside the ball of any reference text; recall: share of reference texts inside the ball of any
    candidate text; value 1 − F1. `ties=closed` counts the edge of a ball, so that a corpus with repeated texts is at
    0 from itself; `ties=open` does not, as in the paper. Distances are compared as float32 numbers.
    Undefined for fewer than k + 1 texts. Source: Kynkäänniemi et al. 2019.
    """

    name = "pr"
    label = "1 − F1 of precision and recall"
    source = "Kynkäänniemi et al. 2019"
    headline = Part(VALUE)
    parts = (Part("precision", closer="larger"), Part("recall", closer="larger"))

    def compute(self, comparison: Comparison) -> Values:
        """One minus F1, precision, recall."""
        held = self.balls(comparison)
        precision, recall = float((held.of_candidate > 0).mean()), float((held.of_reference > 0).mean())
        value = 1.0 - float(harmonic_mean(precision, recall))
        return {VALUE: value, "precision": precision, "recall": recall}

    def explain(self, comparison: Comparison) -> Contributions:
        """1 − F1 = (1 − precision)·recall/(precision + recall) + (1 − recall)·precision/(precision + recall).

        So a text outside all balls of the other side adds its weight, one inside nothing. Of a part: 1/n inside, 0
        outside.
        """
        held = self.balls(comparison)
        counts = held.of_reference, held.of_candidate
        inside = counts[0] > 0, counts[1] > 0
        weights = harmonic_weights(float(inside[0].mean()), float(inside[1].mean()))
        if self.part is None:
            adds = [weight * ~mask / len(mask) for weight, mask in zip(weights, inside, strict=True)]
        else:
            chosen = (0.0, 1.0) if self.part == "precision" else (1.0, 0.0)
            adds = [weight * mask / len(mask) for weight, mask in zip(chosen, inside, strict=True)]
        formula = _PR if self.part is None else "1 / number of texts inside a ball of the other corpus, 0 outside"
        reference, candidate = (
            SideTerms(side, {"inside": mask, "balls": count})
            for side, mask, count in zip(adds, inside, counts, strict=True)
        )
        return Contributions(self.part or VALUE, formula, reference, candidate)

    def of_draws(self, lists: Lists, P: Masks, Q: Masks) -> ManyValues:
        """Values from neighbour lists."""
        precision = self._held(lists, P, Q).held.sum(axis=1) / Q.sum(axis=1)
        recall = self._held(lists, Q, P).held.sum(axis=1) / P.sum(axis=1)
        return self._values(precision, recall)

    def _values(self, precision: Floats, recall: Floats) -> ManyValues:
        return {VALUE: 1.0 - harmonic_mean(precision, recall), "precision": precision, "recall": recall}


@register
@dataclass(frozen=True, kw_only=True)
class DensityCoverage(_BallMetric):
    """How densely the candidate fills the reference's k-neighbour balls, and how many of them it reaches.

    Density: mean over candidate texts of (number of reference balls around it)/k, not limited to 1; coverage: share
    of reference texts whose ball holds a candidate text; value 1 − F1 of both, density cut at 1. Balls and ties as
    in `pr`. Not symmetric. Undefined for fewer than k + 1 texts. Source: Naeem et al. 2020.
    """

    name = "dc"
    label = "1 − F1 of density and coverage"
    source = "Naeem et al. 2020"
    symmetric = False
    headline = Part(VALUE)
    parts = (Part("density", closer="larger", bounds=(0.0, float("inf"))), Part("coverage", closer="larger"))

    def compute(self, comparison: Comparison) -> Values:
        """One minus F1, density, coverage."""
        held = self.balls(comparison)
        density = float(held.of_candidate.sum() / (self.k * len(held.of_candidate)))
        coverage = float(held.reached.mean())
        value = 1.0 - float(harmonic_mean(min(density, 1.0), coverage))
        return {VALUE: value, "density": density, "coverage": coverage}

    def explain(self, comparison: Comparison) -> Contributions:
        """As `pr`, with coverage in place of recall and density, cut at 1, in place of precision.

        A candidate text in more than k balls adds less than nothing. Where density reaches 1 the candidate adds 0.
        """
        held = self.balls(comparison)
        n, m = len(held.of_reference), len(held.of_candidate)
        filled = held.of_candidate / self.k
        density, coverage = min(float(filled.mean()), 1.0), float(held.reached.mean())
        of_coverage, of_density = harmonic_weights(coverage, density)
        thin = 1.0 - filled if density < 1.0 else np.zeros(m)
        adds = {
            None: (of_coverage * ~held.reached / n, of_density * thin / m),
            "density": (np.zeros(n), filled / m),
            "coverage": (held.reached / n, np.zeros(m)),
        }[self.part]
        formula = _DC if self.part is None else "the text's own term of the mean / number of texts"
        reference = SideTerms(adds[0], {"covered": held.reached})
        candidate = SideTerms(adds[1], {"balls": held.of_candidate})
        return Contributions(self.part or VALUE, formula, reference, candidate)

    def ends_from_parts(
        self, score: Score, values: ManyValues, parts: DisjointSplits, reach: float, null: Callable[[], NullValues]
    ) -> tuple[float, float]:
        """The value is the larger of that of an uncut density and of a density of 1: both have an error."""
        if self.part:
            return super().ends_from_parts(score, values, parts, reach, null)
        uncut, least = (float(one) for one in _uncut_and_least(score.parts))
        errors = [parts.error(one) for one in _uncut_and_least(values)]
        low, high = (
            cut_mean(uncut + side * errors[0], errors[0], least + side * errors[1]) for side in (-reach, reach)
        )
        return max(low, 0.0), min(high, 1.0)

    def of_draws(self, lists: Lists, P: Masks, Q: Masks) -> ManyValues:
        """Values from neighbour lists."""
        held = self._held(lists, P, Q)
        return self._values(held.total / (self.k * Q.sum(axis=1)), held.reached.sum(axis=1) / P.sum(axis=1))

    def _values(self, density: Floats, coverage: Floats) -> ManyValues:
        value = 1.0 - harmonic_mean(np.minimum(density, 1.0), coverage)
        return {VALUE: value, "density": density, "coverage": coverage}


def _uncut_and_least(parts: Mapping[str, Any]) -> tuple[Any, Any]:
    """1 − F1 of density and coverage with the density as it is, and with a density of 1."""
    return 1.0 - harmonic_mean(parts["density"], parts["coverage"]), 1.0 - harmonic_mean(1.0, parts["coverage"])
