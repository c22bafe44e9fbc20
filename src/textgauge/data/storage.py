"""Texts and rows of large corpora, in nameless files of the cache folder that go when nobody uses them any more."""

from __future__ import annotations

import mmap
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, overload

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Embeddings, Floats, Ints
from textgauge.core.errors import InputError, ResourceError
from textgauge.core.sizes import split_into_blocks
from textgauge.encode.resources import get_cache_root, make_cache_folder

PARTITION = 32_768  # texts that are in memory at a time


class _ScratchFile:
    """A file without a name; errors of the disk are one line."""

    def __init__(self) -> None:
        self.folder = get_cache_root() / "grounds"
        try:
            make_cache_folder(self.folder)
            self._file: IO[bytes] = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115, closed when it is mapped
        except OSError as error:
            raise self._make_error(error) from None
        weakref.finalize(self, self._file.close)

    def write(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            raise self._make_error(error) from None

    def map(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Close the file and return its content, memory-mapped."""
        try:
            self._file.flush()
        except OSError as error:
            raise self._make_error(error) from None
        with self._file:
            is_empty = not self._file.tell()
            return np.empty(0, dtype) if is_empty else np.memmap(self._file, dtype=dtype, mode="r")

    def _make_error(self, error: OSError) -> ResourceError:
        return ResourceError(
            f"cannot write {self.folder}: {error.strerror or error}; vectors that are finished are kept, and the same "
            "command resumes"
        )


class StoredTexts(Sequence[str]):
    """Texts on disk as UTF-8, lone surrogates included; slices and iteration decode some thousand at a time.

    >>> StoredTexts([["one", "two"], ["three"]])[1:]
    ['two', 'three']
    """

    def __init__(self, batches: Iterable[Sequence[str]]) -> None:
        file = _ScratchFile()
        lengths = [np.zeros(1, dtype=np.int64)]
        for batch in batches:
            data = [text.encode("utf-8", "surrogatepass") for text in batch]
            file.write(b"".join(data))
            lengths.append(np.fromiter(map(len, data), dtype=np.int64, count=len(data)))
        self._offsets: Ints = np.cumsum(np.concatenate(lengths))
        self._data = file.map(np.dtype(np.uint8))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            texts = [data.decode("utf-8", "surrogatepass") for data in self._encoded(start, max(start, stop))]
            return texts if step == 1 else texts[::step]
        row = range(len(self))[index]
        return next(self._encoded(row, row + 1)).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for data in self.iterate_encoded():
            yield data.decode("utf-8", "surrogatepass")

    def iterate_encoded(self) -> Iterator[bytes]:
        """Yield the bytes of every text."""
        for some in split_into_blocks(len(self), PARTITION):
            yield from self._encoded(some.start, some.stop)

    def _encoded(self, start: int, stop: int) -> Iterator[bytes]:
        first, *ends = self._offsets[start : stop + 1].tolist()
        data, begin = self._data[first : ends[-1] if ends else first].tobytes(), 0
        for end in ends:
            yield data[begin : end - first]
            begin = end - first


class StoredRows:
    """Embeddings that are written one after the other, to be read as one memory-mapped array."""

    def __init__(self) -> None:
        self._file = _ScratchFile()
        self._width, self._dtype = 0, np.dtype(np.float32)

    def append(self, rows: Embeddings) -> None:
        """Add rows at the end; all have the width and the type of the first ones."""
        if not self._width:
            self._width, self._dtype = rows.shape[1], rows.dtype
        if rows.shape[1] != self._width:
            raise InputError(
                f"embeddings of different dimensions cannot be compared: {self._width} and {rows.shape[1]}"
            )
        self._file.write(np.ascontiguousarray(rows, dtype=self._dtype).tobytes())

    def array(self) -> Embeddings:
        """Return all rows."""
        return self._file.map(self._dtype).reshape(-1, self._width)


def iterate_rows(rows: Embeddings, size: int = PARTITION) -> Iterator[tuple[slice, Embeddings]]:
    """Yield rows in blocks, with their places; what is mapped from disk leaves the memory of the process again."""
    for some in split_into_blocks(len(rows), size):
        yield some, rows[some]
        _release(rows)


def sum_rows(rows: Embeddings) -> Floats:
    """Return the sum of rows in double precision."""
    return np.asarray(np.sum([block.sum(axis=0, dtype=np.float64) for _, block in iterate_rows(rows)], axis=0))


def compute_mean_rows(rows: Embeddings) -> Floats:
    """Return the mean of rows in double precision."""
    return sum_rows(rows) / len(rows)


def _release(rows: Any) -> None:
    while rows is not None and not isinstance(rows, mmap.mmap):
        rows = getattr(rows, "base", None)
    if rows is not None and hasattr(mmap, "MADV_DONTNEED"):
        rows.madvise(mmap.MADV_DONTNEED)
