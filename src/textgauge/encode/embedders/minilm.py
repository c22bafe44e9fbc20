"""`minilm`: all-MiniLM-L6-v2 in exact float32, run from its published weights without torch.

The network (Wang et al. 2020, MiniLM; six BERT layers of 12 heads, 384 wide) is written down as an ONNX graph of a few
kilobytes; the weights are handed to onnxruntime straight from the checked safetensors file, which also holds the word
vectors `wordvec` and lets the network end at any layer. The file format of graphs is Protocol Buffers; the few messages
that are needed are written here, because the package that writes all of them takes 30 MB. Numbers of fields and types
are those of onnx.proto (IR version 9, operators of set 20).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats32
from textgauge.encode.embedders.transformer import (
    Run,
    TransformerEmbedder,
    format_identity,
    import_onnxruntime,
    open_session,
)
from textgauge.encode.resources import locate

LAYERS, HEADS, WIDTH, EPSILON = 6, 12, 384, 1e-12
HEAD = WIDTH // HEADS
MAX_LENGTH = 256
_FLOAT32, _INT64 = 1, 7


def make_minilm(layers: int = LAYERS) -> TransformerEmbedder:
    """Return the embedder `minilm`: mean pooling, unit length, 256 tokens, as the model was published."""
    known = format_identity("all-MiniLM-L6-v2", "minilm", max_length=MAX_LENGTH, normalise=True)
    load = partial(load_minilm, layers)
    return TransformerEmbedder("minilm", known, MAX_LENGTH, True, load, declared_dimension=WIDTH)


def load_minilm(layers: int = LAYERS) -> Run:
    """Open the network; with fewer layers it ends at the hidden states of that one, 0 the embeddings."""
    graph = Graph(read_weights())
    hidden = _embed(graph)
    for layer in range(layers):
        hidden = _add_layer(graph, hidden, f"encoder.layer.{layer}")
    session = graph.open("ids", ("texts", "length"), hidden, ("texts", "length", WIDTH))
    return lambda ids: session.run(None, {"ids": ids})[0]


def read_weights() -> dict[str, Floats32]:
    """Read the weights, linear maps turned to `input x output`, token type 0 and the query's scale folded in."""
    from safetensors.numpy import load_file

    raw: dict[str, Floats32] = load_file(locate("minilm") / "model.safetensors")
    weights = {name: array.T if array.ndim == 2 and ".layer." in name else array for name, array in raw.items()}
    types, positions = raw["embeddings.token_type_embeddings.weight"], raw["embeddings.position_embeddings.weight"]
    weights["positions"] = positions + types[0]
    for layer in range(LAYERS):
        for kind in ("weight", "bias"):
            weights[f"encoder.layer.{layer}.attention.self.query.{kind}"] /= np.float32(np.sqrt(HEAD))
    return weights


class Graph:
    """An ONNX graph that grows by operators; its weights are given when it is opened, not written into it."""

    def __init__(self, weights: Mapping[str, Floats32]) -> None:
        self.weights = weights
        self.used: dict[str, bytes] = {}
        self.constants: list[bytes] = []
        self.nodes: list[bytes] = []

    def add(self, kind: str, *inputs: str, **attributes: float | list[int]) -> str:
        """Add an operator; return the name of its output."""
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(
            write_message({1: inputs, 2: output, 4: kind, 5: [*map(_write_attribute, attributes.items())]})
        )
        return output

    def use(self, name: str) -> str:
        """Use a weight, which is said to lie outside of the graph."""
        place = write_message({1: "location", 2: "given at load"})
        self.used[name] = write_message({1: self.weights[name].shape, 2: _FLOAT32, 8: name, 13: place, 14: 1})
        return name

    def write(self, *values: int) -> str:
        """Write whole numbers into the graph."""
        name = f"constant_{len(self.constants)}"
        content = np.array(values, dtype=np.int64).tobytes()
        self.constants.append(write_message({1: len(values), 2: _INT64, 8: name, 9: content}))
        return name

    def open(self, given: str, shape: Sequence[str | int], output: str, output_shape: Sequence[str | int]) -> Any:
        """Open the graph on onnxruntime, from an input of whole numbers to an output of floats."""
        stored = [*self.used.values(), *self.constants]
        ends = {11: _write_value(given, _INT64, shape), 12: _write_value(output, _FLOAT32, output_shape)}
        graph = write_message({1: self.nodes, 2: "textgauge", 5: stored, **ends})
        model = write_message({1: 9, 7: graph, 8: write_message({1: "", 2: 20})})
        onnxruntime = import_onnxruntime()
        # onnxruntime copies them when the session opens: nothing of the weights given is kept.
        arrays = [np.ascontiguousarray(self.weights[name]) for name in self.used]
        options = onnxruntime.SessionOptions()
        options.add_external_initializers(
            list(self.used), [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in arrays]
        )
        session = open_session(model, options)
        session.disable_fallback()  # which would open it again, without them
        return session


