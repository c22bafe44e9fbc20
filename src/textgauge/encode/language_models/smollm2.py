"""`smollm2`: SmolLM2-135M-Instruct (Allal et al. 2025) with 4-bit weights, on onnxruntime, without torch.

A text is scored after the mark between documents, so its first token counts too; the end of a text does
not. Longer texts are cut into windows of 512 tokens which do not see each other. Marks of the model that are spelt out
in a text are read as plain characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import ResourceError
from textgauge.core.parallel import workers
from textgauge.core.sizes import blocks
from textgauge.encode.embedders.transformer import equal_length_batches, runtime_identity
from textgauge.encode.language_models import Surprise, once, windowed
from textgauge.encode.language_models.gguf import Gguf, read_gguf
from textgauge.encode.onnx_graph import Network, OnnxGraph, Weights
from textgauge.encode.resources import locate, resource
from textgauge.encode.tokenizers import without_surrogates

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SEPARATOR = "<|endoftext|>"
WINDOW = 512
BATCH = 16  # texts; more are not faster
TOKENS = 512  # at once: each has a number for every token of the vocabulary, 100 MB together
Score = Callable[[Ints], NDArray[np.float32]]
"""Token ids (texts, length) to −ln P of each token but the first, (texts, length − 1)."""

TABLE = "token_embd.weight"
_MATRICES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")


@dataclass(frozen=True)
class SmolLM2:
    """The model; loaded when it is first used, about two gigabytes in memory."""

    name = "smollm2"

    @property
    def signature(self) -> str:
        """Everything the numbers depend on."""
        settings = f"window={WINDOW},dtype=float32,runtime={runtime_identity()}"
        return f"smollm2(sha256={resource('smollm2').files[FILE][:16]},{settings},version=1)"

    @cached_property
    def _parts(self) -> tuple[Any, int, Score]:
        model = read_gguf(locate("smollm2") / FILE)
        pieces = byte_pieces(model)
        return pieces, pieces.token_to_id(SEPARATOR), load_llama(model, WINDOW)

    def surprise(self, texts: Sequence[str]) -> Surprise:
        """Give −ln P of each text in nats, and how many tokens were scored."""
        return once(self._surprise, texts)

    def _surprise(self, texts: list[str]) -> Surprise:
        pieces, separator, score = self._parts
        found = [encoding.ids for encoding in pieces.encode_batch([without_surrogates(text) for text in texts])]
        windows, owner = windowed(found, WINDOW, before=[separator])
        nats = np.zeros(len(texts))
        batches = list(_batches(windows))
        with ThreadPoolExecutor(workers()) as pool:
            costs = pool.map(lambda rows: score(np.stack([windows[row] for row in rows])), batches)
            for rows, block in zip(batches, costs, strict=True):
                np.add.at(nats, owner[rows], block.sum(axis=1, dtype=np.float64))
        return nats, np.array([len(ids) for ids in found], dtype=np.int64)


def _batches(windows: list[Ints]) -> Iterator[list[int]]:
    for rows in equal_length_batches(windows, BATCH):
        yield from (rows[some] for some in blocks(len(rows), TOKENS, len(windows[rows[0]])))


def byte_pieces(model: Gguf) -> Any:
    """Build the byte-level tokenizer that a file describes: digits stand alone, merges as listed."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    known = model.metadata
    try:
        vocabulary = {token: number for number, token in enumerate(known["tokenizer.ggml.tokens"])}
        merges = [tuple(pair.split(" ")) for pair in known["tokenizer.ggml.merges"]]
        pieces = Tokenizer(models.BPE(vocabulary, merges, unk_token=SEPARATOR))
    except (KeyError, TypeError, ValueError) as error:
        raise ResourceError(f"the model's tokenizer cannot be read: {error}") from error
    digits, words = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.pre_tokenizer = pre_tokenizers.Sequence([digits, words])
    return pieces


