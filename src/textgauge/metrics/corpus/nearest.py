"""How near the texts of one corpus are to those of the other: nearest texts, and balls around texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from textgauge.core.arrays import Floats, Masks
from textgauge.data import Comparison
from textgauge.metrics.base import INFINITY, VALUE, Part, Range, Undefined, take_single
from textgauge.metrics.corpus_metric import Ends, Interval, ManyValues, Values
from textgauge.metrics.grounds import NeighbourMetric, count_in_balls, find_nearest, harmonic_mean
from textgauge.metrics.numerics.neighbours import (
    BallCounts,
    Held,
    Joint,
    count_held_across,
    find_nearest_across,
    to_ground,
)
from textgauge.metrics.registry import register
from textgauge.metrics.score import Contributions, Score, SideTerms
from textgauge.metrics.uncertainty import DisjointSplits, cut_mean

_HUB = 1 / 8  # of the other corpus: the largest share whose nearest text may be one and the same for an interval
_FARTHEST = {"cosine": 2.0, "angular": 1.0, "euclidean": INFINITY}
_AHD = "distance to the nearest text of the other corpus / (2 × number of texts in its own corpus)"
_PART = "distance to the nearest text of the other corpus / number of texts"
_IRPR = (
    "distance to the nearest text of the other corpus / number of texts × slope of the harmonic mean in that part: "
    "2·recall²/(precision + recall)² for the candidate's, 2·precision²/(precision + recall)² for the reference's"
)


class _NearestMetric(NeighbourMetric):
    """What irpr, ahd and hausdorff share: distances to the nearest text of the other corpus."""

    def interval_ends(self, comparison: Comparison, score: Score, *, level: float, seed: int) -> Interval:
        """None where one text is the nearest of many: other samples would lack it, which no part of this one shows."""
        share = max(float(np.bincount(side.at).max() / len(side.at)) for side in find_nearest(comparison, self.on))
        if share > _HUB:
            raise Undefined(
                f"{self.key} has no interval: one text is the nearest of {share:.0%} of the other corpus, "
                "and the value depends on it"
            )
        return super().interval_ends(comparison, score, level=level, seed=seed)

    @property
    def bounds(self) -> tuple[float, float]:
        """From 0 to the farthest two texts can be."""
        return 0.0, _FARTHEST.get(self.ground, INFINITY)

    def compute(self, comparison: Comparison) -> Values:
        of_reference, of_candidate = (side.distances[None] for side in find_nearest(comparison, self.on))
        return take_single(self._of_distances(of_reference, of_candidate))

    def of_draws(self, joint: Joint, P: Masks, Q: Masks) -> ManyValues:
        ground = "euclidean" if self.pair_ground is not None else self.ground  # the matrix is listed in squares too
        found = (to_ground(find_nearest_across(joint, own, other), ground) for own, other in ((P, Q), (Q, P)))
        return self._of_distances(*found)

    def _explain_sums(self, comparison: Comparison, formula: str, over: Ends, slopes: Ends) -> Contributions:
        """Contributions of slope × nearest distance / size for each side; of a part, of its side alone."""
        if self.part is not None:
            formula, slopes = _PART, (1.0, 0.0) if self.part in ("recall", "forward") else (0.0, 1.0)
        sides = zip(find_nearest(comparison, self.on), over, slopes, strict=True)
        reference, candidate = (SideTerms(slope * side.distances / size) for side, size, slope in sides)
        return Contributions(self.part or VALUE, formula, reference, candidate)

    def _of_distances(self, of_reference: Floats, of_candidate: Floats) -> ManyValues:
        """Return values from nearest distances, one draw per row, NaN for texts that are not in it."""
        raise NotImplementedError


@register
class NearestPrecisionRecall(_NearestMetric):
    """How far texts are from the nearest text of the other corpus: harmonic mean of both directions.

    precision = mean over candidate texts of the distance to the nearest reference text; recall the same from the
    reference; value 2·precision·recall/(precision + recall), 0 if either is 0. Both are distances: smaller is closer.
    `compat=compcor` divides each sum by the size of the other corpus, as the authors' code does (wrong for unequal
    sizes; kept to reproduce published numbers). Source: Kour et al. 2022.
    """

    name, label, source = "irpr", "Distance to the nearest text", "Kour et al. 2022"
    headline = Part(VALUE, bounds=(0.0, INFINITY))
    parts = (Part("precision", bounds=(0.0, INFINITY)), Part("recall", bounds=(0.0, INFINITY)))

    compat: Literal["none", "compcor"] = "none"

    @property
    def bounds(self) -> tuple[float, float]:
        """Sums divided by the wrong size have no bound."""
        return super().bounds if self.compat == "none" else (0.0, INFINITY)

    def _of_distances(self, of_reference: Floats, of_candidate: Floats) -> ManyValues:
        n, m = (np.isfinite(side).sum(axis=1) for side in (of_reference, of_candidate))
        over = (n, m) if self.compat == "none" else (m, n)
        recall, precision = np.nansum(of_reference, axis=1) / over[0], np.nansum(of_candidate, axis=1) / over[1]
        return {VALUE: harmonic_mean(precision, recall), "precision": precision, "recall": recall}

    def explain(self, comparison: Comparison) -> Contributions:
        """Nearest distance/n times the slope of the harmonic mean H in its part.

        H is homogeneous of degree one, so precision·∂H/∂precision + recall·∂H/∂recall = H (Euler): first-order shares
        that add up exactly. Of a part: nearest distance/n of its side, 0 of the other.
        """
        n, m = map(len, comparison.sides)
        values = self.compute(comparison)
        precision, recall = values["precision"], values["recall"]
        square = (precision + recall) ** 2
        slopes = (2.0 * precision**2 / square, 2.0 * recall**2 / square) if square > 0 else (0.0, 0.0)
        return self._explain_sums(comparison, _IRPR, (n, m) if self.compat == "none" else (m, n), slopes)


@register
class AverageHausdorff(_NearestMetric):
    """How far texts are from the nearest text of the other corpus: arithmetic mean of both directions.

    forward = mean over reference texts of the distance to the nearest candidate text, backward the same from the
    candidate; value (forward + backward)/2. Source: Dubuisson and Jain 1994; Ackerman et al. 2023, eq. 4.
    """

    name, label, source = "ahd", "Average Hausdorff distance", "Dubuisson and Jain 1994"
    headline = Part(VALUE, bounds=(0.0, INFINITY))
    parts = (Part("forward", bounds=(0.0, INFINITY)), Part("backward", bounds=(0.0, INFINITY)))

    def _of_distances(self, of_reference: Floats, of_candidate: Floats) -> ManyValues:
        forward, backward = np.nanmean(of_reference, axis=1), np.nanmean(of_candidate, axis=1)
        return {VALUE: (forward + backward) / 2.0, "forward": forward, "backward": backward}

    def explain(self, comparison: Comparison) -> Contributions:
        """Nearest distance/(2n); of a part: nearest distance/n of its side, 0 of the other."""
        n, m = map(len, comparison.sides)
        return self._explain_sums(comparison, _AHD, (n, m), (0.5, 0.5))


@register
class Hausdorff(_NearestMetric):
    """How far the farthest text is from the other corpus.

    forward = largest distance of a reference text to its nearest candidate text, backward the same from the
    candidate; value the larger of both. Source: Hausdorff 1914.
    """

    name, label, source = "hausdorff", "Hausdorff distance", "Hausdorff 1914"
    headline = Part(VALUE, bounds=(0.0, INFINITY))
    parts = (Part("forward", bounds=(0.0, INFINITY)), Part("backward", bounds=(0.0, INFINITY)))
    no_interval = "it is the distance of the one farthest text"

    def _of_distances(self, of_reference: Floats, of_candidate: Floats) -> ManyValues:
        forward, backward = np.nanmax(of_reference, axis=1), np.nanmax(of_candidate, axis=1)
        return {VALUE: np.maximum(forward, backward), "forward": forward, "backward": backward}


_PR = (
    "0 inside a ball of the other corpus; outside: 1 / number of texts × recall/(precision + recall) for the "
    "candidate's, precision/(precision + recall) for the reference's"
)
_DC = (
    "reference: 1 / number of texts × density/(density + coverage) where its ball holds no candidate text; candidate: "
    "(1 − reference balls around it / k) / number of texts × coverage/(density + coverage); density cut at 1, and then "
    "the candidate adds 0"
)


def compute_harmonic_weights(a: float, b: float) -> tuple[float, float]:
    """Shares b/(a + b) and a/(a + b): 1 − 2ab/(a + b) = (1 − a)·b/(a + b) + (1 − b)·a/(a + b); halves where both are 0.

    >>> compute_harmonic_weights(0.2, 0.6)
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
        """Return which balls hold which texts, of reference and candidate."""
        return comparison.derive(count_in_balls, self.on, self.k, self.ties)

    def _count_held(self, joint: Joint, own: Masks, other: Masks) -> Held:
        return count_held_across(joint, own, other, self.k, closed=self.ties == "closed")


