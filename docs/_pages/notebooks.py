"""The notebooks as pages: their texts, their code, and what it shows.

`PYTHONPATH=docs python -c 'from _pages.notebooks import *; write_all_outputs()'` runs all notebooks, and keeps in them
what their cells show.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "notebooks"
HTML, SVG, TEXT = "text/html", "image/svg+xml", "text/plain"


def pages() -> dict[str, str]:
    """Return the page of each notebook by its path."""
    return {f"notebooks/{path.stem}.md": _page(path) for path in sorted(FOLDER.glob("*.ipynb"))}


def navigation() -> list[dict[str, str]]:
    """Return the paths of the pages by their titles."""
    return [{text.partition("\n")[0].removeprefix("# "): path} for path, text in pages().items()]


def run_cell(source: str, names: dict[str, object]) -> object:
    """Run a cell, and return what it shows: the value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - of our own notebooks
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None  # noqa: S307


def write_all_outputs() -> None:
    """Run every notebook, and keep what its cells show."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        write_outputs(path)


def write_outputs(path: Path) -> None:
    """Run a notebook from the first cell to the last, and keep what its cells show."""
    notebook = json.loads(path.read_text("utf-8"))
    names: dict[str, object] = {}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(code, 1):
        shown = run_cell("".join(cell["source"]), names)
        data = {} if shown is None else _render(shown)
        result = {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}
        cell |= {"execution_count": count, "outputs": [result] if data else []}
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _render(shown: object) -> dict[str, list[str]]:
    """Return a value in the forms that a notebook has of it."""
    if hasattr(shown, "_repr_mimebundle_"):
        forms = {**shown._repr_mimebundle_(), TEXT: "a chart"}
    else:
        forms = {HTML: shown._repr_html_()} if hasattr(shown, "_repr_html_") else {}
        forms |= {TEXT: repr(shown)}
    return {form: text.splitlines(keepends=True) for form, text in forms.items()}


def _page(path: Path) -> str:
    title, *cells = json.loads(path.read_text("utf-8"))["cells"]
    link = f"[Download this notebook]({path.name})."
    return "\n\n".join([_cell(title), link, *map(_cell, cells)]) + "\n"


def _cell(cell: dict[str, Any]) -> str:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return text
    shown = [_show(output["data"]) for output in cell["outputs"]]
    return "\n\n".join([f"```python\n{text}\n```", *shown])


def _show(data: dict[str, list[str]]) -> str:
    """Return what a cell shows: a picture, a table or text; blank lines would end a piece of HTML."""
    for form in (SVG, HTML):
        if form in data:
            lines = [line for line in "".join(data[form]).splitlines() if line.strip()]
            return '<div class="shown">\n' + "\n".join(lines) + "\n</div>"
    return f"```text\n{''.join(data[TEXT])}\n```"
