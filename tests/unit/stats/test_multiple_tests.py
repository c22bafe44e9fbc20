import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.stats.multiple_tests import holm


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_step_down_rule(values):
    p = np.array(values)
    order = np.argsort(p, kind="stable")
    expected, running = np.empty(len(p)), 0.0
    for place, row in enumerate(order):
        running = max(running, (len(p) - place) * p[row])
        expected[row] = min(running, 1.0)
    assert holm(p) == pytest.approx(expected)
