"""docs/reliability.md holds the tables that `python -m benchmarks.reliability` makes of the stored simulations."""

import pytest
from benchmarks.null_range import RangeCheck, pooled, range_table
from benchmarks.reliability import PAGE, main, tables


@pytest.fixture(scope="module")
def made():
    return tables()


def test_the_page_holds_the_tables(made):
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name, table in made.items() if f"<!-- {name} -->\n\n{table}\n\n<!-- /{name} -->" not in page] == []


def test_tables_are_put_between_their_marks(tmp_path, made):
    page = tmp_path / "page.md"
    page.write_text("".join(f"{name}\n<!-- {name} -->GONE<!-- /{name} -->\n" for name in made), encoding="utf-8")
    main(page)
    written = page.read_text(encoding="utf-8")
    assert "GONE" not in written
    assert all(table in written for table in made.values())


def check(runs, ratio, inside, seed):
    return RangeCheck("energy", 50, 3_000, runs, 39, seed, ratio, 0.1, 0.0, 0.1, inside)


def test_null_ranges_of_several_seeds_count_as_one():
    (found,) = pooled([check(100, 1.1, 0.9, 0), check(300, 0.9, 0.98, 1)]).values()
    assert (found.runs, found.ratio, found.inside) == (400, pytest.approx(0.95), pytest.approx(0.96))
    assert found.ratio_error == pytest.approx(0.1 * (0.25**2 + 0.75**2) ** 0.5)
    assert range_table([found]).splitlines()[-1] == "| energy |  |  |  |  |  |  | 0.95 ± 0.08 | 0.960 | 400 |"
