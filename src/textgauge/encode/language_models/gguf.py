"""GGUF files: metadata and tensors of a model, read as data, with every size checked against the file.

Kinds of weights read: float32, float16, and blocks of 32 weights with a scale of their own (q8_0: eight bits; q4_0:
four bits around 0; q4_1: four bits and a smallest value). All become float32.
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

from textgauge.core.errors import ResourceError

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MOST = 1 << 24
_BLOCK = 32
_FLOAT32, _FLOAT16, _Q4_0, _Q4_1, _Q8_0 = 0, 1, 2, 3, 8
_KINDS: dict[int, tuple[int, np.dtype[Any]]] = {
    _FLOAT32: (1, np.dtype("<f4")),
    _FLOAT16: (1, np.dtype("<f2")),
    _Q4_0: (_BLOCK, np.dtype([("scale", "<f2"), ("pairs", "u1", 16)])),
    _Q4_1: (_BLOCK, np.dtype([("scale", "<f2"), ("least", "<f2"), ("pairs", "u1", 16)])),
    _Q8_0: (_BLOCK, np.dtype([("scale", "<f2"), ("bytes", "i1", 32)])),
}


@dataclass(frozen=True)
class Tensor:
    """Where a tensor is in the file, and how it is written."""

    shape: tuple[int, ...]
    kind: int
    start: int

    @property
    def blocks(self) -> int:
        """The number of blocks of weights."""
        return prod(self.shape) // _KINDS[self.kind][0]

    @property
    def end(self) -> int:
        """Where it ends in the file."""
        return self.start + self.blocks * _KINDS[self.kind][1].itemsize


@dataclass(frozen=True)
class Gguf:
    """An open file."""

    metadata: dict[str, Any]
    tensors: dict[str, Tensor]
    data: NDArray[np.uint8]

    def array(self, name: str) -> NDArray[np.float32]:
        """Give a tensor as float32, rows first."""
        if name not in self.tensors:
            raise ResourceError(f"the model has no tensor {name!r}")
        tensor = self.tensors[name]
        blocks = self.data[tensor.start : tensor.end].view(_KINDS[tensor.kind][1])
        return dequantised(blocks, tensor.kind).reshape(tensor.shape)


def dequantised(blocks: NDArray[Any], kind: int) -> NDArray[np.float32]:
    """Turn blocks of one kind into weights, one row per block."""
    if kind in {_FLOAT32, _FLOAT16}:
        return blocks.astype(np.float32)
    scale = blocks["scale"].astype(np.float32)[:, None]
    if kind == _Q8_0:
        return scale * blocks["bytes"].astype(np.float32)
    pairs = blocks["pairs"]
    weights = np.concatenate([pairs & 15, pairs >> 4], axis=1).astype(np.float32)
    if kind == _Q4_0:
        return scale * (weights - np.float32(8))
    return scale * weights + blocks["least"].astype(np.float32)[:, None]


def read_gguf(path: Path) -> Gguf:
    """Open a file; ResourceError where its bytes do not fit together."""
    try:
        data = np.fromfile(path, dtype=np.uint8)
        return _Reader(data).file()
    except (OSError, ValueError, struct.error) as error:
        raise ResourceError(f"{path.name} is not a GGUF model that can be read: {error}") from error


class _Reader:
    """Reads the head of the file from front to back."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self.data = data
        self.buffer = memoryview(data)  # type: ignore[arg-type]
        self.place = 0

    def file(self) -> Gguf:
        if self.buffer[:4].tobytes() != b"GGUF":
            raise ValueError("it does not begin with GGUF")
        self.place = 4
        version, tensors, entries = self._number("I"), self._count(), self._count()
        if version not in {2, 3}:
            raise ValueError(f"it has version {version}")
        metadata = {self._string(): self._value(self._number("I")) for _ in range(entries)}
        found = dict(self._tensor() for _ in range(tensors))
        alignment = metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 0 < alignment <= 1 << 16:
            raise ValueError("its alignment is wrong")
        start = -(-self.place // alignment) * alignment
        return Gguf(metadata, {name: self._placed(tensor, start) for name, tensor in found.items()}, self.data)

    def _number(self, code: str) -> Any:
        value = struct.unpack_from(f"<{code}", self.buffer, self.place)[0]
        self.place += struct.calcsize(f"<{code}")
        return value

    def _count(self) -> int:
        count: int = self._number("Q")
        if count > _MOST:
            raise ValueError(f"it claims to hold {count} entries")
        return count

    def _string(self) -> str:
        size = self._count()
        if self.place + size > len(self.buffer):
            raise ValueError("it is cut short")
        self.place += size
        return self.buffer[self.place - size : self.place].tobytes().decode()

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            return self._number(_code(kind))
        inner, count = self._number("I"), self._count()
        if inner == _STRING:
            return [self._string() for _ in range(count)]
        code = f"<{count}{_code(inner)}"
        values = struct.unpack_from(code, self.buffer, self.place)
        self.place += struct.calcsize(code)
        return list(values)

    def _tensor(self) -> tuple[str, Tensor]:
        name, rank = self._string(), self._number("I")
        if not 1 <= rank <= 4:
            raise ValueError(f"tensor {name!r} has {rank} axes")
        shape = tuple(self._count() for _ in range(rank))
        kind, start = self._number("I"), self._number("Q")
        if kind not in _KINDS:
            raise ValueError(f"tensor {name!r} has weights of kind {kind}")
        if shape[0] % _KINDS[kind][0]:
            raise ValueError(f"tensor {name!r} has rows that are no whole blocks")
        return name, Tensor(shape[::-1], kind, start)

    def _placed(self, tensor: Tensor, start: int) -> Tensor:
        placed = Tensor(tensor.shape, tensor.kind, tensor.start + start)
        if placed.end > len(self.data):
            raise ValueError("it is cut short")
        return placed


def _code(kind: int) -> str:
    if kind not in _NUMBERS:
        raise ValueError(f"it holds a value of kind {kind}")
    return _NUMBERS[kind]
