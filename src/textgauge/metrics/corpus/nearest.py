"""Distances to the nearest text of the other corpus: irpr, ahd, hausdorff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from textgauge.core.arrays import Floats, Masks
from textgauge.data import Comparison
from textgauge.metrics.base import VALUE, Part, Undefined
from textgauge.metrics.contributions import Contributions, SideTerms
from textgauge.metrics.corpus_metric import ManyValues, Values
from textgauge.metrics.neighbours import CrossNearest, NeighbourMetric, harmonic_mean, nearest
from textgauge.metrics.numerics import neighbour_lists as many
from textgauge.metrics.numerics.neighbour_lists import Lists
from textgauge.metrics.numerics.neighbours import to_ground
from textgauge.metrics.registry import register
from textgauge.metrics.score import Score

INFINITY = float("inf")
_HUB = 1 / 8  # of the other corpus: the largest share whose nearest text may be one and the same for an interval
_FARTHEST = {"cosine": 2.0, "angular": 1.0, "euclidean": INFINITY}
_AHD = "distance to the nearest text of the other corpus / (2 × number of texts in its own corpus)"
_PART = "distance to the nearest text of the other corpus / number of texts"
_IRPR = (
    "distance to the nearest text of the other corpus / number of texts × slope of the harmonic mean in that part: "
    "2·recall²/(precision + recall)² for the candidate's, 2·precision²/(precision + recall)² for the reference's"
)


def _largest_share(found: CrossNearest) -> float:
    """The share of the other corpus that has the most frequent nearest text as its nearest, the larger of both."""
    return max(
        float(np.bincount(rows).max() / len(rows)) for rows in (found.of_reference_index, found.of_candidate_index)
    )


class _NearestMetric(NeighbourMetric):
    """What irpr, ahd and hausdorff share: distances to the nearest text of the other corpus."""

    def interval_ends(
        self, comparison: Comparison, score: Score, *, level: float, seed: int
    ) -> tuple[float, float, str]:
        """None where one text is the nearest of many: other samples would lack it, which no part of this one shows."""
        share = _largest_share(nearest(comparison, self.on))
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
        """Value and the two directions."""
        found = nearest(comparison, self.on)
        values = self._of_distances(found.of_reference[None, :], found.of_candidate[None, :])
        return {name: float(numbers[0]) for name, numbers in values.items()}

    def of_draws(self, lists: Lists, P: Masks, Q: Masks) -> ManyValues:
        """Values from neighbour lists."""
        ground = "euclidean" if self.pair_ground is not None else self.ground  # the matrix is listed in squares too
        found = (to_ground(many.nearest_across(lists, own, other), ground) for own, other in ((P, Q), (Q, P)))
        return self._of_distances(*found)

    def _explain_sums(
        self, comparison: Comparison, formula: str, over: tuple[int, int], slopes: tuple[float, float]
    ) -> Contributions:
        """Contributions of slope × nearest distance / size for each side."""
        found = nearest(comparison, self.on)
        distances = found.of_reference, found.of_candidate
        reference, candidate = (
            SideTerms(slope * side / size) for side, size, slope in zip(distances, over, slopes, strict=True)
        )
        return Contributions(self.part or VALUE, formula if self.part is None else _PART, reference, candidate)

    def _of_distances(self, of_reference: Floats, of_candidate: Floats) -> ManyValues:
        """Values from nearest distances, one draw per row, NaN for texts that are not in it."""
        raise NotImplementedError


@register
@dataclass(frozen=True, kw_only=True)
class NearestPrecisionRecall(_NearestMetric):
    """How far texts are from the nearest text of the other corpus: harmonic mean of both directions.

    precision = mean over candidate texts of the distance to the nearest reference text; recall the same from the
    reference; value 2·precision·recall/(precision + recall), 0 if either is 0. Both are distances: smaller is closer.
    `compat=compcor` divides each sum by the size of the other corpus, as the authors' code does (wrong for unequal
    sizes; kept to reproduce published numbers). Source: Kour et al. 2022.
    """

    name = "irpr"
    label = "Distance to the nearest text"
    source = "Kour et al. 2022"
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
        found = nearest(comparison, self.on)
        n, m = len(found.of_reference), len(found.of_candidate)
        over = (n, m) if self.compat == "none" else (m, n)
        recall, precision = found.of_reference.sum() / over[0], found.of_candidate.sum() / over[1]
        square = (precision + recall) ** 2
        slopes = (2.0 * precision**2 / square, 2.0 * recall**2 / square) if square > 0 else (0.0, 0.0)
        if self.part is not None:
            slopes = (0.0, 1.0) if self.part == "precision" else (1.0, 0.0)
        return self._explain_sums(comparison, _IRPR, over, slopes)


@register
@dataclass(frozen=True, kw_only=True)
class AverageHausdorff(_NearestMetric):
    """How far texts are from the nearest text of the other corpus: arithmetic mean of both directions.

    forward = mean over reference texts of the distance to the nearest candidate text, backward the same from the
    candidate; value (forward + backward)/2. Source: Dubuisson and Jain 1994; Ackerman et al. 2023, eq. 4.
    """

    name = "ahd"
    label = "Average Hausdorff distance"
    source = "Dubuisson and Jain 1994"
    headline = Part(VALUE, bounds=(0.0, INFINITY))
    parts = (Part("forward", bounds=(0.0, INFINITY)), Part("backward", bounds=(0.0, INFINITY)))

    def _of_distances(self, of_reference: Floats, of_candidate: Floats) -> ManyValues:
        forward, backward = np.nanmean(of_reference, axis=1), np.nanmean(of_candidate, axis=1)
        return {VALUE: (forward + backward) / 2.0, "forward": forward, "backward": backward}

    def explain(self, comparison: Comparison) -> Contributions:
        """Nearest distance/(2n); of a part: nearest distance/n of its side, 0 of the other."""
        slopes = {None: (0.5, 0.5), "forward": (1.0, 0.0), "backward": (0.0, 1.0)}[self.part]
        return self._explain_sums(comparison, _AHD, (len(comparison.reference), len(comparison.candidate)), slopes)


@register
@dataclass(frozen=True, kw_only=True)
class Hausdorff(_NearestMetric):
    """How far the farthest text is from the other corpus.

    forward = largest distance of a reference text to its nearest candidate text, backward the same from the
    candidate; value the larger of both. Source: Hausdorff 1914.
    """

    name = "hausdorff"
    label = "Hausdorff distance"
    source = "Hausdorff 1914"
    headline = Part(VALUE, bounds=(0.0, INFINITY))
    parts = (Part("forward", bounds=(0.0, INFINITY)), Part("backward", bounds=(0.0, INFINITY)))
    no_interval = "it is the distance of the one farthest text"

    def _of_distances(self, of_reference: Floats, of_candidate: Floats) -> ManyValues:
        forward, backward = np.nanmax(of_reference, axis=1), np.nanmax(of_candidate, axis=1)
        return {VALUE: np.maximum(forward, backward), "forward": forward, "backward": backward}
