"""Fronts against the definition: what nothing left is better than."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from textgauge.metrics.properties.trade_off import best_trade_offs


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
    order = best_trade_offs(goods, len(goods)).tolist()
    start = 0
    for front in fronts(goods):
        assert sorted(order[start : start + len(front)]) == front
        start += len(front)
    assert start == len(order)


def test_within_a_front_the_nearest_to_the_ideal_point_is_first():
    goods = np.array([[10.0, 0.0], [9.0, 0.5], [0.0, 1.0], [5.0, 0.75], [4.0, 0.2]])
    assert best_trade_offs(goods, 4).tolist() == [1, 3, 0, 2]  # 0.51 and 0.56 away; then both ends
    assert best_trade_offs(goods * [1.0, 1000.0], 4).tolist() == [1, 3, 0, 2]


def test_missing_values_are_left_out_and_ties_keep_their_order():
    goods = np.array([[np.nan, 9.0], [1.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    assert best_trade_offs(goods, 9).tolist() == [1, 2, 3]


@pytest.mark.parametrize("columns", [2, 3])
def test_nothing_to_choose_from(columns):
    assert best_trade_offs(np.empty((0, columns)), 3).tolist() == []
