"""TF-IDF and BM25+: their backgrounds and their parameters."""

from collections import Counter
from math import isinf, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge import get_metric
from textgauge.data import Corpus, Pairs

TEXTS = st.lists(st.sampled_from("abcdefgh"), max_size=8).map(" ".join)
SETS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6)


def plain_tfidf(left, right, background):
    held = Counter(word for text in background for word in set(text.split()))

    def weights(text):
        return {w: c * (log((1 + len(background)) / (1 + held[w])) + 1) for w, c in Counter(text.split()).items()}

    def length(vector):
        return sqrt(sum(value * value for value in vector.values()))

    def one(u, v):
        if not u or not v:
            return float(not u and not v)
        return sum(u[w] * v.get(w, 0.0) for w in u) / length(u) / length(v)

    return [one(weights(s), weights(t)) for s, t in zip(left, right, strict=True)]


def plain_bm25plus(left, right, background, *, k1=1.5, b=0.75, delta=1.0):
    held = Counter(word for text in background for word in set(text.split()))
    mean = sum(len(text.split()) for text in background) / len(background) or 1.0

    def raw(query, document):
        found, size = Counter(document.split()), len(document.split())
        score = 0.0
        for word in query.split():
            f = found[word]
            if f:
                idf = log((len(background) + 1) / max(held[word], 1))
                score += idf * (delta + f * (k1 + 1) / (f + k1 * (1 - b + b * size / mean)))
        return score

    own = [raw(s, s) or float("nan") for s in left]
    values = zip(left, right, own, strict=True)
    return [min(raw(s, t) / x, 1.0) if s else float(not t) for s, t, x in values]


@settings(deadline=None)
@given(SETS, st.lists(TEXTS, min_size=1, max_size=5))
def test_a_given_background_may_lack_words(pairs, background):
    left, right = [s for s, _ in pairs], [t for _, t in pairs]
    given_pairs = Pairs(left, right, background=Corpus.of(background))
    for name, plain in (("tfidf", plain_tfidf), ("bm25plus", plain_bm25plus)):
        values = get_metric(name).measure(given_pairs).values
        np.testing.assert_allclose(values, plain(left, right, background), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["tfidf", "tfidf(idf=plain)", "bm25plus"])
@pytest.mark.parametrize("background", [[], [""], ["", "  "], ["nothing in common"]])
def test_words_outside_the_background_still_separate_texts(name, background):
    pairs = Pairs(["red cat", "red cat", ""], ["red cat", "red dog", ""], background=Corpus.of(background))
    same, other, empty = get_metric(name).measure(pairs).values
    assert same == empty == 1.0
    assert 0.0 < other < 1.0


def test_repeated_pairs_weigh_in_the_default_background():
    left, right = ["a b", "c d", "a b"], ["a c", "d d", "a c"]
    values = get_metric("tfidf")(left=left, right=right).values
    np.testing.assert_allclose(values, plain_tfidf(left, right, left + right), rtol=0, atol=1e-12)


def test_a_better_document_than_the_query_scores_no_more_than_one():
    values = get_metric("bm25plus")(left=["a b", "c"], right=["a a a b b b", "d"]).values
    assert values.tolist() == [1.0, 0.0]


def test_raw_scores_have_no_upper_bound_and_grant_delta_for_missing_words():
    raw = get_metric("bm25plus(normalise=false)")
    assert raw.bounds[0] == 0.0
    assert isinf(raw.bounds[1])
    assert get_metric("bm25plus").bounds == (0.0, 1.0)
    values = raw(left=["a", "", ""], right=["b", "c", ""]).values
    np.testing.assert_allclose(values, [log(7 / 1), 0.0, 0.0])


def test_matrix_takes_weights_from_rows_and_columns_by_default():
    rows, columns = Corpus.of(["a b", "c"]), Corpus.of(["a c", "b b a", ""])
    both = Corpus.of([*rows.texts, *columns.texts])
    for name in ("tfidf", "bm25plus", "bm25plus(normalise=false)"):
        metric = get_metric(name)
        np.testing.assert_array_equal(metric.matrix(rows, columns), metric.matrix(rows, columns, background=both))
