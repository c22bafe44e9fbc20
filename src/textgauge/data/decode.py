"""The users' bytes, checked and turned into text; every complaint is one line that names the place."""

from __future__ import annotations

import gzip
import os
import re
import sys
import zlib
from pathlib import Path
from typing import BinaryIO

from textgauge.errors import InputError

STDIN = "-"
# Texts are held in memory; a gibibyte of text is about ten million sentences.
MAX_BYTES = 2**30
MAX_CHARACTERS = 1_000_000

_SURROGATE = re.compile("[\ud800-\udfff]")
_NEWLINE = re.compile("\r\n|\n|\r")


def suffix(path: str | os.PathLike[str]) -> str:
    """The file's kind in lower case, without a final `.gz`: `.csv` for `Data.CSV.gz`, empty if there is none."""
    name = os.fspath(path).lower()
    return Path(name.removesuffix(".gz")).suffix


def read_text(path: str | os.PathLike[str]) -> str:
    """The whole of a UTF-8 text file (`.gz` unpacked, `-` for standard input), without byte-order mark."""
    name = show(path)
    data = read_bytes(path)
    if not data:
        raise InputError(f"{name}: the file is empty")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{name}: the file is UTF-16; save it as UTF-8")
    if (place := data.find(b"\0")) >= 0:
        raise InputError(f"{name}: this is a binary file, not text (a zero byte at position {place})")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\n|\r", data[: error.start])) + 1
        byte = data[error.start]
        raise InputError(f"{name}: line {line} is not UTF-8 (byte 0x{byte:02x}); save the file as UTF-8") from None


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file, `.gz` unpacked; a missing file, a folder and more than MAX_BYTES are refused."""
    name = show(path)
    try:
        if os.fspath(path) == STDIN:
            return _limited(sys.stdin.buffer, name)
        with open(path, "rb") as stream:
            if not os.fspath(path).lower().endswith(".gz"):
                return _limited(stream, name)
            with gzip.open(stream) as unpacked:
                return _limited(unpacked, name)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{name}: not a whole gzip file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: {_reason(error)}") from None


def split_lines(text: str) -> list[str]:
    r"""The lines of a text, ended by LF, CRLF or CR only; a last empty line is no line.

    >>> split_lines("a\r\nb\u2028c\n")
    ['a', 'b\u2028c']
    """
    lines = _NEWLINE.split(text) if "\r" in text else text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def sound(text: str, place: str) -> str:
    """The text if it is not too long, with lone surrogates (no Unicode text) replaced by U+FFFD."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"{place}: a text of {len(text):,} characters; the limit is {MAX_CHARACTERS:,}")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def show(path: str | os.PathLike[str]) -> str:
    """The path as it is printed in a complaint: one line, whatever it holds."""
    name = os.fspath(path)
    return "standard input" if name == STDIN else name if name.isprintable() else repr(name)


def _limited(stream: BinaryIO | gzip.GzipFile, name: str) -> bytes:
    data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(f"{name}: more than {MAX_BYTES:,} bytes; take a part of it")
    return data


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "this is a folder; give a file"
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
