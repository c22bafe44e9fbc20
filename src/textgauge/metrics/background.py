"""The texts that fitted weights come from: how many there are, how long, and how many of them hold each token."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Corpus
from textgauge.data.view import in_one_pool


class Background(NamedTuple):
    """What weights are made of: the number of texts, how many of them hold each token, and their mean length."""

    texts: int
    holding: NDArray[np.int64]
    mean_length: float


def background_of(corpus: Corpus, on: str) -> Background:
    """Count a background; one without texts counts as one text, one without tokens as of length 1."""
    counts = corpus.counts(on)
    texts = max(len(corpus), 1)
    holding = np.bincount(counts.indices, minlength=counts.shape[1])
    return Background(texts, holding, float(counts.sum()) / texts or 1.0)


def all_in_one_pool(rows: Corpus, columns: Corpus, background: Corpus | None) -> tuple[Corpus, Corpus, Corpus]:
    """Rows, columns and background as views of one pool; the background is rows and columns unless given."""
    rows, columns = in_one_pool(rows, columns)
    if background is None:
        return rows, columns, rows | columns
    joined, background = in_one_pool(rows, background)
    return joined, columns if joined is rows else Corpus(joined.pool, columns.index), background
