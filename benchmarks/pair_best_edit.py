"""The best match by word edits among many texts against the full matrix of rapidfuzz: CPU time, one thread.

python -m benchmarks.pair_best_edit [queries]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, race
from textgauge.encode.tokenizers import Tokens, get_tokenizer
from textgauge.metrics.numerics.search import find_best_matches

DATASETS = ("clinc150", "banking77", "nfcats")
Ints = NDArray[np.int64]


def rows(n: int = 10_000) -> list[Row]:
    """Rows for n queries among 3n documents: sentences not seen before, sentences with changed words, word salad."""
    found, documents = sentences(n), np.arange(n, 4 * n)
    copies = changed(found.take(np.random.default_rng(1).choice(documents, n)))
    return [
        _row("best edit, other sentences", found.take(np.arange(n)), found.take(documents)),
        _row("best edit, changed sentences", copies, found.take(documents)),
        _row("best edit, word salad", salad(n // 10, seed=2), salad(3 * n, seed=3)),
    ]


def sentences(n: int) -> Tokens:
    """4n sentences of three datasets, shuffled, the last with changed words where they do not suffice; else made up."""
    from textgauge.data import is_here, load_texts

    rng = np.random.default_rng(0)
    if not all(map(is_here, DATASETS)):
        return _made_up(rng, 4 * n)
    found = get_tokenizer("words").encode(
        list(dict.fromkeys(text for name in DATASETS for text in load_texts(name).texts))
    )
    order = rng.permutation(len(found))[: 4 * n]
    more = changed(found.take(rng.choice(order, 4 * n - len(order))))
    both = Tokens(np.concatenate([found.ids, more.ids]), _offsets(found, more), found.vocabulary)
    return both.take(np.concatenate([order, np.arange(len(found), len(both))]))


def changed(tokens: Tokens) -> Tokens:
    """The same texts with each word replaced by one drawn from all with probability 1/5."""
    rng = np.random.default_rng(4)
    ids = np.where(rng.random(len(tokens.ids)) < 0.2, rng.choice(tokens.ids, len(tokens.ids)), tokens.ids)
    return Tokens(ids, tokens.offsets, tokens.vocabulary)


def salad(n: int, *, seed: int, words: int = 50) -> Tokens:
    """n texts of 5 to 19 words drawn evenly from a few: about all share as much, and no bound rules anything out."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(5, 20, n))])
    return Tokens(rng.integers(0, words, offsets[-1]).astype(np.int32), offsets, tuple(map(str, range(words))))


def _made_up(rng: np.random.Generator, n: int) -> Tokens:
    offsets = np.concatenate([[0], np.cumsum(rng.integers(4, 20, n))])
    ids = np.minimum(rng.zipf(1.3, offsets[-1]), 20_000) - 1
    return Tokens(ids.astype(np.int32), offsets, tuple(map(str, range(20_000))))


def _offsets(one: Tokens, other: Tokens) -> Ints:
    return np.concatenate([one.offsets, one.offsets[-1] + other.offsets[1:]])


def _row(name: str, queries: Tokens, documents: Tokens) -> Row:
    row, mine, yours = race(
        f"{name}, cdist", len(queries), lambda: find_best_matches(queries, documents)[0], _full(queries, documents), 3
    )
    return row | {"different": int((mine != yours).sum())}


def _full(queries: Tokens, documents: Tokens) -> Callable[[], Ints]:
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    def peer() -> Ints:
        asked, given = _lists(queries), _lists(documents)
        blocks = (asked[start : start + 1_000] for start in range(0, len(asked), 1_000))
        scorer = Levenshtein.normalized_distance
        return np.concatenate([cdist(some, given, scorer=scorer, workers=1).argmin(axis=1) for some in blocks])

    return peer


def _lists(tokens: Tokens) -> list[list[int]]:
    ids = tokens.ids.tolist()
    return [ids[start:end] for start, end in pairwise(tokens.offsets.tolist())]


def main() -> None:
    """Print the rows."""
    for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000):
        print(row, flush=True)


if __name__ == "__main__":
    main()