def _embed(graph: Graph) -> str:
    words = graph.add("Gather", graph.use("embeddings.word_embeddings.weight"), "ids")
    length = graph.add("Slice", graph.add("Shape", "ids"), graph.write(1), graph.write(2))
    positions = graph.add("Slice", graph.use("positions"), graph.write(0), length)
    return _add_norm(graph, graph.add("Add", words, positions), "embeddings.LayerNorm")


def _add_layer(graph: Graph, hidden: str, name: str) -> str:
    query = _split_heads(graph, hidden, f"{name}.attention.self.query", [0, 2, 1, 3])
    key = _split_heads(graph, hidden, f"{name}.attention.self.key", [0, 2, 3, 1])
    value = _split_heads(graph, hidden, f"{name}.attention.self.value", [0, 2, 1, 3])
    shares = graph.add("Softmax", graph.add("MatMul", query, key), axis=-1)
    mixed = graph.add("Transpose", graph.add("MatMul", shares, value), perm=[0, 2, 1, 3])
    mixed = graph.add("Reshape", mixed, graph.write(0, 0, WIDTH))
    attended = graph.add("Add", _add_linear(graph, mixed, f"{name}.attention.output.dense"), hidden)
    hidden = _add_norm(graph, attended, f"{name}.attention.output.LayerNorm")
    wide = graph.add("Gelu", _add_linear(graph, hidden, f"{name}.intermediate.dense"))
    narrow = graph.add("Add", _add_linear(graph, wide, f"{name}.output.dense"), hidden)
    return _add_norm(graph, narrow, f"{name}.output.LayerNorm")


def _split_heads(graph: Graph, hidden: str, name: str, order: list[int]) -> str:
    parts = graph.add("Reshape", _add_linear(graph, hidden, name), graph.write(0, 0, HEADS, HEAD))
    return graph.add("Transpose", parts, perm=order)


def _add_linear(graph: Graph, hidden: str, name: str) -> str:
    return graph.add("Add", graph.add("MatMul", hidden, graph.use(f"{name}.weight")), graph.use(f"{name}.bias"))


def _add_norm(graph: Graph, hidden: str, name: str) -> str:
    scale, shift = graph.use(f"{name}.weight"), graph.use(f"{name}.bias")
    return graph.add("LayerNormalization", hidden, scale, shift, axis=-1, epsilon=EPSILON)


def write_message(fields: Mapping[int, Any]) -> bytes:
    r"""Write a message of Protocol Buffers: fields by number, each a number, a text, bytes or several of them.

    >>> write_message({1: 300, 2: ["a", "b"]})
    b'\x08\xac\x02\x12\x01a\x12\x01b'
    """
    parts = []
    for number, values in fields.items():
        for value in values if isinstance(values, list | tuple) else [values]:
            if isinstance(value, float):
                parts.append(_write_varint(number << 3 | 5) + struct.pack("<f", value))
            elif isinstance(value, int):
                parts.append(_write_varint(number << 3) + _write_varint(value))
            else:
                content = value.encode() if isinstance(value, str) else value
                parts.append(_write_varint(number << 3 | 2) + _write_varint(len(content)) + content)
    return b"".join(parts)


def _write_varint(value: int) -> bytes:
    r"""Write seven bits a byte, the lowest first; negative numbers as 64 bits.

    >>> _write_varint(300), len(_write_varint(-1))
    (b'\xac\x02', 10)
    """
    rest, groups = value & (1 << 64) - 1, bytearray()
    while rest > 127:
        groups.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*groups, rest])


def _write_attribute(named: tuple[str, float | list[int]]) -> bytes:
    name, value = named
    place, kind = (8, 7) if isinstance(value, list) else (2, 1) if isinstance(value, float) else (3, 2)
    return write_message({1: name, place: value, 20: kind})


def _write_value(name: str, kind: int, axes: Sequence[str | int]) -> bytes:
    shape = write_message({1: [write_message({1 if isinstance(axis, int) else 2: axis}) for axis in axes]})
    return write_message({1: name, 2: write_message({1: write_message({1: kind, 2: shape})})})
