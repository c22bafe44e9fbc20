"""Every regular expression of the package takes time in proportion to the text, whatever the text."""

import ast
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contract.source import parse_modules

ROOT = Path(__file__).parents[2]
WAYS = {"sub", "search", "match", "fullmatch", "findall", "finditer", "split"}
CALLS = WAYS | {"compile"}
PIECES = [*"a \n.'\"0-_<[(Aé你\\", "a ", "a.", "a'", ". ", "&#"]
SECONDS = 60  # of processor time for all of them; a quadratic one alone takes minutes


def patterns():
    """Every pattern that is written in a call of `re`: where it stands, and the ways in which it is used."""
    for path, tree in parse_modules().items():
        called = [
            node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        ]
        names = {
            node.value: node.targets[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for call in called:
            if _of(call) != "re" or call.func.attr not in CALLS or not isinstance(call.args[0], ast.Constant):
                continue
            used = {other.func.attr for other in called if _of(other) == names.get(call, "")} & WAYS
            ways = used or WAYS if call.func.attr == "compile" else {call.func.attr}
            yield f"{path}:{call.lineno}", call.args[0].value, sorted(ways)


def _of(call):
    return call.func.value.id if isinstance(call.func.value, ast.Name) else None


def tried(pattern, ways, length):
    compiled = re.compile(pattern)
    for piece in PIECES:
        for end in ("", "\x00"):
            text = piece * (length // len(piece)) + end
            given = text.encode() if isinstance(pattern, bytes) else text
            for way in ways:
                _use(compiled, way, given)


def _use(compiled, way, given):
    if way == "sub":
        compiled.sub(given[:0], given)
    elif way == "finditer":
        sum(1 for _ in compiled.finditer(given))
    else:
        getattr(compiled, way)(given)


@pytest.mark.skipif(sys.platform == "win32", reason="processor time is not limited there")
@pytest.mark.parametrize("length", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_no_text_makes_an_expression_take_more_than_linear_time(length):
    program = [sys.executable, "-m", "tests.contract.test_regexes", str(length)]
    limit = (SECONDS, SECONDS + 1) if length < 10**6 else (600, 601)
    found = subprocess.run(
        program,
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit),
    )
    tried_ones = found.stdout.splitlines()
    assert found.returncode == 0, f"too slow: {tried_ones[-1:]}{found.stderr}"
    assert len(tried_ones) > 20


if __name__ == "__main__":
    for place, pattern, ways in patterns():
        print(place, ascii(pattern), ways, flush=True)
        tried(pattern, ways, int(sys.argv[1]))
