"""What both forms of k-means share: where restarts begin, how sums are kept up, what is done for empty clusters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
Labels = NDArray[np.intp]
Mask = NDArray[np.bool_]
Run = tuple[Labels, float]  # labels and objective of a restart

MOST_STEPS = 500
SAMPLE_PER_CENTROID = 256  # more texts than this per centroid are sampled, as faiss does
_FEW_ROWS = 512  # so few are added up without the preparations of a sparse product
_SPLIT = 1.0 / 1024.0  # how far the halves of a split centroid are pushed apart, as in faiss


@dataclass(frozen=True)
class Start:
    """The chance behind the restarts of a problem: each begins at k texts drawn without replacement."""

    k: int
    restarts: int
    seed: tuple[int, ...]

    def sampled(self, weights: Rows) -> Rows:
        """How often each row is used: its weight, or its share of a sample of texts if there are too many."""
        total, most = int(weights.sum()), self.k * SAMPLE_PER_CENTROID
        if total <= most:
            return weights
        texts = np.random.default_rng(self.seed).choice(total, most, replace=False)
        return np.bincount(_row_of(texts, weights), minlength=len(weights)).astype(np.float64)

    def rows(self, weights: Rows) -> Labels:
        """The rows each restart begins at, restarts by k; a row counts as often as its weight says."""
        return _row_of(_start_texts(self, int(weights.sum())), weights)

    def generator(self, restart: int, texts: int) -> np.random.Generator:
        """The chance of one restart after its start among so many texts."""
        rng = np.random.default_rng(self.seed).spawn(self.restarts)[restart]
        rng.choice(texts, self.k, replace=False)
        return rng


@lru_cache(maxsize=256)
def _start_texts(start: Start, texts: int) -> Labels:
    rngs = np.random.default_rng(start.seed).spawn(start.restarts)
    return np.stack([rng.choice(texts, start.k, replace=False) for rng in rngs])


def _row_of(texts: NDArray[np.int64], weights: Rows) -> Labels:
    return np.searchsorted(np.cumsum(weights), texts, side="right")


def split_for_empty(centroids: Rows, sizes: Rows, rng: np.random.Generator) -> Mask:
    """Give each empty cluster half of another, drawn by size − 1, in place; which centroids were pushed."""
    pushed = np.zeros(len(sizes), dtype=bool)
    if sizes.all():
        return pushed
    push = np.where(np.arange(centroids.shape[1]) % 2 == 0, _SPLIT, -_SPLIT)
    left = sizes.copy()
    for empty in np.flatnonzero(sizes == 0):
        spare = np.cumsum(np.maximum(left - 1.0, 0.0))
        giver = int(np.searchsorted(spare, rng.random() * spare[-1], side="right"))
        centroids[empty] = centroids[giver] * (1.0 + push)
        centroids[giver] *= 1.0 - push
        left[empty] = left[giver] = left[giver] / 2.0
        pushed[empty] = pushed[giver] = True
    return pushed


def sums_over(X: Rows, rows: Labels, share: Rows, first: Labels) -> Rows:
    """Sums of shares of rows of X over stretches that begin at `first`."""
    if len(rows) <= _FEW_ROWS:
        found: Rows = np.add.reduceat(X[rows] * share[:, None], first, axis=0)
        return found
    from scipy.sparse import csr_matrix

    return np.asarray(csr_matrix((share, rows, np.append(first, len(rows))), shape=(len(first), len(X))) @ X)
