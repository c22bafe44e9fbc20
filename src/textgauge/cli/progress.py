"""Waiting: counts and time left on a terminal, a line per stage elsewhere, and what Ctrl-C leaves."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from textgauge.cli.output import DETAIL, note
from textgauge.progress import Stage, downloads_shown
from textgauge.tabular import Row, format_duration, rich_table

QUIET_SECONDS = 3.0  # a command that is this quick says nothing on a pipe


class Watch:
    """Called with every step; `row` takes a row of the result as soon as it is known."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.doing = ""

    def __call__(self, step: str) -> None:
        """What is being done from now on."""
        kind = step.kind or step if isinstance(step, Stage) else step.partition(":")[0]
        if kind != self.doing and time.perf_counter() - self.start >= QUIET_SECONDS and not DETAIL.quiet:
            note(f"{kind} …")
        self.doing = kind

    def row(self, cells: Row) -> None:
        """A row that is finished."""

    def stop(self) -> None:
        """Nothing more follows."""


class _Verbose(Watch):
    def __call__(self, step: str) -> None:
        self.doing = step
        note(f"{time.perf_counter() - self.start:8.2f} s  {step}")

    def stop(self) -> None:
        note(f"{time.perf_counter() - self.start:8.2f} s  done")


class _Terminal(Watch):
    """A line with a bar, a count and the time left, below the rows that are finished; gone when all is."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeRemainingColumn(),
        )
        self.rows: list[Row] = []
        self.bar = Progress(*columns)
        self.task = self.bar.add_task("reading", total=None, count="")
        self.live = Live(get_renderable=self._shown, console=Console(stderr=True), transient=True)
        self.live.start()

    def __call__(self, step: str) -> None:
        counted = isinstance(step, Stage) and bool(step.total)
        kind = (step.kind or step) if isinstance(step, Stage) else step.partition(":")[0]
        if kind != self.doing:  # another time left
            self.bar.remove_task(self.task)
            self.task = self.bar.add_task(step, total=None, count="")
        self.doing = kind
        self.bar.update(self.task, description=str(step))
        if counted and isinstance(step, Stage):
            count = "" if "downloading" in kind else f"{step.done} of {step.total}"
            self.bar.update(self.task, completed=step.done, total=step.total, count=count)

    def row(self, cells: Row) -> None:
        self.rows.append(cells)

    def stop(self) -> None:
        self.live.stop()

    def _shown(self) -> Any:
        from rich.console import Group

        names = list(dict.fromkeys(name for row in self.rows for name in row))
        return Group(rich_table(self.rows, names), self.bar) if self.rows else self.bar


def _watch() -> Watch:
    if DETAIL.verbose:
        return _Verbose()
    return _Terminal() if sys.stderr.isatty() and not DETAIL.quiet else Watch()


@contextmanager
def progress(on_interrupt: Callable[[], None] | None = None) -> Iterator[Watch]:
    """Show steps; at Ctrl-C `on_interrupt`, or one line, says what is left, and the exit code is 130."""
    watch = _watch()
    try:
        with downloads_shown(watch):
            yield watch
    except KeyboardInterrupt:
        watch.stop()
        if on_interrupt is None:
            spent = format_duration(time.perf_counter() - watch.start)
            note(f"interrupted after {spent}{f' while {watch.doing}' if watch.doing else ''}; nothing was kept")
        else:
            on_interrupt()
        raise typer.Exit(130) from None
    except BaseException:
        watch.stop()
        raise
    watch.stop()


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None]]:
    """The same for results of runs, which are counted; their command says itself what Ctrl-C leaves."""
    watch = _watch()
    try:
        yield lambda done, total, what: watch(Stage(what or "results", done, total, "results" if total else what))
    finally:
        watch.stop()
