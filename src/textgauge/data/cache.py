"""Textgauge's cache folder: embeddings on disk, and what else it holds and how to empty it.

Embeddings are computed once per text and embedder, by any number of processes at once.

The folder of an embedder holds files of rows: the keys of some texts, then their vectors. The name of a file says how
many rows it has, their dimension and the checksum of its bytes. A file is written under another name and renamed, and
never changed; small ones are merged. A damaged file is removed with a warning, and its texts are computed again.

Settings: `TEXTGAUGE_CACHE` (the folder), `TEXTGAUGE_NO_CACHE=1` (no cache).
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, get_args
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats32
from textgauge.core.errors import InputError, warn
from textgauge.core.files import remove_unfinished, replace_file
from textgauge.core.parallel import map_parts
from textgauge.core.progress import advance, count_part
from textgauge.core.settings import get_cache_root, keeps_cache, make_cache_folder, open_stored, split_into_blocks
from textgauge.core.show import Row
from textgauge.data.datasets import list_published
from textgauge.encode.embedders import Embedder, get_embedder

TextKeys = NDArray[np.uint64]  # texts × 2

Removable = Literal["embeddings", "models", "all"]
_CHUNK = 1_024  # texts computed between two writes: what a killed process loses
_SMALL = 2**25  # bytes; smaller files are merged
_MOST_SMALL = 32
_NAME = re.compile(r"(\d+)x(\d+)-[0-9a-f]{8}-[0-9a-f]{12}\.rows")


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
    first: dict[str, int] = {}
    inverse = np.fromiter((first.setdefault(text, len(first)) for text in texts), dtype=np.intp, count=len(texts))
    different, with_store = list(first), is_kept and keeps_cache() and not getattr(embedder, "cheap", False)
    store = EmbeddingStore.of(embedder, cache_dir) if with_store else None
    keys = compute_text_keys(different) if store else np.empty((len(different), 2), dtype=np.uint64)
    known, vectors = np.zeros(len(different), dtype=bool), np.empty((len(different), 0), dtype=np.float32)
    if store:
        known, vectors = store.read(keys)
    # Neighbours in length share batches without padding.
    missing = sorted(np.flatnonzero(~known).tolist(), key=lambda row: len(different[row]))
    before = len(different) - len(missing)
    advance(before, len(different))
    places = split_into_blocks(len(missing), getattr(embedder, "per_request", _CHUNK))  # paid answers one by one
    chunks = ([different[row] for row in missing[some]] for some in places)
    # A worker gets the embedder by its name.
    parts = map_parts(executor, partial(encode_rows, embedder if executor is None else embedder.name), chunks)
    for some in places:
        with count_part(before + some.start, some.stop - some.start, len(different)):
            fresh = next(parts)
        rows = missing[some]
        if not vectors.shape[1]:
            vectors = np.empty((len(different), fresh.shape[1]), dtype=np.float32)
        if fresh.shape[1] != vectors.shape[1]:
            # The model behind this identity has changed its dimension: nothing kept under it can be used.
            return encode_cached(embedder, texts, executor=executor, is_kept=False)
        vectors[rows] = fresh
        advance(before + some.stop, len(different))
        if store:
            store.write(keys[rows], fresh)
    return vectors if len(different) == len(texts) else vectors[inverse]


def encode_rows(given: Embedder | str, texts: Sequence[str]) -> Floats32:
    """Return what an embedder, or the one of that name, gives for texts, checked to be one row each."""
    embedder = get_embedder(given) if isinstance(given, str) else given
    vectors = np.asarray(embedder.encode(texts), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise InputError(f"embedder {embedder.name} gave an array of shape {vectors.shape} for {len(texts)} texts")
    return vectors


def compute_text_keys(texts: Sequence[str]) -> TextKeys:
    """Return the 16-byte content key of each text; lone surrogates are part of the content."""
    digests = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts)
    return np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 2)


@dataclass
class EmbeddingStore:
    """The files of one embedder identity."""

    folder: Path
    writable: bool = True

    @classmethod
    def of(cls, embedder: Embedder, cache_dir: Path | None = None) -> EmbeddingStore:
        """Return the store of an embedder, in `cache_dir` or in textgauge's cache."""
        root = get_cache_root() / "embeddings" if cache_dir is None else cache_dir
        return cls(root / hashlib.blake2b(embedder.identity.encode(), digest_size=12).hexdigest())

    def read(self, keys: TextKeys) -> tuple[NDArray[np.bool_], Floats32]:
        """Return which keys there are, and an array with their vectors at those rows."""
        known, vectors = np.zeros(len(keys), dtype=bool), np.empty((len(keys), 0), dtype=np.float32)
        order = np.argsort(keys[:, 0])
        seen: set[Path] = set()
        # What a merge removes meanwhile is found in the file that it wrote.
        while fresh := {path: shape for path, shape in self.list_files().items() if path not in seen}:
            seen.update(fresh)
            for file in self._open(fresh):
                if vectors.shape[1] not in (0, file.rows.shape[1]):
                    continue
                at = order[np.minimum(np.searchsorted(keys[:, 0], file.keys[:, 0], sorter=order), len(keys) - 1)]
                hits = np.flatnonzero((keys[at] == file.keys).all(axis=1) & ~known[at])
                if len(hits) and self._is_whole(file):
                    if not vectors.shape[1]:
                        vectors = np.empty((len(keys), file.rows.shape[1]), dtype=np.float32)
                    vectors[at[hits]] = file.rows[hits]
                    known[at[hits]] = True
        return known, vectors

    def write(self, keys: TextKeys, vectors: Floats32) -> None:
        """Keep new rows as one more file; rows that are not finite are not kept."""
        finite = np.isfinite(vectors).all(axis=1)
        if not self.writable or not finite.any():
            return
        try:
            make_cache_folder(self.folder)
            self._write(keys[finite], vectors[finite])
            self._merge()
        except OSError as error:
            self.writable = False
            message = f"cannot write the embedding cache {self.folder.parent} ({error.strerror}); continuing without it"
            warn(message, RuntimeWarning)

    def list_files(self) -> dict[Path, tuple[int, int]]:
        """Return the files of rows, each with the number of its rows and their dimension; others are left alone."""
        named = ((path, _NAME.fullmatch(path.name)) for path in self.folder.glob("*.rows"))
        return {path: (int(name[1]), int(name[2])) for path, name in named if name}

    def _write(self, keys: TextKeys, vectors: Floats32) -> None:
        content = np.ascontiguousarray(keys, "<u8").tobytes() + np.ascontiguousarray(vectors, "<f4").tobytes()
        name = f"{len(vectors)}x{vectors.shape[1]}-{zlib.crc32(content):08x}-{uuid4().hex[:12]}.rows"
        with replace_file(self.folder / name, named_by_user=False) as part:
            part.write_bytes(content)

    def _open(self, shapes: Mapping[Path, tuple[int, int]]) -> Iterator[_RowsFile]:
        """Map files; those whose size is not the one that their names say are removed."""
        for path, (count, dimension) in shapes.items():
            try:
                with open_stored(path) as stream:
                    content = np.memmap(stream, dtype=np.uint8, mode="r")
                keys, rows = content[: 16 * count].view("<u8"), content[16 * count :].view("<f4")
                yield _RowsFile(path, content, keys.reshape(count, 2), rows.reshape(count, dimension))
            except FileNotFoundError:  # merged meanwhile
                continue
            except (OSError, ValueError):
                self._drop(path)

    def _is_whole(self, file: _RowsFile) -> bool:
        """Compare the bytes of a file with the checksum in its name."""
        if f"{zlib.crc32(file.content.data):08x}" == file.path.name.split("-")[1]:
            return True
        self._drop(file.path)
        return False

    def _drop(self, path: Path) -> None:
        warn(f"the embedding cache has a damaged file, {path}: it is removed, and its texts are embedded again")
        with contextlib.suppress(OSError):
            path.unlink()

    def _merge(self) -> None:
        """Make one file of many small ones; what two processes merge at once is there twice until the next time."""
        shapes = self.list_files().items()
        small = {path: (count, width) for path, (count, width) in shapes if count * (16 + 4 * width) < _SMALL}
        if len(small) <= _MOST_SMALL:
            return
        remove_unfinished(self.folder)
        files = [file for file in self._open(small) if self._is_whole(file)]
        for dimension in {file.rows.shape[1] for file in files}:
            alike = [file for file in files if file.rows.shape[1] == dimension]
            keys, first = np.unique(np.concatenate([file.keys for file in alike]), axis=0, return_index=True)
            self._write(keys, np.concatenate([file.rows for file in alike])[first])
        for file in files:
            file.path.unlink(missing_ok=True)


class _RowsFile(NamedTuple):
    """A file of rows, memory-mapped."""

    path: Path
    content: NDArray[np.uint8]
    keys: TextKeys
    rows: Floats32


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
