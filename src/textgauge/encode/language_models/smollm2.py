"""`smollm2`: SmolLM2-135M-Instruct (Allal et al. 2025) with 4-bit weights, on NumPy, without torch.

A text is scored after the mark between documents, so its first token counts too; the end of a text does
not. Longer texts are cut into windows of 512 tokens which do not see each other. Marks of the model that are spelt out
in a text are read as plain characters.

The weights are a GGUF file (ggml's format, version 3), known by its digest and read as data: float32, and blocks of 32
weights with a scale of their own (q8_0: eight bits; q4_1: four bits and a smallest value). All become float32.
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
from textgauge.core.parallel import count_workers, use_one_blas_thread
from textgauge.encode.language_models import Surprise, cut_windows, score_distinct
from textgauge.encode.resources import get_resource, locate
from textgauge.encode.tokenizers import replace_surrogates

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SEPARATOR = "<|endoftext|>"
WINDOW = 512
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY, _ALIGNMENT = 8, 9, 32
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
    separator = SEPARATOR

    @property
    def signature(self) -> str:
        digest = get_resource("smollm2").files[FILE][:16]
        return f"smollm2(sha256={digest},window={WINDOW},dtype=float32,runtime=numpy,version=2)"

    @cached_property
    def parts(self) -> tuple[Any, Llama]:
        metadata, weights = read_gguf(locate("smollm2") / FILE)
        return make_tokenizer(metadata), Llama(metadata, weights)

    def surprise(self, texts: Sequence[str]) -> Surprise:
        return score_distinct(self._surprise, texts)

    def _surprise(self, texts: list[str]) -> Surprise:
        pieces, network = self.parts
        tokens = [encoding.ids for encoding in pieces.encode_batch([replace_surrogates(text) for text in texts])]
        windows, owner = cut_windows(tokens, WINDOW, before=[pieces.token_to_id(SEPARATOR)])
        with use_one_blas_thread(), ThreadPoolExecutor(count_workers()) as pool:
            costs = [cost.sum() for cost in pool.map(network.compute_costs, windows)]
        nats = np.bincount(owner, weights=costs, minlength=len(texts)).astype(np.float64)
        return nats, np.array([len(ids) for ids in tokens], dtype=np.int64)


def make_tokenizer(metadata: dict[str, Any]) -> Any:
    """Return the byte-level tokenizer that a file describes: digits stand alone, merges as listed."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {token: number for number, token in enumerate(metadata["tokenizer.ggml.tokens"])}
    merges = [tuple(pair.split(" ")) for pair in metadata["tokenizer.ggml.merges"]]
    pieces = Tokenizer(models.BPE(vocabulary, merges, unk_token=SEPARATOR))
    digits, words = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.pre_tokenizer = pre_tokenizers.Sequence([digits, words])
    return pieces


class Llama:
    """A Llama network with the weights of a file, run one text at a time: no text changes the numbers of another."""

    def __init__(self, known: dict[str, Any], weights: dict[str, Floats32]) -> None:
        self.layers: int = known["llama.block_count"]
        self.heads: int = known["llama.attention.head_count"]
        self.key_heads: int = known["llama.attention.head_count_kv"]
        self.head: int = known["llama.embedding_length"] // self.heads
        self.epsilon = np.float32(known["llama.attention.layer_norm_rms_epsilon"])
        self.speeds = known["llama.rope.freq_base"] ** (-np.arange(0, self.head, 2) / self.head)
        self.weights = weights

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


def read_gguf(path: Path) -> tuple[dict[str, Any], dict[str, Floats32]]:
    """Return the metadata and the tensors of a file, rows first."""
    data, place = np.fromfile(path, dtype=np.uint8), 0

    def read(code: str) -> tuple[Any, ...]:
        nonlocal place
        place += struct.calcsize(f"<{code}")
        return struct.unpack_from(f"<{code}", data.data, place - struct.calcsize(f"<{code}"))

    def read_string() -> str:
        return read(f"{read('Q')[0]}s")[0].decode()  # type: ignore[no-any-return]

    def read_value(kind: int) -> Any:
        if kind == _STRING:
            return read_string()
        if kind != _ARRAY:
            return read(_NUMBERS[kind])[0]
        inner, count = read("IQ")
        return [read_value(inner) for _ in range(count)]

    _, _, tensors, entries = read("4sIQQ")
    metadata = {read_string(): read_value(*read("I")) for _ in range(entries)}
    heads = [(read_string(), read(f"{read('I')[0]}Q")[::-1], *read("IQ")) for _ in range(tensors)]
    start = -(-place // _ALIGNMENT) * _ALIGNMENT
    return metadata, {name: _read_tensor(data[start + offset :], shape, kind) for name, shape, kind, offset in heads}


def _read_tensor(data: NDArray[np.uint8], shape: tuple[int, ...], kind: int) -> Floats32:
    size, layout = _KINDS[kind]
    blocks = data[: prod(shape) // size * layout.itemsize].view(layout)
    if kind == _FLOAT32:
        weights = blocks.astype(np.float32)
    elif kind == _Q8_0:
        weights = blocks["scale"].astype(np.float32)[:, None] * blocks["bytes"].astype(np.float32)
    else:
        pairs = blocks["pairs"]
        steps = np.concatenate([pairs & 15, pairs >> 4], axis=1).astype(np.float32)
        weights = blocks["scale"].astype(np.float32)[:, None] * steps + blocks["least"].astype(np.float32)[:, None]
    return weights.reshape(shape)
