"""Pools, views, comparisons, pairs."""

import numpy as np
import pytest

from textgauge.core.errors import InputError
from textgauge.data import GIVEN, Comparison, Corpus, Draws, Pairs, Pool


def test_a_view_cannot_be_written_to():
    corpus = Corpus.of(np.eye(3))
    with pytest.raises(ValueError, match="read-only"):
        corpus.index[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        corpus.pool.embeddings(GIVEN)[0, 0] = 5


def test_equal_texts_have_equal_keys_in_every_pool():
    assert Pool(["x", "y"]).keys[1] == Pool(["y"]).keys[0]
    assert Pool(["x"]).fingerprint != Pool(["y"]).fingerprint


def test_canonical_order_depends_on_content_alone():
    texts = [f"text {i}" for i in range(30)]
    assert Corpus.of(texts).canonical().texts == Corpus.of(texts[::-1]).canonical().texts


def test_a_statistic_is_computed_once_per_view():
    calls = []
    corpus = Corpus.of(["a", "b"])

    def size(view, factor):
        calls.append(factor)
        return len(view) * factor

    assert [corpus.derive(size, 2), corpus.derive(size, 2), corpus.derive(size, 3)] == [4, 4, 6]
    assert calls == [2, 3]


def test_draws_become_comparisons():
    draws = Draws(np.array([[True, False, True]]), np.array([[False, True, True]]))
    (comparison,) = draws.comparisons(Corpus.of(["a", "b", "c"]))
    assert (comparison.reference.texts, comparison.candidate.texts) == (("a", "c"), ("b", "c"))


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Corpus.of("one text"), "not one text"),
        (lambda: Corpus.of(["a", 3]), "text 1 is int"),
        (lambda: Corpus.of(np.ones(3)), "matrix"),
        (lambda: Corpus.of(np.array([[1.0, np.nan]])), "embedding 0 is not finite"),
        (lambda: Corpus.of(["a"], embeddings=np.ones((2, 2))), "1 texts but 2 embeddings"),
        (lambda: Comparison(np.ones((2, 2)), np.ones((2, 3))), "different dimensions"),
        (lambda: Comparison(["a"], np.ones((2, 3))), "cannot join"),
        (lambda: Pairs(["a"], ["b", "c"]), "1 and 2"),
        (lambda: Corpus.of(["a"]).take([4]), "out of bounds|outside"),
        (lambda: Corpus(Pool(["a", "b"]), [0, -1]), "row -1 is outside"),
        (lambda: Corpus.of(np.ones((2, 2))).texts, "texts are not known"),
        (lambda: Corpus.of(["a"]).embeddings(GIVEN), "no ready-made"),
    ],
)
def test_bad_input_is_named(make, complaint):
    with pytest.raises((InputError, IndexError), match=complaint):
        make()


@pytest.mark.parametrize("scale", [1e300, 1e21, 1e-21, 1e-300, 5e-324])
def test_embeddings_beyond_exact_arithmetic_are_refused_at_the_border(scale):
    with pytest.raises(InputError, match="scale them first"):
        Corpus.of(np.array([[0.0, 1.0], [1.0, -1.0]]) * scale)


def test_a_single_embedding_beyond_exact_arithmetic_is_named():
    with pytest.raises(InputError, match="embedding 1 is 1e-300"):
        Corpus.of(np.array([[0.0, 1.0], [1e-300, 0.0], [0.0, 0.0]]))


@pytest.mark.parametrize("scale", [0.0, 1e20, 1e-20, 1.0])
def test_other_embeddings_are_taken_as_they_are(scale):
    rows = np.array([[0.0, 1.0], [1.0, -1.0]]) * scale
    np.testing.assert_array_equal(Corpus.of(rows).embeddings("given"), rows)
