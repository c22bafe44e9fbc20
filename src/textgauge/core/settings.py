"""What the environment decides: how large an input may be, how much is worked on at once, where files are kept.

JSON may be nested as deep as Python's recursion limit lets it be, about 1,000.

Blocks bound memory and keep data in the processor's cache; numbers do not depend on them but for rounding. All loops
over blocks take them from here, so that `limit_sizes` can make all of them small: a few texts then cross every border.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from stat import S_ISREG, S_IWOTH
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import InputError, warn


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
# What edits between two texts compare; two texts of 300,000 characters take some seconds.
EDIT_CELLS = Limit("TEXTGAUGE_MAX_EDIT_CELLS", 10**11, "pairs of characters or words")
# 64 vectors of 4,096 numbers, a batch, are 6 MB of JSON.
ANSWER_BYTES = Limit("TEXTGAUGE_MAX_ANSWER_BYTES", 2**26, "bytes")


def check_seed_and_level(seed: object, level: float) -> None:
    """Refuse what no random numbers can begin with, and what is no confidence level."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed is a whole number of at least 0, not {seed!r}")
    if not 0.5 <= level < 1:
        raise InputError(f"the level of an interval lies between 0.5 and 1, not {level}")


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


_VARIABLE = "TEXTGAUGE_LARGEST_BLOCK"  # processes that are started under a cap have it too
_given = os.environ.get(_VARIABLE, "")
_cap = int(_given) if _given.isdecimal() else sys.maxsize


def cap_size(size: int) -> int:
    """Return the size, or the cap where that is smaller."""
    return min(size, _cap)


def split_into_blocks(total: int, size: int, width: int = 1) -> list[slice]:
    """Return slices of `total` rows, of at most `size` numbers each where a row has `width`, and of one row at least.

    >>> split_into_blocks(7, 12, width=4)
    [slice(0, 3, None), slice(3, 6, None), slice(6, 7, None)]
    """
    step = max(cap_size(size // max(int(width), 1)), 1)
    return [slice(start, min(start + step, total)) for start in range(0, total, step)]


def split_into_runs(sizes: NDArray[np.integer], most: int) -> Iterator[slice]:
    """Yield slices of rows with at most `most` numbers together, or of one row that has more.

    >>> list(split_into_runs(np.array([3, 3, 9, 1]), 6))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    ends, start = np.concatenate([[0], np.cumsum(sizes)]), 0
    while start < len(sizes):
        stop = max(int(np.searchsorted(ends, ends[start] + cap_size(most), side="right")) - 1, start + 1)
        yield slice(start, stop)
        start = stop


@contextmanager
def limit_sizes(largest: int) -> Iterator[None]:
    """Within this context no block has more rows, tokens or bytes, and no corpus of more texts is read as a whole.

    >>> with limit_sizes(2):
    ...     split_into_blocks(5, 1_000)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    global _cap  # noqa: PLW0603, threads must see it
    before, variable = _cap, os.environ.get(_VARIABLE)
    _cap, os.environ[_VARIABLE] = largest, str(largest)
    try:
        yield
    finally:
        _cap = before
        os.environ.pop(_VARIABLE)
        if variable is not None:
            os.environ[_VARIABLE] = variable


def get_cache_root() -> Path:
    """Return the folder textgauge keeps its files in: `TEXTGAUGE_CACHE`, or the system's cache folder for textgauge."""
    from platformdirs import user_cache_dir

    chosen = os.environ.get("TEXTGAUGE_CACHE") or user_cache_dir("textgauge")
    root = Path(os.path.expanduser(chosen))  # of a user who does not exist, the name as it stands
    _warn_if_shared(root)
    return root


@cache
def _warn_if_shared(root: Path) -> None:
    with contextlib.suppress(OSError):
        status = root.stat()
        if os.name == "posix" and (status.st_mode & S_IWOTH or status.st_uid not in (os.geteuid(), 0)):
            message = f"other users can write to the cache folder {root}, and change what is read from it"
            warn(f"{message}; set TEXTGAUGE_CACHE to a folder of your own", RuntimeWarning)


def keeps_cache() -> bool:
    """Return whether vectors and answers are kept on disk: not with `TEXTGAUGE_NO_CACHE=1`."""
    return os.environ.get("TEXTGAUGE_NO_CACHE", "") in {"", "0"}


def make_cache_folder(folder: Path) -> Path:
    """Create a folder; those of the cache are created so that other users cannot enter them."""
    root = get_cache_root()
    if root == folder or root in folder.parents:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for part in (*reversed(folder.parents), folder):
        if root in part.parents:
            part.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
