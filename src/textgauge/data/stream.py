"""Corpora larger than memory: texts or embeddings that are read in partitions, once, and never held together.

Partitions have a fixed number of texts, whatever the files and the batches in which they are read, so that sums over
them are the same numbers. Blank and missing texts are left out with a warning that counts them. What is left of streams
once they are read is a pool whose rows are on disk.
"""

from __future__ import annotations

import glob
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import InputError, ResourceError, warn
from textgauge.core.sizes import blocks, capped
from textgauge.data.formats import get_format, has_batches, is_table, read_batches
from textgauge.data.packing import format_path, get_packing, make_changed_error
from textgauge.data.pool import GIVEN, Embeddings, Pool, checked_embeddings
from textgauge.encode.resources import cache_root, make_cache_folder

_STREAMED = 50_000  # texts; larger sources are streamed
_PARTITION = 32_768


@dataclass(frozen=True)
class StreamPart:
    """Texts or embedding rows that follow each other."""

    texts: list[str] | None = None
    rows: Embeddings | None = None


@dataclass(frozen=True)
class TextStream:
    """The texts of files, one after the other, or of a list in memory."""

    name: str
    paths: tuple[str, ...] = ()
    column: str | None = None
    texts: Sequence[str] | None = None
    seen: dict[str, tuple[int, ...]] = field(default_factory=dict, compare=False)  # files as they were at first

    def partitions(self) -> Iterator[StreamPart]:
        """The texts that are not blank, in partitions of one size."""
        waiting: list[str] = []
        size = capped(_PARTITION)
        for some in self._filled():
            waiting += some
            while len(waiting) >= size:
                yield StreamPart(texts=waiting[:size])
                waiting = waiting[size:]
        if waiting:
            yield StreamPart(texts=waiting)

    def count(self, on_count: Callable[[int], None] = lambda _: None) -> int:
        """The number of texts that are not blank; `on_count` is told how many there are so far."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            total = 0
            for total in accumulate(map(len, self._filled())):
                on_count(total)
            return total

    def exceeds(self, count: int) -> bool:
        """Whether there are more texts than that, blank ones counted; no more of them are read."""
        if self.texts is not None:
            return len(self.texts) > count
        packed = any(get_packing(path) or get_format(path).ending in (".parquet", ".arrow") for path in self.paths)
        if not packed and sum(os.path.getsize(path) for path in self.paths if os.path.isfile(path)) < 2 * count:
            return False
        return any(total > count for total in accumulate(map(len, self._batches())))

    def take(self, rows: Ints) -> list[str]:
        """The texts at these rows, which rise, read again."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, first = [], 0
            for some in self._filled():
                here = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + len(some))]
                found += [some[row - first] for row in here.tolist()]
                first += len(some)
        return found

    def _filled(self) -> Iterator[list[str]]:
        """Batches of texts without blank ones, which a warning counts."""
        total = kept = 0
        for batch in self._batches():
            filled = [text for text in batch if text is not None and text.strip()]
            total, kept = total + len(batch), kept + len(filled)
            yield filled
        if not kept:
            raise InputError(f"{self.name}: no texts, every line is blank ({total} of {total})")
        if kept < total:
            warn(f"{self.name}: blank texts left out: {total - kept} of {total}")

    def _batches(self) -> Iterator[Sequence[str | None]]:
        if self.texts is not None:
            yield self.texts
            return
        for path in self.paths:
            column = self.column
            self._check_same(path)
            for table in read_batches(path, column=column):
                column = table.find_column(column)
                yield table.get_texts(column)
            self._check_same(path)

    def _check_same(self, path: str) -> None:
        """Refuse a file that is not the one of an earlier reading: its rows would not be those that were counted."""
        if os.path.exists(path):
            found = os.stat(path)
            same = found.st_ino, found.st_size, found.st_mtime_ns
            if self.seen.setdefault(path, same) != same:
                raise make_changed_error(path)


