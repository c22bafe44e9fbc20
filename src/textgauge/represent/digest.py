"""Digests of files and folders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path


def file_sha256(path: Path) -> str:
    """Give the sha256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def tree_sha256(folder: Path, pattern: str) -> str:
    """Give the sha256 of the sorted lines `sha256  path` of all files under `folder` whose path matches `pattern`."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    names = sorted(name for name in files if fnmatchcase(name, pattern))
    lines = "".join(f"{file_sha256(files[name])}  {name}\n" for name in names)
    return hashlib.sha256(lines.encode()).hexdigest()


def wrong_files(folder: Path, files: Mapping[str, str]) -> list[str]:
    """List the declared paths (or patterns) that are missing in `folder` or have other bytes than declared."""
    return [path for path, digest in files.items() if not _right(folder, path, digest)]


def _right(folder: Path, path: str, digest: str) -> bool:
    if "*" in path:
        return tree_sha256(folder, path) == digest
    return (folder / path).is_file() and file_sha256(folder / path) == digest
