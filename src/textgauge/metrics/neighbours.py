"""Neighbours of texts across two corpora: the statistics that several metrics share, and the base of those metrics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textgauge.core.arrays import Floats, Floats32, Ints, Masks
from textgauge.data import Comparison, Corpus, Draws
from textgauge.encode.grounds import GROUNDS
from textgauge.metrics.corpus_metric import CorpusMetric, GroundMetric, ManyValues
from textgauge.metrics.ground_matrix import MatrixJoint, MatrixSide
from textgauge.metrics.numerics import neighbour_lists as many
from textgauge.metrics.numerics.moments import Subsets
from textgauge.metrics.numerics.neighbour_lists import Joint, Lists
from textgauge.metrics.numerics.neighbours import (
    Cloud,
    ExactPoints,
    Points,
    Rows,
    compute_radii,
    count_balls,
    find_nearest,
    to_ground,
)


class CrossNearest(NamedTuple):
    """For each text of both corpora the distance and position of the nearest text of the other corpus."""

    of_reference: Floats
    of_reference_index: Ints
    of_candidate: Floats
    of_candidate_index: Ints


class BallCounts(NamedTuple):
    """How many balls of the other corpus hold each text, and whether each reference ball holds a candidate text."""

    of_reference: Ints
    of_candidate: Ints
    reached: Masks


def nearest_texts(metric: CorpusMetric, comparison: Comparison) -> tuple[CrossNearest, str]:
    """For each text the nearest one of the other corpus, of equally near ones the first, and the distance's name.

    Metrics over a ground: by that ground; metrics of embeddings: by their cosine distance; metrics of tokens: by the
    cosine distance of token counts, where a text without tokens is at 1 from all.
    """
    if metric.needs == "tokens":
        return comparison.derive(_nearest_counts, metric.on), f"cosine of {metric.on} counts"
    on = metric.on if metric.needs == "ground" else f"{metric.on}:cosine"
    return nearest(comparison, on), on


def nearest(comparison: Comparison, on: str) -> CrossNearest:
    """Return the nearest texts by a ground such as `minilm:cosine` or `levenshtein`; of equally near ones the first."""
    return comparison.derive(_nearest, on)


def ball_counts(comparison: Comparison, on: str, k: int, ties: str) -> BallCounts:
    """Return which balls, reaching to the k-th neighbour, hold which texts, by a ground."""
    return comparison.derive(_ball_counts, on, k, ties)


def harmonic_mean(a: Floats | float, b: Floats | float) -> Floats:
    """2ab/(a + b), and 0 where either is 0.

    >>> float(harmonic_mean(0.5, 1.0)), float(harmonic_mean(0.0, 0.0))
    (0.6666667, 0.0)
    """
    total = np.asarray(a, dtype=np.float64) + b
    return np.divide(2.0 * a * b, total, out=np.zeros_like(total), where=total > 0)


class NeighbourMetric(GroundMetric):
    """Base of the metrics of neighbours: distances of the joint corpus serve many draws."""

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """Read sorted neighbour lists of the joint corpus; a few small draws are computed one by one."""
        if loop_is_cheaper(draws):
            return self._one_by_one(joint, draws)
        values = {name: np.full(len(draws), np.nan) for name in self.value_names}
        enough = np.flatnonzero(draws.smaller >= self.min_texts)
        if len(enough):
            some = Draws(draws.left[enough], draws.right[enough])
            for name, numbers in self._from_lists(joint, some).items():
                values[name][enough] = numbers
        return values

    def of_draws(self, lists: Lists, P: Masks, Q: Masks) -> ManyValues:
        """Values of draws, given by masks, from the neighbour lists of the joint corpus."""
        raise NotImplementedError

    def _one_by_one(self, joint: Corpus, draws: Draws) -> ManyValues:
        rows = [self.values_or_nan(pair) for pair in joint.derive(_comparisons, Subsets.of(draws.left, draws.right))]
        return {name: np.array([row[name] for row in rows]) for name in self.value_names}

    def _from_lists(self, joint: Corpus, draws: Draws) -> ManyValues:
        if self.pair_ground is not None:
            rows: Joint = joint.derive(MatrixJoint, self.pair_ground)
        else:
            rows = joint.derive(_joint_rows, self.embedder, self.ground)
        lists = rows.lists(many.ranks_needed(draws.left, draws.right, self.min_texts - 1))
        found = [self.of_draws(lists, P, Q) for P, Q in many.chunks(draws.left, draws.right)]
        return {name: np.concatenate([values[name] for values in found]) for name in found[0]}


def loop_is_cheaper(draws: Draws) -> bool:
    """Whether the draws' own pairs are fewer than the joint corpus's; a draw costs some 10⁵ pairs in any case."""
    own = (draws.left.sum(axis=1, dtype=float) + draws.right.sum(axis=1)) ** 2
    return bool(np.sum(own + 1e5) < 2.0 * draws.left.shape[1] ** 2)


def _comparisons(joint: Corpus, sides: Subsets) -> list[Comparison]:
    """The draws as comparisons, which remember what several metrics need."""
    corpora = [joint.take(rows) for rows in sides.rows]
    return [Comparison(corpora[a], corpora[b]) for a, b in zip(sides.left, sides.right, strict=True)]


def _joint_rows(corpus: Corpus, embedder: str, ground: str) -> Joint:
    return Joint(corpus.embeddings(embedder), ground)


def _get_sides(on: str, *corpora: Corpus) -> list[Points]:
    """Return the sides of corpora under a ground, ready to be compared with each other."""
    embedder, _, ground = on.rpartition(":")
    if ground not in GROUNDS:
        return [MatrixSide(corpus, on) for corpus in corpora]
    return [*Rows.of(*(corpus.derive(_get_cloud, embedder, ground) for corpus in corpora))]


def _get_cloud(corpus: Corpus, embedder: str, ground: str) -> Cloud:
    if ground == "euclidean":
        return Cloud.of(corpus.embeddings(embedder), ground)
    return corpus.derive(_get_cloud, embedder, "euclidean").of_directions()


def _nearest(comparison: Comparison, on: str) -> CrossNearest:
    ground = on.rpartition(":")[2]
    return _across(*_get_sides(on, *comparison.sides), ground=ground if ground in GROUNDS else "euclidean")


def _across(P: Points, Q: Points, *, ground: str) -> CrossNearest:
    """Return the nearest texts of two sides, both ways."""
    (from_p, at_q), (from_q, at_p) = find_nearest(P, Q), find_nearest(Q, P)
    return CrossNearest(
        to_ground(from_p, ground)[P.inverse],
        Q.first[at_q][P.inverse],
        to_ground(from_q, ground)[Q.inverse],
        P.first[at_p][Q.inverse],
    )


def _ball_counts(comparison: Comparison, on: str, k: int, ties: str) -> BallCounts:
    P, Q = _get_sides(on, *comparison.sides)
    radii = comparison.reference.derive(_radii, on, k), comparison.candidate.derive(_radii, on, k)
    of_p, of_q = count_balls(P, Q, radii, closed=ties == "closed")
    return BallCounts(of_q.holders[P.inverse], of_p.holders[Q.inverse], of_p.reached[P.inverse])


def _radii(corpus: Corpus, on: str, k: int) -> Floats32:
    (side,) = _get_sides(on, corpus)
    return compute_radii(side, k)


class _Counts(ExactPoints):
    """Token counts of each text, scaled to length one; a text without tokens stays zero."""

    def __init__(self, corpus: Corpus, tokenizer: str) -> None:
        super().__init__(len(corpus))
        self._counts = corpus.counts(tokenizer).copy()
        lengths = np.sqrt(np.asarray(self._counts.multiply(self._counts).sum(axis=1)).ravel())
        self._counts.data /= np.repeat(lengths, np.diff(self._counts.indptr))

    def closeness(self, rows: slice, other: _Counts) -> Floats:
        """Return the cosine less 1."""
        return np.asarray(np.minimum((self._counts[rows] @ other._counts.T).toarray() - 1.0, 0.0))


def _nearest_counts(comparison: Comparison, tokenizer: str) -> CrossNearest:
    return _across(*(_Counts(side, tokenizer) for side in comparison.sides), ground="cosine")
