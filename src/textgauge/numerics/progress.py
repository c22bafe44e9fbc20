"""How far a long pass over pairs of rows is: told to whoever listens, without arguments through every function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[int, int], None]  # pairs done, and all pairs of the pass

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within this context passes over pairs call the listener now and then."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(done: int, total: int) -> None:
    """Say how many pairs of a pass are done."""
    listener = _listener.get()
    if listener is not None:
        listener(done, total)
