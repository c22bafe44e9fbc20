"""Print results: answer, table and next commands for people; JSON, JSON lines, CSV, Markdown or LaTeX for the rest.

While they are computed: counts and time left on a terminal, a line per stage elsewhere, and what Ctrl-C leaves.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from textwrap import wrap
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts.validators import Path as PathCheck

from textgauge.cli.door import OUTPUT, check_writable, option
from textgauge.core import show
from textgauge.core.errors import InputError
from textgauge.core.files import escape_formula
from textgauge.core.progress import NOTE, Stage, listen
from textgauge.core.show import Row
from textgauge.stats.decisions import VERDICTS

if TYPE_CHECKING:
    from rich.progress import TaskID

    from textgauge.core.result import Result

QUIET_SECONDS = 3.0  # a command that is this quick says nothing on a pipe


class Format(StrEnum):
    """How rows are printed."""

    table = "table"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"

    @property
    def for_people(self) -> bool:
        """Whether it is for reading: cells are written for people then, and the answer stands first."""
        return self in (Format.table, Format.markdown, Format.latex)


FormatOption = Annotated[Format, option("--format", "-f", help="How to print the result.", group=OUTPUT)]
SeedOption = Annotated[int, option(min=0, help="Random seed.")]
OutputOption = Annotated[
    Path | None,
    option(
        "--output",
        "-o",
        help="Save the result to a .json file; `textgauge report` reads it.",
        group=OUTPUT,
        validator=(PathCheck(ext="json"), check_writable),
    ),
]
ColumnOption = Annotated[
    str | None,
    option(help="The column that holds the texts, for tables; default: `text`, or the only column of texts."),
]


def print_result(result: Result, form: Format, output: Path | None = None) -> None:
    """Save a result, where a file is named, and print it: JSON is the whole of it, JSON lines and CSV are its rows.

    People get answer and table. Warnings go to standard error too.
    """
    if output is not None:
        result.save(output)
    if form is Format.json:
        print_data(result.to_json())
    elif form is Format.jsonl:
        for row in result.to_dicts():
            print_data(json.dumps(row, ensure_ascii=False, allow_nan=False))
    elif form is Format.csv:
        print_data(_render_csv(result.to_dicts()))
    else:
        print_answer(result.answer, form)
        print_table(result.readable(), form, [result.footnote] if result.footnote else [])
    note(*result.warnings, start="warning: ")


def print_answer(answer: str | None, form: Format) -> None:
    """Print the answer, above its table; on a terminal its verdict has a colour, where nobody asked for none."""
    is_plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if answer and form is Format.table and not is_plain:
        shown = show.make_printable(fill_line(answer))
        start, colour = next(((start, code) for start, code in VERDICTS.items() if shown.startswith(start)), ("", ""))
        verdict = f"\x1b[1;{colour}m{start}\x1b[0m" if start else ""
        print(f"{verdict}{shown[len(start) :]}\n", flush=True)
    elif answer:
        say(f"% {' '.join(answer.split())}" if form is Format.latex else f"{fill_line(answer)}\n")


def fill_line(text: str, *, err: bool = False) -> str:
    """Return a sentence for standard output or error; on a terminal it is broken between words, not before a %."""
    if not (sys.stderr if err else sys.stdout).isatty():
        return text
    lines = wrap(text.replace(" %", "\xa0%"), show.get_table_width(), break_long_words=False)
    return "\n".join(lines).replace("\xa0%", " %")


def print_table(rows: Sequence[Row], form: Format, notes: Iterable[str] = ()) -> None:
    """Print rows as a table for people, and beneath it the notes on what it rests on."""
    if rows and form in (Format.markdown, Format.latex):
        say((show.render_markdown if form is Format.markdown else show.render_latex)(rows))
    elif rows:
        from rich.console import Console

        width = show.get_table_width()
        table, hidden = show.build_table(rows, width)
        Console(width=width).print(table)
        if hidden:
            say(fill_line(show.format_hidden_columns(hidden)))
        say("")
    for text in notes if form is not Format.latex else ():
        say(fill_line(f"note: {text}"))


def print_titled(title: str, rows: Sequence[Row], form: Format, *, width: int = 60) -> None:
    """Print a table under its title, if it has rows; texts are cut to a width."""
    if rows:
        latex = f"\n% {' '.join(title.split())}"
        say({Format.markdown: f"\n### {title}\n", Format.latex: latex}.get(form, fill_line(title)))
        short = show.shorten_line
        cut = [{name: short(v, width) if isinstance(v, str) else v for name, v in row.items()} for row in rows]
        print_table(cut, form)


def print_next(commands: Sequence[str], form: Format) -> None:
    """Print what to do next, below a table on a terminal."""
    for number, text in enumerate(commands if form is Format.table and not DETAIL.quiet else ()):
        say(f"{'next:' if not number else '     '} {text}")


def format_this_command(*more: str) -> str:
    """Return the command that is running, with more options, as a shell takes it, without passwords of addresses."""
    return show.hide_user(shlex.join(["textgauge", *(word for word in sys.argv[1:] if word not in more), *more]))


def get_option_name(value: str) -> str:
    """Return the option of the command that gives a value.

    >>> get_option_name("source_a"), get_option_name("metrics")
    ('--source-a', '-m')
    """
    own = {"metrics": "-m", "groups": "--set, --system, --item", "held_out": "--test", "ratings": "--rating"}
    return own.get(value) or f"--{value.replace('_', '-')}"


def name_sources(sources: Sequence[str]) -> dict[str, str]:
    """Name sources by their file without folder and ending, or in full where two would be called alike.

    >>> name_sources(["out/a.txt", "out/b.txt"]), name_sources(["1/a.txt", "2/a.txt"])
    ({'a': 'out/a.txt', 'b': 'out/b.txt'}, {'1/a.txt': '1/a.txt', '2/a.txt': '2/a.txt'})
    """
    from textgauge.data.packing import split_endings
    from textgauge.data.source import split_column

    twice = next((source for source in sources if sources.count(source) > 1), None)
    if twice is not None:
        raise InputError(f"{twice} is given twice")
    files = [split_column(source)[0] for source in sources]
    short = [Path(file[: len(file) - len(split_endings(file)[1])]).stem or file for file in files]
    return {name if short.count(name) == 1 else source: source for name, source in zip(short, sources, strict=True)}


# How much a command writes on standard error besides errors: nothing, notes and progress, or each step's time.
DETAIL = SimpleNamespace(quiet=False, verbose=False)


def note(*texts: str, start: str = "") -> None:
    """Print lines on standard error, each with the same start."""
    for text in texts if not DETAIL.quiet else ():
        say(fill_line(start + text, err=True), err=True)


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print for people: what acts on a terminal rather than shows is replaced."""
    print(show.make_printable(text), end="\n" if nl else "", file=sys.stderr if err else sys.stdout, flush=True)


