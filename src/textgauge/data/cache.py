"""Embeddings on disk: computed once per text and embedder, checked row by row when read, never trusted when damaged.

One folder per embedder identity holds segments (`Segment`). Nothing is ever changed in place, so several
processes may read and write at once. Many small segments are merged into one.

Settings: `TEXTGAUGE_CACHE` (the folder), `TEXTGAUGE_NO_CACHE=1` (no cache).
"""

from __future__ import annotations

import contextlib
import hashlib
import struct
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats32
from textgauge.core.errors import InputError, warn
from textgauge.core.files import remove_unfinished, replacing
from textgauge.core.limits import open_stored
from textgauge.core.sizes import blocks
from textgauge.encode.embedders import Embedder, Progress
from textgauge.encode.resources import cache_root, keeps_cache, make_cache_folder

_CHUNK = 1024  # texts computed between two writes: what an interrupted run can lose
Keys = NDArray[np.void]
_MAGIC = b"TGVEC001"
_HEADER = struct.Struct("<8sIQI")


def encode_cached(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    progress: Progress | None = None,
    cache_dir: Path | None = None,
    keep: bool = True,
) -> Floats32:
    """The vectors of `texts`, from the cache where it has them; the new ones are kept, or not (`keep`), by chunks.

    The result is that of `embedder.encode`, cache or not; equal texts are computed once. A cache that cannot be
    written is reported by one warning and not used. What is computed faster than looked up is not looked up.
    """
    if not keep and getattr(embedder, "cheap", False):
        return encode_rows(embedder, texts, progress)
    places: dict[str, int] = {}
    inverse = np.fromiter((places.setdefault(text, len(places)) for text in texts), dtype=np.intp, count=len(texts))
    store = EmbeddingStore.of(embedder, cache_dir) if keeps_cache() else None
    if store is not None:
        store.writable = keep
    return _vectors(embedder, list(places), store, progress)[inverse]


def _vectors(
    embedder: Embedder,
    texts: list[str],
    store: EmbeddingStore | None,
    progress: Progress | None,
) -> Floats32:
    if not texts:
        return np.empty((0, embedder.dimension), dtype=np.float32)
    keys = text_keys(texts)
    found, vectors = store.read(keys) if store else _nothing(len(texts))
    # Neighbours in length share batches without padding.
    missing = sorted(np.flatnonzero(~found).tolist(), key=lambda row: len(texts[row]))
    if progress is not None and found.any():
        progress(int(found.sum()), len(texts))
    for some in blocks(len(missing), _CHUNK):
        rows = missing[some]
        report = _shifted(progress, len(texts) - len(missing) + some.start, len(texts))
        fresh = encode_rows(embedder, [texts[row] for row in rows], report)
        if not vectors.shape[1]:
            vectors = np.empty((len(texts), fresh.shape[1]), dtype=np.float32)
        if fresh.shape[1] != vectors.shape[1]:
            # The model behind this identity has changed its dimension: nothing kept under it can be used.
            return _vectors(embedder, texts, None, progress)
        vectors[rows] = fresh
        if store:
            store.write(keys[rows], fresh)
    return vectors


def _nothing(count: int) -> tuple[NDArray[np.bool_], Floats32]:
    return np.zeros(count, dtype=bool), np.empty((count, 0), dtype=np.float32)


def encode_rows(embedder: Embedder, texts: Sequence[str], progress: Progress | None = None) -> Floats32:
    """What the embedder gives for texts, checked to be one row each."""
    vectors = np.asarray(embedder.encode(texts, progress=progress), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise InputError(f"embedder {embedder.name} gave an array of shape {vectors.shape} for {len(texts)} texts")
    return vectors


def _shifted(progress: Progress | None, before: int, total: int) -> Progress | None:
    return None if progress is None else lambda done, _: progress(before + done, total)


def text_keys(texts: Sequence[str]) -> Keys:
    """The 16-byte content key of each text; lone surrogates are part of the content."""
    digests = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts)
    return np.frombuffer(b"".join(digests), dtype="V16")


