"""Write the networks of minilm and mpnet as ONNX graphs without weights: `python -m benchmarks.transformer_graphs`.

BERT layers of 12 heads: 6 of them 384 wide (all-MiniLM-L6-v2; Wang et al. 2020, MiniLM), 12 of them 768 wide with a
bias by the distance of two tokens (all-mpnet-base-v2; Song et al. 2020, MPNet). Of minilm one graph ends at the hidden
states of each layer, 0 for the embeddings. Weights are given when a graph is opened, by their names in the published
files and in the form that they have there (`src/textgauge/encode/embedders/transformer.py`): onnxruntime turns linear
maps round, and divides those of queries, once. The package onnx, which writes graphs, takes 30 MB; so users get the
files, of a few kilobytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from textgauge.encode.embedders import BUILT_IN, transformer
from textgauge.encode.embedders.transformer import LAYERS

TARGET = Path(transformer.__file__).with_name("graphs.zip")
# Sizes, and the names of query, key, value, output and norm of the attention.
_BERT = tuple(
    f"attention.{name}" for name in ("self.query", "self.key", "self.value", "output.dense", "output.LayerNorm")
)
_MPNET = tuple(f"attention.{name}" for name in ("attn.q", "attn.k", "attn.v", "attn.o", "LayerNorm"))
SHAPES = {"minilm": (30_522, 512, 384, 1e-12, _BERT), "mpnet": (30_527, 514, 768, 1e-5, _MPNET)}
HEADS = 12
_BUCKETS = 32  # of distances in mpnet


@dataclass
class Graph:
    """A graph that grows by operators."""

    width: int
    epsilon: float
    nodes: list[Any] = field(default_factory=list)
    stored: dict[str, TensorProto] = field(default_factory=dict)

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def use(self, name: str, *shape: int) -> str:
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="given at load")
        self.stored[name] = tensor
        return name

    def store(self, numbers: Any) -> str:
        name = f"numbers_{len(self.stored)}"
        self.stored[name] = numpy_helper.from_array(numbers, name)
        return name

    def write(self, *values: int) -> str:
        return self.store(np.array(values, dtype=np.int64))

    def linear(self, hidden: str, name: str, size: int, to: int, *, divided: bool = False) -> str:
        weight = self.add("Transpose", self.use(f"{name}.weight", to, size), perm=[1, 0])
        bias = self.use(f"{name}.bias", to)
        if divided:
            root = self.store(np.float32(np.sqrt(self.width // HEADS)))
            weight, bias = self.add("Div", weight, root), self.add("Div", bias, root)
        return self.add("Add", self.add("MatMul", hidden, weight), bias)

    def norm(self, hidden: str, name: str) -> str:
        scale, shift = self.use(f"{name}.weight", self.width), self.use(f"{name}.bias", self.width)
        return self.add("LayerNormalization", hidden, scale, shift, axis=-1, epsilon=self.epsilon)

    def heads(self, hidden: str, name: str, order: list[int], *, divided: bool = False) -> str:
        parts = self.linear(hidden, name, self.width, self.width, divided=divided)
        parts = self.add("Reshape", parts, self.write(0, 0, HEADS, self.width // HEADS))
        return self.add("Transpose", parts, perm=order)


def make_graph(model: str, layers: int) -> ModelProto:
    vocabulary, places, width, epsilon, (query, key, value, output, norm) = SHAPES[model]
    graph = Graph(width, epsilon)
    words = graph.add("Gather", graph.use("embeddings.word_embeddings.weight", vocabulary, width), "ids")
    length = graph.add("Slice", graph.add("Shape", "ids"), graph.write(1), graph.write(2))
    positions = graph.use("embeddings.position_embeddings.weight", places, width)
    if model == "mpnet":
        positions = graph.add("Slice", positions, graph.write(2), graph.write(places))
        table = graph.use("encoder.relative_attention_bias.weight", _BUCKETS, HEADS)
        bias = graph.add("Gather", table, graph.store(group_distances(BUILT_IN[model].max_length)))
        bias = graph.add("Transpose", bias, perm=[2, 0, 1])
        bias = graph.add("Slice", bias, graph.write(0), length, graph.write(1))
        bias = graph.add("Slice", bias, graph.write(0), length, graph.write(2))
    else:  # the kinds of tokens, of which all are the first
        kinds = graph.use("embeddings.token_type_embeddings.weight", 2, width)
        positions = graph.add("Add", positions, graph.add("Slice", kinds, graph.write(0), graph.write(1)))
    positions = graph.add("Slice", positions, graph.write(0), length)
    hidden = graph.norm(graph.add("Add", words, positions), "embeddings.LayerNorm")
    for number in range(layers):
        name = f"encoder.layer.{number}"
        queries = graph.heads(hidden, f"{name}.{query}", [0, 2, 1, 3], divided=True)
        keys = graph.heads(hidden, f"{name}.{key}", [0, 2, 3, 1])
        values = graph.heads(hidden, f"{name}.{value}", [0, 2, 1, 3])
        affinities = graph.add("MatMul", queries, keys)
        if model == "mpnet":
            affinities = graph.add("Add", affinities, bias)
        shares = graph.add("Softmax", affinities, axis=-1)
        mixed = graph.add("Transpose", graph.add("MatMul", shares, values), perm=[0, 2, 1, 3])
        mixed = graph.add("Reshape", mixed, graph.write(0, 0, width))
        attended = graph.add("Add", graph.linear(mixed, f"{name}.{output}", width, width), hidden)
        hidden = graph.norm(attended, f"{name}.{norm}")
        wide = graph.add("Gelu", graph.linear(hidden, f"{name}.intermediate.dense", width, 4 * width))
        narrow = graph.add("Add", graph.linear(wide, f"{name}.output.dense", 4 * width, width), hidden)
        hidden = graph.norm(narrow, f"{name}.output.LayerNorm")
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "length"])
    states = helper.make_tensor_value_info(hidden, TensorProto.FLOAT, ["texts", "length", width])
    made = helper.make_graph(graph.nodes, BUILT_IN[model].model, [ids], [states], list(graph.stored.values()))
    return helper.make_model(made, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])


def group_distances(longest: int) -> Any:
    """Return the bucket of the distance of each two tokens: own ones to 7, then by its logarithm; Song et al. 2020."""
    half, exact = _BUCKETS // 2, _BUCKETS // 4
    places = np.arange(longest)
    distances = places - places[:, None]
    far = np.maximum(np.abs(distances), 1)
    steps = (np.log(far / exact) / np.log(128 / exact) * (half - exact)).astype(np.int64)
    near = np.where(far < exact, np.abs(distances), np.minimum(exact + steps, half - 1))
    return (near + half * (distances > 0)).astype(np.int32)


def make_graphs() -> dict[str, ModelProto]:
    graphs = {f"minilm_{layers}.onnx": make_graph("minilm", layers) for layers in range(LAYERS["minilm"] + 1)}
    return graphs | {f"mpnet_{LAYERS['mpnet']}.onnx": make_graph("mpnet", LAYERS["mpnet"])}


if __name__ == "__main__":
    with ZipFile(TARGET, "w", ZIP_DEFLATED) as target:
        for name, graph in make_graphs().items():
            target.writestr(ZipInfo(name), graph.SerializeToString(), ZIP_DEFLATED)
