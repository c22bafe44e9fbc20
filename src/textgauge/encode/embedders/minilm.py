"""all-MiniLM-L6-v2 in exact float32, run from its published weights without torch.

The network (Wang et al. 2020, MiniLM; six BERT layers of 12 heads, 384 wide) is written down once as an ONNX graph of
a few kilobytes; the weights are handed to onnxruntime straight from the checked safetensors file. Where onnxruntime
has no wheel, the same network runs on numpy, text by text and slower.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.parallel import one_blas_thread
from textgauge.encode.embedders.transformer import Run, TransformerEmbedder, identity, onnx_session
from textgauge.encode.onnx_graph import Network, OnnxGraph, Weights
from textgauge.encode.resources import locate, resource

LAYERS, HEADS, WIDTH, EPSILON = 6, 12, 384, 1e-12
HEAD = WIDTH // HEADS
MAX_LENGTH = 256


def minilm() -> TransformerEmbedder:
    """Give the embedder `minilm`: mean pooling, unit length, 256 tokens, as the model was published."""
    runtime, load = runner()
    digest = resource("minilm").files["model.safetensors"]
    known = identity("all-MiniLM-L6-v2", digest, max_length=MAX_LENGTH, normalise=True, runtime=runtime)
    return TransformerEmbedder("minilm", known, WIDTH, MAX_LENGTH, True, load)


def runner() -> tuple[str, Callable[..., Run]]:
    """Give the package the network runs on, and the function that loads it with a number of layers."""
    has_runtime = importlib.util.find_spec("onnxruntime") is not None
    return ("onnxruntime", load_onnx) if has_runtime else ("numpy", load_numpy)


def read_weights() -> Weights:
    """Read the weights, linear maps turned to `input x output`, token type 0 and the query's scale folded in."""
    from safetensors.numpy import load_file

    raw: Weights = load_file(locate("minilm") / "model.safetensors")
    weights = {name: array.T if array.ndim == 2 and ".layer." in name else array for name, array in raw.items()}
    types, positions = raw["embeddings.token_type_embeddings.weight"], raw["embeddings.position_embeddings.weight"]
    weights["positions"] = positions + types[0]
    for layer in range(LAYERS):
        for kind in ("weight", "bias"):
            weights[f"encoder.layer.{layer}.attention.self.query.{kind}"] /= np.float32(np.sqrt(HEAD))
    return weights


def load_onnx(layers: int = LAYERS) -> Run:
    """Open the network on onnxruntime; with fewer layers it ends at the hidden states of that one, 0 the embeddings."""
    network = MiniLMGraph(read_weights()).opened(layers)
    return lambda ids: network({"ids": ids})


class MiniLMGraph(OnnxGraph):
    """The network as an ONNX graph whose weights are given from outside."""

    def opened(self, layers: int) -> Network:
        """The network up to a layer, on onnxruntime."""
        hidden = self._embeddings()
        for layer in range(layers):
            hidden = self._layer(hidden, f"encoder.layer.{layer}")
        return self.network({"ids": ("texts", "length")}, hidden, ("texts", "length", WIDTH))

    def _norm(self, hidden: str, name: str) -> str:
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.op("LayerNormalization", hidden, scale, shift, axis=-1, epsilon=EPSILON)

    def _linear(self, hidden: str, name: str) -> str:
        product = self.op("MatMul", hidden, self.weight(f"{name}.weight"))
        return self.op("Add", product, self.weight(f"{name}.bias"))

    def _heads(self, hidden: str, name: str, order: list[int]) -> str:
        parts = self.op("Reshape", self._linear(hidden, name), self.constant(0, 0, HEADS, HEAD))
        return self.op("Transpose", parts, perm=order)

    def _embeddings(self) -> str:
        words = self.op("Gather", self.weight("embeddings.word_embeddings.weight"), "ids")
        length = self.op("Slice", self.op("Shape", "ids"), self.constant(1), self.constant(2))
        positions = self.op("Slice", self.weight("positions"), self.constant(0), length)
        return self._norm(self.op("Add", words, positions), "embeddings.LayerNorm")

    def _layer(self, hidden: str, name: str) -> str:
        query = self._heads(hidden, f"{name}.attention.self.query", [0, 2, 1, 3])
        key = self._heads(hidden, f"{name}.attention.self.key", [0, 2, 3, 1])
        value = self._heads(hidden, f"{name}.attention.self.value", [0, 2, 1, 3])
        shares = self.op("Softmax", self.op("MatMul", query, key), axis=-1)
        mixed = self.op("Transpose", self.op("MatMul", shares, value), perm=[0, 2, 1, 3])
        mixed = self.op("Reshape", mixed, self.constant(0, 0, WIDTH))
        attended = self.op("Add", self._linear(mixed, f"{name}.attention.output.dense"), hidden)
        hidden = self._norm(attended, f"{name}.attention.output.LayerNorm")
        wide = self.op("Gelu", self._linear(hidden, f"{name}.intermediate.dense"))
        narrow = self.op("Add", self._linear(wide, f"{name}.output.dense"), hidden)
        return self._norm(narrow, f"{name}.output.LayerNorm")


