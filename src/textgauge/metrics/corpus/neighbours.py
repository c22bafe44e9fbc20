"""Neighbour metrics over a ground: pr, dc (balls around texts), irpr, ahd, hausdorff (nearest texts)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from textgauge.data import Comparison, Corpus, Draws
from textgauge.errors import UnknownName
from textgauge.metrics import ground_matrix as _pair_ground
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.corpus_metric import GroundMetric, ManyValues, Values
from textgauge.metrics.neighbour_statistics import (
    Nearest,
    Shares,
    ball_shares,
    joint_rows,
    nearest,
    side_nearest,
    side_shares,
)
from textgauge.metrics.registry import register
from textgauge.metrics.uncertainty import DISJOINT, JACKKNIFE
from textgauge.numerics import neighbour_draws as many
from textgauge.numerics.neighbour_lists import Lists
from textgauge.numerics.neighbour_rows import Floats, to_ground
from textgauge.numerics.neighbour_sides import ManyShares
from textgauge.numerics.partition import Subsets

__all__ = [
    "AverageHausdorff",
    "DensityCoverage",
    "Hausdorff",
    "Nearest",
    "NearestPrecisionRecall",
    "PrecisionRecall",
    "nearest",
]

INFINITY = float("inf")
_FARTHEST = {"cosine": 2.0, "angular": 1.0, "euclidean": INFINITY}


def harmonic_mean(a: Floats | float, b: Floats | float) -> Floats:
    """2ab/(a + b), and 0 where either is 0.

    >>> float(harmonic_mean(0.5, 1.0)), float(harmonic_mean(0.0, 0.0))
    (0.6666667, 0.0)
    """
    total = np.asarray(a, dtype=np.float64) + b
    return np.divide(2.0 * a * b, total, out=np.zeros_like(total), where=total > 0)


class _NeighbourMetric(GroundMetric):
    """What all five share: distances of the joint corpus serve many draws."""

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """Draws of few different sides share their distances, others read sorted neighbour lists of the joint corpus.

        A few small draws are computed one by one.
        """
        names = VALUE, *(part.name for part in self.parts)
        if _loop_is_cheaper(draws):
            found = [
                self._values_or_nan(comparison)
                for comparison in joint.derive(_comparisons, Subsets.of(draws.left, draws.right))
            ]
            return {name: np.array([values[name] for values in found]) for name in names}
        values = {name: np.full(len(draws), np.nan) for name in names}
        enough = np.flatnonzero(np.minimum(draws.left.sum(axis=1), draws.right.sum(axis=1)) >= self.min_texts)
        if len(enough):
            some = Draws(draws.left[enough], draws.right[enough])
            few = self._of_sides(joint, Subsets.of(some.left, some.right)) if self.pair_ground is None else None
            for name, numbers in (few or self._from_lists(joint, some)).items():
                values[name][enough] = numbers
        return values

    def _from_lists(self, joint: Corpus, draws: Draws) -> ManyValues:
        if self.pair_ground is not None:
            rows = joint.derive(_pair_ground.joint_rows, self.pair_ground)
        else:
            rows = joint.derive(joint_rows, self.embedder, self.ground)
        lists = rows.lists(many.ranks_needed(draws.left, draws.right, self.min_texts - 1))
        found = [self._of_draws(lists, P, Q) for P, Q in many.chunks(draws.left, draws.right)]
        return {name: np.concatenate([values[name] for values in found]) for name in found[0]}

    def _of_sides(self, joint: Corpus, sides: Subsets) -> ManyValues | None:
        """Values of draws of few different sides; None where these have too little in common."""
        raise NotImplementedError

    def _of_draws(self, lists: Lists, P: many.Mask, Q: many.Mask) -> ManyValues:
        raise NotImplementedError


def _comparisons(joint: Corpus, sides: Subsets) -> list[Comparison]:
    """The draws as comparisons, which remember what several metrics need."""
    corpora = [joint.take(rows) for rows in sides.rows]
    return [Comparison(corpora[a], corpora[b]) for a, b in zip(sides.left, sides.right, strict=True)]


def _loop_is_cheaper(draws: Draws) -> bool:
    """Whether the draws' own pairs are fewer than the joint corpus's; a draw costs some 10⁵ pairs in any case."""
    own = (draws.left.sum(axis=1, dtype=float) + draws.right.sum(axis=1)) ** 2
    return bool(np.sum(own + 1e5) < 2.0 * draws.left.shape[1] ** 2)


@dataclass(frozen=True, kw_only=True)
class _BallMetric(_NeighbourMetric):
    """What pr and dc share: k and the rule for ties."""

    default_on = "minilm:euclidean"
    on_scale = False

    k: int = 5
    ties: Literal["closed", "open"] = "closed"

    def check(self) -> None:
        """A ball reaches to the first neighbour at least."""
        if self.k < 1:
            raise UnknownName(f"{self.name}: k={self.k} is not a whole number of at least 1")

    @property
    def min_texts(self) -> int:
        """A text and its k neighbours."""
        return self.k + 1

    def _shares(self, comparison: Comparison) -> Shares:
        if self.pair_ground is not None:
            return comparison.derive(_pair_ground.ball_shares, self.pair_ground, self.k, self.ties)
        return ball_shares(comparison, self.embedder, self.ground, self.k, self.ties)

    def _of_sides(self, joint: Corpus, sides: Subsets) -> ManyValues | None:
        shares = joint.derive(side_shares, self.embedder, self.ground, self.k, self.ties, sides)
        return shares and self._of_shares(shares)

    def _of_shares(self, shares: ManyShares) -> ManyValues:
        raise NotImplementedError

    def _held(self, lists: Lists, own: many.Mask, other: many.Mask) -> many.Held:
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
    label = "Precision–recall"
    interval_method = DISJOINT  # a text left out empties a ball that another would have filled
    source = "Kynkäänniemi et al. 2019"
    headline = Part(VALUE)
    parts = (Part("precision", closer="larger"), Part("recall", closer="larger"))

    def compute(self, comparison: Comparison) -> Values:
        """One minus F1, precision, recall."""
        shares = self._shares(comparison)
        value = 1.0 - float(harmonic_mean(shares.precision, shares.recall))
        return {VALUE: value, "precision": shares.precision, "recall": shares.recall}

    def _of_shares(self, shares: ManyShares) -> ManyValues:
        return self._values(shares.precision, shares.recall)

    def _of_draws(self, lists: Lists, P: many.Mask, Q: many.Mask) -> ManyValues:
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
    in `pr`. Not symmetric. `compat=compcor` exchanges the roles, which brings the published table of Kour et al. 2022
    nearer. Undefined for fewer than k + 1 texts. Source: Naeem et al. 2020.
    """

    name = "dc"
    label = "Density–coverage"
    interval_method = JACKKNIFE
    source = "Naeem et al. 2020"
    symmetric = False
    headline = Part(VALUE)
    parts = (Part("density", closer="larger", bounds=(0.0, INFINITY)), Part("coverage", closer="larger"))

    compat: Literal["none", "compcor"] = "none"

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """Draws with the roles as asked for."""
        if self.compat == "compcor":
            return replace(self, compat="none").compute_many(joint, Draws(draws.right, draws.left))
        return super().compute_many(joint, draws)

    def compute(self, comparison: Comparison) -> Values:
        """One minus F1, density, coverage."""
        if self.compat == "compcor":
            return replace(self, compat="none").compute(comparison.swapped())
        shares = self._shares(comparison)
        value = 1.0 - float(harmonic_mean(min(shares.density, 1.0), shares.coverage))
        return {VALUE: value, "density": shares.density, "coverage": shares.coverage}

    def _of_draws(self, lists: Lists, P: many.Mask, Q: many.Mask) -> ManyValues:
        held = self._held(lists, P, Q)
        return self._values(held.total / (self.k * Q.sum(axis=1)), held.reached.sum(axis=1) / P.sum(axis=1))

    def _of_shares(self, shares: ManyShares) -> ManyValues:
        return self._values(shares.density, shares.coverage)

    def _values(self, density: Floats, coverage: Floats) -> ManyValues:
        value = 1.0 - harmonic_mean(np.minimum(density, 1.0), coverage)
        return {VALUE: value, "density": density, "coverage": coverage}


