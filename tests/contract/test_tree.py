"""What docs/architecture.md says of the tree: pages name files that exist, names are given once."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.rooms import count_rooms
from tests.contract.source import parse_modules

from textgauge.bench import list_protocols

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/architecture.md")
MADE = {"textgauge.toml", "derived/", "site/", "build/textgauge.cdx.json"}  # by users, runs and make
PROTOCOLS = {kind.__name__ for kind in list_protocols().values()}
MOST_FILES = 30


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_files_that_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+(?:\.(?:py|md|toml|json|yml|c)|/))`", text)) - MADE
    folders = [ROOT, ROOT / "src" / "textgauge", ROOT / ".github" / "workflows"]
    assert [name for name in sorted(named) if not any((folder / name).exists() for folder in folders)] == []


def test_no_two_public_classes_have_the_same_name():
    classes = (
        node.name for tree in parse_modules().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in Counter(classes).items() if count > 1 and not name.startswith("_")] == []


def test_no_room_has_more_files_than_a_reader_can_look_over():
    rooms = Counter(Path(module).parent.as_posix() for module in parse_modules())
    assert {room: count for room, count in rooms.items() if count > MOST_FILES} == {}


def test_the_table_of_rooms_is_of_this_code():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    written = dict(re.findall(r"^\| \**(\w+)\** \| \**([\d,]+)\** ", page, re.MULTILINE))
    counted = {name.split("/")[-1]: count["lines"] for name, count in count_rooms().items()}
    assert {name: int(lines.replace(",", "")) for name, lines in written.items()} == pytest.approx(counted, rel=1 / 7)


def asks_for_a_protocol(node):
    """Whether code asks for a certain protocol, by its name or by its class."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        written = {ast.unparse(side) for side in sides}
        constant = any(isinstance(part, ast.Constant) for side in sides for part in ast.walk(side))
        named = constant and any(side.endswith("protocol.name") for side in written)
        return named or bool(written & {f"{name}.name" for name in PROTOCOLS})
    if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("isinstance", "issubclass"):
        return False
    return bool(PROTOCOLS & {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)})


@pytest.mark.parametrize(
    "code", ["group.protocol.name == 'ksc'", "item.protocol.name in ('a', 'b')", "isinstance(p, Ksc)", "x == Ksc.name"]
)
def test_asking_for_a_certain_protocol_is_seen(code):
    assert asks_for_a_protocol(ast.parse(code, mode="eval").body)


def test_nobody_outside_asks_for_a_certain_protocol():
    outside = {name: tree for name, tree in parse_modules().items() if not name.startswith("bench/protocols/")}
    assert [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, tree in outside.items()
        for node in ast.walk(tree)
        if asks_for_a_protocol(node)
    ] == []
