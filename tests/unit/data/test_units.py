"""Groups and blocks: what changes sides together, by content alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.core.errors import InputError
from textgauge.data import Comparison, Corpus
from textgauge.data.units import FEWEST_GROUPS
from textgauge.metrics import get_metric
from textgauge.metrics.uncertainty import DisjointSplits, draw_exchanges, order_by_content

METRIC = get_metric("jsd@words")


def make_texts(rng, n, words=40):
    return [" ".join(f"w{word}" for word in rng.integers(words, size=6)) for _ in range(n)]


def compare_documents(seed, documents=(12, 9), sentences=4):
    rng = np.random.default_rng(seed)
    labels = [np.repeat(np.arange(count), sentences) for count in documents]
    return [make_texts(rng, len(label)) for label in labels], labels


@given(st.integers(0, 50))
def test_named_groups_change_sides_whole_and_sizes_stay_near(seed):
    texts, labels = compare_documents(seed)
    labels[0][:3] = 77  # one more group, of three sentences
    comparison = Comparison(*texts, groups=tuple(labels))
    draws = draw_exchanges(comparison, 20, seed).of_texts()
    joint = order_by_content(comparison)
    owner = {text: ("a", label) for text, label in zip(texts[0], labels[0], strict=True)}
    owner |= {text: ("b", label) for text, label in zip(texts[1], labels[1], strict=True)}
    groups = np.unique([str(owner[text]) for text in joint.texts], return_inverse=True)[1]
    for left in draws.left:
        shares = np.bincount(groups, weights=left) / np.bincount(groups)
        assert set(shares) <= {0.0, 1.0}
    assert abs(draws.left.sum(axis=1) - len(texts[0])).max() <= 2
    assert (draws.left ^ draws.right).all()


@given(st.integers(0, 50))
def test_units_depend_on_content_alone(seed):
    texts, labels = compare_documents(seed)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(of)) for of in texts]
    moved = [[of[i] for i in order] for of, order in zip(texts, orders, strict=True)]
    renamed = [900 - label[order] for label, order in zip(labels, orders, strict=True)]
    plain, other = Comparison(*texts, groups=tuple(labels)), Comparison(*moved, groups=tuple(renamed))
    values = [METRIC.null_values(one, permutations=19, seed=3) for one in (plain, other)]
    np.testing.assert_allclose(values[0].permuted, values[1].permuted, rtol=1e-12)


@given(st.integers(0, 50), st.integers(1, 3))
def test_exchanges_stay_within_blocks(seed, copies):
    rng = np.random.default_rng(seed)
    prompts = np.repeat(np.arange(10), copies), np.arange(10)
    comparison = Comparison(*(make_texts(rng, len(of)) for of in prompts), blocks=prompts)
    draws, blocks = draw_exchanges(comparison, 30, seed), comparison.units.blocks
    for left in draws.left:
        assert (np.bincount(blocks, weights=left) == copies).all()
    assert len(np.unique(draws.left, axis=0)) > 10
    assert comparison.units.fewest == 10
    parts = DisjointSplits.of(comparison, trials=2, seed=0).draws
    for left, right in zip(parts.left, parts.right, strict=True):
        assert set(blocks[left]) == set(blocks[right])


def test_groups_lie_within_one_block():
    texts = [f"text {number}" for number in range(8)]
    groups, blocks = np.arange(8) // 2, np.arange(8) // 4
    inside = Comparison(texts, texts[::-1], groups=(groups, groups), blocks=(blocks, blocks))
    assert inside.units.counts == (4, 4)
    assert len(inside.units.blocks) == 8
    with pytest.raises(InputError, match="several blocks"):
        _ = Comparison(texts, texts[::-1], groups=(groups, groups), blocks=(np.arange(8), blocks)).units
    with pytest.raises(InputError, match="one label"):
        _ = Comparison(texts, texts, groups=(groups[1:], groups)).units


def test_equal_texts_of_one_corpus_move_together_but_not_common_ones():
    rng = np.random.default_rng(0)
    first, second = make_texts(rng, 20), make_texts(rng, 20)
    assert Comparison(first, second).units.are_texts
    assert Comparison([*first, first[0]], second).units.counts == (20, 20)
    assert Comparison([*first, first[0]], [*second, first[0]]).units.are_texts
    few = first[: FEWEST_GROUPS - 1]
    assert Comparison(few * 3, second).units.are_texts


def test_repeated_texts_are_no_difference():
    """Texts that repeat others of their own corpus, in two corpora made alike, are seldom called different."""
    rng = np.random.default_rng(5)
    p, single = [], []
    for run in range(40):
        sides = [make_texts(rng, 40, words=200) for _ in range(2)]
        sides = [[*side, *rng.choice(side, 20)] for side in sides]
        comparison = Comparison(*sides)
        p.append(METRIC.null_values(comparison, permutations=39, seed=run).p_value)
        alone = Comparison(*sides, groups=tuple(np.arange(60) for _ in range(2)))
        single.append(METRIC.null_values(alone, permutations=39, seed=run).p_value)
    assert np.mean(np.array(p) <= 0.05) <= 0.15
    assert np.mean(np.array(single) <= 0.05) > 0.5


def test_swapping_keeps_groups_and_blocks():
    corpus = Corpus.of([f"text {number}" for number in range(9)])
    comparison = Comparison(corpus, corpus.take(range(4)), groups=(np.arange(9) // 2, np.arange(4)))
    assert comparison.swapped().units.counts == (4, 5)
