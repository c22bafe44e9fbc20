"""Sources of texts that are read in batches: files, globs, folders of tables, and lists in memory."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from numpy.typing import NDArray

from textgauge.core.errors import InputError, warn
from textgauge.core.sizes import capped
from textgauge.data.formats import get_format, has_batches, is_table, read_batches
from textgauge.data.packing import format_path, get_packing

_LARGE = 50_000  # texts; more of them are kept on disk


@dataclass(frozen=True)
class TextBatches:
    """The texts of files, one after the other, or of a list in memory."""

    name: str
    paths: tuple[str, ...] = ()
    column: str | None = None
    texts: Sequence[str | None] | None = None

    def __iter__(self) -> Iterator[list[str]]:
        """Yield batches of texts without blank ones, which a warning counts."""
        total = count = 0
        for batch in self._batches():
            filled = [text for text in batch if text is not None and text.strip()]
            total, count = total + len(batch), count + len(filled)
            yield filled
        if not count:
            raise InputError(f"{self.name}: no texts, every line is blank ({total} of {total})")
        if count < total:
            warn(f"{self.name}: blank texts left out: {total - count} of {total}")

    def exceeds(self, most: int) -> bool:
        """Return whether there are more texts than that, blank ones counted; no more of them are read."""
        if self.texts is not None:
            return len(self.texts) > most
        packed = any(get_packing(path) or get_format(path).ending in (".parquet", ".arrow") for path in self.paths)
        if not packed and sum(os.path.getsize(path) for path in self.paths if os.path.isfile(path)) < 2 * most:
            return False
        return any(total > most for total in accumulate(map(len, self._batches())))

    def _batches(self) -> Iterator[Sequence[str | None]]:
        if self.texts is not None:
            yield self.texts
            return
        for path in self.paths:
            column = self.column
            for table in read_batches(path, column=column):
                column = table.find_column(column)
                yield table.get_texts(column)


def has_many(source: TextBatches | NDArray[Any]) -> bool:
    """Return whether a source has more texts or rows than are held in memory."""
    most = capped(_LARGE)
    return source.exceeds(most) if isinstance(source, TextBatches) else len(source) > most


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
