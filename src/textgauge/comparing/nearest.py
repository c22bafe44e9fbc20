"""The nearest text of the other corpus, by whatever a metric looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textgauge.data import Comparison, Corpus
from textgauge.metrics import CorpusMetric
from textgauge.metrics import ground_matrix as _pair_ground
from textgauge.metrics.neighbour_statistics import Nearest, nearest

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_BLOCK = 512  # texts whose similarities to the whole other corpus are held at once


def nearest_other(metric: CorpusMetric, comparison: Comparison) -> tuple[Nearest, str]:
    """For each text the nearest one of the other side, and by which distance.

    Metrics over a ground: by that ground; metrics of embeddings: by their cosine distance; metrics of tokens: by the
    cosine distance of token counts, where a text without tokens is at 1 from all.
    """
    if metric.pair_ground is not None:
        return comparison.derive(_pair_ground.nearest, metric.pair_ground), metric.pair_ground
    if metric.needs == "tokens":
        return comparison.derive(_nearest_counts, metric.on), f"cosine of {metric.on} counts"
    ground = metric.ground if metric.needs == "ground" else "cosine"
    return nearest(comparison, metric.embedder, ground), f"{metric.embedder}:{ground}"


def _nearest_counts(comparison: Comparison, tokenizer: str) -> Nearest:
    P, Q = (_unit_counts(side, tokenizer) for side in (comparison.reference, comparison.candidate))
    n, m = P.shape[0], Q.shape[0]
    of_p, at_q, of_q, at_p = np.empty(n), np.empty(n, np.int64), np.full(m, np.inf), np.zeros(m, np.int64)
    for top in range(0, n, _BLOCK):
        rows = slice(top, min(top + _BLOCK, n))
        block = np.maximum(1.0 - (P[rows] @ Q.T).toarray(), 0.0)
        at_q[rows], of_p[rows] = block.argmin(axis=1), block.min(axis=1)
        closest = block.argmin(axis=0)
        found = block[closest, np.arange(m)]
        closer = found < of_q
        at_p[closer], of_q[closer] = top + closest[closer], found[closer]
    return Nearest(of_p, at_q, of_q, at_p, None)


def _unit_counts(corpus: Corpus, tokenizer: str) -> csr_matrix:
    """Token counts of each text, scaled to length one; a text without tokens stays zero."""
    counts = corpus.counts(tokenizer).copy()
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts.data /= np.repeat(lengths, np.diff(counts.indptr))
    return counts
