"""`smollm2`: SmolLM2-135M-Instruct (Allal et al. 2025) with 4-bit weights, on NumPy, without torch.

A text is scored after the mark between documents, so its first token counts too; the end of a text does
not. Longer texts are cut into windows of 512 tokens which do not see each other. Marks of the model that are spelt out
in a text are read as plain characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats, Floats32, Ints
from textgauge.core.parallel import one_blas_thread, workers
from textgauge.encode.language_models import Surprise, cut_windows, score_distinct
from textgauge.encode.language_models.gguf import Gguf, read_gguf
from textgauge.encode.resources import get_resource, locate
from textgauge.encode.tokenizers import without_surrogates

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SEPARATOR = "<|endoftext|>"
WINDOW = 512


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
        tokens = [encoding.ids for encoding in pieces.encode_batch([without_surrogates(text) for text in texts])]
        windows, owner = cut_windows(tokens, WINDOW, before=[pieces.token_to_id(SEPARATOR)])
        with one_blas_thread(), ThreadPoolExecutor(workers()) as pool:
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
