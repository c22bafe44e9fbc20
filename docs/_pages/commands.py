"""The command line, from the objects behind `--help`."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

import typer

from _pages.markup import code, page, plain, table
from textgauge.cli import app


def commands_page() -> str:
    """Every command with its arguments, options and examples."""
    intro = (
        "Results go to standard output: the answer, a table, what to do next. Progress and warnings go to standard "
        "error; `-q` leaves them out, `-v` adds the time of every step, `-h` shows the help of a command. "
        "Exit code 0: good; 1: something failed; 2: wrong use, said in one line; "
        "3: a check that cannot be decided; 130: Ctrl-C.\n\n"
        '`--format json` prints one object: `{"schema": 1, "version", "command", "answer", "rows", "warnings"}`, '
        "checked by `result.schema.json`, which is in the package; `details` holds what is no row. `jsonl` and `csv` "
        "print the rows alone, `markdown` and `latex` what a table shows. `-o FILE.json` saves a result with a "
        "checksum; `textgauge.load` and `textgauge report` read it.\n\n"
        "Defaults of yours stand in `textgauge.toml`, or in `pyproject.toml` under `[tool.textgauge]`, in the current "
        'folder: a table per command, whose keys are names of options, such as `[compare]` with `metrics = "energy"`.'
    )
    return page("Command line", intro, *(_section(path, command) for path, command in all_commands()))


def all_commands() -> Iterator[tuple[str, Any]]:
    """Every command that does something, by the words that call it."""
    yield from _below("textgauge", typer.main.get_command(app))


def examples(command: Any) -> list[str]:
    """The calls that a command's help shows."""
    told = " ".join((command.help or "").split()).partition("Example")[2].partition(":")[2]
    return [call.strip() for call in told.split(" · ") if call.strip()]


def _below(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    known = getattr(command, "commands", None)
    if known is None:
        yield path, command
        return
    for name, below in known.items():
        yield from _below(f"{path} {name}", below)


def _section(path: str, command: Any) -> str:
    told = " ".join((command.help or "").split()).partition("Example")[0].strip()
    calls = examples(command)
    arguments = [item for item in command.params if item.opts == [item.name]]
    options = [item for item in command.params if item not in arguments]
    usage = " ".join([path, *map(_placed, arguments), *(["[OPTIONS]"] if options else [])])
    return "\n\n".join(
        part
        for part in (
            f"## {path}",
            plain(told),
            f"`{usage}`",
            _table("argument", arguments),
            _table("option", options),
            "Examples:\n\n" + "\n".join(f"- `{call}`" for call in calls) if calls else "",
        )
        if part
    )


def _placed(argument: Any) -> str:
    name = (argument.metavar or argument.name).upper().strip("[].")
    name += "..." if argument.nargs == -1 else ""
    return name if argument.required else f"[{name}]"


def _table(title: str, items: list[Any]) -> str:
    rows = [
        [", ".join(map(code, _written(item))), code(_default(item)), plain(item.help or "") + _choices(item)]
        for item in items
    ]
    return table([title, "default", "what it is"], rows) if rows else ""


def _written(item: Any) -> list[str]:
    """The ways to write it, the long one first."""
    return sorted([*item.opts, *item.secondary_opts], key=lambda name: not name.startswith("--"))


def _default(item: Any) -> str:
    if item.required:
        return "needed"
    value = item.default.value if isinstance(item.default, Enum) else item.default
    return "" if value is None or value is False else "on" if value is True else str(value)


def _choices(item: Any) -> str:
    """The words an option takes; typer keeps them as an enumeration, click as a list."""
    kind = getattr(getattr(item, "type_descriptor", None), "annotation", None)
    listed = [choice.value for choice in kind] if isinstance(kind, type) and issubclass(kind, Enum) else None
    listed = listed or list(getattr(getattr(item, "type", None), "choices", []))
    return f" One of {', '.join(map(code, listed))}." if listed else ""
