import numpy as np
import pytest

from textgauge.core.settings import limit_sizes
from textgauge.data import Corpus, Pairs
from textgauge.metrics import get_metric
from textgauge.metrics.pair import embedding


def texts_of(n):
    rng = np.random.default_rng(n)
    return [" ".join(rng.choice(["a", "the", "cat", "dogs", "run"], size=rng.integers(0, 7))) for _ in range(n)]


@pytest.mark.usefixtures("toy")
def test_small_blocks_and_groups_change_nothing():
    metric = get_metric("bertscore@toy")
    rows, columns = Corpus.of(texts_of(20)), Corpus.of(texts_of(17))
    pairs = Pairs(texts_of(40), texts_of(40)[::-1])
    whole, matrix = metric.compute(pairs)["value"], metric.matrix(rows, columns)
    for most in (12, 60):
        with limit_sizes(most):
            np.testing.assert_array_equal(metric.compute(pairs)["value"], whole)
            np.testing.assert_allclose(metric.matrix(rows, columns), matrix, rtol=0, atol=1e-12)


def test_texts_that_fit_are_encoded_once(toy):
    texts = texts_of(12)
    get_metric("bertscore@toy").compute(Pairs(np.repeat(texts, 12).tolist(), texts * 12))
    get_metric("bertscore@toy").matrix(Corpus.of(texts), Corpus.of(texts))
    assert toy.calls == 2


@pytest.mark.usefixtures("toy")
def test_each_number_is_the_largest_over_references():
    metric = get_metric("bertscore@toy")
    references = ["the cat", "a dogs run", "naïve"]
    single = metric(left=["a cat run"] * 3, right=references)
    several = metric(left=["a cat run", "the"], right=[references, ["the"]])
    assert several.values.tolist() == [single.values.max(), 1]
    assert several.parts["precision"][0] == single.parts["precision"].max()
    assert several.parts["recall"][0] == single.parts["recall"].max()


def test_f1_where_it_is_none():
    precision, recall = np.array([0.5, 0.3, 0.0, -0.4, 0.0]), np.array([0.25, -0.29, 0.0, -0.4, 0.5])
    np.testing.assert_allclose(embedding.f1(precision, recall), [1 / 3, 0, 0, -0.4, 0])


@pytest.mark.usefixtures("toy")
def test_rescaling(monkeypatch):
    monkeypatch.setitem(embedding.BASELINES, "toy", {embedding.MINILM_LAYER: (0.2, 0.4, 0.5)})
    left, right = ["a cat", "same", "", "x"], ["the dogs run", "same", "", ""]
    plain, scaled = (
        get_metric(name)(left=left, right=right) for name in ("bertscore@toy", "bertscore(rescale=true)@toy")
    )
    np.testing.assert_allclose(scaled.values, (plain.values - 0.5) / 0.5)
    np.testing.assert_allclose(scaled.parts["precision"], (plain.parts["precision"] - 0.2) / 0.8)
    np.testing.assert_allclose(scaled.parts["recall"], (plain.parts["recall"] - 0.4) / 0.6)
    assert scaled.values[1:3].tolist() == [1, 1]
    assert get_metric("bertscore(rescale=true)@toy").bounds == (-3, 1)


def test_every_layer_has_a_baseline():
    assert all(get_metric(f"bertscore(rescale=true,layer={layer})").bounds[1] == 1 for layer in range(7))
