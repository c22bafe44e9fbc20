"""Options from a file: `textgauge.toml`, or `[tool.textgauge]` of `pyproject.toml`, in the current folder.

A table per command, whose keys are the names of its options:

    [compare]
    metrics = "energy,mauve"
    permutations = 999
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from textgauge.core.errors import InputError, UnknownName
from textgauge.core.limits import stored_bytes
from textgauge.core.tabular import one_line

FILES = ("textgauge.toml", "pyproject.toml")


def read_config(command: Any, folder: Path) -> dict[str, Any]:
    """Defaults for the options of a command and of those below it, as the command line's parser takes them."""
    for name in FILES:
        path = folder / name
        if path.is_file() and (found := _table(path)) is not None:
            return _defaults(command, found, name)
    return {}


def _table(path: Path) -> dict[str, Any] | None:
    try:
        content = tomllib.loads(stored_bytes(path).decode())
    except (OSError, ValueError, RecursionError) as error:
        if path.name == "pyproject.toml":  # of another tool, which will say what is wrong with it
            return None
        raise InputError(f"{path.name}: not TOML ({one_line(str(error), 200)})") from None
    if path.name != "pyproject.toml":
        return content
    tools = content.get("tool")
    found = tools.get("textgauge") if isinstance(tools, dict) else None
    return found if isinstance(found, dict) else None


def _defaults(command: Any, table: dict[str, Any], place: str) -> dict[str, Any]:
    """The table with the names that the parser knows; a name that no option or command has is refused."""
    commands, options = getattr(command, "commands", {}), _options(command)
    found = {}
    for key, value in table.items():
        if key in commands and isinstance(value, dict):
            found[key] = _defaults(commands[key], value, f"{place}: {key}")
        elif key in options:
            found[options[key].name] = _value(options[key], value, f"{place}: {key}")
        elif key in commands:
            raise InputError(f"{place}: {key} is a command; give its options in a table [{key}]")
        else:
            raise UnknownName(f"{place}: {UnknownName.among('option or command', key, [*commands, *options])}")
    return found


def _options(command: Any) -> dict[str, Any]:
    """Options by their names without dashes; what only asks for help, a version or completion is none."""
    return {
        option.lstrip("-"): item
        for item in command.params
        for option in item.opts
        if option.startswith("-") and item.expose_value and not item.is_eager
    }


def _value(option: Any, value: Any, place: str) -> Any:
    if isinstance(value, dict) or (isinstance(value, list) and not option.multiple):
        raise InputError(f"{place} is one value, not {type(value).__name__}")
    return [value] if option.multiple and not isinstance(value, list) else value
