"""What textgauge's cache folder holds, and how to empty it."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from textgauge.core.tabular import FlatRow
from textgauge.data.datasets import list_published
from textgauge.encode.resources import cache_root

Removable = Literal["embeddings", "models", "all"]


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
        return cache_root() / self.folder

    def removable(self) -> list[Path]:
        """What textgauge made there; nothing behind a symbolic link."""
        if self.path.is_symlink() or not self.path.is_dir():
            return []
        names = self.names or "|".join(re.escape(card.name) for card in list_published())
        return [path for path in sorted(self.path.iterdir()) if re.fullmatch(names, path.name)]


PARTS = (
    CachePart("embeddings", "vectors of texts", "embeddings", r"[0-9a-f]{24}"),
    CachePart("resources", "models and data files", "models", r".+-[0-9a-f]{8}|\.new-.*"),
    CachePart("wordvectors", "word vectors, prepared", "models", r"[0-9a-f]{32}-\d+|seen|\.new-.*"),
    CachePart("synonyms", "the thesaurus, prepared", "models", r"[0-9a-f]{8}-\d+\.npz"),
    CachePart("grounds", "matrices of runs under way", "all", r"tmp\w+"),
    CachePart("datasets", "published datasets", "all", ""),
    CachePart("answers", "answers of paid services", "all", r"[0-9a-f]{24}\.jsonl"),
    CachePart("runs", "results of reproduced papers", "all", r"[a-z]+20\d\d|usmb|beyond"),
    CachePart("ifc", "texts of generators trained for kour2022", "all", r".+-[0-9a-f]{16}"),
)


@dataclass(frozen=True, kw_only=True)
class CacheUse(FlatRow):
    """How much one folder of the cache takes."""

    folder: str
    holds: str
    files: int
    megabytes: float
    removed_with: str


def cache_use() -> list[CacheUse]:
    """The size of every folder of the cache."""
    return [_use(part) for part in PARTS]


def clean_cache(*kinds: Removable) -> int:
    """Remove parts of the cache, and give the bytes freed; embeddings and models where no kind is named.

    Folders go with what they held: with `all` nothing is left, unless it is the user's.
    """
    wanted = get_args(Removable) if "all" in kinds else kinds or ("embeddings", "models")
    parts = [part for part in PARTS if part.removed_with in wanted]
    freed = sum(_remove(path) for part in parts for path in part.removable())
    for folder in [*(part.path for part in parts), *([cache_root()] if "all" in kinds else [])]:
        with suppress(OSError):  # it holds something, is a link, or is not there
            folder.rmdir()
    return freed


def _use(part: CachePart) -> CacheUse:
    sizes = _sizes(part.path)
    return CacheUse(
        folder=part.folder,
        holds=part.holds,
        files=len(sizes),
        megabytes=round(sum(sizes) / 1e6, 1),
        removed_with=f"--{part.removed_with}",
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
