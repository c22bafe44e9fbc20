"""Files of word vectors: GloVe text, word2vec and fastText text (a first line `words dimension`), word2vec binary.

Any of them may be compressed with gzip. Files are read block by block, so that memory stays bounded; each number is
checked, and what is damaged is named by its line or word. Words stay the bytes they are.
"""

from __future__ import annotations

import gzip
import json
import re
import warnings
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import InputError
from textgauge.core.files import replacing
from textgauge.core.limits import stored_bytes
from textgauge.core.sizes import capped
from textgauge.encode.resource_sources import file_sha256
from textgauge.encode.resources import cache_root, make_cache_folder
from textgauge.encode.word_vectors.store import Block, WordVectors

CHUNK = 1 << 24  # bytes read at once
LONGEST = 1 << 20  # bytes of a line or a word; 16,384 numbers of 20 characters are a third of it
LARGEST_DIMENSION = 1 << 14
_HEADER = re.compile(rb"\s*(\d{1,10})\s+(\d{1,10})\s*")


def read_blocks(path: Path) -> Iterator[Block]:
    """Yield words and their vectors, some thousands at a time."""
    try:
        with _opened(path) as stream:
            head = stream.read(LONGEST)
            stream.seek(0)
            yield from _blocks(stream, head)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: the compressed file is damaged: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as stream:
        zipped = stream.read(2) == b"\x1f\x8b"
    return cast(IO[bytes], gzip.open(path)) if zipped else path.open("rb")


def _blocks(stream: IO[bytes], head: bytes) -> Iterator[Block]:
    first, _, rest = head.partition(b"\n")
    header = _HEADER.fullmatch(first)
    if header is None:
        return _text_blocks(stream, _dimension(len(first.split()) - 1), None)
    count, dimension = int(header[1]), _dimension(int(header[2]))
    sample = rest.partition(b"\n")[0].rsplit(None, dimension)
    if len(sample) == dimension + 1 and _numbers([b" ".join(sample[1:])], dimension) is not None:
        return _text_blocks(stream, dimension, count)
    stream.seek(len(first) + 1)
    return _binary_blocks(stream, dimension, count)


def _dimension(given: int) -> int:
    if not 1 <= given <= LARGEST_DIMENSION:
        raise InputError(f"line 1: expected a word and its numbers, or `words dimension`; found {given} numbers")
    return given


def _text_blocks(stream: IO[bytes], dimension: int, count: int | None) -> Iterator[Block]:
    found = 0
    for number, lines in _lines(stream):
        skipped = int(number == 1 and count is not None)
        if lines[skipped:]:
            words, matrix = _parsed(lines[skipped:], dimension, number + skipped)
            found += len(words)
            yield words, matrix
    if count is not None and found != count:
        raise InputError(f"line 1 promises {count} words, the file has {found}")


