"""Write the network of all-MiniLM-L6-v2 as ONNX graphs without weights: `python -m benchmarks.minilm_graph`.

Six BERT layers of 12 heads, 384 wide (Wang et al. 2020, MiniLM). One graph ends at the hidden states of each layer, 0
for the embeddings. Weights are given by name when a graph is opened (`src/textgauge/encode/embedders/transformer.py`).
The package onnx, which writes graphs, takes 30 MB; so users get the files, of a few kilobytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from onnx import ModelProto, TensorProto, helper

from textgauge.encode.embedders import transformer
from textgauge.encode.embedders.transformer import HEAD, HEADS, LAYERS, WIDTH

EPSILON = 1e-12
TARGET = Path(transformer.__file__).with_name("minilm.zip")
_WORDS, _PLACES, _INNER = 30_522, 512, 4 * WIDTH


class Graph:
    """A graph that grows by operators."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.stored: dict[str, TensorProto] = {}

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def use(self, name: str, *shape: int) -> str:
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="given at load")
        self.stored[name] = tensor
        return name

    def write(self, *values: int) -> str:
        name = f"numbers_{len(self.stored)}"
        self.stored[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return name

    def linear(self, hidden: str, name: str, size: int = WIDTH, to: int = WIDTH) -> str:
        product = self.add("MatMul", hidden, self.use(f"{name}.weight", size, to))
        return self.add("Add", product, self.use(f"{name}.bias", to))

    def norm(self, hidden: str, name: str) -> str:
        scale, shift = self.use(f"{name}.weight", WIDTH), self.use(f"{name}.bias", WIDTH)
        return self.add("LayerNormalization", hidden, scale, shift, axis=-1, epsilon=EPSILON)

    def heads(self, hidden: str, name: str, order: list[int]) -> str:
        parts = self.add("Reshape", self.linear(hidden, name), self.write(0, 0, HEADS, HEAD))
        return self.add("Transpose", parts, perm=order)


def make_graph(layers: int) -> ModelProto:
    graph = Graph()
    words = graph.add("Gather", graph.use("embeddings.word_embeddings.weight", _WORDS, WIDTH), "ids")
    length = graph.add("Slice", graph.add("Shape", "ids"), graph.write(1), graph.write(2))
    places = graph.add("Slice", graph.use("positions", _PLACES, WIDTH), graph.write(0), length)
    hidden = graph.norm(graph.add("Add", words, places), "embeddings.LayerNorm")
    for number in range(layers):
        name = f"encoder.layer.{number}"
        query = graph.heads(hidden, f"{name}.attention.self.query", [0, 2, 1, 3])
        key = graph.heads(hidden, f"{name}.attention.self.key", [0, 2, 3, 1])
        value = graph.heads(hidden, f"{name}.attention.self.value", [0, 2, 1, 3])
        shares = graph.add("Softmax", graph.add("MatMul", query, key), axis=-1)
        mixed = graph.add("Transpose", graph.add("MatMul", shares, value), perm=[0, 2, 1, 3])
        mixed = graph.add("Reshape", mixed, graph.write(0, 0, WIDTH))
        attended = graph.add("Add", graph.linear(mixed, f"{name}.attention.output.dense"), hidden)
        hidden = graph.norm(attended, f"{name}.attention.output.LayerNorm")
        wide = graph.add("Gelu", graph.linear(hidden, f"{name}.intermediate.dense", WIDTH, _INNER))
        narrow = graph.add("Add", graph.linear(wide, f"{name}.output.dense", _INNER, WIDTH), hidden)
        hidden = graph.norm(narrow, f"{name}.output.LayerNorm")
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "length"])
    states = helper.make_tensor_value_info(hidden, TensorProto.FLOAT, ["texts", "length", WIDTH])
    made = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", [ids], [states], list(graph.stored.values()))
    return helper.make_model(made, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])


if __name__ == "__main__":
    with ZipFile(TARGET, "w", ZIP_DEFLATED) as target:
        for layers in range(LAYERS + 1):
            target.writestr(ZipInfo(f"layer_{layers}.onnx"), make_graph(layers).SerializeToString(), ZIP_DEFLATED)
