"""A pool whose rows are on disk: what is left of two streams once they have been read."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.data.pool import GIVEN, Embeddings, Pool
from textgauge.data.stream import Stream, TextStream
from textgauge.encode.resources import cache_root
from textgauge.errors import InputError, ResourceError


class RowFile:
    """Embedding rows in a nameless file of the cache folder, which goes when the array goes."""

    def __init__(self) -> None:
        folder = cache_root() / "grounds"
        try:
            folder.mkdir(parents=True, exist_ok=True)
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
    """The rows of streams that follow each other; texts are read again where they are asked for."""

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
