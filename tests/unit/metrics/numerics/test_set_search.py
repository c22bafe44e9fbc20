import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.core.settings import limit_sizes
from textgauge.encode.tokenizers import Tokens
from textgauge.metrics.numerics.search import find_nearest_sets

ROWS = st.lists(st.lists(st.integers(0, 9), max_size=8), min_size=1, max_size=25)


def ragged(rows):
    ids = np.array([number for row in rows for number in row], dtype=np.int32)
    return Tokens(ids, np.cumsum([0, *map(len, rows)], dtype=np.int64), ())


def plain(rows, others, threshold):
    """Every set with every other one."""
    found = []
    for place, row in enumerate(rows):
        near = []
        for at, other in enumerate(rows if others is None else others):
            union = len({*row, *other})
            value = len({*row} & {*other}) / union if union else 0.0
            if value >= threshold - 1e-9 and not (others is None and at == place):
                near.append((-value, at))
        best = min(near, default=(0.0, -1))
        found.append((best[1], -best[0]))
    return found


@given(ROWS, st.none() | ROWS, st.sampled_from([0.3, 0.5, 2 / 3, 0.8, 1.0]))
def test_every_set_finds_the_one_that_comparing_all_finds(rows, others, threshold):
    found = find_nearest_sets(ragged(rows), None if others is None else ragged(others), threshold=threshold)
    index, similarity = zip(*plain(rows, others, threshold), strict=True)
    assert found.index.tolist() == list(index)
    assert found.similarity == pytest.approx(similarity)
    assert found.complete


def test_blocks_do_not_change_the_answer():
    rng = np.random.default_rng(0)
    rows = ragged([rng.integers(0, 40, rng.integers(1, 12)).tolist() for _ in range(300)])
    whole = find_nearest_sets(rows, threshold=0.4)
    with limit_sizes(50):
        again = find_nearest_sets(rows, threshold=0.4)
    assert all(np.array_equal(getattr(whole, name), getattr(again, name)) for name in vars(whole))


def test_thousands_of_sets_of_one_template_are_found_without_comparing_all():
    rows = ragged([[*range(20), 20 + number] for number in range(1_000)])
    found = find_nearest_sets(rows, threshold=0.8, most=10_000)
    assert (found.index >= 0).all()
    assert found.similarity == pytest.approx(20 / 22)
    assert not found.complete
