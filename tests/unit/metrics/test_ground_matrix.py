"""Pair metrics as grounds, held against the grounds of embeddings and against plain loops."""

import numpy as np
import pytest

from textgauge import Comparison, Corpus, compare, get_metric
from textgauge.core.errors import InputError, ParameterError
from textgauge.metrics.grounds import get_ground_matrix

WORDS = ["red", "blue", "cat", "dog", "old", "new", "tea", "sees", "likes", "the", "a", "near"]


def _corpora(n=30, m=40, seed=0):
    """Two corpora of short texts, some repeated, with vectors: equal texts have equal vectors."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(len(WORDS), 9))

    def corpus(size, among):
        rows = rng.integers(0, among, (size, 4))
        rows[size // 2 : size // 2 + 3] = rows[0]
        return Corpus.of([" ".join(WORDS[i] for i in row) for row in rows], embeddings=table[rows].sum(axis=1))

    return corpus(n, 8), corpus(m, 12)


@pytest.mark.parametrize(
    "name", ["energy", "irpr", "ahd", "hausdorff", "pr(k=3)", "pr(k=2,ties=open)", "dc(k=3)", "mmd"]
)
def test_cosine_of_pairs_as_ground_is_the_ground_cosine(name):
    comparison = Comparison(*_corpora())
    pairwise, rows = (get_metric(f"{name}@{on}").measure(comparison) for on in ("cosine@given", "given:cosine"))
    assert pairwise.value == pytest.approx(rows.value, abs=2e-6)
    assert pairwise.parts == pytest.approx(rows.parts, abs=2e-6)


@pytest.mark.parametrize("name", ["energy", "irpr", "ahd", "mmd"])
def test_uncertainty_over_pairs_is_that_of_the_ground_cosine(name):
    reference, candidate = _corpora(100, 100)
    pairwise, rows = (
        next(iter(compare(reference=reference, candidate=candidate, metrics=f"{name}@{on}", ci=True, test=True)))
        for on in ("cosine@given", "given:cosine")
    )
    found, expected = ([score.low, score.high, score.p_value, score.null] for score in (pairwise, rows))
    assert found == pytest.approx(expected, abs=1e-5)


def test_energy_over_levenshtein_is_the_plain_formula():
    P, Q = _corpora(12, 15)
    value = get_metric("energy@levenshtein").measure(Comparison(P, Q)).value

    def mean(A, B):
        pairs = [(a, b) for a in A for b in B]
        return 1 - get_metric("levenshtein")(left=[a for a, _ in pairs], right=[b for _, b in pairs]).values.mean()

    assert value == pytest.approx(2 * mean(P, Q) - mean(P, P) - mean(Q, Q), abs=1e-6)


def test_an_asymmetric_metric_is_averaged_over_both_directions():
    corpus = Corpus.of(["a b c d e f", "a b c", "x y"])
    matrix = get_ground_matrix(corpus.pool, "chrf")
    rows = matrix.rows(corpus)
    values = get_metric("chrf").matrix(corpus, corpus)
    np.testing.assert_allclose(matrix.block(rows, rows), 1 - (values + values.T) / 2, atol=1e-6)


def test_the_matrix_holds_only_the_different_texts_that_were_needed_and_grows():
    pool = Corpus.of([f"text number {i % 50}" for i in range(100)])
    matrix = get_ground_matrix(pool.pool, "jaccard")
    few = matrix.rows(pool.take([3, 4, 53]))
    assert few.tolist() == [few[0], few[1], few[0]]
    before = matrix.block(few, few)
    assert matrix.rows(pool).max() == 49
    np.testing.assert_array_equal(matrix.block(matrix.rows(pool.take([3, 4, 53])), few), before)


def test_what_gives_no_distance_is_refused():
    with pytest.raises(ParameterError, match="upper bound"):
        get_metric("energy@nist(normalise=false)")
    with pytest.raises(InputError, match="needs texts"):
        compare(reference=np.eye(3), candidate=np.eye(3) + 1, metrics="energy@jaccard")


def test_an_undefined_pair_makes_the_corpus_metric_undefined_with_the_reason():
    score = get_metric("energy@wmd").measure(Comparison(["the cat", ""], ["a dog", "the bird"]))
    assert np.isnan(score.value)
    assert "wmd has no value for some of the pairs" in score.reason


@pytest.mark.parametrize("name", ["mmd", "energy"])
def test_an_offset_that_all_texts_share_changes_no_distance(name):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(9, 5)), rng.normal(size=(7, 5)) + 0.5
    metric = get_metric(f"{name}@given:euclidean")
    offset = [np.hstack([side, np.full((len(side), 1), 1e9)]) for side in (X, Y)]
    plain = [np.hstack([side, np.zeros((len(side), 1))]) for side in (X, Y)]
    expected = metric.measure(Comparison(*plain)).value
    assert metric.measure(Comparison(*offset)).value == pytest.approx(expected, rel=1e-9)
    assert metric.measure(Comparison(*(side[::-1] for side in offset))).value == pytest.approx(expected, rel=1e-9)
