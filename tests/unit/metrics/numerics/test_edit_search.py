"""The best match by word edits against a plain loop over all documents."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge.core.settings import limit_sizes
from textgauge.encode.tokenizers import get_tokenizer
from textgauge.metrics.numerics.search import find_best_matches

WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=8)
CORPUS = st.lists(WORDS.map(" ".join), max_size=30)
Found = list[tuple[int, int, float]]


def edits(s, t):
    row = list(range(len(t) + 1))
    for i, a in enumerate(s, start=1):
        previous, row = row, [i]
        for j, b in enumerate(t, start=1):
            row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a != b)))
    return row[-1]


def plain(queries, documents):
    found: Found = []
    for query in map(str.split, queries):
        best = (0, 0, -1.0)
        for index, document in enumerate(map(str.split, documents)):
            distance, longest = edits(query, document), max(len(query), len(document))
            similarity = (longest - distance) / longest if longest else 1.0
            if similarity > best[2]:
                best = (index, distance, similarity)
        found.append(best)
    return found


def tokens(queries, documents):
    both = get_tokenizer("whitespace").encode([*queries, *documents])
    return both.take(np.arange(len(queries))), both.take(np.arange(len(queries), len(both)))


def found(queries, documents):
    index, distance, similarity = find_best_matches(*tokens(queries, documents))
    assert [str(values.dtype) for values in (index, distance, similarity)] == ["int64", "int64", "float64"]
    return list(zip(index.tolist(), distance.tolist(), similarity.tolist(), strict=True))


@settings(deadline=None)
@given(CORPUS, CORPUS.filter(bool), st.sampled_from([1, 3, 1_000]))
def test_equals_the_plain_loop(queries, documents, most):
    with limit_sizes(most):
        assert found(queries, documents) == plain(queries, documents)
