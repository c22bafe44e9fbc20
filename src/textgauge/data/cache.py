"""Textgauge's cache folder: embeddings on disk, and what else it holds and how to empty it.

Embeddings are computed once per text and embedder, by any number of processes at once: the folder of an embedder holds
an SQLite file of its vectors, each by a key of its text and with a checksum. A vector that is damaged is computed
again; a file that is none any more is removed with a warning.

Settings: `TEXTGAUGE_CACHE` (the folder), `TEXTGAUGE_NO_CACHE=1` (no cache).
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar, get_args

import numpy as np

from textgauge.core.arrays import Floats32
from textgauge.core.errors import InputError, warn
from textgauge.core.parallel import map_parts
from textgauge.core.progress import advance, count_part
from textgauge.core.settings import get_cache_root, keeps_cache, make_cache_folder, split_into_blocks
from textgauge.core.show import Row
from textgauge.data.datasets import list_published
from textgauge.encode.embedders import Embedder, get_embedder

T = TypeVar("T")
Removable = Literal["embeddings", "models", "all"]
_DIGEST = 8  # bytes of a key, and of a checksum
_CHUNK = 1_024  # texts computed between two writes: what a killed process loses
_WAIT = 60  # seconds, for another process that writes
_UNUSABLE = {  # what is wrong with a folder rather than with the file in it
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY,
}  # fmt: skip


def encode_cached(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    cache_dir: Path | None = None,
    executor: Executor | None = None,
    is_kept: bool = True,
) -> Floats32:
    """Return the vectors of texts, from the cache where it has them; new ones are kept chunk by chunk.

    The result is that of `embedder.encode`, cache or not; equal texts are computed once. What is computed faster than
    it is looked up (`cheap`) is not kept. The workers of an `executor` compute them where one is given.
    Without `is_kept` the cache is neither read nor written.
    """
    if not len(texts):
        return np.empty((0, embedder.dimension), dtype=np.float32)
    different, store = list(dict.fromkeys(texts)), None
    if is_kept and keeps_cache() and not getattr(embedder, "cheap", False):
        name = hashlib.blake2b(embedder.identity.encode(), digest_size=12).hexdigest()
        store = EmbeddingStore((cache_dir or get_cache_root() / "embeddings") / name)
    vectors = store.read(different) if store else {}
    # Neighbours in length share batches without padding.
    missing = sorted((text for text in different if text not in vectors), key=len)
    before = len(vectors)
    advance(before, len(different))
    places = split_into_blocks(len(missing), getattr(embedder, "per_request", _CHUNK))  # paid answers one by one
    # A worker gets the embedder by its name.
    encode = partial(encode_rows, embedder if executor is None else embedder.name)
    parts = map_parts(executor, encode, (missing[some] for some in places))
    for some in places:
        with count_part(before + some.start, some.stop - some.start, len(different)):
            fresh = next(parts)
        if vectors and fresh.shape[1:] != next(iter(vectors.values())).shape:
            # The model behind this identity has changed its dimension: nothing kept under it can be used.
            return encode_cached(embedder, texts, executor=executor, is_kept=False)
        vectors |= zip(missing[some], fresh, strict=True)
        advance(before + some.stop, len(different))
        if store:
            store.write(missing[some], fresh)
    return np.stack([vectors[text] for text in texts])


def encode_rows(given: Embedder | str, texts: Sequence[str]) -> Floats32:
    """Return what an embedder, or the one of that name, gives for texts, checked to be one row each."""
    embedder = get_embedder(given) if isinstance(given, str) else given
    vectors = np.asarray(embedder.encode(texts), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise InputError(f"embedder {embedder.name} gave an array of shape {vectors.shape} for {len(texts)} texts")
    return vectors


@dataclass
class EmbeddingStore:
    """The vectors of one embedder identity, in a file of this folder."""

    folder: Path
    is_usable: bool = True

    def read(self, texts: Sequence[str]) -> dict[str, Floats32]:
        """Return the vectors of the texts that have one."""
        query = "SELECT vector FROM vectors WHERE key = ? AND typeof(vector) = 'blob'"
        keys = [int.from_bytes(_compute_digest(text), "little", signed=True) for text in texts]
        rows = self._use(lambda file: [file.execute(query, (key,)).fetchone() for key in keys])
        vectors = {}
        for text, (stored,) in ((text, row) for text, row in zip(texts, rows or (), strict=False) if row):
            vector = memoryview(stored)[:-_DIGEST]
            if not len(vector) % 4 and _compute_digest(text, vector) == stored[-_DIGEST:]:
                vectors[text] = np.frombuffer(vector, dtype="<f4")
        return vectors

    def write(self, texts: Sequence[str], vectors: Floats32) -> None:
        """Keep the vectors of texts; those that are not finite are not kept."""
        rows = []
        for place in np.flatnonzero(np.isfinite(vectors).all(axis=1)).tolist():
            text, vector = texts[place], np.asarray(vectors[place], dtype="<f4").tobytes()
            key = int.from_bytes(_compute_digest(text), "little", signed=True)
            rows.append((key, vector + _compute_digest(text, vector)))
        self._use(lambda file: file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows))

    def _use(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do this with the file, in one transaction; where that is not possible, say so and do without."""
        if not self.is_usable:
            return None
        path = self.folder / "vectors.sqlite"
        try:
            make_cache_folder(self.folder)
            if path.is_symlink() or (path.exists() and not path.is_file()):
                raise sqlite3.DatabaseError
            with contextlib.closing(sqlite3.connect(path, timeout=_WAIT)) as file, file:
                file.execute("CREATE TABLE IF NOT EXISTS vectors (key INT PRIMARY KEY, vector BLOB)")
                return work(file)
        except (OSError, ValueError, sqlite3.Error) as error:  # a message of a damaged file need not be UTF-8
            if isinstance(error, OSError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNUSABLE:
                self.is_usable, reason = False, getattr(error, "strerror", None) or error
                message = f"cannot use the embedding cache {self.folder.parent} ({reason}); continuing without it"
                warn(message, RuntimeWarning)
                return None
            warn(f"the embedding cache has a damaged file, {path}: it is removed, and texts are embedded again")
            with contextlib.suppress(OSError):
                path.unlink()
            return None


def _compute_digest(text: str, vector: bytes | memoryview = b"") -> bytes:
    """Return a digest of a text, lone surrogates included, which is its key; with its vector the checksum of both."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass") + vector, digest_size=_DIGEST).digest()


@dataclass(frozen=True)
class CachePart:
    """A folder of the cache: what it holds, and the names textgauge gives to what may be removed from it.

    `names` is a pattern, or empty where names are those of datasets. Other names are left alone, because
    `TEXTGAUGE_CACHE` may be a folder with files of the user. What is removed with `all` is removed with nothing else:
    answers of a service cost money, and runs are results.
    """

    folder: str
    holds: str
    removed_with: Removable
    names: str

    @property
    def path(self) -> Path:
        """Where it is."""
        return get_cache_root() / self.folder

    def list_removable(self) -> list[Path]:
        """Return what textgauge made there; nothing behind a symbolic link."""
        if self.path.is_symlink() or not self.path.is_dir():
            return []
        names = self.names or "|".join(re.escape(card.name) for card in list_published())
        return [path for path in sorted(self.path.iterdir()) if re.fullmatch(names, path.name)]


PARTS = (
    CachePart("embeddings", "vectors of texts", "embeddings", r"[0-9a-f]{24}"),
    CachePart("resources", "models and data files", "models", r".+-[0-9a-f]{8}|\.new-.*"),
    CachePart("wordvectors", "word vectors, prepared", "models", r"[0-9a-f]{32}-\d+|seen|\.new-.*"),
    CachePart("synonyms", "the thesaurus, prepared", "models", r"[0-9a-f]{8}-\d+\.json\.gz"),
    CachePart("grounds", "matrices of runs under way", "all", r"tmp\w+"),
    CachePart("datasets", "published datasets", "all", ""),
    CachePart("answers", "answers of paid services", "all", r"[0-9a-f]{24}\.jsonl"),
    CachePart("runs", "results of reproduced papers", "all", r"[a-z]+20\d\d|usmb|beyond"),
    CachePart("ifc", "texts of generators trained for kour2022", "all", r".+-[0-9a-f]{16}"),
)


def measure_cache() -> list[Row]:
    """Return the size of every folder of the cache."""
    rows = []
    for part in PARTS:
        sizes = _list_sizes(part.path)
        use = {"files": len(sizes), "megabytes": round(sum(sizes) / 1e6, 1), "removed_with": f"--{part.removed_with}"}
        rows.append({"folder": part.folder, "holds": part.holds, **use})
    return rows


def clean_cache(*kinds: Removable) -> int:
    """Remove parts of the cache, and give the bytes freed; embeddings and models where no kind is named.

    Folders go with what they held: with `all` nothing is left, unless it is the user's.
    """
    wanted = get_args(Removable) if "all" in kinds else kinds or ("embeddings", "models")
    parts = [part for part in PARTS if part.removed_with in wanted]
    freed = sum(_remove(path) for part in parts for path in part.list_removable())
    for folder in [*(part.path for part in parts), *([get_cache_root()] if "all" in kinds else [])]:
        with contextlib.suppress(OSError):  # it holds something, is a link, or is not there
            folder.rmdir()
    return freed


def _list_sizes(path: Path) -> list[int]:
    files = path.rglob("*") if path.is_dir() and not path.is_symlink() else iter([path])
    return [file.lstat().st_size for file in files if file.is_file() and not file.is_symlink()]


def _remove(path: Path) -> int:
    freed = sum(_list_sizes(path))
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    return freed