@register
class PrecisionRecall(_BallMetric):
    """How much of each corpus lies inside the other's k-neighbour balls.

    The ball of a text reaches to its k-th neighbour in its own corpus, itself excluded. Precision: share of
    candidate texts inside the ball of any reference text; recall: share of reference texts inside the ball of any
    candidate text; value 1 − F1. `ties=closed` counts the edge of a ball, so that a corpus with repeated texts is at
    0 from itself; `ties=open` does not, as in the paper. Distances are compared as float32 numbers.
    Undefined for fewer than k + 1 texts. Source: Kynkäänniemi et al. 2019.
    """

    name, label, source = "pr", "1 − F1 of precision and recall", "Kynkäänniemi et al. 2019"
    parts = (Part("precision", closer="larger"), Part("recall", closer="larger"))

    def compute(self, comparison: Comparison) -> Values:
        held = self.balls(comparison)
        return take_single(self._make_values((held.of_second > 0).mean(), (held.of_first > 0).mean()))

    def explain(self, comparison: Comparison) -> Contributions:
        """1 − F1 = (1 − precision)·recall/(precision + recall) + (1 − recall)·precision/(precision + recall).

        So a text outside all balls of the other side adds its weight, one inside nothing. Of a part: 1/n inside, 0
        outside.
        """
        held = self.balls(comparison)
        counts = held.of_first, held.of_second
        formula, weights = _PR, compute_harmonic_weights(*(float((count > 0).mean()) for count in counts))
        if self.part is not None:
            formula = "1 / number of texts inside a ball of the other corpus, 0 outside"
            weights = (0.0, 1.0) if self.part == "precision" else (1.0, 0.0)
        reference, candidate = (
            SideTerms(
                weight * ((count > 0) == (self.part is not None)) / len(count), {"inside": count > 0, "balls": count}
            )
            for weight, count in zip(weights, counts, strict=True)
        )
        return Contributions(self.part or VALUE, formula, reference, candidate)

    def of_draws(self, joint: Joint, P: Masks, Q: Masks) -> ManyValues:
        precision = self._count_held(joint, P, Q).held.sum(axis=1) / Q.sum(axis=1)
        recall = self._count_held(joint, Q, P).held.sum(axis=1) / P.sum(axis=1)
        return self._make_values(precision, recall)

    def _make_values(self, precision: Floats, recall: Floats) -> ManyValues:
        return {VALUE: 1.0 - harmonic_mean(precision, recall), "precision": precision, "recall": recall}


