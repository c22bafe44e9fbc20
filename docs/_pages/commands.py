"""The command line, from the objects behind `--help`."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from _pages.markup import code, page, plain, table
from textgauge.cli import make_app


def commands_page() -> str:
    """Return the page of every command with its arguments, options and examples."""
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
    """Yield every command that does something, by the words that call it."""
    yield from _below("textgauge", make_app())


def examples(command: Any) -> list[str]:
    """Return the calls that a command's help shows."""
    calls = _help(command).partition("Example")[2].partition(":")[2]
    return [call.strip() for call in calls.split(" · ") if call.strip()]


def _help(command: Any) -> str:
    return " ".join((command.default_command.__doc__ or "").split())


def _below(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if command.default_command is not None:
        yield path, command
    for name in command:
        if not name.startswith("-") and command[name].show:
            yield from _below(f"{path} {name}", command[name])


def _section(path: str, command: Any) -> str:
    calls = examples(command)
    items = list(command.assemble_argument_collection())
    arguments = [item for item in items if _is_argument(item)]
    options = [item for item in items if not _is_argument(item)]
    usage = " ".join([path, *map(_placed, arguments), *(["[OPTIONS]"] if options else [])])
    return "\n\n".join(
        part
        for part in (
            f"## {path}",
            plain(_help(command).partition("Example")[0].strip()),
            f"`{usage}`",
            _table("argument", arguments),
            _table("option", options),
            "Examples:\n\n" + "\n".join(f"- `{call}`" for call in calls) if calls else "",
        )
        if part
    )


def _is_argument(item: Any) -> bool:
    return item.field_info.kind is item.field_info.POSITIONAL_ONLY


def _placed(argument: Any) -> str:
    name = argument.field_info.name.upper() + ("..." if "list" in str(argument.hint) else "")
    return name if argument.required else f"[{name}]"


def _table(title: str, items: list[Any]) -> str:
    rows = [
        [", ".join(map(code, _written(item))), code(_default(item)), plain(item.parameter.help or "") + _choices(item)]
        for item in items
    ]
    return table([title, "default", "what it is"], rows) if rows else ""


def _written(item: Any) -> list[str]:
    """Return the ways to write it, the long one first; a switch that is on has a name that turns it off."""
    if _is_argument(item):
        return [item.field_info.name]
    names = sorted(item.parameter.name or item.names, key=lambda name: not name.startswith("--"))
    return [*names, *item.negatives] if item.field_info.default is True else names


def _default(item: Any) -> str:
    if item.required:
        return "needed"
    value = item.field_info.default
    value = value.value if isinstance(value, Enum) else value
    return "" if value is None or value is False else "on" if value is True else str(value)


def _choices(item: Any) -> str:
    """Return the words an option takes."""
    choices = [one.value for one in item.hint] if isinstance(item.hint, type) and issubclass(item.hint, Enum) else []
    return f" One of {', '.join(map(code, choices))}." if choices else ""
