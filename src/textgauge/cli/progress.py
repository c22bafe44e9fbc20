"""Waiting: counts and time left on a terminal, a line per stage elsewhere, and what Ctrl-C leaves."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from textgauge.cli.output import DETAIL, note
from textgauge.core.progress import NOTE, Stage, listen
from textgauge.core.show import Row, build_table, format_duration, make_printable

if TYPE_CHECKING:
    from rich.progress import TaskID

QUIET_SECONDS = 3.0  # a command that is this quick says nothing on a pipe


@dataclass(eq=False)
class Watch:
    """Called with every step; `rows` are those of the result that are known already."""

    start: float = field(default_factory=time.perf_counter)
    doing: str = ""
    rows: list[Row] = field(default_factory=list)

    def __call__(self, step: Stage) -> None:
        """Say what is being done from now on; counts within a step are for terminals."""
        if step.part:
            return
        kind, spent = step.kind or step, time.perf_counter() - self.start
        if DETAIL.verbose:
            note(f"{spent:8.2f} s  {step}")
        elif kind != self.doing and spent >= QUIET_SECONDS:
            note(f"{kind} …")
        self.doing = kind

    def stop(self) -> None:
        """Nothing more follows."""
        if DETAIL.verbose:
            note(f"{time.perf_counter() - self.start:8.2f} s  done")


@dataclass(eq=False)
class _Terminal(Watch):
    """Bars with counts and time left, of the steps and of the work within one, below finished rows; gone at the end."""

    def __post_init__(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeRemainingColumn(),
        )
        self.bar = Progress(*columns)
        self.task = self.bar.add_task("reading", total=None, count="")
        self.part = self.bar.add_task("", total=None, count="", visible=False)
        self.counted = ""  # within the step
        self.console = Console(stderr=True)
        self.live = Live(get_renderable=self._shown, console=self.console, transient=True)
        self.live.start()

    def __call__(self, step: Stage) -> None:
        if step.part:
            if step.kind != self.counted:
                self.bar.reset(self.part)  # another time left
            self.counted = step.kind
            self._show(self.part, f"  {step}", step)
            return
        self.bar.update(self.part, visible=False)
        self.counted = ""
        kind = step.kind or step
        if kind != self.doing:
            self.bar.reset(self.task, total=None, count="")
        self.doing = kind
        self._show(self.task, step, step)

    def _show(self, task: TaskID, text: str, step: Stage) -> None:
        self.bar.update(task, description=make_printable(text), visible=True)
        if step.total:
            count = "" if step.kind.startswith("downloading") else f"{step.done:,} of {step.total:,}"
            self.bar.update(task, completed=step.done, total=step.total, count=count)

    def stop(self) -> None:
        self.live.stop()

    def _shown(self) -> Any:
        from rich.console import Group

        return Group(build_table(self.rows, self.console.width)[0], self.bar) if self.rows else self.bar


@contextmanager
def progress(on_interrupt: Callable[[], None] | None = None, *, is_left: bool = False) -> Iterator[Watch]:
    """Show steps; at Ctrl-C `on_interrupt`, or one line, says what is left, and the exit code is 130.

    Where that `is_left` to the command, the interrupt is raised again.
    """
    is_shown = sys.stderr.isatty() and not (DETAIL.quiet or DETAIL.verbose)
    watch = _Terminal() if is_shown else Watch()
    try:
        try:
            with listen(lambda stage: note(stage) if stage.kind == NOTE else watch(stage)):
                yield watch
        finally:
            watch.stop()
    except KeyboardInterrupt:
        if is_left:
            raise
        if on_interrupt is None:
            spent = format_duration(time.perf_counter() - watch.start)
            note(f"interrupted after {spent}{f' while {watch.doing}' if watch.doing else ''}; nothing was kept")
        else:
            on_interrupt()
        raise SystemExit(130) from None
