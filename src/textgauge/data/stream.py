"""Corpora larger than memory: texts or embeddings that are read in partitions, once, and never held together.

Partitions have a fixed number of texts, whatever the files and the batches in which they are read, so that sums over
them are the same numbers. Blank and missing texts are left out with a warning that counts them.
"""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from textgauge.arrays import Ints
from textgauge.data.batches import has_batches, read_batches
from textgauge.data.blocks import BLOCK
from textgauge.data.formats import format_of, is_table
from textgauge.data.packing import packing, show
from textgauge.data.pool import Embeddings, checked_embeddings
from textgauge.errors import InputError

STREAMED = 50_000  # texts; larger sources are streamed
PARTITION = 8 * BLOCK


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

    def partitions(self) -> Iterator[StreamPart]:
        """The texts that are not blank, so many at a time."""
        waiting: list[str] = []
        for some in self._filled():
            waiting += some
            while len(waiting) >= PARTITION:
                yield StreamPart(texts=waiting[:PARTITION])
                waiting = waiting[PARTITION:]
        if waiting:
            yield StreamPart(texts=waiting)

    def count(self) -> int:
        """The number of texts that are not blank."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sum(map(len, self._filled()))

    def exceeds(self, count: int) -> bool:
        """Whether there are more texts than that, blank ones counted; no more of them are read."""
        if self.texts is not None:
            return len(self.texts) > count
        packed = any(packing(path) or format_of(path).ending in (".parquet", ".arrow") for path in self.paths)
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
            warnings.warn(f"{self.name}: blank texts left out: {total - kept} of {total}", stacklevel=2)

    def _batches(self) -> Iterator[Sequence[str | None]]:
        if self.texts is not None:
            yield self.texts
            return
        for path in self.paths:
            column = self.column
            for table in read_batches(path, column=column):
                column = table.column(column)
                yield table.texts(column)


@dataclass(frozen=True)
class ArrayStream:
    """Ready-made embeddings, mostly memory-mapped."""

    name: str
    array: Embeddings

    def count(self) -> int:
        """The number of rows."""
        return len(self.array)

    def partitions(self) -> Iterator[StreamPart]:
        """The rows, so many at a time."""
        for start in range(0, len(self.array), PARTITION):
            yield StreamPart(rows=checked_embeddings(self.array[start : start + PARTITION], first=start))


Stream: TypeAlias = TextStream | ArrayStream


def is_large(stream: Stream) -> bool:
    """Whether a stream has more texts than are held in memory by default."""
    return len(stream.array) > STREAMED if isinstance(stream, ArrayStream) else stream.exceeds(STREAMED)


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
            raise InputError(f"{show(path)}: no file has such a name")
    else:
        return None
    return files if files and all(map(has_batches, files)) else None
