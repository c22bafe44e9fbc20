"""Several candidates and gates, by simulation: few false statements, few false failures."""

import numpy as np
import pytest
from benchmarks.candidates import covering_boards, shares, simulate, tied_boards
from benchmarks.gates import outcomes

pytestmark = pytest.mark.slow
TEXTS, FOREIGN = "sample:banking", "sample:travel"


def slack(runs, share=0.05):
    return 2.6 * np.sqrt(share * (1 - share) / runs)


def test_candidates_of_one_source_are_tied():
    found = shares(tied_boards(simulate(TEXTS, metrics="energy,jsd", boards=200, n=200, seed=7)))
    assert found[-1]["share"] >= 0.95 - slack(200)


def test_intervals_of_differences_hold_the_true_ones_together():
    found = simulate(TEXTS, foreign=FOREIGN, metrics="energy,jsd", boards=150, n=200, seed=7)
    assert shares(covering_boards(found))[-1]["share"] >= 0.95 - slack(150)


def test_corpora_that_keep_their_bounds_seldom_fail():
    found = outcomes(TEXTS, simulations=400, n=150, seed=7)
    assert np.mean(["fail" in run.values() for run in found]) <= 0.05 + slack(400)
