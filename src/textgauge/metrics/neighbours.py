"""Neighbours of texts across two corpora: the statistics that several metrics share, and the base of those metrics."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from textgauge.core.arrays import Floats, Masks
from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics import ground_matrix
from textgauge.metrics.corpus_metric import CorpusMetric, GroundMetric, ManyValues
from textgauge.metrics.ground_matrix import BallCounts, CrossNearest
from textgauge.metrics.numerics import neighbour_lists as many
from textgauge.metrics.numerics.neighbour_blocks import Reach
from textgauge.metrics.numerics.neighbour_lists import Joint, Lists
from textgauge.metrics.numerics.neighbour_rows import Cloud, to_ground
from textgauge.metrics.numerics.neighbour_sides import ManyShares, nearest_of_sides, shares_of_sides
from textgauge.metrics.numerics.pair_blocks import BallsHeld, NearestRows, PairPasses
from textgauge.metrics.numerics.subsets import Gram, Subsets

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def nearest_texts(metric: CorpusMetric, comparison: Comparison) -> tuple[CrossNearest, str]:
    """For each text the nearest one of the other corpus, of equally near ones the first, and the distance's name.

    Metrics over a ground: by that ground; metrics of embeddings: by their cosine distance; metrics of tokens: by the
    cosine distance of token counts, where a text without tokens is at 1 from all.
    """
    if metric.pair_ground is not None:
        return comparison.derive(ground_matrix.nearest, metric.pair_ground), metric.pair_ground
    if metric.needs == "tokens":
        return comparison.derive(_nearest_counts, metric.on), f"cosine of {metric.on} counts"
    ground = metric.ground if metric.needs == "ground" else "cosine"
    return nearest(comparison, metric.embedder, ground), f"{metric.embedder}:{ground}"


def nearest(comparison: Comparison, embedder: str, ground: str) -> CrossNearest:
    """The nearest texts by embeddings; of equally near ones the first."""
    return comparison.derive(_nearest, embedder, ground)


def ball_counts(comparison: Comparison, embedder: str, ground: str, k: int, ties: str) -> BallCounts:
    """Which balls, reaching to the k-th neighbour, hold which texts, by embeddings."""
    return comparison.derive(_ball_counts, embedder, ground, k, ties)


def gram_of(corpus: Corpus, embedder: str, sides: Subsets) -> Gram | None:
    """The products of a corpus's embeddings for these sides; None for large corpora and extreme numbers."""
    return corpus.derive(_gram_of, embedder, sides)


def side_shares(corpus: Corpus, embedder: str, ground: str, k: int, ties: str, sides: Subsets) -> ManyShares | None:
    """Precision, recall, density and coverage of each draw; None where sides have too little in common."""
    gram = partial(gram_of, corpus, embedder, sides)
    return shares_of_sides(corpus.embeddings(embedder), gram, ground, k, ties, sides)


def side_nearest(corpus: Corpus, embedder: str, ground: str, sides: Subsets) -> tuple[Floats, Floats] | None:
    """Squared distances to the nearest text of the other side, one draw a row; None as for `side_shares`."""
    return nearest_of_sides(corpus.embeddings(embedder), partial(gram_of, corpus, embedder, sides), ground, sides)


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
        """Draws of few different sides share their distances, others read sorted neighbour lists of the joint corpus.

        A few small draws are computed one by one.
        """
        if loop_is_cheaper(draws):
            return self._one_by_one(joint, draws)
        values = {name: np.full(len(draws), np.nan) for name in self.value_names}
        enough = np.flatnonzero(draws.smaller >= self.min_texts)
        if len(enough):
            some = Draws(draws.left[enough], draws.right[enough])
            few = self.of_sides(joint, Subsets.of(some.left, some.right)) if self.pair_ground is None else None
            for name, numbers in (few or self._from_lists(joint, some)).items():
                values[name][enough] = numbers
        return values

    def of_sides(self, joint: Corpus, sides: Subsets) -> ManyValues | None:
        """Values of draws of few different sides; None where these have too little in common."""
        raise NotImplementedError

    def of_draws(self, lists: Lists, P: Masks, Q: Masks) -> ManyValues:
        """Values of draws, given by masks, from the neighbour lists of the joint corpus."""
        raise NotImplementedError

    def _one_by_one(self, joint: Corpus, draws: Draws) -> ManyValues:
        found = [self.values_or_nan(pair) for pair in joint.derive(_comparisons, Subsets.of(draws.left, draws.right))]
        return {name: np.array([row[name] for row in found]) for name in self.value_names}

    def _from_lists(self, joint: Corpus, draws: Draws) -> ManyValues:
        if self.pair_ground is not None:
            rows: Joint = joint.derive(ground_matrix.MatrixJoint, self.pair_ground)
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