@register
class DensityCoverage(_BallMetric):
    """How densely the candidate fills the reference's k-neighbour balls, and how many of them it reaches.

    Density: mean over candidate texts of (number of reference balls around it)/k, not limited to 1; coverage: share
    of reference texts whose ball holds a candidate text; value 1 − F1 of both, density cut at 1. Balls and ties as
    in `pr`. Not symmetric. Undefined for fewer than k + 1 texts. Source: Naeem et al. 2020.
    """

    name, label, source = "dc", "1 − F1 of density and coverage", "Naeem et al. 2020"
    symmetric = False
    parts = (Part("density", closer="larger", bounds=(0.0, float("inf"))), Part("coverage", closer="larger"))

    def compute(self, comparison: Comparison) -> Values:
        held = self.balls(comparison)
        density = held.of_second.sum() / (self.k * len(held.of_second))
        return take_single(self._make_values(density, held.reached.mean()))

    def explain(self, comparison: Comparison) -> Contributions:
        """Compute as `pr` does, with coverage in place of recall and density, cut at 1, in place of precision.

        A candidate text in more than k balls adds less than nothing. Where density reaches 1 the candidate adds 0.
        """
        held = self.balls(comparison)
        n, m = len(held.of_first), len(held.of_second)
        filled = held.of_second / self.k
        density, coverage = min(float(filled.mean()), 1.0), float(held.reached.mean())
        of_coverage, of_density = compute_harmonic_weights(coverage, density)
        thin = 1.0 - filled if density < 1.0 else np.zeros(m)
        adds = {
            None: (of_coverage * ~held.reached / n, of_density * thin / m),
            "density": (np.zeros(n), filled / m),
            "coverage": (held.reached / n, np.zeros(m)),
        }[self.part]
        formula = _DC if self.part is None else "the text's own term of the mean / number of texts"
        reference = SideTerms(adds[0], {"covered": held.reached})
        candidate = SideTerms(adds[1], {"balls": held.of_second})
        return Contributions(self.part or VALUE, formula, reference, candidate)

    def ends_from_parts(self, score: Score, values: ManyValues, parts: DisjointSplits, reach: float) -> Ends:
        """Take the larger error of an uncut density and of a density of 1."""
        if self.part:
            return super().ends_from_parts(score, values, parts, reach)
        uncut, least = (float(one) for one in _compute_uncut_and_least(score.parts))
        errors = [parts.error(one) for one in _compute_uncut_and_least(values)]
        low, high = (
            cut_mean(uncut + side * errors[0], errors[0], least + side * errors[1]) for side in (-reach, reach)
        )
        return max(low, 0.0), min(high, 1.0)

    def of_draws(self, joint: Joint, P: Masks, Q: Masks) -> ManyValues:
        held = self._count_held(joint, P, Q)
        return self._make_values(held.total / (self.k * Q.sum(axis=1)), held.reached.sum(axis=1) / P.sum(axis=1))

    def _make_values(self, density: Floats, coverage: Floats) -> ManyValues:
        value = 1.0 - harmonic_mean(np.minimum(density, 1.0), coverage)
        return {VALUE: value, "density": density, "coverage": coverage}


def _compute_uncut_and_least(parts: Mapping[str, Any]) -> tuple[Any, Any]:
    """1 − F1 of density and coverage with the density as it is, and with a density of 1."""
    return 1.0 - harmonic_mean(parts["density"], parts["coverage"]), 1.0 - harmonic_mean(1.0, parts["coverage"])
