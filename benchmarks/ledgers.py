"""Writes the ledger of every paper into docs/results.md, between its two marks.

python -m benchmarks.ledgers RUNS docs/results.md

RUNS has a folder for each paper, as `textgauge reproduce --all --out RUNS` makes them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from textgauge.evaluate import Store
from textgauge.evaluate.results import Results
from textgauge.papers import PAPERS, Request
from textgauge.papers.ledger import RULINGS, counts
from textgauge.tabular import Row

COLUMNS = ("claim", "paper", "ours", "interval", "why", "deviation", "data")
BEGIN, END = "<!-- ledgers -->", "<!-- /ledgers -->"


def cell(value: object) -> str:
    """A cell of a Markdown table."""
    return "" if value is None else str(value).replace("|", "\\|")


def table(rows: list[Row]) -> str:
    """Rows as a Markdown table."""
    lines = [COLUMNS, ["---"] * len(COLUMNS), *([cell(row[name]) for name in COLUMNS] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(name: str, runs: Path) -> str:
    """The ledger of one paper: what failed, what held, what was not tested, each with its criteria."""
    paper, folder = PAPERS[name], runs / name
    if not folder.is_dir():
        return f"## {name}\n\nNot run.\n"
    rows = paper.ledger(Results(Store(folder)), Request(paper.variants))
    parts = [f"## {name}\n\n{counts(rows)}. Criteria:\n"]
    parts += [f"- {criterion}" for criterion in dict.fromkeys(row["criterion"] for row in rows)]
    for ruling in RULINGS:
        own = [row for row in rows if row["verdict"] == ruling]
        parts += [f"\n### {name}: {ruling}\n", table(own)] if own else []
    return "\n".join(parts) + "\n"


def main(runs: str, page: str) -> None:
    """Put the ledgers between the marks."""
    before, _, rest = Path(page).read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    sections = "\n".join(section(name, Path(runs)) for name in PAPERS)
    Path(page).write_text(f"{before}{BEGIN}\n\n{sections}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
