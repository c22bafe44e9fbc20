"""The tables of simulated coverage say what is offered, how it covers and what is not compatible with 93 to 97 %."""

import pytest
from benchmarks.coverage import SYNTHETIC, Cell, compatible, coverage, run, stored


def cell(metric, case, sizes, held, simulations=400, seed=None):
    return Cell(metric, "texts", case, *sizes, simulations, held, 4.0, seed)


@pytest.mark.parametrize(("held", "simulations", "is_compatible"), [
    (0.95, 100, True),
    (0.905, 400, True),  # Wilson's interval ends at 0.930
    (0.90, 400, False),
    (0.985, 400, True),
    (0.995, 400, False),
    (0.90, 60, True),
])  # fmt: skip
def test_a_cell_is_compatible_if_its_interval_overlaps(held, simulations, is_compatible):
    assert compatible(cell("energy", "null", (30, 30), held, simulations)) == is_compatible


def test_metrics_of_a_cell_see_the_same_samples():
    both = coverage(["energy", "jsd"], SYNTHETIC, "near", (30, 30), simulations=3)
    assert [one.metric for one in both] == ["energy", "jsd"]
    assert coverage(["jsd"], SYNTHETIC, "near", (30, 30), simulations=3) == both[1:]


def test_a_run_adds_what_the_file_lacks(tmp_path):
    file, cells = tmp_path / "cells.jsonl", [(SYNTHETIC, "null", (30, 30))]
    for names, seed in ((["jsd"], 0), (["jsd", "energy"], 0), (["jsd"], 1)):
        run(file, names, cells, simulations=2, seed=seed)
    assert [(found.metric, found.seed) for found in stored(file)] == [("jsd", 0), ("energy", 0), ("jsd", 1)]
