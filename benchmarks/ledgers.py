"""Writes a page for every paper whose claims are in a ledger, and the table over all papers in docs/results.md.

python -m benchmarks.ledgers RUNS/ledgers.json docs

A ledger is what `textgauge reproduce --format json` prints, of one paper or of all; several files may be given. A paper
that is in none of them keeps its page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from textgauge.papers import PAPERS
from textgauge.papers.ledger import RULINGS, counts
from textgauge.tabular import Row

COLUMNS = ("claim", "paper", "ours", "interval", "why", "deviation", "data")
BEGIN, END = "<!-- ledgers -->", "<!-- /ledgers -->"


def cell(value: object) -> str:
    """A cell of a Markdown table."""
    return "" if value is None else str(value).replace("|", "\\|")


def table(columns: tuple[str, ...], rows: list[Row]) -> str:
    """Rows as a Markdown table."""
    lines = [columns, ["---"] * len(columns), *([cell(row[name]) for name in columns] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def paper_page(name: str, rows: list[Row]) -> str:
    """The ledger of one paper: what failed, what held, what was not tested, each with its criteria."""
    parts = [f"# {name}\n\n{counts(rows)}.\n\nCriteria:\n"]
    parts += [f"- {criterion}" for criterion in dict.fromkeys(row["criterion"] for row in rows)]
    for ruling in RULINGS:
        own = [row for row in rows if row["verdict"] == ruling]
        parts += [f"\n## {ruling.capitalize()}\n", table(COLUMNS, own)] if own else []
    return "\n".join(parts) + "\n"


def overview(pages: Path) -> str:
    """One row per paper that has a page: what its first line says."""
    rows = []
    for name in PAPERS:
        path = pages / f"{name}.md"
        if path.is_file():
            said = path.read_text(encoding="utf-8").splitlines()[2]
            rows.append({"paper": f"[{name}](results/{name}.md)", "claims": said.removesuffix(".")})
        else:
            rows.append({"paper": name, "claims": "not run"})
    return table(("paper", "claims"), rows)


def main(*ledgers: str, docs: str) -> None:
    """Write the pages, and put the table between the marks."""
    place, page = Path(docs) / "results", Path(docs) / "results.md"
    place.mkdir(exist_ok=True)
    claims = [row for path in ledgers for row in json.loads(Path(path).read_text(encoding="utf-8"))["rows"]]
    for name in PAPERS:
        if rows := [row for row in claims if row["source"] == name]:
            (place / f"{name}.md").write_text(paper_page(name, rows), encoding="utf-8")
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n\n{overview(place)}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:-1], docs=sys.argv[-1])