def _gram_of(corpus: Corpus, embedder: str, sides: Subsets) -> Gram | None:
    return Gram.fitting(corpus.embeddings(embedder), np.lexsort(sides.masks))


def _cloud(corpus: Corpus, embedder: str, ground: str) -> Cloud:
    if ground == "euclidean":
        return Cloud.of(corpus.embeddings(embedder), ground)
    return corpus.derive(_cloud, embedder, "euclidean").of_directions()


def _reach(corpus: Corpus, embedder: str, ground: str) -> Reach:
    return Reach(corpus.derive(_cloud, embedder, ground))


def clouds(comparison: Comparison, embedder: str) -> tuple[Cloud, Cloud]:
    """The different rows of both corpora, and where they stand."""
    sides = comparison.sides
    first, second = (side.derive(_cloud, embedder, "euclidean") for side in sides)
    return first, second


def pair_passes(comparison: Comparison, embedder: str) -> PairPasses:
    """The passes over all pairs of embeddings, which metrics share."""
    return comparison.derive(_pair_passes, embedder)


def _pair_passes(comparison: Comparison, embedder: str) -> PairPasses:
    sides = comparison.sides

    def reaches_of(directions: bool) -> tuple[Reach, Reach]:
        first, second = (side.derive(_reach, embedder, "cosine" if directions else "euclidean") for side in sides)
        return first, second

    return PairPasses(reaches_of)


def _nearest(comparison: Comparison, embedder: str, ground: str) -> CrossNearest:
    P, Q = clouds(comparison, embedder)
    (from_p, at_q), (from_q, at_p) = pair_passes(comparison, embedder).answer(NearestRows(ground != "euclidean"))
    return CrossNearest(
        to_ground(from_p, ground)[P.inverse],
        Q.first[at_q][P.inverse],
        to_ground(from_q, ground)[Q.inverse],
        P.first[at_p][Q.inverse],
    )


def _ball_counts(comparison: Comparison, embedder: str, ground: str, k: int, ties: str) -> BallCounts:
    P, Q = clouds(comparison, embedder)
    request = BallsHeld(k, ties == "closed", ground != "euclidean")
    of_p, of_q = pair_passes(comparison, embedder).answer(request)
    return BallCounts(of_q.holders[P.inverse], of_p.holders[Q.inverse], of_p.reached[P.inverse])


def _nearest_counts(comparison: Comparison, tokenizer: str) -> CrossNearest:
    P, Q = (_unit_counts(side, tokenizer) for side in comparison.sides)

    def cosine_distances(rows: slice) -> Floats:
        return np.maximum(1.0 - np.asarray((P[rows] @ Q.T).toarray()), 0.0)

    return ground_matrix.nearest_of_blocks(P.shape[0], Q.shape[0], cosine_distances)


def _unit_counts(corpus: Corpus, tokenizer: str) -> csr_matrix:
    """Token counts of each text, scaled to length one; a text without tokens stays zero."""
    counts = corpus.counts(tokenizer).copy()
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts.data /= np.repeat(lengths, np.diff(counts.indptr))
    return counts