@dataclass(frozen=True)
class ArrayStream:
    """Ready-made embeddings, mostly memory-mapped."""

    name: str
    array: Embeddings

    def count(self, on_count: Callable[[int], None] = lambda _: None) -> int:
        """The number of rows."""
        return len(self.array)

    def partitions(self) -> Iterator[StreamPart]:
        """The rows, in partitions of one size."""
        for some in blocks(len(self.array), _PARTITION):
            yield StreamPart(rows=checked_embeddings(self.array[some], first=some.start))


Stream: TypeAlias = TextStream | ArrayStream


def is_large(stream: Stream) -> bool:
    """Whether a stream has more texts than are held in memory by default."""
    most = capped(_STREAMED)
    return len(stream.array) > most if isinstance(stream, ArrayStream) else stream.exceeds(most)


def source_files(path: str) -> tuple[str, ...] | None:
    """The files that a path stands for and that can be read in batches: itself, those of a glob, a folder's tables."""
    if os.path.isfile(path):
        files: tuple[str, ...] = (path,)
    elif os.path.isdir(path):
        found = sorted(os.path.join(path, name) for name in os.listdir(path) if not name.startswith("."))
        files = tuple(file for file in found if os.path.isfile(file) and is_table(file))
    elif glob.has_magic(path) and "://" not in path:
        files = tuple(sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file)))
        if not files:
            raise InputError(f"{format_path(path)}: no file has such a name")
    else:
        return None
    return files if files and all(map(has_batches, files)) else None


class RowFile:
    """Embedding rows in a nameless file of the cache folder, which goes when the array goes."""

    def __init__(self) -> None:
        folder = cache_root() / "grounds"
        try:
            make_cache_folder(folder)
            self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115, closed with the array
        except OSError as error:
            raise _unwritable(folder, error) from None
        self._folder, self._width, self._dtype = folder, 0, np.dtype(np.float32)

    def append(self, rows: Embeddings) -> None:
        """Add rows at the end; all have the width and the type of the first ones."""
        if not self._width:
            self._width, self._dtype = rows.shape[1], rows.dtype
        if rows.shape[1] != self._width:
            raise InputError(
                f"embeddings of different dimensions cannot be compared: {self._width} and {rows.shape[1]}"
            )
        try:
            self._file.write(np.ascontiguousarray(rows, dtype=self._dtype).tobytes())
        except OSError as error:
            raise _unwritable(self._folder, error) from None

    def array(self) -> Embeddings:
        """All rows, memory-mapped."""
        try:
            self._file.flush()
        except OSError as error:
            raise _unwritable(self._folder, error) from None
        with self._file:
            rows: Embeddings = np.memmap(self._file, dtype=self._dtype, mode="r").reshape(-1, self._width)
        return rows


def _unwritable(folder: Path, error: OSError) -> ResourceError:
    return ResourceError(f"cannot write {folder}: {error.strerror or error}")


class StoredPool(Pool):
    """The rows of streams that follow each other; texts are read again where they are needed."""

    def __init__(
        self,
        streams: tuple[Stream, ...],
        keys: NDArray[np.uint64],
        embeddings: dict[str, Embeddings],
        dimensions: dict[str, int],
    ) -> None:
        self._texts = None
        self._streams, self._dimensions = streams, dimensions
        self._rows: dict[tuple[str, str], Any] = {("embeddings", name): rows for name, rows in embeddings.items()}
        self._parents = ()
        self.size = len(keys)
        self.__dict__["keys"] = keys

    @property
    def has_texts(self) -> bool:
        """Whether the streams are of texts."""
        return all(isinstance(stream, TextStream) for stream in self._streams)

    @property
    def has_given(self) -> bool:
        """Whether the streams are of embeddings."""
        return not self.has_texts

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts, read again."""
        if not self.has_texts:
            return super().texts
        parts = (part.texts or [] for stream in self._streams for part in stream.partitions())
        return tuple(text for part in parts for text in part)

    def dimension(self, embedder: str) -> int:
        """The length of an embedder's vectors."""
        return self._dimensions.get(embedder) or super().dimension(embedder)

    def _embed(self, embedder: str) -> Embeddings:
        if embedder == GIVEN:
            raise InputError("no ready-made embeddings were given with these texts")
        raise InputError(f"the vectors of {embedder} were not kept")
