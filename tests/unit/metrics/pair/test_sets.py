"""Word sets: the policy for degenerate texts, for all surface metrics."""

import numpy as np
import pytest

from textgauge import get_metric
from textgauge.data import Corpus, Pairs

SURFACE = ["levenshtein", "levenshtein(norm=max)@words", "jaccard", "overlap", "tfidf", "bm25plus"]
BAGS = ["jaccard", "overlap", "tfidf", "bm25plus"]


def test_jaccard_folds_case_and_parts_signs():
    pair = {"left": ["Sea, sea"], "right": ["sea"]}
    assert get_metric("jaccard")(**pair).values[0] == 0.5
    assert get_metric("overlap")(**pair).values[0] == 1 / 2
    assert get_metric("jaccard@whitespace") != get_metric("overlap")
    assert get_metric("jaccard@whitespace")(**pair).values[0] == get_metric("overlap")(**pair).values[0]


@pytest.mark.parametrize("name", SURFACE)
def test_a_text_without_tokens_and_another_score_zero(name):
    values = get_metric(name)(left=["", "a word", ""], right=["a word", "", ""]).values
    assert values.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("name", [*BAGS, "bm25plus(normalise=false)", "bm25plus(scale=corpus)", "jaccard@characters"])
def test_matrix_equals_pairs(name):
    rng = np.random.default_rng(5)
    words = ["the", "a", *(f"w{number}" for number in range(60))]
    chances = np.array([10.0, 5.0, *[1.0] * 60]) / 75
    texts = [" ".join(rng.choice(words, rng.integers(0, 12), p=chances)) for _ in range(30)]
    corpus, metric = Corpus.of(texts), get_metric(name)
    for rows, columns in (
        (corpus, corpus),
        (corpus.take(range(9)), corpus.take(range(5, 30))),
        (corpus, Corpus.of(texts[:4])),
    ):
        left, right = np.repeat(np.arange(len(rows)), len(columns)), np.tile(np.arange(len(columns)), len(rows))
        pairs = Pairs(rows.take(left), columns.take(right), background=corpus)
        expected = metric.compute(pairs)["value"].reshape(len(rows), len(columns))
        np.testing.assert_allclose(metric.matrix(rows, columns, background=corpus), expected, rtol=1e-13, atol=1e-13)


def test_bm25plus_on_the_scale_of_its_background():
    """Shares of one constant: raw-like order over documents, 1 for the text that holds most, the same for all pairs."""
    texts = ["red cat sat on a mat by the door", "red cat", "a dog", ""]
    corpus, metric, own = Corpus.of(texts), get_metric("bm25plus(scale=corpus)"), get_metric("bm25plus")
    found, shares = metric.matrix(corpus, corpus, background=corpus), own.matrix(corpus, corpus, background=corpus)
    assert found[0, 0] == 1.0
    assert 0 < found[1, 1] < 0.5
    assert shares[1, 1] == 1.0
    # Each query's row is its self-scaled row times its share of the largest.
    np.testing.assert_allclose(found[1, [0, 2]], shares[1, [0, 2]] * found[1, 1], rtol=1e-12)
    assert found[3].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert found[:3, 3].tolist() == [0.0] * 3
    few = metric.measure(Pairs(["red cat"], ["a red cat"], background=corpus)).values
    more = metric.measure(Pairs(["red cat", "zebra"], ["a red cat", "dog"], background=corpus)).values
    assert few[0] == more[0]
