"""Word mover's distance against POT and gensim: CPU time on one thread, interleaved, least of some, values compared.

Both sides are given tokens and vectors; ours counts the words inside the measured time, too. `ot.dist` puts equal words
some 1e-7 apart, which is the difference from POT; gensim's own distances agree to 1e-14.

Run in an environment that has textgauge and gensim: python -m benchmarks.pair_transport [vectors [pairs]]
"""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, race
from textgauge.data import Pairs, is_here, load_pairs
from textgauge.encode.word_vectors import get_word_vectors
from textgauge.metrics import get_metric

Values = NDArray[np.float64]
Sentences = list[tuple[list[str], list[str]]]
Vectors = dict[str, NDArray[np.float32]]

REPEATS = 3


def rows(vectors: str = "wordvec", most: int | None = None) -> list[Row]:
    """Rows for POT, and for gensim where it is installed."""
    left, right = _texts(most)
    sentences, table = _known(left, right, vectors)
    peers: dict[str, Callable[[], Values]] = {"POT": lambda: _pot(sentences, table)}
    if importlib.util.find_spec("gensim"):
        peers["gensim"] = _gensim(sentences, table)
    return [_row(name, vectors, (left, right), peer) for name, peer in peers.items()]


def _row(name: str, vectors: str, texts: tuple[list[str], list[str]], peer: Callable[[], Values]) -> Row:
    metric = get_metric(f"wmd@{vectors}")
    metric.compute(Pairs(["a cat walks"], ["the old dog sleeps"]))
    tokenised = [_tokenised(*texts) for _ in range(REPEATS)]
    row, mine, yours = race(f"wmd / {name}", len(texts[0]), lambda: metric.compute(tokenised.pop()), peer, REPEATS)
    both = ~np.isnan(mine["value"]) & np.isfinite(yours)
    per_pair = {f"{side}_us_per_pair": 1e3 * row[f"{side}_ms"] / len(both) for side in ("ours", "peer")}
    return row | per_pair | {"max_abs_diff": float(np.abs(mine["value"] - yours)[both].max())}


def _texts(most: int | None) -> tuple[list[str], list[str]]:
    if is_here("yamshchikov14"):
        found = load_pairs("yamshchikov14")
        return list(found.left[:most]), list(found.right[:most])
    rng = np.random.default_rng(0)
    words = ["the", "a", "of", "in", "old", "new", "cat", "dog", "house", "river", "road", "walks", "near", "today"]
    made = [" ".join(rng.choice(words, rng.integers(4, 19))) for _ in range(2 * (most or 2_000))]
    return made[::2], made[1::2]


def _tokenised(left: list[str], right: list[str]) -> Pairs:
    pairs = Pairs(left, right)
    pairs.left.pool.tokens("words")
    return pairs


def _known(left: list[str], right: list[str], vectors: str) -> tuple[Sentences, Vectors]:
    tokens = Pairs(left, right).left.pool.tokens("words")
    found, known = get_word_vectors(vectors).lookup(tokens.vocabulary)
    table = {word: vector for word, vector, here in zip(tokens.vocabulary, found, known, strict=True) if here}
    texts = [[word for word in tokens.strings(row) if word in table] for row in range(len(tokens))]
    return list(zip(texts[: len(left)], texts[len(left) :], strict=True)), table


def _pot(sentences: Sentences, table: Vectors) -> Values:
    import ot

    def distance(left: list[str], right: list[str]) -> float:
        a, b = Counter(left), Counter(right)
        X, Y = (np.array([table[word] for word in side], dtype=np.float64) for side in (a, b))
        shares = (np.array(list(side.values())) / side.total() for side in (a, b))
        return float(ot.emd2(*shares, ot.dist(X, Y, metric="euclidean")))

    return np.array([distance(*pair) if all(pair) else np.nan for pair in sentences])


def _gensim(sentences: Sentences, table: Vectors) -> Callable[[], Values]:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(len(next(iter(table.values()))))
    vectors.add_vectors(list(table), np.array(list(table.values())))
    return lambda: np.array([vectors.wmdistance(*pair, norm=False) for pair in sentences])


def main() -> None:
    """Print the rows."""
    for row in rows(*sys.argv[1:2], *map(int, sys.argv[2:3])):
        print(row, flush=True)


if __name__ == "__main__":
    main()
