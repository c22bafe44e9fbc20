"""The table of simulated coverage says what is offered and what is not compatible with 93 to 97 %."""

import pytest
from benchmarks.coverage import SYNTHETIC, Cell, compatible, coverage, table


def cell(metric, case, sizes, held, simulations=400):
    return Cell(metric, "texts", case, *sizes, simulations, held, 4.0)


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
    assert rows[2] == ["classifier", "texts", "not offered", "", "", "", "(1.000\\*)", "400"]
    assert rows[3] == ["zipf", "texts", "not offered", "(.995\\*)", ".960 –", "", "not offered", "400"]


def test_metrics_of_a_cell_see_the_same_samples():
    both = coverage(["energy", "jsd"], SYNTHETIC, "near", (30, 30), simulations=3)
    assert [one.metric for one in both] == ["energy", "jsd"]
    assert coverage(["jsd"], SYNTHETIC, "near", (30, 30), simulations=3) == both[1:]
