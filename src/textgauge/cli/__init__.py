"""The command `textgauge`: its commands parse, call and print; they hold no logic.

Other packages add commands by the entry point group `textgauge.commands`: a function made by `command` or `calling`,
or a `cyclopts.App`.
"""

from __future__ import annotations

import gc
import io
import os
import re
import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from textgauge.core.errors import ArgumentError, InputError, TextgaugeError, UnknownName
from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from argparse import Namespace

    from cyclopts import App, CycloptsError

    from textgauge.cli.door import argument, calling, command, option
    from textgauge.cli.output import (
        ColumnOption,
        Format,
        FormatOption,
        SeedOption,
        note,
        print_answer,
        print_result,
        print_table,
        show_progress,
    )
else:
    __getattr__ = export_lazily(__name__)

__all__ = [
    "ColumnOption", "Format", "FormatOption", "SeedOption", "argument", "calling", "command", "main", "note",
    "option", "print_answer", "print_result", "print_table", "show_progress",
]  # fmt: skip

GROUP = "textgauge.commands"
STDIN = "\0stdin"  # stands for `-`, which the parser would take for an option
COMMANDS = {
    "compare": "textgauge.cli.compare:compare",
    "score": "textgauge.cli.score:score",
    "diff": "textgauge.cli.score:diff",
    "describe": "textgauge.cli.describe:describe",
    "recommend": "textgauge.cli.runs:recommend",
    "judge": "textgauge.cli.runs:judge",
    "check": "textgauge.cli.check:app",
    "watch": "textgauge.cli.check:watch",
    "run": "textgauge.cli.runs:run",
    "leaderboard": "textgauge.cli.runs:leaderboard",
    "report": "textgauge.cli.runs:report",
    "figures": "textgauge.cli.runs:figures",
    "train": "textgauge.cli.train:app",
    "ls": "textgauge.cli.catalogue:ls",
    "datasets": "textgauge.cli.catalogue:datasets",
    "resources": "textgauge.cli.catalogue:resources",
    "cache": "textgauge.cli.catalogue:cache",
    "doctor": "textgauge.cli.catalogue:doctor",
    "mcp": "textgauge.cli.mcp:mcp",
}
ABOUT = """Compare corpora, score texts, describe what a model wrote, and find out which metric to trust.

Set your own defaults in textgauge.toml, or in pyproject.toml under [tool.textgauge], with a table for each command:
[compare] with metrics = "energy,mauve".
"""
_EVERYWHERE = """Options of every command: -q, --quiet prints only the result and errors, no notes and no progress;
-v, --verbose prints the time that every step takes; --digits N writes the numbers of tables with N digits;
--encoding NAME says how text files are written, such as cp1252.
"""
_LONGEST = 1_000  # characters of an error


def make_app(*, plugins: bool = True) -> App:
    """Return the parser of the whole command, with the commands of other packages or without."""
    from cyclopts import App, Parameter

    app = App(
        name="textgauge",
        help=ABOUT,
        help_epilogue=_EVERYWHERE,
        help_format="plaintext",
        version=_version,
        version_flags=["--version", "-V"],
        default_parameter=Parameter(negative_iterable=(), allow_repeating=True),
        group_parameters="Options",
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for number, (name, place) in enumerate(COMMANDS.items()):
        app.command(place, name=name, sort_key=number)
    if plugins:
        app.register_install_completion_command(help="Install completion for the shell in use.")
        from textgauge.core.registry import load_plugins

        load_plugins(GROUP, lambda name, made: app.command(made, name=name))
        for name in COMMANDS:  # a command that is not loaded has no line in the help
            app[name]
    return app


def _version() -> str:
    from importlib.metadata import version

    return f"textgauge {version('textgauge')}"


def main() -> None:
    """Run the command; an error a user can mend is one line and exit code 2, an interrupt exit code 130."""
    signal.signal(signal.SIGINT, _end)  # while the parser loads there is nothing to keep or to say
    if sys.argv[1:] in (["--version"], ["-V"]):  # without the time that loading the parser takes
        print(_version())
        sys.exit(0)

    gc.set_threshold(100_000)  # what is loaded at the start stays: looking through it again and again is a tenth of it
    from argparse import ArgumentError as UsageError

    from cyclopts import CycloptsError

    from textgauge.cli.output import DETAIL, get_option_name, note, say
    from textgauge.core.show import shorten_line, use_digits
    from textgauge.data.packing import ENCODING

    def fail(text: str, code: int) -> NoReturn:
        say(f"textgauge: {shorten_line(text, _LONGEST)}", err=True)
        sys.exit(code)

    _open_streams()
    signal.signal(signal.SIGINT, _interrupt)
    warnings.showwarning = lambda message, *_, **__: note(f"warning: {message}")
    try:
        given, left = _parse_shared_options(sys.argv[1:])
        DETAIL.quiet, DETAIL.verbose = given.quiet, given.verbose
        if given.digits is not None and not given.digits.isdecimal():
            raise InputError(f"--digits takes a number, not {given.digits!r}")
        os.environ.update({ENCODING: given.encoding} if given.encoding else {})
        words = [STDIN if word == "-" else word for word in left]
        app = make_app(plugins=not words or words[0] not in {*COMMANDS, "-V", "--version"})
        app.config = read_config(app, Path.cwd(), next(iter(words), ""))
        with use_digits(None if given.digits is None else int(given.digits)):
            code = app(words, exit_on_error=False, print_error=False, verbose=False)
    except UsageError as error:
        fail(f"{error.argument_name}: {error.message}", 2)
    except CycloptsError as error:
        fail(_advise(error), 2)
    except TextgaugeError as error:
        fail(error.format_message(get_option_name) if isinstance(error, ArgumentError) else str(error), 2)
    except MemoryError as error:
        fail(f"not enough memory ({shorten_line(str(error), 200) or 'for this'})", 1)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:  # of the disk or the system, where nothing better is known to say
        fail(f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error), 2)
    except KeyboardInterrupt:  # before or after the work of a command, which says itself what is kept
        fail("interrupted", 130)
    sys.exit(code if isinstance(code, int) else 0)


