"""What leaderboards say, by simulation: few false statements, ranges and intervals that hold what they name."""

import numpy as np
import pytest
from benchmarks.leaderboards import DESIGNS, KINDS, board_gaps, data_set_coverage, pool_coverage, ranges_and_power

from textgauge.stats.rankings import find_better

pytestmark = pytest.mark.slow
BOARDS = 500
SLACK = 3.3 * np.sqrt(0.05 * 0.95 / BOARDS)  # 90 cells: one in a thousand exceeds it by chance


@pytest.mark.parametrize(("design", "count"), DESIGNS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metrics", [2, 5, 12, 20, 40])
def test_equal_metrics_are_called_better_in_few_boards(metrics, kind, design, count):
    rng = np.random.default_rng([7, metrics, count, KINDS.index(kind)])
    boards = [board_gaps(np.full(metrics, 0.5), kind, design, count, rng) for _ in range(BOARDS)]
    assert np.mean([find_better(*gaps).any() for gaps in boards]) <= 0.05 + SLACK


def test_all_true_ranks_lie_in_their_ranges():
    for row in ranges_and_power(BOARDS, seed=7):
        shares = [float(cell.split(";")[0]) for name, cell in row.items() if name != "step between metrics"]
        assert min(shares) >= 0.95 - SLACK


def test_intervals_for_new_texts_cover_new_texts():
    for row in pool_coverage(300, seed=7):
        assert row["interval for new texts"] >= 0.93 - 2 * np.sqrt(0.05 * 0.95 / 300)


def test_intervals_for_new_data_sets_cover_new_data_sets():
    for row in data_set_coverage(BOARDS, seed=7):
        assert abs(row["interval for new data sets"] - 0.95) <= SLACK
