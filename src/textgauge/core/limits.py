"""How large an input may be before it is refused, and the variable of the environment that allows more.

JSON may be nested as deep as Python's recursion limit lets it be, about 1,000.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from textgauge.core.errors import InputError


@dataclass(frozen=True)
class Limit:
    """A largest number of something; the variable raises or lowers it."""

    variable: str
    default: int
    unit: str

    @property
    def most(self) -> int:
        """The number in force."""
        given = os.environ.get(self.variable, "")
        if not given:
            return self.default
        try:
            found = int(float(given))
        except (ValueError, OverflowError):
            found = 0
        if found < 1:
            raise InputError(f"{self.variable}={given[:40]}: give a whole number above 0")
        return found

    @property
    def advice(self) -> str:
        """The limit, and what to do about it."""
        return f"the limit is {self.most:,} {self.unit}; take a part, or set {self.variable}"

    def check(self, found: int, what: str) -> None:
        """Refuse more; `what` says of what there is too much.

        >>> Limit("MAX_BYTES", 10, "bytes").check(12, "a.txt")
        Traceback (most recent call last):
        textgauge.core.errors.InputError: a.txt of 12 bytes; the limit is 10 bytes; take a part, or set MAX_BYTES
        """
        if found > self.most:
            raise InputError(f"{what} of {found:,} {self.unit}; {self.advice}")


# Texts are held in memory; a gibibyte of text is about ten million sentences.
FILE_BYTES = Limit("TEXTGAUGE_MAX_BYTES", 2**30, "bytes")
TEXT_CHARACTERS = Limit("TEXTGAUGE_MAX_CHARACTERS", 1_000_000, "characters")
# 64 vectors of 4,096 numbers, a batch, are 6 MB of JSON.
ANSWER_BYTES = Limit("TEXTGAUGE_MAX_ANSWER_BYTES", 2**26, "bytes")


def open_at_once(name: str, flags: int) -> int:
    """Open a file for `open` without waiting for the other end of a pipe."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


@contextlib.contextmanager
def open_stored(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that belongs to a folder, a cache or a model: no device or pipe, which may have no end.

    What cannot be opened is an `OSError` with the reason.
    """
    with open(path, "rb", opener=open_at_once) as stream:
        if not S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
        yield stream


def read_stored_bytes(path: Path) -> bytes:
    """Return all bytes of a file of `open_stored`; too many are an `OSError` too."""
    with open_stored(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > FILE_BYTES.most:
            raise OSError(errno.EFBIG, f"{size:,} bytes; {FILE_BYTES.advice}", str(path))
        return stream.read(FILE_BYTES.most)
