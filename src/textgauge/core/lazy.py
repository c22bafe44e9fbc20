"""Public names of a room that are imported when they are first used."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def export_lazily(room: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a room: names that it imports for type checkers alone, imported at their first use.

    >>> export_lazily("textgauge.core")("InputError").__name__
    'InputError'
    """

    @cache
    def find_places() -> dict[str, tuple[str, str]]:
        blocks = [node for node in ast.parse(inspect.getsource(sys.modules[room])).body if isinstance(node, ast.If)]
        checked = [node for block in blocks if ast.unparse(block.test) == "TYPE_CHECKING" for node in block.body]
        imports = [node for node in checked if isinstance(node, ast.ImportFrom) and node.module != room]
        return {one.asname or one.name: (str(node.module), one.name) for node in imports for one in node.names}

    def get(name: str) -> Any:
        if name.startswith("__") or name not in find_places():
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module, own = find_places()[name]
        return getattr(import_module(module), own)

    return get
