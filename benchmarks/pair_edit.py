"""Edit distances and word sets of pairs against rapidfuzz and Python's sets, one pair at a time: CPU time, one thread.

python -m benchmarks.pair_edit [pairs]
"""

from __future__ import annotations

import os
import sys

import numpy as np
from numpy.typing import NDArray

from benchmarks.pair_weighted import texts
from benchmarks.timing import Row, race
from textgauge.data import Corpus, Pairs
from textgauge.encode.tokenizers import get_characters, split_folded_words
from textgauge.metrics import get_metric

Scores = NDArray[np.float64]


def rows(n: int = 13_225) -> list[Row]:
    """Rows for n pairs of texts, tokens included on both sides, and for a square matrix of 1,000 texts."""
    everything = texts(2 * n)
    left, right = everything[:n], everything[n:]
    return [
        _row("levenshtein pairs, rapidfuzz", left, right, "levenshtein", lambda: _edits(left, right, get_characters)),
        _row(
            "levenshtein@words, rapidfuzz",
            left,
            right,
            "levenshtein@words",
            lambda: _edits(left, right, split_folded_words),
        ),
        _row("jaccard pairs, sets", left, right, "jaccard", lambda: _shares(left, right)),
        _matrix(everything[:1_000]),
    ]


def _row(name, left, right, metric, peer) -> Row:
    row, mine, yours = race(name, len(left), lambda: get_metric(metric).measure(Pairs(left, right)).values, peer, 3)
    return row | {"max_abs_diff": float(np.abs(mine - yours).max())}


def _edits(left: list[str], right: list[str], split) -> Scores:
    from rapidfuzz.distance import Levenshtein

    sides = [(split(s), split(t)) for s, t in zip(left, right, strict=True)]
    return np.array([1 - Levenshtein.distance(s, t) / (len(s) + len(t)) for s, t in sides])


def _shares(left: list[str], right: list[str]) -> Scores:
    sets = [(set(split_folded_words(s)), set(split_folded_words(t))) for s, t in zip(left, right, strict=True)]
    return np.array([len(A & B) / len(A | B) for A, B in sets])


def _matrix(some: list[str]) -> Row:
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    sides, lengths = [get_characters(text) for text in some], np.array([len(text) for text in some])

    def peer() -> Scores:
        edits = cdist(sides, sides, scorer=Levenshtein.distance, dtype=np.float64)
        return 1 - edits / (lengths[:, None] + lengths)

    corpus = Corpus.of(some)
    row, mine, yours = race(
        "levenshtein matrix, cdist", len(some), lambda: get_metric("levenshtein").matrix(corpus, corpus), peer, 3
    )
    return row | {"max_abs_diff": float(np.abs(mine - yours).max())}


def main() -> None:
    """Print the rows."""
    os.environ["TEXTGAUGE_THREADS"] = "1"
    for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else 13_225):
        print(row, flush=True)


if __name__ == "__main__":
    main()
