"""The notebooks run from the first cell to the last, say what their sentences say, and hold what their cells show."""

import importlib
import json
import re
from pathlib import Path

import pytest

from textgauge.core.result import Result

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"
ANSWERS = {
    "compare-two-corpora": ["^Different, .*: 3 of 3", "^(?!Different)"],
    "score-a-system": ["chrf", "^Better"],
    "describe-generated-text": ["cop"],
}


def cells(name: str) -> list[dict[str, object]]:
    content = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


def test_every_notebook_has_a_test():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_notebook_runs_and_its_answers_are_those_of_its_texts(name, monkeypatch):
    monkeypatch.syspath_prepend(NOTEBOOKS.parent)
    run_cell = importlib.import_module("_pages.notebooks").run_cell
    names: dict[str, object] = {}
    shown = [(cell, run_cell("".join(cell["source"]), names)) for cell in cells(name)]
    results = [(cell, result) for cell, result in shown if isinstance(result, Result)]
    said = [result.answer for _, result in results]
    assert all(re.search(pattern, answer) for pattern, answer in zip(ANSWERS[name], said, strict=True)), said
    for cell, result in results:  # what the file holds is what the cell shows today
        assert result.answer in "".join(cell["outputs"][0]["data"]["text/plain"])


@pytest.mark.parametrize("name", ANSWERS)
def test_a_notebook_shows_a_table_and_a_picture(name):
    forms = [form for cell in cells(name) for output in cell["outputs"] for form in output["data"]]
    assert {"text/html", "image/svg+xml"} <= set(forms)
