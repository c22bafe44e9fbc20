"""Reading ELMo weights: `*options*.json` and `*.hdf5` in the layout AllenNLP distributes, every shape checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textgauge.errors import MissingExtra, ResourceError
from textgauge.represent.elmo_network import Array, Direction, Network

CHARACTERS = 50  # of a word, its frame included
CODES = 261  # bytes, begin and end of text and word, padding
_LARGEST = 1 << 16  # no width of a real model comes near: a larger one is a damaged file


def find_files(folder: Path) -> tuple[Path, Path]:
    """Give the options and the weights of a folder."""
    found = [sorted(folder.glob(pattern)) for pattern in ("*options*.json", "*.hdf5")]
    if any(len(paths) != 1 for paths in found):
        raise ResourceError(f"an ELMo folder holds one *options*.json and one *.hdf5; {folder} does not")
    return found[0][0], found[1][0]


def read_network(options: Path, weights: Path) -> Network:
    """Read a model, every size and shape checked against its options."""
    try:
        import h5py
    except ImportError as error:
        raise MissingExtra.named("ELMo", "elmo") from error
    sizes = read_sizes(options)
    try:
        with h5py.File(weights, "r") as file:
            return _network(lambda name, *shape: _array(file, name, shape), sizes)
    except OSError as error:
        raise ResourceError(f"{weights.name} is not a readable HDF5 file") from error


@dataclass(frozen=True)
class Sizes:
    """What the options say."""

    letter: int
    filters: tuple[tuple[int, int], ...]
    highways: int
    activation: str
    width: int
    cell: int
    layers: int
    cell_clip: float
    projection_clip: float


def read_sizes(path: Path) -> Sizes:
    """Read and check the options."""
    try:
        options = json.loads(path.read_text(encoding="utf-8"))
        convolution, lstm = options["char_cnn"], options["lstm"]
        sizes = Sizes(
            letter=_size(convolution["embedding"]["dim"]),
            filters=tuple((_size(width), _size(count)) for width, count in convolution["filters"]),
            highways=_size(convolution["n_highway"], least=0),
            activation=str(convolution["activation"]),
            width=_size(lstm["projection_dim"]),
            cell=_size(lstm["dim"]),
            layers=_size(lstm["n_layers"]),
            cell_clip=float(lstm.get("cell_clip") or np.inf),
            projection_clip=float(lstm.get("proj_clip") or np.inf),
        )
        whole = lstm["use_skip_connections"] is True and convolution["max_characters_per_token"] == CHARACTERS
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResourceError(f"{path.name} does not hold the options of an ELMo model: {error}") from error
    wide = any(width > CHARACTERS for width, _ in sizes.filters)
    if not whole or wide or not sizes.filters or sizes.activation not in ("relu", "tanh"):
        raise ResourceError(f"{path.name}: this is no ELMo model with {CHARACTERS} characters and skip connections")
    return sizes


_Read = Callable[..., Array]


def _network(read: _Read, sizes: Sizes) -> Network:
    count = sum(number for _, number in sizes.filters)
    letters = read("char_embed", CODES, sizes.letter)
    return Network(
        characters=np.concatenate([np.zeros_like(letters[:1]), letters]),
        filters=tuple(
            (read(f"CNN/W_cnn_{i}", 1, width, sizes.letter, number)[0], read(f"CNN/b_cnn_{i}", number))
            for i, (width, number) in enumerate(sizes.filters)
        ),
        highways=tuple(_highway(read, f"CNN_high_{i}", count) for i in range(sizes.highways)),
        projection=(read("CNN_proj/W_proj", count, sizes.width), read("CNN_proj/b_proj", sizes.width)),
        layers=tuple((_direction(read, 0, i, sizes), _direction(read, 1, i, sizes)) for i in range(sizes.layers)),
        activation=sizes.activation,
        cell_clip=sizes.cell_clip,
        projection_clip=sizes.projection_clip,
    )


def _highway(read: _Read, name: str, count: int) -> tuple[Array, Array, Array, Array]:
    transform, carry = (read(f"{name}/W_{part}", count, count) for part in ("transform", "carry"))
    transform_bias, carry_bias = (read(f"{name}/b_{part}", count) for part in ("transform", "carry"))
    return transform, transform_bias, carry, carry_bias


def _direction(read: _Read, side: int, layer: int, sizes: Sizes) -> Direction:
    name = f"RNN_{side}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
    weights = read(f"{name}/W_0", 2 * sizes.width, 4 * sizes.cell)
    bias = read(f"{name}/B", 4 * sizes.cell)
    bias[2 * sizes.cell : 3 * sizes.cell] += 1  # the forget bias that training added outside the file
    projection = read(f"{name}/W_P_0", sizes.cell, sizes.width)
    return Direction(weights[: sizes.width].copy(), weights[sizes.width :].copy(), bias, projection)


def _array(file: Any, name: str, shape: tuple[int, ...]) -> Array:
    stored = file.get(name)
    if getattr(stored, "shape", None) != shape or stored.dtype.kind != "f":
        raise ResourceError(f"the ELMo weights hold no {name} of shape {shape}")
    values = np.array(stored, dtype=np.float32)
    if not np.isfinite(values).all():
        raise ResourceError(f"the ELMo weights in {name} are not finite")
    return values


def _size(value: Any, *, least: int = 1) -> int:
    if not isinstance(value, int) or not least <= value <= _LARGEST:
        raise ValueError(f"{value!r} is no size")
    return value
