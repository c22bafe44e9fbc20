"""Tables of encoders by name, and models that a name gives: how they are found, named and pinned."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from textgauge.core.errors import MissingExtra, ResourceError, TextgaugeError
from textgauge.core.registry import Registry
from textgauge.core.show import shorten_line
from textgauge.encode.resources import compute_tree_sha256, get_resource, is_available, is_offline

T = TypeVar("T")


@dataclass(frozen=True)
class Encoder:
    """How an encoder is made, and what a list of them says of it."""

    make: Callable[..., Any] | str  # or `module:attribute` of this room, imported when it is first used
    note: str = ""
    dimension: int | None = None
    resources: tuple[str, ...] = ()
    language: str | None = None
    window: int | None = None  # how many tokens of a text it reads; None for all, or where it is not known

    def __call__(self, *args: Any) -> Any:
        """Make the encoder."""
        if not isinstance(self.make, str):
            return self.make(*args)
        module, _, attribute = self.make.partition(":")
        return getattr(import_module(f"textgauge.encode.{module}"), attribute)(*args)

    def describe(self, name: str) -> dict[str, object]:
        """Return name, dimension, language, window, megabytes to fetch, whether it is on this machine, a note."""
        any_model = ":" in name
        return {
            "name": name,
            "dimension": self.dimension,
            "language": self.language,
            "window": self.window,
            "megabytes": None if any_model else round(sum(get_resource(r).size for r in self.resources) / 1e6, 1),
            "available": None if any_model else all(map(is_available, self.resources)),
            "note": self.note,
        }


class Encoders(Registry[Encoder], Generic[T]):
    """The encoders of one kind; an entry `prefix:MODEL` makes those of every name that begins with its prefix."""

    def __init__(self, kind: str, entries: Mapping[str, Encoder], **options: Any) -> None:
        super().__init__(kind, entries, **options)
        self._made: dict[tuple[Any, ...], T] = {}

    def make(self, name: str, *args: Any) -> T:
        """Return the encoder of that name and these arguments, the same object each time."""
        prefix, _, model = name.partition(":")
        form = next((form for form in self if form.startswith(f"{prefix}:")), None) if model else None
        entry, given = (self[name], args) if form is None else (self[form], (model, *args))
        with self._lock:  # which one encoder made of another takes again
            if (entry, given) not in self._made:
                self._made[entry, given] = entry(*given)
            return self._made[entry, given]


@contextmanager
def explain_unloadable(name: str, extra: str = "") -> Iterator[None]:
    """Say in one line which extra is missing, or why a model cannot be loaded."""
    try:
        yield
    except TextgaugeError:
        raise
    except Exception as error:  # each library has its own kinds
        if extra and isinstance(error, ImportError):
            raise MissingExtra.named(name, extra) from error
        lines = str(error).strip().splitlines()
        reason = shorten_line(lines[0], 200) if lines else type(error).__name__
        raise ResourceError(f"cannot load {name}: {reason}") from error


def shorten_name(model: str) -> str:
    """Return the hub name, or the last part of a folder's path."""
    return Path(model).name if Path(model).is_dir() else model


def find_folder(name: str, model: str, files: Sequence[str], *, optional: Sequence[str] = ()) -> Path:
    """Return the folder of a model with these files: a folder, else one that the hub's own library has or fetches.

    `name` is what errors call the model, `optional` are files that it may have besides.
    """
    folder = Path(model)
    if not folder.is_dir():
        folder = _download_from_hub(name, model, [*files, *optional])
    missing = [file for file in files if not (folder / file).is_file()]
    if missing:
        raise ResourceError(f"{name}: the folder has no {', '.join(missing)}")
    return folder


def _download_from_hub(name: str, model: str, files: Sequence[str]) -> Path:
    if re.fullmatch(r"[\w.-]+/[\w.-]+", model) is None:
        raise ResourceError(f"{name}: no such folder, and no name of a model on the hub (OWNER/NAME)")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise MissingExtra(
            f"{name}: a model of the hub needs an optional package: pip install huggingface_hub"
        ) from None
    try:
        # The user names the model; signatures hold the digest of its files, and none of them is executed.
        return Path(snapshot_download(model, allow_patterns=list(files), local_files_only=is_offline()))  # nosec B615
    except Exception as error:
        # The library raises many kinds of errors, its own and those of the network beneath it.
        reason = "not on this machine and TEXTGAUGE_OFFLINE is set" if is_offline() else type(error).__name__
        raise ResourceError(f"{name}: cannot be fetched ({reason})") from None


def pin_folder(folder: Path) -> str:
    """Return the digest of a model's files."""
    return compute_tree_sha256(folder)[:16]
