"""The bytes and the text of a file: found, unpacked, limited, decoded.

Every error is an InputError of one line that names the file. Text is UTF-8 with or without byte-order mark. What is
packed (`.gz`, `.bz2`, `.xz`, `.zst`) is unpacked up to a limit; `-` is standard input.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import importlib
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from stat import S_ISBLK, S_ISCHR, S_ISREG
from typing import IO, Any

from textgauge.core.errors import InputError, MissingExtra
from textgauge.core.limits import EXPANSION, FILE_BYTES
from textgauge.core.sizes import capped

STDIN = "-"
_BLOCK = 2**20
_SMALL = 2**24  # unpacked bytes that are no matter how few they were packed in
_MOST_NEIGHBOURS = 10_000  # files of a folder that a mistyped name is looked for among
PathLike = str | os.PathLike[str]


def suffix(path: PathLike) -> str:
    """The file's ending in lower case, without that of packing: `.csv` for `Data.CSV.gz`, empty if there is none."""
    name = os.fspath(path).lower()
    return Path(name.removesuffix(packing(name))).suffix


def packing(path: PathLike) -> str:
    """The ending that says how the file is packed, in lower case; empty if it is not."""
    ending = Path(os.fspath(path).lower()).suffix
    return ending if ending in PACKINGS else ""


def show(path: PathLike) -> str:
    """The path as error messages print it: one line, whatever it holds."""
    name = os.fspath(path)
    return "standard input" if name == STDIN else name if name.isprintable() else repr(name)


def read_text(path: PathLike) -> str:
    """The whole of a UTF-8 text file (unpacked, `-` for standard input), without byte-order mark."""
    return check_text(read_bytes(path, until=b"\0"), show(path))


def check_text(data: bytes, name: str, *, first_line: int = 1) -> str:
    """Bytes as text: of a whole file, or of a part that starts with `first_line`."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{name}: the file is UTF-16; save it as UTF-8")
    if (place := data.find(b"\0")) >= 0:
        where = f"at position {place}" if first_line == 1 else f"after line {first_line}"
        raise InputError(f"{name}: this is a binary file, not text (a zero byte {where})")
    try:
        return data.decode("utf-8-sig" if first_line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\n|\r", data[: error.start])) + first_line
        byte = data[error.start]
        raise InputError(f"{name}: line {line} is not UTF-8 (byte 0x{byte:02x}); save the file as UTF-8") from None


def read_bytes(path: PathLike, *, until: bytes | None = None) -> bytes:
    """All bytes of a file, unpacked; a missing or empty file, a folder, a device and too many bytes are refused.

    A pipe is read no further than to the block that holds `until`.
    """
    name = show(path)
    try:
        if os.fspath(path) == STDIN:
            return _limited(sys.stdin.buffer, name, until=until)
        with open_source(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            FILE_BYTES.check(size, f"{name}: a file")
            if packing(path):
                return _unpacked(stream, packing(path), name, size)
            return stream.read(FILE_BYTES.most) if size else _limited(stream, name, until=until)
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: {_reason(error, path)}") from None


@contextlib.contextmanager
def open_source(path: PathLike) -> Iterator[IO[bytes]]:
    """A file or pipe to read, but no device; one that has another size or time at the end is refused.

    Texts of a file that someone writes to would be those of no version of it.
    """
    with open(path, "rb") as stream:
        before = os.fstat(stream.fileno())
        if S_ISBLK(before.st_mode) or (S_ISCHR(before.st_mode) and not stream.isatty()):
            raise InputError(f"{show(path)}: this is a device; give a file")
        yield stream
        after = os.fstat(stream.fileno())
        if S_ISREG(before.st_mode) and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise changed(path)


def changed(path: PathLike) -> InputError:
    """The error for a file that someone writes to."""
    return InputError(f"{show(path)}: the file was changed while it was read; run the command again")


def read_pieces(path: PathLike, size: int) -> Iterator[bytes]:
    """The bytes of a file of any length, unpacked, at most `size` at a time."""
    name, ending, total = show(path), packing(path), 0
    try:
        with open_source(path) as stream:
            packed = os.fstat(stream.fileno()).st_size
            with PACKINGS[ending](stream) if ending else contextlib.nullcontext(stream) as unpacked:
                while piece := unpacked.read(size):
                    total += len(piece)
                    if ending:
                        check_expansion(total, packed, f"{name}: ")
                    yield piece
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise InputError(f"{name}: {_reason(error, path)}") from None
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{name}: {f'not a whole {ending} file' if ending else _reason(error, path)}") from None


def check_expansion(unpacked: int, packed: int, name: str = "") -> None:
    """Refuse what unpacks to far more bytes than it is packed in; `name` stands before the message."""
    if unpacked > max(_SMALL, EXPANSION.most * packed):
        raise InputError(f"{name}unpacks to suspiciously much; {EXPANSION.advice}")


def similar_files(path: PathLike) -> list[str]:
    """Files whose name is nearly that of a path, in its folder; the nearest first, three at most.

    If there are none, those near to the file of `FILE:COLUMN`, with the column.
    """
    near = _similar(path)
    head, colon, column = os.fspath(path).partition(":")
    return near if near or not colon else [f"{one}:{column}" for one in _similar(head)]


def _similar(path: PathLike) -> list[str]:
    wanted = Path(path)
    try:
        with os.scandir(wanted.parent) as found:
            names = {entry.name.lower(): entry.name for entry, _ in zip(found, range(_MOST_NEIGHBOURS), strict=False)}
    except (OSError, ValueError):
        return []
    near = get_close_matches(wanted.name.lower(), names, n=3, cutoff=0.75)
    return [os.path.join(os.path.dirname(path), names[name]) for name in near]


def _unpacked(stream: IO[bytes], ending: str, name: str, size: int) -> bytes:
    try:
        with PACKINGS[ending](stream) as unpacked:
            return _limited(unpacked, name, packed=size)
    except (InputError, MissingExtra, MemoryError):
        raise
    except Exception:
        # Each library has its own kinds of errors.
        raise InputError(f"{name}: not a whole {ending} file") from None


def _open_zstd(stream: IO[bytes]) -> Any:
    for module in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(module).open(stream)
        except ImportError:
            continue
    raise MissingExtra.named("a .zst file", "zstd")


def _limited(stream: IO[bytes], name: str, *, packed: int | None = None, until: bytes | None = None) -> bytes:
    """All bytes of a stream, read in blocks, so that no more memory is taken than the limits allow."""
    data = bytearray()
    while block := stream.read(capped(_BLOCK)):
        data += block
        if len(data) > FILE_BYTES.most:
            raise InputError(f"{name}: too large; {FILE_BYTES.advice}")
        if packed is not None:
            check_expansion(len(data), packed, f"{name}: ")
        if until is not None and until in block:
            break
    if not data:
        raise InputError(f"{name}: the file is empty")
    return bytes(data)


def _reason(error: Exception, path: PathLike) -> str:
    if isinstance(error, FileNotFoundError):
        near = similar_files(path)
        return "no such file" + (f"; did you mean {', '.join(map(show, near))}?" if near else "")
    if isinstance(error, IsADirectoryError):
        return "this is a folder; give a file"
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


PACKINGS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _open_zstd,
}
