"""Impossible results are found when they are read, however whole their file is."""

import polars as pl
import pytest

from textgauge.bench import Store, run
from textgauge.bench.plan import Cell
from textgauge.bench.store import broken_invariant


def cell(metric, protocol="ksc(k=3)|v1"):
    return Cell(protocol, "a,b", "0", 0, 0, metric, metric)


GOOD = {"value": [0.2], "part.precision": [0.8], "part.recall": [0.8]}


@pytest.mark.parametrize(
    ("metric", "changed", "complaint"),
    [
        ("pr", {}, None),
        ("pr", {"value": [1.2]}, "value 1.2 is outside 0…1"),
        ("pr", {"part.recall": [-0.5]}, "part.recall -0.5 is outside 0…1"),
        ("pr", {"value": [0.3]}, "not made of its precision and recall"),
        ("pr", {"value": [float("nan")]}, None),
        ("pr.recall", {"value": [0.8]}, None),
        ("energy", {"value": [-1.0]}, "value -1 is outside 0…inf"),
        ("nobody_knows_it", {"value": [-1.0]}, None),
    ],
)
def test_bounds_and_f1(metric, changed, complaint):
    assert broken_invariant(cell(metric), pl.DataFrame({**GOOD, **changed})) == complaint or (
        complaint is not None and complaint in broken_invariant(cell(metric), pl.DataFrame({**GOOD, **changed}))
    )


def test_times_have_no_bounds_of_a_metric():
    assert broken_invariant(cell("pr", "speed(n=100)|v1"), pl.DataFrame({"value": [12.0]})) is None


def test_an_impossible_result_counts_as_missing_and_is_computed_again(tmp_path, make_plan):
    plan, store = make_plan(), Store(tmp_path)
    run([plan], store)
    first = plan.cells()[0]
    right = store.read(first)
    store.write(first, right.with_columns(value=pl.lit(-7.0)))
    with pytest.warns(RuntimeWarning, match="-7 is outside"):
        assert store.read(first) is None
    with pytest.warns(RuntimeWarning, match="-7 is outside"):
        assert run([plan], store).computed == 1
    assert store.read(first)["value"].equals(right["value"])
