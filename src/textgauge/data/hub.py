"""Datasets of the Hugging Face hub: a split by its name, or one file of a repository at a revision.

hf://owner/name:split                        by the package `datasets`; `train` where no split is named
hf://datasets/owner/name@revision/path.csv   the file itself, as any file of that ending; `main` without a revision
"""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from textgauge.core.errors import InputError, MissingExtra
from textgauge.core.tabular import one_line
from textgauge.data.formats import read_table
from textgauge.data.tables import TextTable
from textgauge.encode.resources import is_offline

HUB_PREFIX = "hf://"
_FILE = re.compile(r"hf://datasets/(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^/]+))?/(?P<path>[^*?]+)")


def is_hub_file(spec: str) -> bool:
    """Return True if a name stands for one file of a repository."""
    return _FILE.fullmatch(spec) is not None


def fetch_hub_files(spec: str) -> tuple[str, ...] | None:
    """Fetch a file or split; return its files here, None where its rows are not just those of files."""
    if place := _FILE.fullmatch(spec):
        return (str(_fetch_file(spec, place)),)
    import polars

    rows = _load_split(spec)
    files = tuple(str(part["filename"]) for part in getattr(rows, "cache_files", ()))
    if not files or getattr(rows, "_indices", None) is not None:
        return None
    return files if sum(polars.read_ipc_stream(file, columns=[0]).height for file in files) == len(rows) else None


def read_hub_table(spec: str) -> TextTable:
    """Read the whole file or split as a table."""
    if place := _FILE.fullmatch(spec):
        return replace(read_table(_fetch_file(spec, place)), name=spec)
    rows = _load_split(spec)
    try:
        return TextTable.of(spec, {column: rows[column] for column in rows.column_names})
    except Exception as error:
        raise _make_error(spec, error) from None


def _load_split(spec: str) -> Any:
    name, _, split = spec.removeprefix(HUB_PREFIX).partition(":")
    if not name or name.startswith("datasets/"):
        raise InputError(
            f"{spec}: give a dataset, as in hf://owner/name:train, or one of its files, as in "
            "hf://datasets/owner/name@revision/data.csv"
        )
    advice = "or name a file of it, as in hf://datasets/owner/name@main/data.parquet"
    package = _import("datasets", spec, advice)
    try:
        options = {"download_config": package.DownloadConfig(local_files_only=True)} if is_offline() else {}
        return package.load_dataset(name, split=split or "train", **options)
    except Exception as error:
        raise _make_error(spec, error) from None


def _fetch_file(spec: str, place: re.Match[str]) -> Path:
    package = _import("huggingface_hub", spec, "or download the file and give its path")
    options = {"repo_type": "dataset", "revision": place["revision"], "local_files_only": is_offline()}
    try:
        return Path(package.hf_hub_download(place["repo"], place["path"], **options))
    except Exception as error:
        raise _make_error(spec, error) from None


def _import(name: str, spec: str, advice: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra(f"{spec} needs an optional package: pip install {name}; {advice}") from None


def _make_error(spec: str, error: Exception) -> InputError:
    """The packages raise many kinds of errors, their own and those of the network beneath them."""
    reason = next(iter(str(error).strip().splitlines()), "")
    return InputError(f"{spec}: cannot be loaded ({type(error).__name__}: {one_line(reason, 200)})")