def _parse_shared_options(words: list[str]) -> tuple[Namespace, list[str]]:
    """Return the options of every command among the words before `--`, and all other words."""
    from argparse import ArgumentParser

    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for letter, name in ("-q", "--quiet"), ("-v", "--verbose"):
        parser.add_argument(letter, name, action="store_true")
    parser.add_argument("--digits")
    parser.add_argument("--encoding")
    end = words.index("--") if "--" in words else len(words)
    given, left = parser.parse_known_args(words[:end])
    return given, [*left, *words[end:]]


def _advise(error: CycloptsError) -> str:
    """Say in one line what is wrong with an option or argument, and where to read about it."""
    from cyclopts import CoercionError, MissingArgumentError

    text = " ".join(str(error).partition(" Available commands:")[0].split()).removesuffix(".")
    name = next(iter(error.argument.names if error.argument else ()), "argument")
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        text = f"{error.keyword} needs a value" if error.keyword else f"missing {name}"
    if isinstance(error, CoercionError) and error.token is not None and error.target_type in _WANTED:
        text = f"{error.token.keyword or name} takes {_WANTED[error.target_type]}, not {error.token.value!r}"
    if found := re.fullmatch(r'Invalid value "(.*?)" for (\S+)\. Choose from: (.*)', text):
        text = f"{found[2]} takes {found[3].replace(chr(34), '')}, not {found[1]!r}"
    place = " ".join(["textgauge", *(error.command_chain or ())])
    begin = text[:1].lower() if text[1:2].islower() else text[:1]  # a name stays as it is
    return f"{begin}{text[1:]} (see {place} -h)".replace(STDIN, "-")


_WANTED: dict[Any, str] = {int: "a whole number", float: "a number", bool: "true or false"}


def read_config(app: App, folder: Path, command: str) -> list[Any]:
    """Read defaults of options from textgauge.toml, or from [tool.textgauge] of pyproject.toml, a table per command."""
    for name in ("textgauge.toml", "pyproject.toml"):
        path = folder / name
        if not path.is_file():
            continue
        import tomllib
        from importlib.metadata import entry_points

        from cyclopts.config import Dict

        from textgauge.cli.output import note

        try:
            table: Any = tomllib.loads(path.read_text("utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            if name == "pyproject.toml":  # of another tool, which will say what is wrong with it
                continue
            raise InputError(f"{name}: not TOML ({error})") from None
        if name == "pyproject.toml":
            tools = table.get("tool")
            table = tools.get("textgauge") if isinstance(tools, dict) else None
        if table is not None and not isinstance(table, dict):
            raise InputError(f"{name}: give the options of commands in tables, as [tool.textgauge.compare]")
        if table is not None:
            commands = {known for known in app if not known.startswith("-")}
            commands |= {plugin.name for plugin in entry_points(group=GROUP)}
            for key, value in table.items():
                if key not in commands:
                    raise InputError(f"{name}: {UnknownName.among('command', key, commands)}")
                if not isinstance(value, dict):
                    raise InputError(f"{name}: {key} is a command; give its options in a table [{key}]")
                _refuse_places(app[key], value, name)
            if command in table:
                note(f"defaults of {command} are those of {name}")
            return [Dict(table, source=name)]
    return []


def _refuse_places(app: App, options: dict[str, Any], file: str) -> None:
    """Refuse addresses, services and places to write: a file of the current folder may be somebody else's."""
    for key, value in options.items():
        if isinstance(value, dict) and key in app:
            _refuse_places(app[key], value, file)
            continue
        option = f"--{key.replace('_', '-')}"
        hints = (str(one.hint) for one in app.assemble_argument_collection() if option in one.names)
        if key in ("scheduler", "cluster", "planted") or "://" in str(value) or any("Path" in hint for hint in hints):
            raise InputError(f"{file}: {key} is an address or a place to write, which only the command line names")
        if re.search(r"\bapi:" if key != "metrics" else r"\bapi:|\bjudge\b", str(value)):
            raise InputError(f"{file}: {key} sends texts to a service, which only the command line names")


def _interrupt(*_: object) -> NoReturn:
    """Stop at the first Ctrl-C, and end at once at the second."""
    signal.signal(signal.SIGINT, _end)
    raise KeyboardInterrupt


def _end(*_: object) -> NoReturn:
    os._exit(130)


def _open_streams() -> None:
    """Replace streams that the caller closed, and let no character end the command that a stream cannot write."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - as long as the process
        elif mode == "w" and isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="backslashreplace")
