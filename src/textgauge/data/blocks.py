"""Embeddings of many texts on disk, in blocks: what a killed run has finished, the next one reads.

A block is the vectors of some thousand texts that follow each other, named after these texts' content, in the folder of
its embedder. So a file that grew, or that another file repeats, is embedded where it is new. A block is written
whole or not at all; one with a wrong checksum is computed again.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats32
from textgauge.core.errors import ResourceError
from textgauge.core.files import replacing
from textgauge.core.limits import open_stored
from textgauge.core.sizes import blocks
from textgauge.data.cache import EmbeddingStore, encode_cached, encode_rows
from textgauge.data.pool import content_keys
from textgauge.encode.embedders import Embedder
from textgauge.encode.resources import keeps_cache, make_cache_folder

BLOCK = 4_096  # texts: what a killed run can lose
_MAGIC = b"TGBLK001"
_HEADER = struct.Struct("<8sIII")  # magic, dimension, texts, checksum of all that follows


@dataclass(frozen=True)
class EncodedTexts:
    """Texts as UTF-8, lone surrogates included, with a 64-bit content key each, as pools have it."""

    data: list[bytes]

    @classmethod
    def of(cls, texts: Sequence[str]) -> EncodedTexts:
        """The bytes of texts."""
        return cls([text.encode("utf-8", "surrogatepass") for text in texts])

    def keys(self) -> NDArray[np.uint64]:
        """A content key per text."""
        return content_keys(self.data)

    def digest(self, place: slice) -> str:
        """The name of the texts in this place."""
        rows = self.data[place]
        lengths = np.fromiter(map(len, rows), dtype="<u8", count=len(rows))
        return hashlib.blake2b(lengths.tobytes() + b"".join(rows), digest_size=16).hexdigest()


def embed_blocks(embedder: Embedder, texts: Sequence[str], encoded: EncodedTexts) -> Floats32:
    """The vectors of texts, by blocks: from disk where a block is there, else computed and kept."""
    folder = EmbeddingStore.of(embedder, None).folder if keeps_cache() else None
    found = [_block(embedder, folder, texts, encoded, some) for some in blocks(len(texts), BLOCK)]
    if len({vectors.shape[1] for vectors in found}) > 1:  # the model behind this identity has changed its dimension
        found = [encode_rows(embedder, texts)]
    return found[0] if len(found) == 1 else np.concatenate(found)


def _block(
    embedder: Embedder, folder: Path | None, texts: Sequence[str], encoded: EncodedTexts, place: slice
) -> Floats32:
    some = texts[place]
    path = None if folder is None else folder / f"{encoded.digest(place)}.blk"
    vectors = None if path is None else read_block(path, len(some))
    if vectors is None:
        vectors = encode_cached(embedder, some, keep=False)
        if path is not None:
            write_block(path, vectors)
    return vectors


def write_block(path: Path, vectors: Floats32) -> None:
    """Write a block whole or not at all; an error of the disk is one line, and finished blocks stay."""
    if not np.isfinite(vectors).all():
        return
    payload = np.ascontiguousarray(vectors, dtype="<f4").tobytes()
    head = _HEADER.pack(_MAGIC, vectors.shape[1], len(vectors), zlib.crc32(payload))
    try:
        make_cache_folder(path.parent)
        with replacing(path, named_by_user=False) as part, part.open("wb") as stream:
            stream.write(head)
            stream.write(payload)
    except OSError as error:
        raise ResourceError(
            f"cannot write {path.parent}: {error.strerror or error}; what is finished is kept, and the same command "
            "resumes; TEXTGAUGE_NO_CACHE=1 keeps nothing"
        ) from None


def read_block(path: Path, texts: int) -> Floats32 | None:
    """The vectors of a block; None where there is none, or it is not what was written."""
    try:
        with open_stored(path) as stream:
            content = stream.read()
    except OSError:
        return None
    if len(content) < _HEADER.size:
        return None
    magic, dimension, count, check = _HEADER.unpack_from(content)
    payload = memoryview(content)[_HEADER.size :]
    if magic != _MAGIC or count != texts or len(payload) != 4 * count * dimension or zlib.crc32(payload) != check:
        return None
    return np.frombuffer(payload, dtype="<f4").reshape(count, dimension)
