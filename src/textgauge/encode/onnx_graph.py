"""Networks written down as ONNX graphs of a few kilobytes, whose weights are handed over when they are opened.

The file format is Protocol Buffers; the few messages that a graph needs are written here, because the package that
writes all of them takes 30 MB. Numbers of fields and types are those of onnx.proto (IR version 9, operators of set 20).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.encode.embedders.transformer import onnx_session, silent_onnxruntime

Weights = dict[str, NDArray[np.float32]]
Network = Callable[[dict[str, Ints]], NDArray[np.float32]]  # from named inputs to its one output
Axes = tuple[str | int, ...]  # names of axes of any length, or lengths

_IR_VERSION, _OPERATORS = 9, 20
_TYPES = {np.dtype(np.float32): 1, np.dtype(np.int64): 7}
_FLOAT, _INT, _INTS = 1, 2, 7  # types of attributes


class OnnxGraph:
    """Collects operators by their names; `network` runs them."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.used: dict[str, bytes] = {}
        self.constants: list[bytes] = []
        self.nodes: list[bytes] = []

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator; gives the name of its output."""
        output = f"{kind}_{len(self.nodes)}"
        made = [_attribute(name, value) for name, value in attributes.items()]
        self.nodes.append(message({1: inputs, 2: output, 4: kind, 5: made}))
        return output

    def weight(self, name: str) -> str:
        """Use a weight, which is not written into the graph."""
        place = message({1: "location", 2: "given at load"})
        self.used[name] = message({1: self.weights[name].shape, 2: 1, 8: name, 13: place, 14: 1})
        return name

    def constant(self, *values: int) -> str:
        """Write a list of whole numbers into the graph."""
        return self.tensor(np.array(values, dtype=np.int64))

    def tensor(self, values: NDArray[Any]) -> str:
        """Write an array into the graph."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(message({1: values.shape, 2: _TYPES[values.dtype], 8: name, 9: values.tobytes()}))
        return name

    def written(self, inputs: Mapping[str, Axes], output: str, axes: Axes) -> bytes:
        """The graph as a file: inputs of whole numbers, an output of floats."""
        given = [_value(name, _TYPES[np.dtype(np.int64)], of) for name, of in inputs.items()]
        stored = [*self.used.values(), *self.constants]
        made = _value(output, _TYPES[np.dtype(np.float32)], axes)
        graph = message({1: self.nodes, 2: "textgauge", 5: stored, 11: given, 12: made})
        return message({1: _IR_VERSION, 7: graph, 8: message({1: "", 2: _OPERATORS})})

    def network(self, inputs: Mapping[str, Axes], output: str, axes: Axes) -> Network:
        """The graph on onnxruntime."""
        onnxruntime = silent_onnxruntime()
        # onnxruntime copies them when the session opens: nothing of the weights given is kept.
        arrays = [np.ascontiguousarray(self.weights[name]) for name in self.used]
        options = onnxruntime.SessionOptions()
        options.add_external_initializers(
            list(self.used), [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in arrays]
        )
        session = onnx_session(self.written(inputs, output, axes), options)
        session.disable_fallback()  # which would open it again, without them

        def run(given: dict[str, Ints]) -> NDArray[np.float32]:
            return session.run(None, given)[0]  # type: ignore[no-any-return]

        return run


def message(fields: Mapping[int, Any]) -> bytes:
    r"""A message of Protocol Buffers: fields by number, each a whole number, a float, a text, bytes or several of them.

    >>> message({1: 300, 2: ["a", "b"]})
    b'\x08\xac\x02\x12\x01a\x12\x01b'
    """
    return b"".join(
        _field(number, value)
        for number, given in fields.items()
        for value in (given if isinstance(given, list | tuple) else [given])
    )


def _field(number: int, value: float | str | bytes) -> bytes:
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    r"""Seven bits a byte, the lowest first; negative numbers as 64 bits.

    >>> _varint(300), len(_varint(-1))
    (b'\xac\x02', 10)
    """
    rest, made = value & (1 << 64) - 1, bytearray()
    while rest > 127:
        made.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*made, rest])


def _attribute(name: str, value: float | list[int]) -> bytes:
    place, kind = (8, _INTS) if isinstance(value, list) else (2, _FLOAT) if isinstance(value, float) else (3, _INT)
    return message({1: name, place: value, 20: kind})


def _value(name: str, kind: int, axes: Axes) -> bytes:
    shape = message({1: [message({1 if isinstance(axis, int) else 2: axis}) for axis in axes]})
    return message({1: name, 2: message({1: message({1: kind, 2: shape})})})
