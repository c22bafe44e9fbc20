"""The texts behind the table: who is near to whom, copies, gaps, modes, the best ones."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from textgauge.core.errors import InputError
from textgauge.measure.describing import describe as run
from textgauge.measure.lists import rank_trade_offs

TRAIN = ["one two three four five six seven eight nine ten", "a dog barks at night", "cold tea"]
TEST = ["zebras zigzag", "a dog barks by day"]
GENERATED = [
    "one two three four five six seven eight nine eleven",
    "a dog barks by night",
    "a dog barks by night!",
    "warm tea",
]


@pytest.fixture
def found(backends):
    return run(generated=GENERATED, train=TRAIN, held_out=TEST, embedder="letters", ratings=[1, 2, np.nan, 4])


def test_every_text_with_its_values_and_neighbours(found):
    frame = found.per_text
    assert frame.columns == [
        "corpus", "index", "text", "unique", "mode_size", "semantic", "nearest_test", "syntactic", "nearest_train",
        "longest_passage", "copied_share", "contained", "passage", "passage_index",
        "grammar_errors", "words", "perplexity", "rating",
    ]  # fmt: skip
    assert frame["unique"].to_list() == [True, False, False, True]
    assert frame["mode_size"].to_list() == [1, 2, 2, 1]
    assert frame["nearest_test"][1] == TEST[1]
    assert frame["nearest_train"].to_list() == [TRAIN[0], TRAIN[1], TRAIN[1], TRAIN[2]]
    assert frame["syntactic"][0] == pytest.approx(1 / 1.1)
    assert frame["grammar_errors"].to_list() == [0, 0, 1, 0]
    assert frame["rating"].to_list() == [1, 2, None, 4]


def test_near_copies_stand_beside_their_train_text(found):
    frame = found.list_texts("near_copies", 0.9)
    assert frame.select("text", "train").rows() == [(GENERATED[0], TRAIN[0])]
    assert len(found.list_texts("near_copies", 0.8)) == 2
    assert found["near_copies"].value == 1 / 4
    with pytest.raises(InputError, match="similarity from"):
        found.list_texts("near_copies", 0.3)


def test_test_texts_that_train_reaches_and_generated_does_not_are_uncovered(backends):
    train = [*TRAIN, "zigzag zebras"]
    found = run(generated=GENERATED, train=train, held_out=TEST, embedder="letters")
    frame = found.list_texts("uncovered")
    assert frame["test"].to_list() == [TEST[0]]
    assert frame["semantic"][0] < found.generated[0].reach
    assert found["covered"].value == 1 / 2
    assert len(found.list_texts("uncovered", 1.01)) == 2


def test_modes_have_size_share_and_an_example(found):
    frame = found.list_texts("modes")
    assert frame.rows() == [("generated", 2, 0.5, 1, "a dog barks by night")]
    assert len(found.list_texts("modes", 1)) == 3


def test_picked_texts_are_near_test_and_far_from_train_and_no_form_comes_twice(found):
    picked = found.pick(10)
    assert len(picked) == 3
    assert len(found.pick(1)) == 1
    best = found.pick(1).row(0, named=True)
    others = found.per_text.filter(pl.col("semantic") > best["semantic"])
    assert (others["syntactic"] >= best["syntactic"]).all()
    assert found.pick(2, plausible=True).columns == found.per_text.columns


def test_the_curve_has_a_row_per_step_and_ends_at_the_table(found):
    assert found.list_texts("curve").columns == ["corpus", "attempts", "unique", "distinct"]
    last = found.list_texts("curve").row(-1, named=True)
    assert last["attempts"] == 4
    assert (last["unique"], last["distinct"]) == pytest.approx((found["unique"].value, found["distinct"].value))


def rows(columns):
    return arrays(np.float64, st.tuples(st.integers(0, 14), st.just(columns)), elements=st.integers(0, 4).map(float))


def beaten(row, others):
    return any((other >= row).all() and (other > row).any() for other in others)


def fronts(goods):
    left, found = list(range(len(goods))), []
    while left:
        found.append([row for row in left if not beaten(goods[row], goods[left])])
        left = [row for row in left if row not in found[-1]]
    return found


@given(st.one_of(rows(2), rows(3)))
def test_fronts_come_one_after_the_other(goods):
    order = rank_trade_offs(goods).tolist()
    start = 0
    for front in fronts(goods):
        assert sorted(order[start : start + len(front)]) == front
        start += len(front)
    assert start == len(order)


def test_within_a_front_the_nearest_to_the_ideal_point_is_first():
    goods = np.array([[10.0, 0.0], [9.0, 0.5], [0.0, 1.0], [5.0, 0.75], [4.0, 0.2]])
    assert rank_trade_offs(goods).tolist() == [1, 3, 0, 2, 4]  # 0.51 and 0.56 away; then both ends
    assert rank_trade_offs(goods * [1.0, 1000.0]).tolist() == [1, 3, 0, 2, 4]
    tied = np.array([[np.nan, 9.0], [1.0, 1.0], [1.0, 1.0], [0.0, 0.0]])  # one is missing, and is left out
    assert rank_trade_offs(tied).tolist() == [1, 2, 3]
    assert rank_trade_offs(np.empty((0, 2))).tolist() == []
