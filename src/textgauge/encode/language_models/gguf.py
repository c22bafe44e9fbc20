"""GGUF files: metadata and tensors of a model, read as data.

Kinds of weights read: float32, and blocks of 32 weights with a scale of their own (q8_0: eight bits; q4_1: four bits
and a smallest value). All become float32.
Source: the format as ggml's documentation describes it, version 3 (and 2, which has the same layout).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats32
from textgauge.core.errors import ResourceError

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_FLOAT32, _Q4_1, _Q8_0 = 0, 3, 8
_KINDS: dict[int, tuple[int, np.dtype[Any]]] = {  # weights and layout of a block
    _FLOAT32: (1, np.dtype("<f4")),
    _Q4_1: (32, np.dtype([("scale", "<f2"), ("least", "<f2"), ("pairs", "u1", 16)])),
    _Q8_0: (32, np.dtype([("scale", "<f2"), ("bytes", "i1", 32)])),
}


@dataclass(frozen=True)
class Gguf:
    """An open file; a tensor has a shape, a kind of weights and a place in the data."""

    metadata: dict[str, Any]
    tensors: dict[str, tuple[tuple[int, ...], int, int]]
    data: NDArray[np.uint8]

    def read_tensor(self, name: str) -> Floats32:
        """Return a tensor as float32, rows first."""
        shape, kind, start = self.tensors[name]
        size, layout = _KINDS[kind]
        blocks = self.data[start : start + prod(shape) // size * layout.itemsize].view(layout)
        if kind == _FLOAT32:
            weights = blocks.astype(np.float32)
        elif kind == _Q8_0:
            weights = blocks["scale"].astype(np.float32)[:, None] * blocks["bytes"].astype(np.float32)
        else:
            pairs = blocks["pairs"]
            steps = np.concatenate([pairs & 15, pairs >> 4], axis=1).astype(np.float32)
            weights = blocks["scale"].astype(np.float32)[:, None] * steps + blocks["least"].astype(np.float32)[:, None]
        return weights.reshape(shape)


def read_gguf(path: Path) -> Gguf:
    """Open a file; ResourceError where it is none that can be read."""
    try:
        return _Reader(np.fromfile(path, dtype=np.uint8)).read()
    except (OSError, ValueError, KeyError, struct.error) as error:
        raise ResourceError(f"{path.name} is not a GGUF model that can be read: {error}") from error


class _Reader:
    """Reads the head of a file from front to back."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self.data = data
        self.place = 0

    def read(self) -> Gguf:
        if self._read_numbers("4s") != (b"GGUF",):
            raise ValueError("it does not begin with GGUF")
        version, tensors, entries = self._read_numbers("IQQ")
        if version not in {2, 3}:
            raise ValueError(f"it has version {version}")
        metadata = {self._read_string(): self._read_value(*self._read_numbers("I")) for _ in range(entries)}
        heads = [self._read_tensor() for _ in range(tensors)]
        alignment = metadata.get("general.alignment", 32)
        start = -(-self.place // alignment) * alignment
        placed = {name: (shape, kind, start + offset) for name, shape, kind, offset in heads}
        return Gguf(metadata, placed, self.data)

    def _read_numbers(self, code: str) -> tuple[Any, ...]:
        numbers = struct.unpack_from(f"<{code}", self.data.data, self.place)
        self.place += struct.calcsize(f"<{code}")
        return numbers

    def _read_string(self) -> str:
        (size,) = self._read_numbers("Q")
        self.place += size
        return self.data[self.place - size : self.place].tobytes().decode()

    def _read_value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._read_string()
        if kind != _ARRAY:
            return self._read_numbers(_NUMBERS[kind])[0]
        inner, count = self._read_numbers("IQ")
        if inner == _STRING:
            return [self._read_string() for _ in range(count)]
        return list(self._read_numbers(f"{count}{_NUMBERS[inner]}"))

    def _read_tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._read_string()
        (rank,) = self._read_numbers("I")
        shape = self._read_numbers(f"{rank}Q")
        kind, offset = self._read_numbers("IQ")
        if kind not in _KINDS:
            raise ValueError(f"tensor {name!r} has weights of kind {kind}")
        return name, shape[::-1], kind, offset
