"""reliability.md and stress-tests.md hold the tables that `python -m benchmarks.reliability` makes."""

import pytest
from benchmarks.null_range import RangeCheck, pooled, range_table
from benchmarks.reliability import DOCS, PAGES, main


@pytest.fixture(scope="module")
def made():
    return {page: tables() for page, tables in PAGES.items()}


@pytest.mark.parametrize("page", PAGES)
def test_the_page_holds_the_tables(made, page):
    text = (DOCS / page).read_text(encoding="utf-8")
    tables = made[page].items()
    assert [name for name, table in tables if f"<!-- {name} -->\n\n{table}\n\n<!-- /{name} -->" not in text] == []


def test_tables_are_put_between_their_marks(tmp_path, made):
    for page, tables in made.items():
        marks = "".join(f"{name}\n<!-- {name} -->GONE<!-- /{name} -->\n" for name in tables)
        (tmp_path / page).write_text(marks, encoding="utf-8")
    main(tmp_path)
    for page, tables in made.items():
        written = (tmp_path / page).read_text(encoding="utf-8")
        assert "GONE" not in written
        assert all(table in written for table in tables.values())


def check(runs, ratio, inside, seed):
    return RangeCheck("energy", 50, 3_000, runs, 39, seed, ratio, 0.1, 0.0, 0.1, inside)


def test_null_ranges_of_several_seeds_count_as_one():
    (found,) = pooled([check(100, 1.1, 0.9, 0), check(300, 0.9, 0.98, 1)]).values()
    assert (found.runs, found.ratio, found.inside) == (400, pytest.approx(0.95), pytest.approx(0.96))
    assert found.ratio_error == pytest.approx(0.1 * (0.25**2 + 0.75**2) ** 0.5)
    assert range_table([found]).splitlines()[-1] == "| energy |  |  |  |  |  |  | 0.95 ± 0.08 | 0.960 | 400 |"
