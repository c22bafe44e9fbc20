"""Models by hub name or folder: how they are found, loaded by transformers, named and pinned.

Code that comes with a model is never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError, MissingExtra, ResourceError, TextgaugeError
from textgauge.core.show import shorten_line
from textgauge.encode.resources import compute_tree_sha256, is_offline
from textgauge.encode.tokenizers import replace_surrogates

LONGEST = 512  # tokens read of a text, or of a window of it


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


def load_pretrained(name: str, model: str, kind: str, **options: Any) -> Any:
    """Return what the class `kind` of transformers makes of a model; `name` is what errors call it."""
    with explain_unloadable(name, "hf"):
        import torch  # noqa: F401, transformers without it can do nothing here
        import transformers

        options |= {"trust_remote_code": False, "local_files_only": is_offline()}
        return getattr(transformers, kind).from_pretrained(model, **options)


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
        raise ResourceError(f"{name}: cannot be fetched ({type(error).__name__})") from None


def pin_folder(folder: Path) -> str:
    """Return the digest of a model's files."""
    return compute_tree_sha256(folder)[:16]


def pin_revision(model: str, config: Any) -> str:
    """Return the digest of a folder's files, else the hub's revision."""
    if Path(model).is_dir():
        return pin_folder(Path(model))
    return str(getattr(config, "_commit_hash", None) or "unknown")


@dataclass(frozen=True)
class TransformersModel:
    """A model run by transformers on torch, on the CPU, with its tokenizer; loaded when it is first used."""

    model: str
    prefix: ClassVar[str]
    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """The name it is called by."""
        return f"{self.prefix}:{self.model}"

    @cached_property
    def tokenizer(self) -> Any:
        """Its tokenizer."""
        return load_pretrained(self.name, self.model, "AutoTokenizer")

    @cached_property
    def network(self) -> Any:
        """Its network."""
        return load_pretrained(self.name, self.model, self.kind).eval()

    @cached_property
    def longest(self) -> int:
        """How many tokens it reads, at most 512."""
        places = getattr(self.network.config, "max_position_embeddings", LONGEST)
        return int(min(self.tokenizer.model_max_length, places, LONGEST))

    def spell_identity(self, length: str, last: str) -> str:
        """Return everything the numbers depend on, with the longest input under the name `length`."""
        digest = pin_revision(self.model, self.network.config)  # first, because it says which package is missing
        runtime = f"transformers-{version('transformers')}+torch-{version('torch')}"
        settings = f"{length}={self.longest},dtype=float32,runtime={runtime},{last}"
        return f"{self.prefix}:{shorten_name(self.model)}(revision={digest},{settings})"


@dataclass(frozen=True)
class CrossEncoderModel:
    """A model that reads two texts together and gives one number, run by sentence-transformers (extra `st`).

    Its raw number goes through a sigmoid, whatever the model's own activation: models trained on similarities have the
    sigmoid anyway, rankers keep their order. torch pads a batch and may round by its shape, in the 7th decimal.
    """

    model: str

    @cached_property
    def _encoder(self) -> Any:
        with explain_unloadable(f"cross-encoder {self.model}", "st"):
            from sentence_transformers import CrossEncoder

            return CrossEncoder(self.model)

    @cached_property
    def identity(self) -> str:
        """Model and revision; for a folder the digest of its files."""
        pinned = pin_revision(self.model, getattr(getattr(self._encoder, "model", None), "config", None))
        renamed = "max_seq_length" if hasattr(self._encoder, "max_seq_length") else "max_length"
        longest = getattr(self._encoder, renamed, None)
        return f"{shorten_name(self.model)}(revision={pinned},max_length={longest},activation=sigmoid,dtype=float32)"

    def score(self, left: Sequence[str], right: Sequence[str]) -> Floats:
        """Return a number between 0 and 1 for each pair."""
        from scipy.special import expit

        pairs = [(replace_surrogates(a), replace_surrogates(b)) for a, b in zip(left, right, strict=True)]
        # Neighbours in length are padded little.
        order = sorted(range(len(pairs)), key=lambda row: len(pairs[row][0]) + len(pairs[row][1]))
        raw = self._raw([pairs[row] for row in order])
        values = np.empty(len(pairs))
        values[order] = expit(raw)
        return values

    def _raw(self, pairs: list[tuple[str, str]]) -> Floats:
        predict = self._encoder.predict  # first of all, because it says which package is missing

        from torch.nn import Identity

        # The name of this option changed with version 4.
        names = signature(predict).parameters
        activation = {"activation_fn" if "activation_fn" in names else "activation_fct": Identity()}
        raw = np.asarray(predict(pairs, batch_size=32, show_progress_bar=False, **activation), dtype=np.float64)
        if raw.shape != (len(pairs),):
            raise InputError(
                f"{self.model} gives an array of shape {raw.shape} for {len(pairs)} pairs, not one number each"
            )
        return raw


@cache
def get_cross_encoder(model: str) -> CrossEncoderModel:
    """Return the cross-encoder of that name, the same object each time; it is loaded when it is first used."""
    return CrossEncoderModel(model)
