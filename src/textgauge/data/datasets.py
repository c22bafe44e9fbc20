"""Datasets by name: those that packages register, and those of the Hugging Face hub.

`NAME`, `NAME/SPLIT`, `NAME/SIDE` and `NAME/SPLIT/SIDE` are registered under the entry point group `textgauge.datasets`:
address and sha256 of the files, and how they are read. Files are looked for in the folders of `TEXTGAUGE_DATA` and in
the cache, else downloaded. A dataset of the hub is a split by its name, or one file of a repository at a revision:

hf://owner/name:split                        by the package `datasets`; `train` where no split is named
hf://datasets/owner/name@revision/path.csv   the file itself, as any file of that ending; `main` without a revision
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from textgauge.core.errors import InputError, MissingExtra, ResourceError, UnknownName
from textgauge.core.registry import Registry
from textgauge.core.settings import get_cache_root, make_cache_folder
from textgauge.core.show import shorten_line
from textgauge.data.formats import find_table, read_table
from textgauge.data.tables import LabelledTexts, TextPairs, TextTable
from textgauge.encode.resources import compute_sha256, download, is_offline

SETTING = "TEXTGAUGE_DATA"
HUB_PREFIX = "hf://"
_HUB_FILE = re.compile(r"hf://datasets/(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^/]+))?/(?P<path>[^*?]+)")


@dataclass(frozen=True)
class DatasetCard:
    """What is known of a dataset without reading it.

    `kind` is "texts" or "pairs"; `size` counts them. The other fields are those of `register_dataset`.
    """

    name: str
    kind: str
    size: int
    licence: str
    source: str
    about: str
    splits: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    files: tuple[DatasetFile, ...] = ()
    read: Callable[[], Iterable[DatasetItem]] = tuple

    @property
    def parts(self) -> tuple[str, ...]:
        """The names that may follow a slash in `NAME/PART`."""
        return tuple(dict.fromkeys((*self.splits, *self.extra, *self.sides)))


@dataclass(frozen=True)
class DatasetFile:
    """One file of a dataset; the address is pinned to a revision."""

    name: str
    url: str
    sha256: str
    size: int


@dataclass(frozen=True)
class DatasetItem:
    """One text with its label, or (where `right` is set) one pair; `split` is the part it belongs to."""

    split: str
    left: str
    label: str | None = None
    right: str | None = None
    grade: float | None = None
    raters: tuple[float, ...] | None = None


DATASETS = Registry[DatasetCard]("dataset", group="textgauge.datasets", plug_in=lambda _, register: register())


def register_dataset(
    name: str,
    read: Callable[[], Iterable[DatasetItem]],
    *,
    kind: str = "texts",
    size: int,
    about: str = "",
    licence: str = "",
    source: str = "",
    files: Sequence[DatasetFile] = (),
    splits: Sequence[str] = ("all",),
    extra: Sequence[str] = (),
    sides: Sequence[str] = (),
) -> None:
    """Make a dataset known by its name; a taken name is refused.

    A package calls this from a function that it names under the entry point group `textgauge.datasets`.

    Parameters
    ----------
    name
        What users call it; no slash, no colon.
    read
        Called when the dataset is used; returns its items. `find_dataset_file` gives it the path of one of `files`.
    kind
        "texts" or "pairs".
    size
        The number of its texts or pairs.
    about, licence, source
        What it holds, who allows what, where it is published.
    files
        What to download and check.
    splits, extra
        Its parts; those in `extra` are read only when named.
    sides
        The names of the two columns of pairs, "left" and "right" by default.
    """
    if kind not in ("texts", "pairs"):
        raise InputError(f"a dataset holds texts or pairs, not {kind!r}")
    if not name or set(name) & set("/:"):
        raise InputError(f"a dataset cannot be called {name!r}: its name has no slash and no colon")
    columns = ("text",) if kind == "texts" else tuple(sides) or ("left", "right")
    known = DatasetCard(
        name, kind, size, licence, source, about, tuple(splits), tuple(extra), columns, tuple(files), read
    )
    DATASETS.register(known, name)


def list_published() -> tuple[DatasetCard, ...]:
    """Return the cards of all registered datasets."""
    return tuple(DATASETS.values())


def fetch_dataset(dataset: str) -> list[Path]:
    """Make every file of a dataset available and return their paths."""
    return [_locate(dataset, file) for file in DATASETS[dataset].files]


def is_here(dataset: str) -> bool:
    """Return True if all files of a dataset are on this machine; reads no content and no network."""
    return all(
        any(path.is_file() and path.stat().st_size == file.size for path in _list_places(dataset, file))
        for file in DATASETS[dataset].files
    )


def load_published_texts(spec: str) -> LabelledTexts:
    """Return the texts of a dataset; of a dataset of pairs one side, the first if none is named."""
    dataset, splits, side = _parse(spec)
    items = _read_items(dataset, splits)
    texts = tuple(item.left if side == dataset.sides[0] else item.right or "" for item in items)
    labels = tuple(item.label or item.split for item in items)
    return LabelledTexts(texts, labels, spec)


def load_published_pairs(spec: str) -> TextPairs:
    """Return the pairs of a dataset, with the mean rating as grade where there are ratings."""
    dataset, splits, _ = _parse(spec)
    if dataset.kind != "pairs":
        raise InputError(f"dataset {dataset.name!r} holds single texts, not pairs")
    items = _read_items(dataset, splits)
    return TextPairs(
        tuple(item.left for item in items),
        tuple(item.right or "" for item in items),
        spec,
        tuple(item.grade for item in items if item.grade is not None) or None,
        tuple(item.raters for item in items if item.raters is not None) or None,
        tuple(item.split for item in items),
    )


def _read_items(dataset: DatasetCard, splits: Sequence[str]) -> list[DatasetItem]:
    items = dataset.read()
    if isinstance(items, LabelledTexts | TextPairs):
        raise InputError(f"the reader of dataset {dataset.name!r} gives {type(items).__name__}, not DatasetItems")
    return [item for item in items if item.split in splits]


def find_dataset_file(dataset: str, name: str) -> Path:
    """Return the path of one file of a dataset, downloaded if need be, with the right bytes."""
    return _locate(dataset, next(file for file in DATASETS[dataset].files if file.name == name))


def list_data_folders() -> tuple[Path, ...]:
    """Return the folders named by `TEXTGAUGE_DATA`, in order."""
    return tuple(Path(os.path.expanduser(part)) for part in os.environ.get(SETTING, "").split(os.pathsep) if part)


def find_data_table(stem: str) -> Path | None:
    """Return the first table in a folder of `TEXTGAUGE_DATA` that has this path without its ending."""
    paths = (find_table(folder, stem) for folder in list_data_folders())
    return next((path for path in paths if path is not None), None)


def _parse(spec: str) -> tuple[DatasetCard, tuple[str, ...], str]:
    name, *parts = spec.split("/")
    dataset = DATASETS[name]
    splits, side = dataset.splits, dataset.sides[0]
    for part in parts:
        if part in dataset.sides:
            side = part
        elif part in (*dataset.splits, *dataset.extra):
            splits = (part,)
        else:
            raise UnknownName.among(f"part of {name}", part, dataset.parts)
    return dataset, splits, side


def _locate(dataset: str, file: DatasetFile) -> Path:
    """Return the path of a file with the right bytes; wrong bytes in a data folder are refused, not passed over."""
    *own, cached = _list_places(dataset, file)
    for path in own:
        if path.is_file():
            digest = compute_sha256(path)
            if digest != file.sha256:
                raise ResourceError(
                    f"{path} is not the published file: its sha256 is {digest[:12]}..., not {file.sha256[:12]}..."
                )
            return path
    if cached.is_file() and compute_sha256(cached) == file.sha256:
        return cached
    place = f"{dataset}/{file.name}"
    instead = f"put it into a folder named by {SETTING} as {place}"
    if is_offline():
        raise ResourceError(f"{place} is not on this machine and TEXTGAUGE_OFFLINE is set; {instead}")
    try:
        make_cache_folder(cached.parent)
        download(file.url, file.sha256, cached)
    except (OSError, ValueError) as error:
        reason = "its bytes have changed" if isinstance(error, ValueError) else type(error).__name__
        raise ResourceError(
            f"{place} is not on this machine and {file.url} cannot be used ({reason}); {instead}"
        ) from None
    return cached


def _list_places(dataset: str, file: DatasetFile) -> list[Path]:
    return [folder / dataset / file.name for folder in (*list_data_folders(), get_cache_root() / "datasets")]


def is_hub_file(spec: str) -> bool:
    """Return True if a name stands for one file of a repository."""
    return _HUB_FILE.fullmatch(spec) is not None


def fetch_hub_files(spec: str) -> tuple[str, ...] | None:
    """Fetch a file or split; return its files here, None where its rows are not just those of files."""
    if place := _HUB_FILE.fullmatch(spec):
        return (str(_fetch_hub_file(spec, place)),)
    import polars

    rows = _load_hub_split(spec)
    files = tuple(str(part["filename"]) for part in getattr(rows, "cache_files", ()))
    if not files or getattr(rows, "_indices", None) is not None:
        return None
    return files if sum(polars.read_ipc_stream(file, columns=[0]).height for file in files) == len(rows) else None


def read_hub_table(spec: str) -> TextTable:
    """Read the whole file or split as a table."""
    if place := _HUB_FILE.fullmatch(spec):
        return replace(read_table(_fetch_hub_file(spec, place)), name=spec)
    rows = _load_hub_split(spec)
    try:
        return TextTable.of(spec, {column: rows[column] for column in rows.column_names})
    except Exception as error:
        raise _make_hub_error(spec, error) from None


def _load_hub_split(spec: str) -> Any:
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
        raise _make_hub_error(spec, error) from None


def _fetch_hub_file(spec: str, place: re.Match[str]) -> Path:
    package = _import("huggingface_hub", spec, "or download the file and give its path")
    options = {"repo_type": "dataset", "revision": place["revision"], "local_files_only": is_offline()}
    try:
        return Path(package.hf_hub_download(place["repo"], place["path"], **options))
    except Exception as error:
        raise _make_hub_error(spec, error) from None


def _import(name: str, spec: str, advice: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra(f"{spec} needs an optional package: pip install {name}; {advice}") from None


def _make_hub_error(spec: str, error: Exception) -> InputError:
    # The packages raise many kinds of errors, their own and those of the network beneath them.
    reason = next(iter(str(error).strip().splitlines()), "")
    return InputError(f"{spec}: cannot be loaded ({type(error).__name__}: {shorten_line(reason, 200)})")