def load_numpy(layers: int = LAYERS) -> Run:
    """Run the network on numpy, one text at a time, because a BLAS may round by the number of rows."""
    weights = read_weights()

    def run(ids: Ints) -> NDArray[np.float32]:
        with one_blas_thread():
            return np.stack([forward(weights, row, layers) for row in ids])

    return run


def forward(weights: Mapping[str, NDArray[np.float32]], ids: Ints, layers: int = LAYERS) -> NDArray[np.float32]:
    """Give the hidden states of one text after this many layers, shape (length, width)."""
    hidden = weights["embeddings.word_embeddings.weight"][ids] + weights["positions"][: len(ids)]
    hidden = _norm(weights, "embeddings.LayerNorm", hidden)
    for layer in range(layers):
        hidden = _layer(weights, f"encoder.layer.{layer}", hidden)
    return hidden


def _layer(weights: Mapping[str, NDArray[np.float32]], name: str, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
    from scipy.special import erf

    def linear(rows: NDArray[np.float32], part: str) -> NDArray[np.float32]:
        return rows @ weights[f"{name}.{part}.weight"] + weights[f"{name}.{part}.bias"]

    parts = (linear(hidden, f"attention.self.{part}") for part in ("query", "key", "value"))
    query, key, value = (part.reshape(-1, HEADS, HEAD).swapaxes(0, 1) for part in parts)
    scores = query @ key.swapaxes(1, 2)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    mixed = (shares @ value).swapaxes(0, 1).reshape(-1, WIDTH)
    attended = linear(mixed, "attention.output.dense") + hidden
    hidden = _norm(weights, f"{name}.attention.output.LayerNorm", attended)
    wide = linear(hidden, "intermediate.dense")
    wide *= np.float32(0.5) * (1 + erf(wide * np.float32(np.sqrt(0.5))))
    return _norm(weights, f"{name}.output.LayerNorm", linear(wide, "output.dense") + hidden)


def _norm(weights: Mapping[str, NDArray[np.float32]], name: str, rows: NDArray[np.float32]) -> NDArray[np.float32]:
    centred: NDArray[np.float32] = rows - rows.mean(axis=-1, keepdims=True)
    centred /= np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
    return centred * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def minilm_int8() -> TransformerEmbedder:
    """Give `minilm-int8`: all-MiniLM-L6-v2 with weights rounded to int8 (21 MB), arithmetic in float32."""
    known = _identity("minilm-int8", "all-MiniLM-L6-v2-int8", max_length=256, normalise=True)
    load = partial(_load, "minilm-int8", "last_hidden_state")
    return TransformerEmbedder("minilm-int8", known, 384, 256, True, load)


def paraphrase_minilm() -> TransformerEmbedder:
    """Give `paraphrase-minilm`: paraphrase-MiniLM-L3-v2, three layers, not normalised, as its own graph pools."""
    known = _identity("paraphrase-minilm", "paraphrase-MiniLM-L3-v2", max_length=128, normalise=False)
    load = partial(_load, "paraphrase-minilm", "onnx::Shape_422")
    return TransformerEmbedder("paraphrase-minilm", known, 384, 128, False, load)


def _identity(name: str, model: str, *, max_length: int, normalise: bool) -> str:
    (digest,) = resource(name).files.values()
    return identity(model, digest, max_length=max_length, normalise=normalise, runtime="onnxruntime")


def _load(name: str, output: str) -> Run:
    (file,) = resource(name).files
    session = onnx_session(str(locate(name) / file))
    inputs = [given.name for given in session.get_inputs()]

    def run(ids: Ints) -> NDArray[np.float32]:
        values = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return session.run([output], {key: values[key] for key in inputs})[0]  # type: ignore[no-any-return]

    return run
