"""The command `textgauge`: its commands parse, call and print; they hold no logic."""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from textgauge.cli import (
    check,
    compare,
    datasets,
    describe,
    doctor,
    generate,
    leaderboard,
    ls,
    recommend,
    report,
    reproduce,
    resources,
    run,
    score,
    train,
)
from textgauge.cli.config import read_config
from textgauge.cli.output import DETAIL, note, option_name, say
from textgauge.cli.panels import put_into_panels
from textgauge.core.errors import ArgumentError, TextgaugeError
from textgauge.core.tabular import one_line

WrongUse: type[Exception] = typer.BadParameter.__bases__[0]  # the parser's error of a wrong option or argument

_LONGEST = 1_000  # characters of an error

app = typer.Typer(
    name="textgauge",
    help="Compare corpora, score texts, describe what a model wrote, and find out which metric to trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compare")(compare.compare)
app.command("score")(score.score)
app.command("describe")(describe.describe)
app.command("recommend")(recommend.recommend)
app.command("run")(run.run)
app.command("leaderboard")(leaderboard.leaderboard)
app.command("report")(report.report)
app.command("figures")(report.figures)
app.command("reproduce")(reproduce.reproduce)
app.command("ls")(ls.ls)
app.command("doctor")(doctor.doctor)
app.add_typer(check.app, name="check")
app.add_typer(datasets.app, name="datasets")
app.add_typer(resources.app, name="resources")
app.add_typer(resources.cache_app, name="cache")
app.add_typer(train.app, name="train")
app.add_typer(generate.app, name="generate")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"textgauge {version('textgauge')}")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Compare corpora, score texts, describe what a model wrote, and find out which metric to trust.

    Set your own defaults in textgauge.toml, or in pyproject.toml under [tool.textgauge], with a table for each command:
    [compare] with metrics = "energy,mauve".
    """


def _set_quiet(wanted: bool) -> None:
    DETAIL.quiet |= wanted  # given before or after the name of the command


def _set_verbose(wanted: bool) -> None:
    DETAIL.verbose |= wanted


def _shared(
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", callback=_set_quiet, help="Print only the result and errors: no notes, no progress."
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", callback=_set_verbose, help="Print the time that every step takes.")
    ] = False,
) -> None:
    """Declare the options that every command has."""


def command() -> Any:
    """The whole command, with the options that all of its commands have."""
    declared = typer.Typer(add_completion=False)
    declared.command()(_shared)
    shared = [option for option in typer.main.get_command(declared).params if option.name in ("quiet", "verbose")]
    for option in shared:
        option.expose_value = False  # read by its callback, not by the function of the command
    whole = typer.main.get_command(app)
    for one in (whole, *_all_below(whole)):
        one.params += shared
        put_into_panels(one)
    return whole


def _all_below(group: Any) -> Iterator[Any]:
    for one in getattr(group, "commands", {}).values():
        yield from [one] if not hasattr(one, "commands") else _all_below(one)


def _interrupt(*_: object) -> NoReturn:
    """Stop at the first Ctrl-C, and end at once at the second."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    raise KeyboardInterrupt


def _open_streams() -> None:
    """Replace streams that the caller closed, and let no character end the command that a stream cannot write."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - as long as the process
        elif mode == "w" and isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """Run the command; an error a user can mend is one line and exit code 2, an interrupt exit code 130."""
    _open_streams()
    signal.signal(signal.SIGINT, _interrupt)
    DETAIL.quiet = DETAIL.verbose = False
    warnings.showwarning = lambda message, *_, **__: note(f"warning: {message}")
    try:
        whole = command()
        code = whole(prog_name="textgauge", default_map=read_config(whole, Path.cwd()), standalone_mode=False)
    except WrongUse as error:
        say(_advice(error), err=True)
        sys.exit(2)
    except TextgaugeError as error:
        message = error.worded(option_name) if isinstance(error, ArgumentError) else str(error)
        say(f"textgauge: {one_line(message, _LONGEST)}", err=True)
        sys.exit(2)
    except MemoryError as error:
        say(f"textgauge: not enough memory ({one_line(str(error), 200) or 'for this'})", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:  # of the disk or the system, where nothing better is known to say
        place = f"{error.filename}: " if error.filename else ""
        say(f"textgauge: {one_line(f'{place}{error.strerror or error}', _LONGEST)}", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):  # before or after the work of a command, which says itself what is kept
        say("textgauge: interrupted", err=True)
        sys.exit(130)
    sys.exit(code or 0)


def _advice(error: Any) -> str:
    """One line about a wrong option or argument; the whole help where no command was named."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return str(error.ctx.get_help())
    name = error.ctx.command_path if error.ctx else "textgauge"
    said = " ".join(error.format_message().split()).removesuffix(".")
    return f"textgauge: {said[:1].lower()}{said[1:]} (see {name} -h)"
