"""What is being done: steps with counts, shown in notebooks; long loops and downloads report how far they are."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

Step: TypeAlias = Callable[[str], None]
Listener: TypeAlias = Callable[[int, int], None]  # how many are done, and of how many
SECONDS_BETWEEN = 0.1  # reports of one loop
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_handles: dict[str, Any] = {}
_watching: list[Step] = []


class Stage(str):
    """The name of a step that knows how many of its kind are done; where a name is enough, it is one.

    `kind` names all steps that are counted together; `part` says that the count is one within the present step.

    >>> Stage("energy", 3, 12), Stage("energy", 3, 12).share
    ('energy', 0.25)
    """

    __slots__ = ("done", "kind", "part", "total")

    def __new__(cls, text: str, done: int, total: int, kind: str = "", *, part: bool = False) -> Stage:
        """A step with its place."""
        made = super().__new__(cls, text)
        made.done, made.total, made.kind, made.part = done, total, kind, part
        return made

    done: int
    total: int
    kind: str
    part: bool

    def of(self, name: str) -> Stage:
        """The same step of one of several things.

        >>> Stage("energy", 3, 12).of("b.txt")
        'b.txt: energy'
        """
        return Stage(f"{name}: {self}", self.done, self.total, self.kind and f"{name}: {self.kind}", part=self.part)

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return self.done / self.total if self.total else 0.0


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within this block long loops call the listener now and then."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(done: int, total: int) -> None:
    """Say how far a long loop is, to whoever listens, without an argument through every function."""
    listener = _listener.get()
    if listener is not None:
        listener(done, total)


@contextmanager
def counting(on_step: Step, what: str) -> Iterator[None]:
    """Within this block long loops report how far they are, as parts of the present step, at most ten a second."""
    last = time.perf_counter()

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.perf_counter() - last >= SECONDS_BETWEEN:
            last = time.perf_counter()
            on_step(Stage(what, done, total, what, part=True))

    with listening(tell):
        yield


def show_in_notebook(step: str) -> None:
    """One line below the cell of a notebook that says what is being done; elsewhere nothing."""
    display = _notebook_display()
    if display is None:
        return
    text = f"{step} ({step.done} of {step.total})" if isinstance(step, Stage) and step.total else str(step)
    shown = {"text/plain": text}
    if "step" in _handles:
        _handles["step"].display(shown, raw=True, update=True)
    else:
        _handles["step"] = display(shown, raw=True, display_id=True)


def _notebook_display() -> Callable[..., Any] | None:
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    if running is None or not hasattr(running, "kernel"):
        return None
    from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

    return display  # type: ignore[no-any-return, unused-ignore]


@contextmanager
def downloads_shown(on_step: Step) -> Iterator[None]:
    """Within this block, downloads report their bytes as steps."""
    _watching.append(on_step)
    try:
        yield
    finally:
        _watching.remove(on_step)


class DownloadBar:
    """Takes reports of a downloader: it sets `total`, then calls `update` with the bytes that have arrived."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.total = 0.0
        self.done = 0

    def update(self, count: int) -> None:
        """Count bytes that have arrived."""
        self.done += count
        text = f"downloading {self.name}: {self.done / 1e6:.1f} of {self.total / 1e6:.1f} MB"
        for on_step in _watching:
            on_step(Stage(text, self.done, int(self.total), f"downloading {self.name}"))

    def reset(self) -> None:
        """Start again, or end: the downloader sets the count back before it closes the bar."""
        self.done = 0

    def close(self) -> None:
        """End."""


class PairCount:
    """Counts the pairs of rows that are done, and reports them."""

    def __init__(self, total: int) -> None:
        self._done, self._total = 0, total

    def add(self, pairs: int) -> None:
        """Count pairs that are done."""
        self._done = min(self._done + pairs, self._total)
        report(self._done, self._total)