@dataclass(frozen=True)
class Shape:
    """The sizes of a network."""

    layers: int
    width: int
    heads: int
    key_heads: int
    epsilon: float
    base: float

    @classmethod
    def of(cls, model: Gguf) -> Shape:
        """Read the sizes; ResourceError where one is missing or they do not fit together."""
        known = model.metadata
        try:
            if known["general.architecture"] != "llama":
                raise ResourceError(f"a model of kind {known['general.architecture']!r} cannot be run, only llama")
            shape = cls(
                int(known["llama.block_count"]),
                int(known["llama.embedding_length"]),
                int(known["llama.attention.head_count"]),
                int(known["llama.attention.head_count_kv"]),
                float(known["llama.attention.layer_norm_rms_epsilon"]),
                float(known["llama.rope.freq_base"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ResourceError(f"the model does not tell its sizes: {error}") from error
        least = min(shape.layers, shape.width, shape.heads, shape.key_heads)
        if least < 1 or shape.heads % shape.key_heads or shape.width % (2 * shape.heads):
            raise ResourceError("the sizes the model tells do not fit together")
        return shape

    @property
    def head(self) -> int:
        """The width of a head."""
        return self.width // self.heads


def load_llama(model: Gguf, longest: int) -> Score:
    """Open the network of a file for texts of up to `longest` tokens."""
    shape = Shape.of(model)
    network = LlamaGraph(read_weights(model, shape, longest), shape).opened()

    def score(ids: Ints) -> NDArray[np.float32]:
        return network({"ids": ids[:, :-1], "targets": ids[:, 1:].reshape(-1, 1)}).reshape(len(ids), -1)

    return score


def read_weights(model: Gguf, shape: Shape, longest: int) -> Weights:
    """Read the weights, linear maps turned to `input x output`, the query's scale folded in; add position tables."""
    weights = {name: model.array(name) for name in (TABLE, "output_norm.weight")}
    for layer in range(shape.layers):
        for part in ("attn_norm", "ffn_norm"):
            weights[f"{layer}.{part}"] = model.array(f"blk.{layer}.{part}.weight")
        for part in _MATRICES:
            weights[f"{layer}.{part}"] = model.array(f"blk.{layer}.{part}.weight")
        for part, heads in (("attn_q", shape.heads), ("attn_k", shape.key_heads)):
            weights[f"{layer}.{part}"] = split_halves(weights[f"{layer}.{part}"], heads)
        weights[f"{layer}.attn_q"] /= np.float32(np.sqrt(shape.head))
        weights |= {f"{layer}.{part}": weights[f"{layer}.{part}"].T for part in _MATRICES}
    weights["cosine"], weights["sine"] = rotations(shape, longest)
    weights["later"] = np.triu(np.full((longest, longest), -np.inf, dtype=np.float32), k=1)
    return weights


def split_halves(matrix: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Order the rows of each head so that row i turns with row i + half; in the file, pairs lie side by side."""
    rows, columns = matrix.shape
    parts = matrix.reshape(heads, rows // heads // 2, 2, columns)
    return np.ascontiguousarray(parts.swapaxes(1, 2)).reshape(rows, columns)


def rotations(shape: Shape, longest: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Give cosine and sine of the angle of each position and row of a head, each (longest, head)."""
    speed = shape.base ** (-np.arange(0, shape.head, 2) / shape.head)
    angle = np.outer(np.arange(longest), np.concatenate([speed, speed]))
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


class LlamaGraph(OnnxGraph):
    """The network as an ONNX graph whose large weights are given from outside."""

    def __init__(self, weights: Weights, shape: Shape) -> None:
        super().__init__(weights)
        self.shape = shape

    def opened(self) -> Network:
        """The whole network on onnxruntime."""
        hidden = self.op("Gather", self.weight(TABLE), "ids")
        self.length = self.op("Slice", self.op("Shape", "ids"), self.constant(1), self.constant(2))
        self.zero = self.constant(0)
        self.later = self._up_to(self._up_to(self.weight("later"), 0), 1)
        self.turn = [self._up_to(self.weight(name), 0) for name in ("cosine", "sine")]
        for layer in range(self.shape.layers):
            hidden = self._layer(hidden, str(layer))
        costs = self._costs(self._norm(hidden, "output_norm.weight"))
        return self.network({"ids": ("texts", "length"), "targets": ("tokens", 1)}, costs, ("tokens", 1))

    def _up_to(self, table: str, axis: int) -> str:
        return self.op("Slice", table, self.zero, self.length, self.constant(axis))

    def _norm(self, hidden: str, name: str) -> str:
        mean = self.op("ReduceMean", self.op("Mul", hidden, hidden), self.constant(-1), keepdims=1)
        size = self.op("Sqrt", self.op("Add", mean, self.tensor(np.array(self.shape.epsilon, dtype=np.float32))))
        return self.op("Mul", self.op("Div", hidden, size), self.weight(name))

    def _linear(self, hidden: str, name: str) -> str:
        return self.op("MatMul", hidden, self.weight(name))

    def _split(self, hidden: str, name: str, heads: int) -> str:
        """Heads, grouped by the keys they share: (texts, key heads, heads, length, head)."""
        sizes = self.constant(0, 0, self.shape.key_heads, heads // self.shape.key_heads, self.shape.head)
        return self.op("Transpose", self.op("Reshape", self._linear(hidden, name), sizes), perm=[0, 2, 3, 1, 4])

    def _rotated(self, rows: str) -> str:
        half = self.shape.head // 2
        low = self.op("Slice", rows, self.zero, self.constant(half), self.constant(4))
        high = self.op("Slice", rows, self.constant(half), self.constant(2 * half), self.constant(4))
        turned = self.op("Concat", self.op("Neg", high), low, axis=-1)
        cosine, sine = self.turn
        return self.op("Add", self.op("Mul", rows, cosine), self.op("Mul", turned, sine))

    def _layer(self, hidden: str, name: str) -> str:
        near = self._norm(hidden, f"{name}.attn_norm")
        query = self._rotated(self._split(near, f"{name}.attn_q", self.shape.heads))
        key = self._rotated(self._split(near, f"{name}.attn_k", self.shape.key_heads))
        value = self._split(near, f"{name}.attn_v", self.shape.key_heads)
        scores = self.op("MatMul", query, self.op("Transpose", key, perm=[0, 1, 2, 4, 3]))
        shares = self.op("Softmax", self.op("Add", scores, self.later), axis=-1)
        mixed = self.op("Transpose", self.op("MatMul", shares, value), perm=[0, 3, 1, 2, 4])
        mixed = self.op("Reshape", mixed, self.constant(0, 0, self.shape.width))
        hidden = self.op("Add", hidden, self._linear(mixed, f"{name}.attn_output"))
        near = self._norm(hidden, f"{name}.ffn_norm")
        gate = self._linear(near, f"{name}.ffn_gate")
        gate = self.op("Mul", gate, self.op("Sigmoid", gate))
        wide = self.op("Mul", gate, self._linear(near, f"{name}.ffn_up"))
        return self.op("Add", hidden, self._linear(wide, f"{name}.ffn_down"))

    def _costs(self, hidden: str) -> str:
        rows = self.op("Reshape", hidden, self.constant(-1, self.shape.width))
        scores = self.op("Gemm", rows, TABLE, transB=1)
        # Not ReduceLogSumExp, which loses the fourth digit over this many tokens.
        logs = self.op("LogSoftmax", scores, axis=1)
        return self.op("Neg", self.op("GatherElements", logs, "targets", axis=1))
