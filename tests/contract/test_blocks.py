"""No metric depends on how much is worked on at once: blocks of three rows give the numbers of whole ones."""

import numpy as np
import pytest

from textgauge import get_metric, list_metrics
from textgauge.core.settings import limit_sizes
from textgauge.data import Comparison, Corpus, Draws, Pairs
from textgauge.testing import drop_models

WORDS = [f"w{number}" for number in range(40)]
CORPUS = [drop_models(metric) for metric in list_metrics(kind="corpus")]
PAIR = [
    get_metric("meteor(stages=stem)") if metric.name == "meteor" else metric  # without WordNet
    for metric in list_metrics(kind="pair")
    if metric.needs in ("texts", "tokens")
]


def texts(count, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 12))) for _ in range(count)]


def comparison(metric):
    if metric.reads_texts:
        return Comparison(texts(21, 1), texts(17, 2))
    rng = np.random.default_rng(3)
    return Comparison(rng.normal(size=(21, 5)), rng.normal(size=(17, 5)) + 0.5)


@pytest.mark.parametrize("metric", CORPUS, ids=str)
def test_of_corpora(metric):
    left = np.random.default_rng(4).permuted(np.tile(np.arange(38) < 20, (9, 1)), axis=1)
    whole, draws = comparison(metric), Draws(left, ~left)
    value, many = metric.compute(whole), metric.compute_many(whole.joint, draws)
    with limit_sizes(3):
        cut = comparison(metric)
        assert metric.compute(cut) == pytest.approx(value, rel=1e-9, abs=1e-12)
        for name, numbers in metric.compute_many(cut.joint, draws).items():
            np.testing.assert_allclose(numbers, many[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("metric", PAIR, ids=str)
def test_of_pairs(metric):
    left, right = texts(17, 5), texts(17, 6)
    rows, columns = Corpus.of(texts(8, 7)), Corpus.of(texts(5, 8))
    values, matrix = metric.measure(Pairs(left, right)).values, metric.matrix(rows, columns)
    with limit_sizes(3):
        np.testing.assert_array_equal(metric.measure(Pairs(left, right)).values, values)
        np.testing.assert_allclose(metric.matrix(rows, columns), matrix, rtol=0, atol=1e-12)
