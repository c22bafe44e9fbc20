"""The tables of simulated coverage say what is offered, how it covers and what is not compatible with 93 to 97 %."""

import pytest
from benchmarks.coverage import SYNTHETIC, Cell, compatible, coverage, other_sizes, run, stored, summary, table


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


def test_brackets_stars_and_gaps():
    cells = [
        cell("zipf", "null", (30, 30), 0.995),
        cell("zipf", "null", (100, 100), 0.9601),
        cell("zipf", "far", (100, 100), None, 0),
        cell("classifier", "null", (200, 50), 1.0),
    ]
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in table(cells).splitlines()]
    assert rows[0] == ["metric", "source", "20/20", "30/30", "100/100", "300/300", "200/50", "simulations"]
    assert rows[2] == ["classifier", "texts", "not offered", "not offered", "", "", "(1.000\\* · ·)", "400"]
    assert rows[3] == ["zipf", "texts", "not offered", "(.995\\* · ·)", ".960 · –", "", "not offered", "400"]


def test_metrics_of_a_cell_see_the_same_samples():
    both = coverage(["energy", "jsd"], SYNTHETIC, "near", (30, 30), simulations=3)
    assert [one.metric for one in both] == ["energy", "jsd"]
    assert coverage(["jsd"], SYNTHETIC, "near", (30, 30), simulations=3) == both[1:]


def test_simulations_of_a_cell_with_several_seeds_count_as_one():
    cells = [cell("zipf", "null", (100, 100), held, simulations, seed) for seed, held, simulations in
             ((0, 0.9, 100), (1, 0.98, 300), (None, None, 0))]  # fmt: skip
    assert "| zipf | texts | not offered | not offered | .960 · · |  | not offered | 400 |" in table(cells)


def test_the_summary_takes_offered_cells_together():
    sizes_held = [((30, 30), 0.5), ((100, 100), 0.94), ((300, 300), 0.96)]  # zipf: from 100 texts on
    lines = summary([cell("zipf", "null", sizes, held) for sizes, held in sizes_held]).splitlines()
    assert "| 100 texts | `zipf` | .950 | .940–.960 | 2 | 800 |" in lines
    assert "| 30 texts | `energy` |  |  | 0 | 0 |" in lines


def test_a_run_adds_what_the_file_lacks(tmp_path):
    file, cells = tmp_path / "cells.jsonl", [(SYNTHETIC, "null", (30, 30))]
    for names, seed in ((["jsd"], 0), (["jsd", "energy"], 0), (["jsd"], 1)):
        run(file, names, cells, simulations=2, seed=seed)
    assert [(found.metric, found.seed) for found in stored(file)] == [("jsd", 0), ("energy", 0), ("jsd", 1)]


def test_other_sizes_have_a_row_each():
    cells = [
        cell("c2st", "null", (100, 50), 0.95),
        cell("c2st", "far", (100, 50), 0.96),
        cell("c2st", "null", (30, 30), 0.9),
    ]
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in other_sizes(cells).splitlines()]
    assert rows[2:] == [["c2st", "100/50", "texts", ".950 · .960", "400"]]
