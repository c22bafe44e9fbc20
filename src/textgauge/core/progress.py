"""How far work is: steps, and counts within a step, are told to whoever listens.

>>> with listen(lambda stage: print(stage, stage.done, stage.total)):
...     begin_step("embedding", 1, 3)
embedding 1 3
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

NOTE = "note"  # the kind of what stays to be read
SECONDS_BETWEEN = 0.1  # counts that are told
_handles: dict[str, Any] = {}


class Stage(str):
    """The name of a step that knows how many of its kind are done; where a name is enough, it is one.

    `kind` names all steps that are counted together; `part` says that the count is one within the present step.

    >>> Stage("energy", 3, 12), Stage("energy", 3, 12).share
    ('energy', 0.25)
    """

    done: int
    total: int
    kind: str
    part: bool

    def __new__(cls, text: str, done: int = 0, total: int = 0, kind: str = "", *, part: bool = False) -> Stage:
        """Return a step with its place."""
        made = super().__new__(cls, text)
        made.done, made.total, made.kind, made.part = done, total, kind, part
        return made

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return self.done / self.total if self.total else 0.0


ProgressCallback: TypeAlias = Callable[[Stage], object]


@dataclass
class _Listener:
    callback: ProgressCallback
    last: float = 0.0


@contextmanager
def listen(callback: ProgressCallback) -> Iterator[None]:
    """Within this block, call `callback` with every step that begins and, at most ten times a second, with counts."""
    token = _listener.set(_Listener(callback, time.perf_counter()))
    try:
        yield
    finally:
        _listener.reset(token)


def begin_step(what: str, done: int = 0, total: int = 0, kind: str = "") -> None:
    """Tell that a step begins, the one after `done` of `total` of its `kind`."""
    _listener.get().callback(Stage(what, done, total, kind))


def tell_note(what: str) -> None:
    """Tell what stays to be read, such as the loss of an epoch."""
    begin_step(what, kind=NOTE)


def advance(done: int, total: int, what: str = "") -> None:
    """Tell how far a loop within the present step is; called as often as is convenient."""
    listener = _listener.get()
    if (now := time.perf_counter()) - listener.last >= SECONDS_BETWEEN:
        listener.last = now
        listener.callback(Stage(what, done, total, what, part=True))


def name_counts(what: str) -> AbstractContextManager[None]:
    """Within this block, tell counts under one name."""
    tell = _listener.get().callback
    return listen(lambda stage: tell(Stage(what, stage.done, stage.total, what, part=True) if stage.part else stage))


def count_part(before: int, count: int, total: int) -> AbstractContextManager[None]:
    """Within this block, tell counts as the share that is done of `count` of `total` things, `before` others done."""
    tell = _listener.get().callback

    def change(stage: Stage) -> None:
        done = before + round(stage.share * count)
        tell(Stage(stage, done, total, stage.kind, part=True) if stage.part else stage)

    return listen(change)


def show_in_notebook(step: Stage) -> None:
    """Show in one line below the cell of a notebook what is being done; elsewhere nothing."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    if step.part or running is None or not hasattr(running, "kernel"):
        return
    from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

    text = f"{step} ({step.done} of {step.total})" if step.total else str(step)
    shown = {"text/plain": text}
    if "step" in _handles:
        _handles["step"].display(shown, raw=True, update=True)
    else:
        _handles["step"] = display(shown, raw=True, display_id=True)


_listener = ContextVar("listener", default=_Listener(show_in_notebook))  # noqa: B039, its time of the last count is all


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
        begin_step(text, self.done, int(self.total), f"downloading {self.name}")

    def reset(self) -> None:
        """Start again, or end: the downloader sets the count back before it closes the bar."""
        self.done = 0

    def close(self) -> None:
        """End."""