def print_data(text: str) -> None:
    """Print for programs: exact, but on a terminal."""
    print(show.make_printable(text) if sys.stdout.isatty() else text, flush=True)


def _render_csv(rows: Sequence[Row]) -> str:
    buffer, names = io.StringIO(), show.list_columns(rows)
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows(map(escape_formula, line) for line in [names, *([row.get(n, "") for n in names] for row in rows)])
    return buffer.getvalue().removesuffix("\n")


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
        self.bar.update(task, description=show.make_printable(text), visible=True)
        if step.total:
            count = "" if step.kind.startswith("downloading") else f"{step.done:,} of {step.total:,}"
            self.bar.update(task, completed=step.done, total=step.total, count=count)

    def _shown(self) -> Any:
        from rich.console import Group

        return Group(show.build_table(self.rows, self.console.width)[0], self.bar) if self.rows else self.bar


@contextmanager
def show_progress(on_interrupt: Callable[[], None] | None = None, *, is_left: bool = False) -> Iterator[Watch]:
    """Show steps; at Ctrl-C `on_interrupt`, or one line, says what is left, and the exit code is 130.

    Where that `is_left` to the command, the interrupt is raised again.
    """
    watch = Watch() if DETAIL.quiet or DETAIL.verbose or not sys.stderr.isatty() else _Terminal()
    try:
        with ExitStack() as stack:
            if isinstance(watch, _Terminal):
                stack.enter_context(watch.live)
            elif DETAIL.verbose:
                stack.callback(lambda: note(f"{time.perf_counter() - watch.start:8.2f} s  done"))
            stack.enter_context(listen(lambda stage: note(stage) if stage.kind == NOTE else watch(stage)))
            yield watch
    except KeyboardInterrupt:
        if is_left:
            raise
        if on_interrupt is None:
            spent = show.format_duration(time.perf_counter() - watch.start)
            note(f"interrupted after {spent}{f' while {watch.doing}' if watch.doing else ''}; nothing was kept")
        else:
            on_interrupt()
        raise SystemExit(130) from None