class _NearestMetric(_NeighbourMetric):
    """What irpr, ahd and hausdorff share: distances to the nearest text of the other corpus."""

    interval_method = DISJOINT

    @property
    def bounds(self) -> tuple[float, float]:
        """From 0 to the farthest two texts can be."""
        return 0.0, _FARTHEST.get(self.ground, INFINITY)

    def compute(self, comparison: Comparison) -> Values:
        """Value and the two directions."""
        found = self._nearest(comparison)
        values = self._of_distances(found.of_reference[None, :], found.of_candidate[None, :])
        return {name: float(numbers[0]) for name, numbers in values.items()}

    def _nearest(self, comparison: Comparison) -> Nearest:
        if self.pair_ground is not None:
            return comparison.derive(_pair_ground.nearest, self.pair_ground)
        return nearest(comparison, self.embedder, self.ground)

    def _of_sides(self, joint: Corpus, sides: Subsets) -> ManyValues | None:
        found = joint.derive(side_nearest, self.embedder, self.ground, sides)
        return found and self._of_distances(*(to_ground(squares, self.ground) for squares in found))

    def _of_draws(self, lists: Lists, P: many.Mask, Q: many.Mask) -> ManyValues:
        ground = "euclidean" if self.pair_ground is not None else self.ground  # the matrix is listed in squares too
        found = (to_ground(many.nearest_across(lists, own, other), ground) for own, other in ((P, Q), (Q, P)))
        return self._of_distances(*found)

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
    label = "Nearest-text precision–recall"
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


@register
@dataclass(frozen=True, kw_only=True)
class Hausdorff(_NearestMetric):
    """How far the farthest text is from the other corpus.

    forward = largest distance of a reference text to its nearest candidate text, backward the same from the
    candidate; value the larger of both. Source: Hausdorff 1914.
    """

    name = "hausdorff"
    label = "Hausdorff distance"
    interval_method = JACKKNIFE  # the farthest text of a half is not that of the whole
    source = "Hausdorff 1914"
    headline = Part(VALUE, bounds=(0.0, INFINITY))
    parts = (Part("forward", bounds=(0.0, INFINITY)), Part("backward", bounds=(0.0, INFINITY)))

    def _of_distances(self, of_reference: Floats, of_candidate: Floats) -> ManyValues:
        forward, backward = np.nanmax(of_reference, axis=1), np.nanmax(of_candidate, axis=1)
        return {VALUE: np.maximum(forward, backward), "forward": forward, "backward": backward}
