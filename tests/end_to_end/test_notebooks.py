"""The notebooks run from the first cell to the last, and their results say what their sentences say."""

import ast
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


def run(source: str, names: dict[str, object]) -> object:
    """What a cell shows: the value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


def cells(name: str) -> list[str]:
    content = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def test_every_notebook_has_a_test():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_notebook_runs_and_its_answers_are_those_of_its_texts(name):
    names: dict[str, object] = {}
    shown = [run(cell, names) for cell in cells(name)]
    said = [result.answer for result in shown if isinstance(result, Result)]
    assert all(re.search(pattern, answer) for pattern, answer in zip(ANSWERS[name], said, strict=True)), said
