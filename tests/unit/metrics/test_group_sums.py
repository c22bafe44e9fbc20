"""Draws of groups have the values of draws of their texts; tests and intervals by groups keep their level."""

import numpy as np
import pytest

from textgauge.data import Comparison, Corpus, Draws
from textgauge.data.large import deal_groups
from textgauge.metrics import get_corpus_metrics
from textgauge.metrics.uncertainty import DisjointSplits, order_by_content

METRICS = [metric.on_embeddings() for metric in get_corpus_metrics("energy,medoid,ttest,fid")]
OTHERS = [metric.on_embeddings() for metric in get_corpus_metrics("pr,mmd,energy@euclidean,median")]
COUNTED = get_corpus_metrics("jsd@words,zipf@words,chi(padding=source)@words,ttr_gap@words,vocab_overlap@words")
WORDS = [f"w{number}" for number in range(30)]


def make_rows(rng, n, m, shift=0.0):
    scale = 1 / np.sqrt(1 + np.arange(20))
    X, Y = (1 + scale * rng.normal(size=(size, 20)) for size in (n, m))
    Y[:, 0] += shift
    return X, Y


def compare_groups(first, second, seed=0):
    sides = Corpus.of(first), Corpus.of(second)
    return Comparison(*sides, groups=deal_groups(*sides, seed=seed), dealt=True)


def draw(comparison, seed=0):
    rng = np.random.default_rng(seed)
    left = rng.random((6, sum(comparison.units.counts))) < 0.4
    return Draws(left, ~left & (rng.random(left.shape) < 0.7), comparison.units.groups)


@pytest.mark.parametrize("metric", [*METRICS, *OTHERS, *COUNTED], ids=str)
def test_draws_of_groups_are_draws_of_their_texts(metric):
    rng = np.random.default_rng(1)
    if metric.needs == "tokens":
        first, second = ([" ".join(rng.choice(WORDS, rng.integers(1, 9))) for _ in range(n)] for n in (200, 150))
    else:
        first, second = make_rows(rng, 200, 150, 0.3)
        first[7] = 0  # without a direction
    comparison = compare_groups(first, second)
    draws = draw(comparison)
    values = metric.compute_draws(comparison.joint, draws)
    expected = [metric.compute(one) for one in draws.of_texts().comparisons(comparison.joint)]
    for name, column in values.items():
        np.testing.assert_allclose(column, [one[name] for one in expected], rtol=1e-9, atol=1e-12)
    assert [len(one.reference) for one in draws.comparisons(comparison.joint)] == draws.sizes[0].tolist()


def test_exchanges_take_the_same_share_of_groups_of_both_corpora():
    comparison = compare_groups(*make_rows(np.random.default_rng(2), 300, 100))
    assert comparison.units.counts == (96, 32)
    seen = []
    METRICS[0].null_values(comparison, permutations=5, seed=0)
    draws = next(value for value in comparison._remembered.values() if isinstance(value, Draws))
    for left, right in zip(draws.left[1:], draws.right[1:], strict=True):
        assert (left ^ right).all()
        assert left[:96].mean() == left[96:].mean() == 0.75
        seen.append(left.tobytes())
    assert len(set(seen)) == 5


def test_parts_are_cut_by_groups():
    comparison = compare_groups(*make_rows(np.random.default_rng(3), 200, 200))
    parts = DisjointSplits.of(comparison, trials=3, seed=0)
    assert parts.draws.left.shape == (30, 128)
    texts = parts.draws.of_texts()
    for group in range(128):
        members = comparison.units.groups == group
        assert (texts.left[:, members] == texts.left[:, members][:, :1]).all()
    assert order_by_content(comparison) is comparison.joint


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(2_000, 2_000), (3_000, 1_000), (2_000, 1_500)])
def test_one_source_is_seldom_called_two(n, m):
    rng = np.random.default_rng(7)
    p, ratio = [], []
    for run in range(200):
        comparison = compare_groups(*make_rows(rng, n, m), seed=run)
        nulls = [metric.null_values(comparison, permutations=99, seed=run) for metric in METRICS]
        p.append([null.p_value for null in nulls])
        ratio.append([null.observed / null.mean for null in nulls])
    print(n, m, (np.array(p) <= 0.05).mean(axis=0), np.mean(ratio, axis=0))
    assert ((np.array(p) <= 0.05).mean(axis=0) <= 0.09).all()  # 5 % and three standard errors
    assert (abs(np.mean(ratio, axis=0) - 1) < 0.1).all()


@pytest.mark.slow
def test_intervals_cover_the_expected_value():
    rng = np.random.default_rng(8)
    metrics = [metric for metric in METRICS if metric.no_interval is None]
    values, ends = [], []
    for run in range(200):
        comparison = compare_groups(*make_rows(rng, 2_000, 1_500, 0.3), seed=run)
        scores = [metric.measure(comparison) for metric in metrics]
        values.append([score.value for score in scores])
        pairs = zip(metrics, scores, strict=True)
        ends.append([metric.interval(comparison, score, level=0.95, seed=run)[:2] for metric, score in pairs])
    expected, low, high = np.mean(values, axis=0), np.array(ends)[:, :, 0], np.array(ends)[:, :, 1]
    inside = (low <= expected) & (expected <= high)
    print(inside.mean(axis=0))
    assert (inside.mean(axis=0) >= 0.9).all()
