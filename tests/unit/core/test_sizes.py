"""Blocks cover all rows once; a cap reaches threads and new processes, and is gone afterwards."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.core.settings import cap_size, limit_sizes, split_into_blocks, split_into_runs


@given(st.integers(0, 50), st.integers(1, 60), st.integers(0, 9))
def test_blocks_cover_all_rows_once(total, size, width):
    found = split_into_blocks(total, size, width)
    assert [row for block in found for row in range(total)[block]] == list(range(total))
    assert all(block.stop - block.start <= max(size // max(width, 1), 1) for block in found)
    assert all(block.stop <= total for block in found)


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 30))
def test_runs_are_as_long_as_they_may_be(sizes, most):
    found = list(split_into_runs(np.array(sizes, dtype=np.int64), most))
    assert [row for run in found for row in range(len(sizes))[run]] == list(range(len(sizes)))
    for run, following in zip(found, [*found[1:], None], strict=False):
        assert sum(sizes[run]) <= most or run.stop == run.start + 1
        assert following is None or sum(sizes[run]) + sizes[following.start] > most


def test_a_cap_reaches_threads_and_new_processes():
    command = [sys.executable, "-c", "from textgauge.core.settings import cap_size; print(cap_size(100))"]
    with limit_sizes(9), limit_sizes(7), ThreadPoolExecutor(1) as pool:
        assert pool.submit(cap_size, 100).result() == 7
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "7\n"
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "100\n"


def test_a_cap_ends_with_its_context():
    with limit_sizes(9):
        with pytest.raises(ZeroDivisionError), limit_sizes(7):
            _ = 1 / 0
        assert cap_size(100) == 9
    assert cap_size(100) == 100
