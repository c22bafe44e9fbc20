"""BM25+ against rank_bm25 and bm25s, TF-IDF against scikit-learn: CPU time on one thread, values compared.

Run in an environment that has textgauge, rank-bm25 and bm25s: python -m benchmarks.pair_weighted [documents]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, race
from textgauge.data import Corpus, Pairs
from textgauge.encode.tokenizers import split_folded_words
from textgauge.metrics import get_metric

QUERIES = 200
FEW = 5  # queries for the slowest peer
Scores = NDArray[np.float64]
Scoring = Callable[[], list[Scores]]


def texts(n: int) -> list[str]:
    """n different texts of the style-transfer study where the data folder has it, else made-up ones of Zipf's law."""
    from textgauge.data import is_here, load_published_pairs

    if is_here("yamshchikov14"):
        pairs = load_published_pairs("yamshchikov14")
        found = list(dict.fromkeys([*pairs.right, *pairs.left]))
        if len(found) >= n:
            return found[:n]
    rng = np.random.default_rng(0)
    return [" ".join(f"w{rank}" for rank in np.minimum(rng.zipf(1.3, rng.integers(5, 25)), 20_000)) for _ in range(n)]


def rows(n: int = 15_000) -> list[Row]:
    """Rows for scoring n documents, per query and with the work before the first query, and for TF-IDF of n pairs."""
    everything = Corpus.of(texts(n + QUERIES))
    everything.counts("words")
    documents, queries = everything.take(np.arange(n)), everything.take(np.arange(n, n + QUERIES))
    tokens = [split_folded_words(text) for text in everything.texts]
    return [*_per_query(documents, queries, tokens), _with_index(documents, queries, tokens), _tfidf(everything)]


def _per_query(documents: Corpus, queries: Corpus, tokens: list[list[str]]) -> list[Row]:
    n = len(documents)
    ours = partial(_ours, queries, documents)
    ours()
    peers: dict[str, tuple[Scoring, int]] = {
        "rank_bm25": (_rank_bm25(tokens[:n], tokens[n : n + FEW]), FEW),
        "bm25s": (_bm25s(tokens[:n])(tokens[n:]), QUERIES),
    }
    found = []
    for peer, (call, count) in peers.items():
        row, mine, yours = race(f"bm25plus a query, {peer}", n, ours, call, 5)
        row |= {"ours_ms": row["ours_ms"] / QUERIES, "peer_ms": row["peer_ms"] / count}
        difference = float(np.abs(mine[:count] - np.array(yours)).max())
        found.append(row | {"ratio": row["peer_ms"] / row["ours_ms"], "max_abs_diff": difference})
    return found


def _with_index(documents: Corpus, queries: Corpus, tokens: list[list[str]]) -> Row:
    n = len(documents)

    def ours() -> Scores:
        return _ours(queries, documents.take(np.arange(n)))

    def peer() -> list[Scores]:
        return _bm25s(tokens[:n])(tokens[n:])()

    return race(f"bm25plus index + {QUERIES} queries, bm25s", n, ours, peer, 3)[0]


def _ours(queries: Corpus, documents: Corpus) -> Scores:
    return get_metric("bm25plus(normalise=false)").matrix(queries, documents, background=documents)


def _rank_bm25(documents: list[list[str]], queries: list[list[str]]) -> Scoring:
    from rank_bm25 import BM25Plus

    scorer = BM25Plus(documents)
    return lambda: [scorer.get_scores(query) for query in queries]


def _bm25s(documents: list[list[str]]) -> Callable[[list[list[str]]], Scoring]:
    from bm25s import BM25

    scorer = BM25(method="bm25+", k1=1.5, b=0.75, delta=1.0)
    scorer.index(documents, show_progress=False)
    return lambda queries: lambda: [scorer.get_scores(query) for query in queries]


def _tfidf(everything: Corpus) -> Row:
    from sklearn.feature_extraction.text import TfidfVectorizer

    n = len(everything) // 2
    left, right = list(everything.texts[:n]), list(everything.texts[n : 2 * n])

    def peer() -> Scores:
        weights = TfidfVectorizer(analyzer=split_folded_words).fit_transform([*left, *right])
        return np.asarray(weights[:n].multiply(weights[n:]).sum(axis=1)).reshape(-1)

    def ours() -> Scores:
        return get_metric("tfidf").measure(Pairs(left, right)).values

    row, mine, yours = race("tfidf pairs, scikit-learn", n, ours, peer, 3)
    return row | {"max_abs_diff": float(np.abs(mine - yours).max())}


def main() -> None:
    """Print the rows."""
    for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else 15_000):
        print(row, flush=True)


if __name__ == "__main__":
    main()
