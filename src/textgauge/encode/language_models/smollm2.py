"""`smollm2`: SmolLM2-135M-Instruct (Allal et al. 2025) with 4-bit weights, on NumPy, without torch.

A text is scored after the mark between documents, so its first token counts too; the end of a text does
not. Longer texts are cut into windows of 512 tokens which do not see each other. Marks of the model that are spelt out
in a text are read as plain characters.

The weights are a GGUF file (ggml's format, version 2 or 3), read as data: float32, and blocks of 32 weights with a
scale of their own (q8_0: eight bits; q4_1: four bits and a smallest value). All become float32.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints
from textgauge.core.errors import ResourceError
from textgauge.core.parallel import count_workers, use_one_blas_thread
from textgauge.encode.language_models import Surprise, cut_windows, score_distinct
from textgauge.encode.resources import get_resource, locate
from textgauge.encode.tokenizers import replace_surrogates

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SEPARATOR = "<|endoftext|>"
WINDOW = 512
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_FLOAT32, _Q4_1, _Q8_0 = 0, 3, 8
_KINDS: dict[int, tuple[int, np.dtype[Any]]] = {  # weights and layout of a block
    _FLOAT32: (1, np.dtype("<f4")),
    _Q4_1: (32, np.dtype([("scale", "<f2"), ("least", "<f2"), ("pairs", "u1", 16)])),
    _Q8_0: (32, np.dtype([("scale", "<f2"), ("bytes", "i1", 32)])),
}


@dataclass(frozen=True)
class SmolLM2:
    """The model; loaded when it is first used, about a gigabyte in memory."""

    name = "smollm2"

    @property
    def signature(self) -> str:
        """Everything the numbers depend on."""
        digest = get_resource("smollm2").files[FILE][:16]
        return f"smollm2(sha256={digest},window={WINDOW},dtype=float32,runtime=numpy,version=2)"

    @cached_property
    def _parts(self) -> tuple[Any, Llama]:
        model = read_gguf(locate("smollm2") / FILE)
        return make_tokenizer(model), Llama(model)

    def surprise(self, texts: Sequence[str]) -> Surprise:
        """Return −ln P of each text in nats, and how many tokens were scored."""
        return score_distinct(self._surprise, texts)

    def _surprise(self, texts: list[str]) -> Surprise:
        pieces, network = self._parts
        tokens = [encoding.ids for encoding in pieces.encode_batch([replace_surrogates(text) for text in texts])]
        windows, owner = cut_windows(tokens, WINDOW, before=[pieces.token_to_id(SEPARATOR)])
        with use_one_blas_thread(), ThreadPoolExecutor(count_workers()) as pool:
            costs = [cost.sum() for cost in pool.map(network.compute_costs, windows)]
        nats = np.bincount(owner, weights=costs, minlength=len(texts)).astype(np.float64)
        return nats, np.array([len(ids) for ids in tokens], dtype=np.int64)


def make_tokenizer(model: Gguf) -> Any:
    """Return the byte-level tokenizer that a file describes: digits stand alone, merges as listed."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {token: number for number, token in enumerate(model.metadata["tokenizer.ggml.tokens"])}
    merges = [tuple(pair.split(" ")) for pair in model.metadata["tokenizer.ggml.merges"]]
    pieces = Tokenizer(models.BPE(vocabulary, merges, unk_token=SEPARATOR))
    digits, words = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.pre_tokenizer = pre_tokenizers.Sequence([digits, words])
    return pieces


class Llama:
    """A Llama network with the weights of a file, run one text at a time: no text changes the numbers of another."""

    def __init__(self, model: Gguf) -> None:
        known = model.metadata
        self.layers: int = known["llama.block_count"]
        self.heads: int = known["llama.attention.head_count"]
        self.key_heads: int = known["llama.attention.head_count_kv"]
        self.head: int = known["llama.embedding_length"] // self.heads
        self.epsilon = np.float32(known["llama.attention.layer_norm_rms_epsilon"])
        self.speeds = known["llama.rope.freq_base"] ** (-np.arange(0, self.head, 2) / self.head)
        self.weights = {name: model.read_tensor(name) for name in model.tensors}

    def compute_costs(self, ids: Ints) -> Floats:
        """Return −ln P of every token but the first, given those before it."""
        from scipy.special import expit

        table = self.weights["token_embd.weight"]
        hidden = table[ids[:-1]]
        places = np.arange(len(hidden))
        turns = np.exp(1j * np.outer(places, self.speeds)).astype(np.complex64)
        later = np.where(places[:, None] < places, np.float32(-np.inf), np.float32(0))
        for layer in range(self.layers):
            hidden = hidden + self._attend(self._norm(hidden, f"blk.{layer}.attn_norm"), layer, turns, later)
            near = self._norm(hidden, f"blk.{layer}.ffn_norm")
            gate = self._linear(near, layer, "ffn_gate")
            gate *= expit(gate)
            hidden = hidden + self._linear(gate * self._linear(near, layer, "ffn_up"), layer, "ffn_down")
        scores = self._norm(hidden, "output_norm") @ table.T
        top = scores.max(axis=1, keepdims=True)
        chosen = (scores - top)[places, ids[1:]].astype(np.float64)
        return np.asarray(np.log(np.exp(scores - top).sum(axis=1, dtype=np.float64)) - chosen)

    def _attend(self, rows: Floats32, layer: int, turns: Any, later: Floats32) -> Floats32:
        """Mix the values of the tokens so far; several heads of queries share one of keys and values."""
        groups = self.heads // self.key_heads
        query = self._split(self._linear(rows, layer, "attn_q"), groups, turns)
        key = self._split(self._linear(rows, layer, "attn_k"), 1, turns)
        value = self._split(self._linear(rows, layer, "attn_v"), 1)
        scores = query @ key.swapaxes(2, 3) / np.float32(np.sqrt(self.head)) + later
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed = (shares @ value).transpose(2, 0, 1, 3).reshape(len(rows), -1)
        return self._linear(mixed, layer, "attn_output")

    def _split(self, rows: Floats32, groups: int, turns: Any = None) -> Floats32:
        """Return the heads of rows, (key heads, groups, length, head), turned by their places if `turns` are given."""
        heads = rows.reshape(len(rows), self.key_heads, groups, self.head).transpose(1, 2, 0, 3)
        if turns is None:
            return heads
        # Pairs of numbers that turn together lie side by side, as the parts of complex numbers do.
        return np.asarray((np.ascontiguousarray(heads).view(np.complex64) * turns).view(np.float32))

    def _linear(self, rows: Floats32, layer: int, name: str) -> Floats32:
        return rows @ self.weights[f"blk.{layer}.{name}.weight"].T

    def _norm(self, rows: Floats32, name: str) -> Floats32:
        size = np.sqrt((rows * rows).mean(axis=-1, keepdims=True) + self.epsilon)
        return np.asarray(rows / size * self.weights[f"{name}.weight"])


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