def _lines(stream: IO[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield whole lines, and the number of the first of them; blank ones at the end of the file are left out."""
    number, rest = 1, b""
    while chunk := stream.read(capped(CHUNK)):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > LONGEST:
            raise InputError(f"line {number + len(lines)} is longer than {LONGEST} bytes")
        if lines:
            blank = _blank_end(lines) if not rest.strip() else 0
            rest = b"\n" * blank + rest
            yield number, lines[: len(lines) - blank]
            number += len(lines) - blank
    last = rest.split(b"\n")
    if len(last) > _blank_end(last):
        yield number, last[: len(last) - _blank_end(last)]


def _blank_end(lines: list[bytes]) -> int:
    return next((n for n, line in enumerate(reversed(lines)) if line.strip()), len(lines))


def _parsed(lines: list[bytes], dimension: int, number: int) -> Block:
    words, numbers = [], []
    for offset, line in enumerate(lines):
        word, _, rest = line.rstrip().partition(b" ")
        if not rest or rest.count(b" ") != dimension - 1:  # a word with spaces, other separators, or damage
            word, *fields = line.rsplit(None, dimension) or [b""]
            rest = b" ".join(fields)
        if not word.strip() or not rest or rest.count(b" ") != dimension - 1:
            fields_found = max(0, len(line.split()) - 1)
            raise InputError(f"line {number + offset}: expected a word and {dimension} numbers, found {fields_found}")
        words.append(word)
        numbers.append(rest)
    matrix = _numbers(numbers, dimension)
    if matrix is None or not np.isfinite(matrix).all():
        raise InputError(f"line {number + _damaged(numbers, dimension)} holds something that is not a finite number")
    return words, matrix


def _numbers(texts: list[bytes], dimension: int) -> NDArray[np.float32] | None:
    """Read numbers between white space, one row a text; None where there is anything else."""
    with suppress(ValueError, DeprecationWarning), warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # what an older numpy says instead of an error
        flat = np.fromstring(b" ".join(texts), dtype=np.float64, sep=" ")
        if flat.size == len(texts) * dimension:
            with np.errstate(over="ignore"):
                return flat.reshape(-1, dimension).astype(np.float32)
    return None


def _damaged(texts: list[bytes], dimension: int) -> int:
    rows = (_numbers([text], dimension) for text in texts)
    return next(place for place, row in enumerate(rows) if row is None or not np.isfinite(row).all())


def _binary_blocks(stream: IO[bytes], dimension: int, count: int) -> Iterator[Block]:
    """Yield blocks of `word, space, dimension float32 little-endian, perhaps a line feed`."""
    done, buffer = 0, b""
    while done < count:
        chunk = stream.read(capped(CHUNK))
        words, vectors, used = _unpacked(buffer + chunk, 4 * dimension, count - done)
        buffer = (buffer + chunk)[used:]
        if not words and (not chunk or len(buffer) > LONGEST):
            raise InputError(f"the file ends or is damaged at word {done + 1} of {count}")
        matrix = np.frombuffer(b"".join(vectors), dtype="<f4").astype(np.float32).reshape(-1, dimension)
        finite = np.isfinite(matrix).all(axis=1)
        if not finite.all():
            raise InputError(f"word {done + 1 + int(np.argmin(finite))} has a vector that is not finite")
        done += len(words)
        if words:
            yield words, matrix
    if (buffer + stream.read(LONGEST)).strip():
        raise InputError(f"line 1 promises {count} words, the file has more")


def _unpacked(buffer: bytes, size: int, most: int) -> tuple[list[bytes], list[bytes], int]:
    words: list[bytes] = []
    vectors: list[bytes] = []
    place = 0
    while len(words) < most:
        space = buffer.find(b" ", place, place + LONGEST)
        if space < 0 or space + 1 + size > len(buffer):
            break
        words.append(buffer[place:space].lstrip(b"\n"))
        vectors.append(buffer[space + 1 : space + 1 + size])
        place = space + 1 + size
    return words, vectors, place


def of_file(path: Path) -> WordVectors:
    """Give the word vectors of a file; a file whose size or time has changed is read again."""
    try:
        stat = path.stat()
        return _of_file(path.resolve(), stat.st_size, stat.st_mtime_ns, str(cache_root()))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


@lru_cache(maxsize=8)
def _of_file(path: Path, size: int, modified: int, cache: str) -> WordVectors:
    note = Path(cache, "wordvectors", "seen", f"{blake2b(str(path).encode(), digest_size=12).hexdigest()}.json")
    digest = _noted(note, size, modified)
    if digest is None:
        digest = file_sha256(path)
        _write(note, {"size": size, "modified": modified, "sha256": digest})
    return WordVectors(str(path), f"file(sha256={digest})", lambda: _checked(path, digest, note))


def _noted(note: Path, size: int, modified: int) -> str | None:
    """Give the digest noted at an earlier reading, where size and time are still the same."""
    try:
        seen = json.loads(stored_bytes(note))
        return str(seen["sha256"]) if [seen["size"], seen["modified"]] == [size, modified] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(note: Path, content: dict[str, object]) -> None:
    try:
        make_cache_folder(note.parent)
        with replacing(note, named_by_user=False) as part:
            part.write_text(json.dumps(content))
    except OSError:
        return  # the digest is computed again next time


def _checked(path: Path, digest: str, note: Path) -> Iterator[Block]:
    """Yield the blocks of a file; an error at the end if its bytes are not those of the digest."""
    yield from read_blocks(path)
    if file_sha256(path) != digest:
        note.unlink(missing_ok=True)
        _of_file.cache_clear()
        raise InputError(f"{path} changed while it was read; try again")
