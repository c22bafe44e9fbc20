"""What simulations found: a line of JSON for each cell, in a file for each table of docs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def file_of(name: str) -> Path:
    """The file of a table's cells."""
    return FOLDER / f"{name}.jsonl"


def read(file: Path) -> list[dict[str, Any]]:
    """The cells of a file; none where there is no file."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def add(file: Path, cells: Iterable[dict[str, Any]]) -> None:
    """Append cells to a file."""
    with file.open("a") as lines:
        lines.writelines(json.dumps(cell) + "\n" for cell in cells)
