"""Lines and files of each room, put between their marks in docs/architecture.md: blank lines and docstrings count.

python -m benchmarks.rooms
"""

from collections import Counter
from pathlib import Path

from benchmarks.ledgers import marked

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
PARTS = {"textgauge": "src/textgauge", "textgauge_papers": "src/textgauge_papers", "tests": "tests"}


def count_rooms() -> dict[str, Counter[str]]:
    """Return the lines and files of each room of `textgauge`, and of the whole of each part."""
    counts: dict[str, Counter[str]] = {}
    for part, folder in PARTS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            size = {"lines": len(path.read_text(encoding="utf-8").splitlines()), "files": 1}
            room = path.relative_to(ROOT / folder).parts[0] if part == "textgauge" else ""
            for name in {part, f"{part}/{room}" if room and not room.endswith(".py") else part}:
                counts.setdefault(name, Counter()).update(size)
    return counts


def format_table(counts: dict[str, Counter[str]]) -> str:
    """Return the counts as a Markdown table, the whole of a part below its rooms."""
    lines = ["| room | lines | files |", "|---|---:|---:|"]
    order = sorted(counts, key=lambda name: (list(PARTS).index(name.split("/")[0]), "/" not in name, name))
    for name in order:
        cells = (name.split("/")[-1], f"{counts[name]['lines']:,}", str(counts[name]["files"]))
        lines.append(f"| {' | '.join(cells if '/' in name else [f'**{cell}**' for cell in cells])} |")
    return "\n".join(lines)


if __name__ == "__main__":
    table = format_table(count_rooms())
    print(table)
    PAGE.write_text(marked(PAGE.read_text(encoding="utf-8"), "rooms", table), encoding="utf-8")
