"""docs/performance.md holds the tables that `python -m benchmarks.scale table` makes of the measured lines."""

import pytest
from benchmarks.scale import MOST, PAGE, exponent, kept, tables

from textgauge.metrics import list_metrics


@pytest.mark.parametrize("name", ["growth", "peers"])
def test_the_page_holds_the_table(name):
    assert f"<!-- {name} -->\n\n{tables(kept())[name]}\n\n<!-- /{name} -->" in PAGE.read_text(encoding="utf-8")


def test_every_corpus_metric_is_measured_up_to_the_end_of_its_path():
    largest = {line["name"]: line["n"] for line in sorted(kept(), key=lambda line: line["n"])}
    assert {m.name: largest.get(m.name) for m in list_metrics(kind="corpus")} == {
        m.name: MOST[m.grows] for m in list_metrics(kind="corpus")
    }


def test_fixed_costs_are_no_part_of_the_exponent():
    assert exponent({100: 1.0, 1_000: 2.0, 10_000: 11.0}) == pytest.approx(1.0)
    assert exponent({100: 1.0, 1_000: 1.1, 10_000: 11.0}) is None