@dataclass
class EmbeddingStore:
    """The segments of one embedder identity; from `most_segments` on, the smallest `merged_at_once` become one."""

    folder: Path
    writable: bool = True
    most_segments: int = 64
    merged_at_once: int = 48

    @classmethod
    def of(cls, embedder: Embedder, cache_dir: Path | None) -> EmbeddingStore:
        """The store of an embedder, in `cache_dir` or in textgauge's cache."""
        root = cache_root() / "embeddings" if cache_dir is None else cache_dir
        return cls(root / hashlib.blake2b(embedder.identity.encode(), digest_size=12).hexdigest())

    def read(self, keys: Keys) -> tuple[NDArray[np.bool_], Floats32]:
        """Which keys were found whole, and an array that holds their vectors at those rows."""
        found, vectors = _nothing(len(keys))
        for segment in self._segments():
            if not vectors.shape[1]:
                vectors = np.empty((len(keys), segment.vectors.shape[1]), dtype=np.float32)
            if segment.vectors.shape[1] == vectors.shape[1]:
                copy_rows(segment, keys, found, vectors)
        return (found, vectors) if found.any() else _nothing(len(keys))

    def write(self, keys: Keys, vectors: Floats32) -> None:
        """Keep new rows as one more segment; rows that are not finite are not kept."""
        whole = np.isfinite(vectors).all(axis=1)
        if not self.writable or not whole.any():
            return
        try:
            make_cache_folder(self.folder)
            write_segment(self.folder, keys[whole], vectors[whole])
            self._merge()
        except OSError as error:
            self.writable = False
            message = f"cannot write the embedding cache {self.folder.parent} ({error.strerror}); continuing without it"
            warn(message, RuntimeWarning)

    def _names(self) -> list[Path]:
        return sorted(self.folder.glob("*.vec"), reverse=True)  # the newest first

    def _segments(self) -> Iterator[Segment]:
        """Yield every readable segment; one that a merge removed meanwhile is found again in the merged one."""
        seen: set[Path] = set()
        while fresh := [path for path in self._names() if path not in seen]:
            for path in fresh:
                seen.add(path)
                segment = read_segment(path)
                if segment is not None:
                    yield segment

    def _merge(self) -> None:
        paths = self._names()
        if len(paths) <= self.most_segments:
            return
        remove_unfinished(self.folder)
        smallest = sorted(paths, key=lambda path: path.stat().st_size)[: self.merged_at_once]
        segments = [segment for segment in map(read_segment, smallest) if segment is not None]
        if not all(path.exists() for path in smallest):
            return  # another process is merging
        for dimension in {segment.vectors.shape[1] for segment in segments}:
            alike = [segment for segment in segments if segment.vectors.shape[1] == dimension]
            keys, vectors = union(alike)
            write_segment(self.folder, keys, vectors)
        for path in smallest:
            with contextlib.suppress(OSError):
                path.unlink()


@dataclass(frozen=True)
class Segment:
    """One file: keys, checks, vectors, memory-mapped."""

    keys: Keys
    checks: NDArray[np.uint32]
    vectors: Floats32

    def whole(self, row: int) -> bool:
        """Whether a row has the bytes that were written."""
        return _check(self.keys[row].tobytes(), self.vectors[row].tobytes()) == int(self.checks[row])


def _check(key: bytes, vector: bytes) -> int:
    return zlib.crc32(vector, zlib.crc32(key))


def write_segment(folder: Path, keys: Keys, vectors: Floats32) -> None:
    """Write a segment whole or not at all."""
    rows = np.ascontiguousarray(vectors, dtype="<f4")
    checks = [_check(key.tobytes(), row.tobytes()) for key, row in zip(keys, rows, strict=True)]
    start = _HEADER.pack(_MAGIC, rows.shape[1], len(rows), 0)[:-4]
    with replacing(folder / f"{time.time_ns():020d}-{uuid4().hex[:8]}.vec") as part, part.open("wb") as stream:
        stream.write(start + struct.pack("<I", zlib.crc32(start)))
        for block in (keys, np.array(checks, dtype="<u4"), rows):
            stream.write(block.tobytes())


def read_segment(path: Path) -> Segment | None:
    """Open a segment; None where it is gone, cut short, too long or not a segment at all."""
    try:
        with open_stored(path) as stream:
            content = np.memmap(stream, dtype=np.uint8, mode="r")
    except (OSError, ValueError):
        return None
    if len(content) < _HEADER.size:
        return None
    head = content[: _HEADER.size].tobytes()
    magic, dimension, count, check = _HEADER.unpack(head)
    size = _HEADER.size + count * (16 + 4 + 4 * dimension)
    if magic != _MAGIC or check != zlib.crc32(head[:-4]) or size != len(content) or not dimension:
        return None
    keys, checks, vectors = np.split(content[_HEADER.size :], [16 * count, 20 * count])
    return Segment(keys.view("V16"), checks.view("<u4"), vectors.view("<f4").reshape(count, dimension))


def _heads(keys: Keys) -> NDArray[np.uint64]:
    return np.ascontiguousarray(keys).view(np.uint64)[::2]


def copy_rows(segment: Segment, keys: Keys, found: NDArray[np.bool_], vectors: Floats32) -> None:
    """Copy into `vectors` the whole rows that a segment has and mark them `found`.

    Keys are compared by 8 bytes in one sweep and by all 16 for those that meet.
    """
    heads, theirs = _heads(keys), _heads(segment.keys)
    order = np.argsort(heads)
    places = np.minimum(np.searchsorted(heads, theirs, sorter=order), len(heads) - 1)
    for row in np.flatnonzero(heads[order[places]] == theirs).tolist():
        place = order[places[row]]
        if not found[place] and keys[place] == segment.keys[row] and segment.whole(row):
            vectors[place] = segment.vectors[row]
            found[place] = True


def union(segments: Sequence[Segment]) -> tuple[Keys, Floats32]:
    """Gather the whole rows of several segments of one dimension, each key once."""
    keys = np.concatenate([segment.keys for segment in segments])
    vectors = np.concatenate([segment.vectors for segment in segments])
    whole = np.concatenate([[segment.whole(row) for row in range(len(segment.keys))] for segment in segments])
    rows = np.flatnonzero(whole)
    _, first = np.unique(keys[rows].tolist(), return_index=True)
    return keys[rows[first]], vectors[rows[first]]
