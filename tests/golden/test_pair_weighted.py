"""TF-IDF against scikit-learn, BM25+ against rank_bm25 0.2.2 (stored numbers).

tokens = [words_of(text) for text in LEFT + RIGHT]
scorer = rank_bm25.BM25Plus(tokens, k1=..., b=..., delta=...)
[scorer.get_batch_scores(tokens[i], [len(LEFT) + i])[0] for i in range(len(LEFT))]
"""

import numpy as np
import pytest
from tests.golden.pairs import LEFT, RIGHT

from textgauge import get_metric
from textgauge.data import Corpus, Pairs
from textgauge.encode.tokenizers import split_folded_words

BM25PLUS = {
    "bm25plus(normalise=false)": [
        48.09577768, 32.75633743, 17.41310661, 41.43334841, 30.81697028, 40.67811725, 62.36085636, 31.68634734,
        38.59197346, 26.65997974, 16.33378061, 15.22664996, 3.80666249, 8.17856414, 78.14142203, 66.07896777,
        25.34589231, 65.86760783, 21.53922982, 21.89305824, 21.89305824, 19.19901956,
    ],
    "bm25plus(k1=0.9,b=0.4,delta=0.5,normalise=false)": [
        36.51167767, 24.17832699, 13.69266773, 28.50403395, 20.96266786, 26.87927681, 41.81705435, 19.96603133,
        28.52043362, 14.88746182, 9.19818023, 7.61332498, 1.90333124, 5.27318576, 54.73117124, 52.42428177,
        15.59566692, 47.70150006, 13.69233568, 15.13868495, 15.13868495, 12.21559705,
    ],
}  # fmt: skip
# The same with BM25Plus(tokens of RIGHT), which lack words of LEFT.
BM25PLUS_OF_RIGHT = [
    44.63194532, 33.61200829, 16.98313557, 38.50448748, 20.70269116, 41.25173641, 43.08026829, 16.06372879,
    38.9720363, 7.80617429, 4.56565004, 0.0, 0.0, 8.24323571, 51.01773865, 67.92141303, 14.05635653,
    51.16518956, 14.05635653, 22.09030005, 22.09030005, 15.52375575,
]  # fmt: skip
VARIANTS = {
    "tfidf": {},
    "tfidf(sublinear=true)": {"sublinear_tf": True},
    "tfidf(idf=plain)": {"smooth_idf": False},
    "tfidf(idf=none)": {"use_idf": False},
}


def sklearn_cosines(left, right, fitted_on, **options):
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer=split_folded_words, **options).fit(fitted_on)
    return np.asarray(vectorizer.transform(left).multiply(vectorizer.transform(right)).sum(axis=1)).reshape(-1)


@pytest.mark.parametrize("name", VARIANTS)
def test_tfidf_is_that_of_scikit_learn(name):
    expected = sklearn_cosines(LEFT, RIGHT, LEFT + RIGHT, **VARIANTS[name])
    np.testing.assert_allclose(get_metric(name)(left=LEFT, right=RIGHT).values, expected, rtol=0, atol=1e-12)


def test_tfidf_takes_weights_from_the_background():
    background = LEFT + RIGHT + LEFT[:5] * 3 + RIGHT[8:]
    pairs = Pairs(LEFT, RIGHT, background=Corpus.of(background))
    expected = sklearn_cosines(LEFT, RIGHT, background)
    np.testing.assert_allclose(get_metric("tfidf").measure(pairs).values, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", BM25PLUS)
def test_bm25plus_is_that_of_rank_bm25(name):
    values = get_metric(name)(left=LEFT, right=RIGHT).values
    np.testing.assert_allclose(values, BM25PLUS[name], rtol=0, atol=1e-8)


def test_bm25plus_of_queries_with_words_that_no_document_has():
    metric, documents = get_metric("bm25plus(normalise=false)"), Corpus.of(RIGHT)
    values = metric.measure(Pairs(LEFT, RIGHT, background=documents)).values
    np.testing.assert_allclose(values, BM25PLUS_OF_RIGHT, rtol=0, atol=1e-8)
    scores = metric.matrix(Corpus.of(LEFT), documents, background=documents)
    np.testing.assert_allclose(np.diag(scores), BM25PLUS_OF_RIGHT, rtol=0, atol=1e-8)
