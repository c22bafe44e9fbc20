"""The command `textgauge`: its commands parse, call and print; they hold no logic."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from typing import Annotated, NoReturn

import typer

from textgauge.cli import (
    cache,
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
from textgauge.cli.output import option_name
from textgauge.errors import ArgumentError, TextgaugeError

app = typer.Typer(
    name="textgauge",
    help="Measure text, and measure the measures.",
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
app.add_typer(datasets.app, name="datasets")
app.add_typer(resources.app, name="resources")
app.add_typer(cache.app, name="cache")
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
    """Measure text, and measure the measures."""


def _interrupt(*_: object) -> NoReturn:
    """Stop at the first Ctrl-C, and end at once at the second."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    raise KeyboardInterrupt


def main() -> None:
    """Run the command; an error a user can mend is one line and exit code 2, an interrupt exit code 130."""
    signal.signal(signal.SIGINT, _interrupt)
    warnings.showwarning = lambda message, *_, **__: typer.echo(f"warning: {message}", err=True)
    try:
        app(prog_name="textgauge")
    except TextgaugeError as error:
        message = error.worded(option_name) if isinstance(error, ArgumentError) else str(error)
        typer.echo(f"textgauge: {message}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(1)
