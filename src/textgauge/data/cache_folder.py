"""What textgauge's cache folder holds, and how to empty it."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from textgauge.encode.resources import cache_root
from textgauge.tabular import FlatRow

Removable = Literal["embeddings", "models"]


@dataclass(frozen=True)
class CachePart:
    """A folder of the cache: what it holds, and the names textgauge gives to what may be removed from it.

    Other names are left alone, because `TEXTGAUGE_CACHE` may be a folder with files of the user. Without `removed_with`
    nothing is removed: answers of a service cost money, and runs are results.
    """

    folder: str
    holds: str
    removed_with: Removable | None = None
    names: str = ""

    @property
    def path(self) -> Path:
        """Where it is."""
        return cache_root() / self.folder

    def removable(self) -> list[Path]:
        """What textgauge made there and can make again; nothing behind a symbolic link."""
        if self.removed_with is None or self.path.is_symlink() or not self.path.is_dir():
            return []
        return [path for path in sorted(self.path.iterdir()) if re.fullmatch(self.names, path.name)]


PARTS = (
    CachePart("embeddings", "vectors of texts", "embeddings", r"[0-9a-f]{24}"),
    CachePart("resources", "models and data files", "models", r".+-[0-9a-f]{8}|\.new-.*"),
    CachePart("wordvectors", "word vectors, prepared", "models", r"[0-9a-f]{32}-\d+"),
    CachePart("synonyms", "the thesaurus, prepared", "models", r"[0-9a-f]{8}-\d+\.npz"),
    CachePart("grounds", "matrices of runs under way"),
    CachePart("datasets", "published datasets"),
    CachePart("answers", "answers of paid services"),
    CachePart("runs", "results of reproduced papers"),
)


@dataclass(frozen=True, kw_only=True)
class CacheUse(FlatRow):
    """How much one folder of the cache takes."""

    folder: str
    holds: str
    files: int
    megabytes: float
    removed_with: str | None


def cache_use() -> list[CacheUse]:
    """The size of every folder of the cache."""
    return [_use(part) for part in PARTS]


def clean_cache(*kinds: Removable) -> int:
    """Remove embeddings, models or both from the cache, and give the bytes freed; both where none is named."""
    found = [path for part in PARTS if not kinds or part.removed_with in kinds for path in part.removable()]
    return sum(_remove(path) for path in found)


def _use(part: CachePart) -> CacheUse:
    sizes = _sizes(part.path)
    return CacheUse(
        folder=part.folder,
        holds=part.holds,
        files=len(sizes),
        megabytes=round(sum(sizes) / 1e6, 1),
        removed_with=f"--{part.removed_with}" if part.removed_with else None,
    )


def _sizes(path: Path) -> list[int]:
    files = path.rglob("*") if path.is_dir() and not path.is_symlink() else iter([path])
    return [file.lstat().st_size for file in files if file.is_file() and not file.is_symlink()]


def _remove(path: Path) -> int:
    freed = sum(_sizes(path))
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    return freed
