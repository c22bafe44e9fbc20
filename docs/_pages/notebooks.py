"""The notebooks as pages: their texts, and their code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "notebooks"


def pages() -> dict[str, str]:
    """Return the page of each notebook by its path."""
    return {f"notebooks/{path.stem}.md": _page(path) for path in sorted(FOLDER.glob("*.ipynb"))}


def navigation() -> list[dict[str, str]]:
    """Return the paths of the pages by their titles."""
    return [{text.partition("\n")[0].removeprefix("# "): path} for path, text in pages().items()]


def _page(path: Path) -> str:
    title, *cells = json.loads(path.read_text("utf-8"))["cells"]
    link = f"[Download this notebook]({path.name})."
    return "\n\n".join([_cell(title), link, *map(_cell, cells)]) + "\n"


def _cell(cell: dict[str, Any]) -> str:
    text = "".join(cell["source"])
    return text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```"
