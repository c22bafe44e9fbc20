"""A model in the middle of its training as one file: tensors as safetensors, everything else as JSON in its header."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textgauge.errors import InputError

FILE = "checkpoint.safetensors"
_FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """Tensors by name, and what is known about them: `about` is plain JSON."""

    about: dict[str, Any]
    tensors: dict[str, Any] = field(repr=False)


def save(checkpoint: Checkpoint, folder: Path) -> None:
    """Write a checkpoint whole or not at all, over the one before."""
    from safetensors.torch import save_file

    header = {"textgauge": json.dumps({"format": _FORMAT, **checkpoint.about})}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=folder, prefix=".new-")
    except OSError as error:
        raise InputError(f"cannot write a checkpoint into {folder}: {error.strerror or error}") from None
    os.close(descriptor)
    try:
        save_file({key: tensor.contiguous() for key, tensor in checkpoint.tensors.items()}, name, metadata=header)
        os.replace(name, folder / FILE)
    except BaseException:
        os.unlink(name)
        raise


def load(folder: Path) -> Checkpoint | None:
    """Read the checkpoint of a folder; None where there is none."""
    from safetensors import SafetensorError, safe_open

    path = folder / FILE
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as opened:
            about = json.loads((opened.metadata() or {})["textgauge"])
            tensors = {key: opened.get_tensor(key) for key in opened.keys()}  # noqa: SIM118, it is no dictionary
    except (OSError, SafetensorError, KeyError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is no checkpoint of textgauge, or damaged ({type(error).__name__})") from None
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise InputError(f"{path} was written by another version of textgauge; train again in a new folder")
    return Checkpoint(about, tensors)
