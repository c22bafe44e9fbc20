"""The bytes and the text of a file: opened, unpacked, limited, decoded.

Every error is an InputError of one line that names the file. Text is UTF-8 with or without byte-order mark, or in the
encoding that `TEXTGAUGE_ENCODING` (`--encoding` of the command) names; UTF-16 with its mark and Windows-1252 are found
and said. What is packed (`.gz`, `.bz2`, `.xz`, `.zst`) is unpacked piece by piece, up to a limit; `-` is standard
input.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import importlib
import itertools
import lzma
import os
import re
import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from stat import S_ISBLK, S_ISCHR, S_ISREG
from typing import IO, Any

from textgauge.core.errors import InputError, MissingExtra, warn
from textgauge.core.settings import FILE_BYTES, TEXT_CHARACTERS, cap_size

STDIN = "-"
ENCODING = "TEXTGAUGE_ENCODING"
_PIECE = 2**22
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# A letter of several bytes: UTF-8 with a wrong byte somewhere; ÿ and þ: mostly bytes of no text.
_NOT_CP1252 = re.compile(rb"[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\xfe\xff]")
_USUAL = "utf-8, utf-16, cp1252, latin-1, gb18030, big5, shift_jis, euc-kr"
_MOST_NEIGHBOURS = 10_000  # files of a folder that a mistyped name is looked for among
PathLike = str | os.PathLike[str]


def split_endings(path: PathLike) -> tuple[str, str]:
    """Return the ending of a file and the one that says how it is packed, in lower case; empty where it has none.

    >>> split_endings("Data.CSV.gz"), split_endings("notes")
    (('.csv', '.gz'), ('', ''))
    """
    name = Path(os.fspath(path).lower())
    return (Path(name.stem).suffix, name.suffix) if name.suffix in PACKINGS else (name.suffix, "")


def format_path(path: PathLike) -> str:
    """Return the path as error messages print it: one line, whatever it holds."""
    name = os.fspath(path)
    return "standard input" if name == STDIN else name if name.isprintable() else repr(name)


def read_text(path: PathLike) -> str:
    """Read the whole of a text file (unpacked, `-` for standard input), without byte-order mark."""
    return "".join(text for _, text in read_texts(path, limited=True))


def read_texts(path: PathLike, *, limited: bool = False) -> Iterator[tuple[int, str]]:
    """Yield pieces of a text file that end with a line, each with the number of its first line."""
    name, pieces, number, waiting = format_path(path), read_pieces(path, limited=limited), 1, ""
    first, encoding = next(pieces, b""), os.environ.get(ENCODING, "")
    if not encoding and first.startswith(_UTF16):
        encoding = "utf-16"
        warn(f"{name}: read as UTF-16")
    is_usual = encoding.lower() in ("", "utf-8", "utf8")
    try:
        if encoding and not codecs.lookup(encoding)._is_text_encoding:
            raise LookupError
        decoder = codecs.getincrementaldecoder("utf-8-sig" if is_usual else encoding)()
    except LookupError:
        raise InputError(f"no encoding is called {encoding!r}; usual ones are {_USUAL}") from None
    for piece, following in itertools.pairwise(itertools.chain([first], pieces, [b""])):
        if is_usual and b"\0" in piece:
            raise InputError(f"{name}: this is a binary file, not text")
        try:
            text = waiting + decoder.decode(piece, final=not following)
        except UnicodeError as error:
            if not is_usual or not isinstance(error, UnicodeDecodeError):
                reason = getattr(error, "reason", error)
                raise InputError(f"{name}: not {encoding} ({reason}); name another encoding") from None
            text = waiting + _read_cp1252(name, error, number + _count_lines(waiting))
            decoder.reset()
        # A CR at the very end may be half of a CRLF.
        end = text.rfind("\n") + 1 or text.rfind("\r", 0, -1) + 1 if following else len(text)
        if end:
            yield number, text[:end]
            number, text = number + _count_lines(text[:end]), text[end:]
        if len(waiting := text) > 4 * TEXT_CHARACTERS.most + _PIECE:
            raise InputError(f"{name}: too long a text from line {number} on; {TEXT_CHARACTERS.advice}")


def _read_cp1252(name: str, error: UnicodeDecodeError, line: int) -> str:
    """Decode bytes that are not UTF-8 as Windows-1252, unless they look like UTF-8 with a wrong byte somewhere."""
    if not _NOT_CP1252.search(error.object):
        with contextlib.suppress(UnicodeDecodeError):
            text = error.object.decode("cp1252")
            warn(f"{name}: not UTF-8, read as Windows-1252; name another encoding by --encoding")
            return text
    line += _count_lines(error.object[: error.start].decode("latin-1"))
    byte = error.object[error.start]
    raise InputError(f"{name}: line {line} is not UTF-8 (byte 0x{byte:02x}); name the encoding by --encoding")


def _count_lines(text: str) -> int:
    """Count the ends of lines: LF, CRLF or CR."""
    return len(re.findall("\r\n|\n|\r", text)) if "\r" in text else text.count("\n")


def read_bytes(path: PathLike) -> bytes:
    """Read all bytes of a file, unpacked; an empty file and one above the limit are refused."""
    return b"".join(read_pieces(path, limited=True))


def read_pieces(path: PathLike, *, limited: bool = False) -> Iterator[bytes]:
    """Yield the bytes of a file, unpacked, a few megabytes at a time; where `limited` some, and no more than fit."""
    name, ending, total = format_path(path), split_endings(path)[1], 0
    try:
        unpack = PACKINGS[ending] if ending else contextlib.nullcontext
        with _open_source(path) as stream, unpack(stream) as unpacked:
            while piece := unpacked.read(cap_size(_PIECE)):
                total += len(piece)
                if limited and total > FILE_BYTES.most:
                    raise InputError(f"{name}: too large; {FILE_BYTES.advice}")
                yield piece
        if limited and not total:
            raise InputError(f"{name}: the file is empty")
    except (InputError, MissingExtra, MemoryError):
        raise
    except FileNotFoundError:
        near = find_similar_files(path)
        hint = f"; did you mean {', '.join(map(format_path, near))}?" if near else ""
        raise InputError(f"{name}: no such file{hint}") from None
    except IsADirectoryError:
        raise InputError(f"{name}: this is a folder; give a file") from None
    except Exception as error:
        # Each library that unpacks has its own kinds of errors.
        reason = getattr(error, "strerror", None) or (f"not a whole {ending} file" if ending else str(error))
        raise InputError(f"{name}: {reason}") from None


@contextlib.contextmanager
def _open_source(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file or pipe to read, but no device; one that has another size or time at the end is refused.

    Texts of a file that someone writes to would be those of no version of it.
    """
    if os.fspath(path) == STDIN:
        yield sys.stdin.buffer
        return
    with open(path, "rb") as stream:
        before = os.fstat(stream.fileno())
        if S_ISBLK(before.st_mode) or (S_ISCHR(before.st_mode) and not stream.isatty()):
            raise InputError(f"{format_path(path)}: this is a device; give a file")
        yield stream
        after = os.fstat(stream.fileno())
        if S_ISREG(before.st_mode) and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            name = format_path(path)
            raise InputError(f"{name}: the file was changed while it was read; run the command again")


def find_similar_files(path: PathLike) -> list[str]:
    """Find files whose name is nearly that of a path, in its folder; the nearest first, three at most.

    If there are none, those near to the file of `FILE:COLUMN`, with the column.
    """
    folder, wanted = os.path.split(path)
    try:
        with os.scandir(folder or ".") as entries:
            names = {entry.name.lower(): entry.name for entry in itertools.islice(entries, _MOST_NEIGHBOURS)}
    except (OSError, ValueError):
        return []
    head, colon, column = wanted.partition(":")
    for name, end in ((wanted, ""), (head, colon + column)):
        if near := get_close_matches(name.lower(), names, n=3, cutoff=0.75):
            return [os.path.join(folder, names[one]) + end for one in near]
    return []


def _open_zstd(stream: IO[bytes]) -> Any:
    for module in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(module).open(stream)
        except ImportError:
            continue
    raise MissingExtra.named("a .zst file", "zstd")


PACKINGS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _open_zstd,
}
