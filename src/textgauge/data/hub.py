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
from textgauge.data.formats import load_table
from textgauge.data.frames import arrow_rows
from textgauge.data.tables import TextTable
from textgauge.encode.resource_sources import offline

HUB_PREFIX = "hf://"
_FILE = re.compile(r"hf://datasets/(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^/]+))?/(?P<path>[^*?]+)")


def hub_file(spec: str) -> str | None:
    """The path in its repository of the file that a name stands for; None for other names."""
    found = _FILE.fullmatch(spec)
    return found["path"] if found else None


def hub_files(spec: str) -> tuple[str, ...] | None:
    """The files here, once fetched, of a file or split of the hub; None where its rows are not just those of files."""
    if found := _FILE.fullmatch(spec):
        return (str(_fetched(spec, found)),)
    rows = _split(spec)
    files = tuple(str(part["filename"]) for part in getattr(rows, "cache_files", ()))
    whole = getattr(rows, "_indices", None) is None and files
    return files if whole and sum(map(arrow_rows, files)) == len(rows) else None


def hub_table(spec: str) -> TextTable:
    """The whole file or split as a table."""
    if found := _FILE.fullmatch(spec):
        return replace(load_table(_fetched(spec, found)), name=spec)
    rows = _split(spec)
    try:
        return TextTable.of(spec, {column: rows[column] for column in rows.column_names})
    except Exception as error:
        raise _failed(spec, error) from None


def _split(spec: str) -> Any:
    """A split as the package `datasets` has it."""
    name, _, split = spec.removeprefix(HUB_PREFIX).partition(":")
    if not name or name.startswith("datasets/"):
        raise InputError(
            f"{spec}: give a dataset, as in hf://owner/name:train, or one of its files, as in "
            "hf://datasets/owner/name@revision/data.csv"
        )
    advice = "or name a file of it, as in hf://datasets/owner/name@main/data.parquet"
    package = _package("datasets", spec, advice)
    try:
        kept = {"download_config": package.DownloadConfig(local_files_only=True)} if offline() else {}
        return package.load_dataset(name, split=split or "train", **kept)
    except Exception as error:
        raise _failed(spec, error) from None


def _fetched(spec: str, found: re.Match[str]) -> Path:
    package = _package("huggingface_hub", spec, "or download the file and give its path")
    try:
        return Path(
            package.hf_hub_download(
                found["repo"],
                found["path"],
                repo_type="dataset",
                revision=found["revision"],
                local_files_only=offline(),
            )
        )
    except Exception as error:
        raise _failed(spec, error) from None


def _package(name: str, spec: str, advice: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra(f"{spec} needs an optional package: pip install {name}; {advice}") from None


def _failed(spec: str, error: Exception) -> InputError:
    """The packages raise many kinds of errors, their own and those of the network beneath them."""
    reason = next(iter(str(error).strip().splitlines()), "")
    return InputError(f"{spec}: cannot be loaded ({type(error).__name__}: {one_line(reason, 200)})")
