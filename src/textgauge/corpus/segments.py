"""The file format of the embedding cache: segments, written whole, never changed.

    header    magic, dimension, number of rows, crc32 of these
    keys      16 bytes per row, a hash of the text
    checks    crc32 per row, of key and vector
    vectors   float32, little-endian

A file whose header or size is wrong is passed over as a whole; a row whose crc32 is wrong is not given out.
"""

from __future__ import annotations

import os
import struct
import tempfile
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Keys = NDArray[np.void]

_MAGIC = b"TGVEC001"
_HEADER = struct.Struct("<8sIQI")


@dataclass(frozen=True)
class Segment:
    """One file: keys, checks, vectors, memory-mapped."""

    keys: Keys
    checks: NDArray[np.uint32]
    vectors: Vectors

    def whole(self, row: int) -> bool:
        """Tell whether a row has the bytes that were written."""
        return _check(self.keys[row].tobytes(), self.vectors[row].tobytes()) == int(self.checks[row])


def _check(key: bytes, vector: bytes) -> int:
    return zlib.crc32(vector, zlib.crc32(key))


def write_segment(folder: Path, keys: Keys, vectors: Vectors) -> None:
    """Write a segment under a temporary name and rename it."""
    rows = np.ascontiguousarray(vectors, dtype="<f4")
    checks = [_check(key.tobytes(), row.tobytes()) for key, row in zip(keys, rows, strict=True)]
    start = _HEADER.pack(_MAGIC, rows.shape[1], len(rows), 0)[:-4]
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".new-", delete=False) as stream:
        try:
            stream.write(start + struct.pack("<I", zlib.crc32(start)))
            for block in (keys, np.array(checks, dtype="<u4"), rows):
                stream.write(block.tobytes())
            stream.close()
            os.replace(stream.name, folder / f"{time.time_ns():020d}-{Path(stream.name).name[5:]}.vec")
        except BaseException:
            Path(stream.name).unlink(missing_ok=True)
            raise


def read_segment(path: Path) -> Segment | None:
    """Open a segment; None where it is gone, cut short, too long or not a segment at all."""
    try:
        content = np.memmap(path, dtype=np.uint8, mode="r")
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


def copy_rows(segment: Segment, keys: Keys, found: NDArray[np.bool_], vectors: Vectors) -> None:
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


def union(segments: Sequence[Segment]) -> tuple[Keys, Vectors]:
    """Gather the whole rows of several segments of one dimension, each key once."""
    keys = np.concatenate([segment.keys for segment in segments])
    vectors = np.concatenate([segment.vectors for segment in segments])
    whole = np.concatenate([[segment.whole(row) for row in range(len(segment.keys))] for segment in segments])
    rows = np.flatnonzero(whole)
    _, first = np.unique(keys[rows].tolist(), return_index=True)
    return keys[rows[first]], vectors[rows[first]]
