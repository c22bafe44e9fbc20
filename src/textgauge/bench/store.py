"""A folder of finished cells: one Parquet file each, written whole or not at all.

    cells/ab/abcdef….parquet     the observations of one cell
    manifests/….json             what each run computes: cells with signature, seed, data fingerprints, versions
    derived/….json               what is slow to make from cells, such as ensembles

Files are written under a temporary name and renamed, so that a run may be killed at any moment and two may share a
store. Each carries a checksum of its content (`textgauge.core.files`): a damaged file is named in a warning, counts as
missing and is computed again. Files of versions that wrote no checksum are read as they are.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from textgauge.bench.plan import Cell
from textgauge.core.errors import InputError, ResourceError, warn
from textgauge.core.files import (
    Damaged,
    find_shape_error,
    replace_file,
    seal_json,
    seal_parquet,
    unseal_json,
    unseal_parquet,
)
from textgauge.core.settings import read_stored_bytes

if TYPE_CHECKING:
    import polars as pl

_FORMAT = 1
_MANIFEST: dict[str, Any] = {  # what is read of a manifest
    "protocol": {"name": str, "parameters": dict},
    "data": {"name": str, "fingerprint": str},
    "seed": int,
    "versions": [str],
    "cells": [get_type_hints(Cell) | {"name": str}],
}


class Store:
    """A folder of cells and manifests."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Store:
        """Return an existing store, to read from."""
        store = cls(folder)
        if not store.folder.is_dir():
            raise InputError(f"{folder}: no such run; make one by `textgauge run ... --out {folder}`")
        if not store.manifests():
            raise InputError(f"{folder}: holds no run")
        return store

    def path(self, cell: Cell) -> Path:
        """Return where a cell is kept."""
        return self.folder / "cells" / cell.name[:2] / f"{cell.name}.parquet"

    def read(self, cell: Cell) -> pl.DataFrame | None:
        """Return the observations of a cell; None where they are missing or, with a warning, damaged."""
        import polars as pl

        path = self.path(cell)
        try:
            return pl.read_parquet(io.BytesIO(unseal_parquet(read_stored_bytes(path))))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, Damaged, InputError, pl.exceptions.PolarsError) as error:
            _warn_damaged(path, error)
            return None

    def write(self, cell: Cell, observations: pl.DataFrame) -> None:
        """Keep the observations of a cell."""
        content = io.BytesIO()
        observations.write_parquet(content)
        self._keep(self.path(cell), seal_parquet(content.getvalue()))

    def read_extra(self, name: str) -> dict[str, Any] | None:
        """Something derived from cells that is slow to make again; None where it is missing or damaged."""
        path = self._extra(name)
        try:
            return unseal_json(read_stored_bytes(path).decode())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            _warn_damaged(path, error)
            return None

    def write_extra(self, name: str, content: dict[str, Any]) -> None:
        """Keep something derived from cells, under a hash of what decides it."""
        self._keep(self._extra(name), json.dumps(seal_json(content)).encode())

    def _extra(self, name: str) -> Path:
        return self.folder / "derived" / f"{name}.json"

    def write_manifest(self, cells: Sequence[Cell], about: dict[str, Any]) -> None:
        """Keep what a run asks for; the same run writes the same file."""
        content = {"format": _FORMAT, **about, "cells": [cell.to_dict() for cell in cells]}
        text = json.dumps(seal_json(content), indent=1, ensure_ascii=False, sort_keys=True)
        name = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        path = self.folder / "manifests" / f"{name}.json"
        try:
            self._keep(path, text.encode())
        except ResourceError:
            if not path.exists():  # a finished run that can only be read may be run again
                raise

    def manifests(self) -> list[dict[str, Any]]:
        """Return what the runs of this store compute, the latest last."""
        paths = sorted((self.folder / "manifests").glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path))
        return [_read_manifest(path) for path in paths]

    def _keep(self, path: Path, content: bytes) -> None:
        """Write a file whole or not at all; trouble with the disk is one clear error."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replace_file(path, named_by_user=False) as part:
                part.write_bytes(content)
        except OSError as error:
            raise ResourceError(f"cannot write to {self.folder}: {error.strerror or error}") from None


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        found = unseal_json(read_stored_bytes(path).decode())
    except Damaged as error:
        raise InputError(f"{path}: a damaged manifest ({error}); delete it and run the same command again") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a manifest ({error})") from None
    if found.get("format") != _FORMAT:
        raise InputError(f"{path}: a manifest of another version of textgauge")
    if (problem := find_shape_error(found, _MANIFEST)) is not None:
        raise InputError(f"{path}: not a manifest ({problem})")
    return found


def _warn_damaged(path: Path, error: Exception) -> None:
    message = f"{path}: damaged ({error}); it counts as missing, run the same command again to compute it"
    warn(message, RuntimeWarning)
