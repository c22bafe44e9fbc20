"""Writes a page for every paper whose claims are in a ledger, and what holds of all papers into docs/results.md.

python -m benchmarks.ledgers RUNS/ledgers.json docs

A ledger is what `textgauge reproduce --format json` prints, of one paper or of all; several files may be given. A paper
that is in none of them keeps its page and what is said of it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from textgauge.core.show import Row
from textgauge_papers import PAPERS
from textgauge_papers.ledger import RULINGS, counts, summary

COLUMNS = ("claim", "paper", "ours", "interval", "why", "deviation", "data")


def cell(value: object) -> str:
    """A cell of a Markdown table."""
    return "" if value is None else str(value).replace("|", "\\|")


def table(columns: tuple[str, ...], rows: list[Row]) -> str:
    """Rows as a Markdown table."""
    lines = [columns, ["---"] * len(columns), *([cell(row[name]) for name in columns] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def paper_page(name: str, rows: list[Row], seconds: float | None) -> str:
    """The ledger of one paper: what holds in short, then what failed, what held, what was not tested, with criteria."""
    took = f" The run took {seconds / 60:.1f} minutes of processor time." if seconds else ""
    parts = [f"# {name}\n\n{counts(rows)}.{took}\n", table(("finding", "holds", "does not hold"), summary(rows))]
    parts += ["\nCriteria:\n", *(f"- {rule}" for rule in dict.fromkeys(row["criterion"] for row in rows))]
    for ruling in RULINGS:
        own = [row for row in rows if row["verdict"] == ruling]
        parts += [f"\n## {ruling.capitalize()}\n", section(own)] if own else []
    return "\n".join(parts) + "\n"


def section(rows: list[Row]) -> str:
    """A table of claims; what is the same in all rows is said once, above it."""
    same = {name: rows[0][name] for name in COLUMNS if len(rows) > 1 and len({row[name] for row in rows}) == 1}
    said = [f"All: {name} {value}.\n" for name, value in same.items() if value is not None]
    return "\n".join([*said, table(tuple(name for name in COLUMNS if name not in same), rows)])


def overview(pages: Path) -> str:
    """What the pages say first: counts and time in one table, then what holds of each paper."""
    rows, parts = [], []
    for name in PAPERS:
        path = pages / f"{name}.md"
        if not path.is_file():
            rows.append({"paper": name, "claims": "not run", "took": None})
            continue
        counted, short = [*path.read_text(encoding="utf-8").strip().split("\n\n"), ""][1:3]
        said, _, took = counted.partition(". The run took ")
        link = f"[{name}](results/{name}.md)"
        rows.append({"paper": link, "claims": said.removesuffix("."), "took": took.removesuffix(".") or None})
        parts.append(f"## {name}\n\n{short}")
    return "\n\n".join([table(("paper", "claims", "took"), rows), *parts])


def marked(page: str, name: str, table: str) -> str:
    """The page with this table between its marks.

    >>> marked("a <!-- t -->old<!-- /t --> b", "t", "new")
    'a <!-- t -->\\n\\nnew\\n\\n<!-- /t --> b'
    """
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, rest = page.split(begin)
    return f"{before}{begin}\n\n{table}\n\n{end}{rest.split(end)[1]}"


def main(*ledgers: str, docs: str) -> None:
    """Write the pages, and put what they say first between the marks."""
    place, page = Path(docs) / "results", Path(docs) / "results.md"
    place.mkdir(exist_ok=True)
    found = [json.loads(Path(path).read_text(encoding="utf-8")) for path in ledgers]
    took = {name: seconds for one in found for name, seconds in one.get("details", {}).get("seconds", {}).items()}
    claims = [row for one in found for row in one["rows"]]
    for name in PAPERS:
        if rows := [row for row in claims if row["source"] == name]:
            (place / f"{name}.md").write_text(paper_page(name, rows, took.get(name)), encoding="utf-8")
    page.write_text(marked(page.read_text(encoding="utf-8"), "ledgers", overview(place)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:-1], docs=sys.argv[-1])
