"""The papers are a user of textgauge: they import public names of rooms alone, and textgauge knows nothing of them."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
ROOMS = ("core", "stats", "encode", "data", "metrics", "measure", "bench", "report", "cli")
FACES = {"textgauge", *(f"textgauge.{room}" for room in ROOMS)}


def _imports(path):
    """Yield module and name of every import in a file, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", sorted(SOURCE.glob("textgauge_papers/**/*.py")), ids=lambda path: path.stem)
def test_the_papers_import_public_names_alone(path):
    own = [(module, name) for module, name in _imports(path) if module.partition(".")[0] == "textgauge"]
    assert {module for module, _ in own} <= FACES
    assert not [name for module, name in own if name not in (None, *import_module(module).__all__)]


def test_textgauge_does_not_know_the_papers():
    knowing = [path for path in SOURCE.glob("textgauge/**/*.py") if "textgauge_papers" in path.read_text("utf-8")]
    assert knowing == []


@pytest.mark.parametrize("face", sorted(FACES))
def test_every_public_name_is_there(face):
    room = import_module(face)
    assert [name for name in getattr(room, "__all__", ()) if not hasattr(room, name)] == []
