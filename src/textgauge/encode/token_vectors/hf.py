"""`hf:MODEL`: hidden states of any transformers encoder, by hub name or folder (extra `hf`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats32, Ints
from textgauge.encode.embedders.transformer import equal_length_batches
from textgauge.encode.hugging_face import TransformersModel
from textgauge.encode.token_vectors import CHOSEN, Encoding, TokenVectors, checked_layer
from textgauge.encode.tokenizers import Tokens, without_surrogates


@dataclass(frozen=True)
class HuggingFaceTokens(TransformersModel):
    """The hidden states of a model; the last layer by default.

    Texts are cut at the model's longest input, at most 512 tokens. Texts of equal length share a batch and nothing is
    padded; torch may still round the last bit by the size of a batch.
    """

    layer: int = CHOSEN
    prefix = "hf"
    kind = "AutoModel"

    @cached_property
    def identity(self) -> str:
        """Everything the numbers depend on; for a folder the digest of its files, else the hub's revision."""
        return self.spelled("max_length", f"layer={self._layer}")

    def tokenize(self, texts: Sequence[str]) -> Encoding:
        """Give the tokens alone."""
        return self._encoding(*self._ids(texts))

    def encode(self, texts: Sequence[str], *, batch_size: int = 32) -> TokenVectors:
        """Give the vectors of all tokens."""
        ids, special = self._ids(texts)
        found = self._encoding(ids, special)
        vectors = np.empty((found.offsets[-1], int(self.network.config.hidden_size)), dtype=np.float32)
        full = [row for row in range(len(ids)) if len(ids[row])]
        for places in equal_length_batches([ids[row] for row in full], batch_size):
            rows = [full[place] for place in places]
            block = self._run(np.stack([ids[row] for row in rows]))
            vectors[found.offsets[rows][:, None] + np.arange(block.shape[1])] = block
        return TokenVectors(found.tokens, found.special, vectors, self.identity)

    @cached_property
    def _layer(self) -> int:
        layers = int(self.network.config.num_hidden_layers)
        return checked_layer(self.name, self.layer, layers, layers)

    @cached_property
    def _vocabulary(self) -> tuple[str, ...]:
        return tuple(self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer)))))

    def _ids(self, texts: Sequence[str]) -> tuple[list[Ints], list[Any]]:
        if not texts:
            return [], []
        clean = [without_surrogates(text) for text in texts]
        found = self.tokenizer(clean, truncation=True, max_length=self.longest, return_special_tokens_mask=True)
        return [np.array(row, dtype=np.int64) for row in found["input_ids"]], list(found["special_tokens_mask"])

    def _encoding(self, ids: list[Ints], special: list[Any]) -> Encoding:
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(row) for row in ids], dtype=np.int64)])
        flat = np.concatenate([np.empty(0, np.int64), *ids]).astype(np.int32)
        marks = np.concatenate([np.empty(0, bool), *(np.array(row, dtype=bool) for row in special)])
        return Encoding(Tokens(flat, offsets, self._vocabulary), marks)

    def _run(self, ids: Ints) -> Floats32:
        import torch

        with torch.inference_mode():
            states = self.network(
                input_ids=torch.from_numpy(ids),
                attention_mask=torch.ones(ids.shape, dtype=torch.long),
                output_hidden_states=True,
            ).hidden_states
        return np.asarray(states[self._layer].to(torch.float32).numpy())
