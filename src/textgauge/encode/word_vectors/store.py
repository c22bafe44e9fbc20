"""Vectors of words, looked up in a memory-mapped table."""

from __future__ import annotations

import contextlib
import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import InputError, ResourceError
from textgauge.core.files import install_folder, scratch_folder
from textgauge.encode.resources import cache_root, make_cache_folder

Block = tuple[list[bytes], NDArray[np.float32]]
"""Words and their vectors, some at a time."""
_FORM = 2  # raised when the stored form changes


@dataclass(frozen=True)
class WordVectors:
    """Vectors of words; a word without a vector is looked up in lower case.

    `identity` stands for the content: it is part of signatures and the key of the stored table.
    """

    name: str
    identity: str
    read: Callable[[], Iterator[Block]]

    @cached_property
    def table(self) -> Table:
        """The memory-mapped table, made on first use."""
        return open_or_store(blake2b(self.identity.encode(), digest_size=16).hexdigest(), self.read)

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self.table.matrix.shape[1])

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Give the place of each word in the table, −1 for unknown ones; words with equal places share a vector."""
        rows = self.table.rows(word_keys(map(as_bytes, words)))
        unknown = np.flatnonzero(rows < 0)
        rows[unknown] = self.table.rows(word_keys(as_bytes(words[place].lower()) for place in unknown.tolist()))
        return rows

    def lookup(self, words: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Give the vectors of words, shape (words, dimension), and which are known; the others' rows are zero."""
        rows = self.rows(words)
        known = rows >= 0
        vectors = np.zeros((len(rows), self.dimension), dtype=np.float32)
        vectors[known] = self.table.vectors(rows[known])
        return vectors, known


def as_bytes(word: str) -> bytes:
    """Give a word as the bytes it has in a file."""
    return word.encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Table:
    """Vectors in the order of their file; word `keys[i]`, rising, has the vector `matrix[places[i]]`.

    `checks` are the CRC-32 of each row of the matrix, and last that of keys and places.
    """

    keys: NDArray[np.uint64]
    places: NDArray[np.int64]
    matrix: NDArray[np.float32]
    checks: NDArray[np.uint32]

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Give rows of the matrix as they were written; a damaged one is refused."""
        found = np.ascontiguousarray(self.matrix[rows])
        if [zlib.crc32(row) for row in found] != self.checks[rows].tolist():
            folder = Path(str(getattr(self.matrix, "filename", ""))).parent
            raise ResourceError(f"word vectors kept in {folder} are damaged; delete that folder to make them again")
        return found

    def rows(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Give the rows of words by their keys, −1 for unknown ones."""
        spots = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[spots] == keys, self.places[spots], -1)


def word_keys(words: Iterable[bytes]) -> NDArray[np.uint64]:
    """Give the 64-bit key of each word's bytes, the same on every machine."""
    digests = b"".join([hashlib.blake2b(word, digest_size=8).digest() for word in words])
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def open_or_store(key: str, read: Callable[[], Iterator[Block]]) -> Table:
    """Open the table kept under a key; read the blocks and keep them first where it is not there or damaged."""
    folder = cache_root() / "wordvectors" / f"{key}-{_FORM}"
    table = _opened(folder)
    return _stored(folder, read()) if table is None else table


def _opened(folder: Path) -> Table | None:
    with contextlib.suppress(OSError, ValueError, EOFError):
        paths = [folder / f"{name}.npy" for name in ("keys", "places", "matrix", "checks")]
        if not all(path.is_file() for path in paths):
            return None
        keys, places, matrix, checks = (np.load(path, mmap_mode="r") for path in paths)
        fits = len(keys) == len(places) > 0 and len(checks) == len(matrix) + 1
        kinds = (keys.dtype, places.dtype, matrix.dtype) == (np.uint64, np.int64, np.float32)
        if fits and kinds and matrix.ndim == 2 and _index_check(keys, places) == checks[-1]:
            return Table(keys, places, matrix, checks)
    return None


def _index_check(keys: NDArray[np.uint64], places: NDArray[np.int64]) -> int:
    return zlib.crc32(places.tobytes(), zlib.crc32(keys.tobytes()))


def _stored(folder: Path, blocks: Iterator[Block]) -> Table:
    try:
        make_cache_folder(folder.parent)
        with scratch_folder(folder.parent) as scratch:
            fresh = scratch / "table"
            fresh.mkdir()
            _write(fresh, blocks)
            install_folder(fresh, folder, lambda found: _opened(found) is not None)
    except OSError as error:
        raise ResourceError(f"cannot keep word vectors in {folder.parent}: {error.strerror}") from error
    table = _opened(folder)
    if table is None:
        raise ResourceError(f"word vectors kept in {folder} cannot be read back")
    return table


def _write(folder: Path, blocks: Iterator[Block]) -> None:
    keys, checks, count, dimension = [], [], 0, 0
    with (folder / "matrix.npy").open("wb") as sink:
        for words, matrix in blocks:
            if not count:
                dimension = matrix.shape[1]
                _write_header(sink, 0, dimension)
            rows = np.ascontiguousarray(matrix, dtype="<f4")
            sink.write(rows.tobytes())
            checks += [zlib.crc32(row) for row in rows]
            keys.append(word_keys(words))
            count += len(words)
        if not count:
            raise InputError("the file holds no word vectors")
        sink.seek(0)
        _write_header(sink, count, dimension)
    # If a word occurs twice in a file, the first vector counts, as in other readers.
    distinct, first = np.unique(np.concatenate(keys), return_index=True)
    places = first.astype(np.int64)
    np.save(folder / "keys.npy", distinct)
    np.save(folder / "places.npy", places)
    checks.append(_index_check(distinct, places))
    np.save(folder / "checks.npy", np.array(checks, dtype=np.uint32))


def _write_header(sink: object, rows: int, dimension: int) -> None:
    # The format leaves room for the number of rows to grow, so that the header keeps its length.
    shape = {"descr": "<f4", "fortran_order": False, "shape": (rows, dimension)}
    np.lib.format.write_array_header_1_0(sink, shape)  # type: ignore[arg-type]
