"""Neighbour statistics that several metrics share, remembered by the corpus or the comparison."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from textgauge.data import Comparison, Corpus
from textgauge.numerics.gram import Gram
from textgauge.numerics.kernel_sums import MANY_ROWS
from textgauge.numerics.neighbour_blocks import DistanceSums, Reach, balls_both, nearest_both
from textgauge.numerics.neighbour_lists import Joint
from textgauge.numerics.neighbour_rows import Cloud, Floats, Index, to_ground
from textgauge.numerics.neighbour_sides import ManyShares, nearest_of_sides, shares_of_sides
from textgauge.numerics.partition import Subsets


class Nearest(NamedTuple):
    """For each text of both corpora the distance and position of the nearest text of the other corpus.

    `sums` are the sums of the distances to all of them, where the pass over many texts gave them beside.
    """

    of_reference: Floats
    of_reference_index: Index
    of_candidate: Floats
    of_candidate_index: Index
    sums: tuple[Floats, Floats] | None


class Shares(NamedTuple):
    """Precision, recall, density and coverage."""

    precision: float
    recall: float
    density: float
    coverage: float


def nearest(comparison: Comparison, embedder: str, ground: str) -> Nearest:
    """Nearest texts across the two corpora; of equally near ones the first."""
    return comparison.derive(_nearest, embedder, ground)


def ball_shares(comparison: Comparison, embedder: str, ground: str, k: int, ties: str) -> Shares:
    """Shares of texts inside balls that reach to the k-th neighbour."""
    return comparison.derive(_ball_shares, embedder, ground, k, ties)


def _cloud(corpus: Corpus, embedder: str, ground: str) -> Cloud:
    return Cloud.of(corpus.embeddings(embedder), ground)


def _reach(corpus: Corpus, embedder: str, ground: str) -> Reach:
    return Reach(corpus.derive(_cloud, embedder, ground))


def joint_rows(corpus: Corpus, embedder: str, ground: str) -> Joint:
    """The rows of a joint corpus, whose neighbour lists serve many draws."""
    return Joint(corpus.embeddings(embedder), ground)


def _nearest(comparison: Comparison, embedder: str, ground: str) -> Nearest:
    P, Q = (side.derive(_cloud, embedder, ground) for side in (comparison.reference, comparison.candidate))
    many = min(len(comparison.reference), len(comparison.candidate)) >= MANY_ROWS and ground != "cosine"
    sums = DistanceSums(P, Q, ground) if many else None
    (from_p, at_q), (from_q, at_p) = nearest_both(P, Q, sums)
    return Nearest(
        to_ground(from_p, ground)[P.inverse],
        Q.first[at_q][P.inverse],
        to_ground(from_q, ground)[Q.inverse],
        P.first[at_p][Q.inverse],
        (sums.of_a[P.inverse], sums.of_b[Q.inverse]) if sums else None,
    )


def _ball_shares(comparison: Comparison, embedder: str, ground: str, k: int, ties: str) -> Shares:
    sides = comparison.reference, comparison.candidate
    P, Q = (side.derive(_cloud, embedder, ground) for side in sides)
    reach_p, reach_q = (side.derive(_reach, embedder, ground) for side in sides)
    of_p, of_q = balls_both(P, Q, (reach_p, reach_q), k=k, closed=ties == "closed")
    n, m = len(sides[0]), len(sides[1])
    return Shares(
        precision=float((of_p.holders > 0) @ Q.weight / m),
        recall=float((of_q.holders > 0) @ P.weight / n),
        density=float(of_p.holders @ Q.weight / (k * m)),
        coverage=float(of_p.reached @ P.weight / n),
    )


def gram_of(corpus: Corpus, embedder: str, sides: Subsets) -> Gram | None:
    """The products of a corpus's embeddings for these sides; None for large corpora and extreme numbers."""
    return corpus.derive(_gram_of, embedder, sides)


def _gram_of(corpus: Corpus, embedder: str, sides: Subsets) -> Gram | None:
    return Gram.fitting(corpus.embeddings(embedder), np.lexsort(sides.masks))


def side_shares(corpus: Corpus, embedder: str, ground: str, k: int, ties: str, sides: Subsets) -> ManyShares | None:
    """Precision, recall, density and coverage of each draw; None where sides have too little in common."""
    gram = partial(gram_of, corpus, embedder, sides)
    return shares_of_sides(corpus.embeddings(embedder), gram, ground, k, ties, sides)


def side_nearest(corpus: Corpus, embedder: str, ground: str, sides: Subsets) -> tuple[Floats, Floats] | None:
    """Squared distances to the nearest text of the other side, one draw a row; None as for `side_shares`."""
    return nearest_of_sides(corpus.embeddings(embedder), partial(gram_of, corpus, embedder, sides), ground, sides)
