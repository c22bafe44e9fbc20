"""The source of the package, parsed once for all tests that read it."""

import ast
from functools import cache
from pathlib import Path

import textgauge

PACKAGE = Path(textgauge.__file__).parent


@cache
def parse_modules():
    """Return the syntax tree of every module, by its path within the package."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }
