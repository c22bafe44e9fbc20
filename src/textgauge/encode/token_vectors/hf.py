"""`hf:MODEL`: hidden states of any transformers encoder, by hub name or folder (extra `hf`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from textgauge.arrays import Floats32, Ints
from textgauge.encode.embedders.transformer import equal_length_batches
from textgauge.encode.resource_sources import tree_sha256
from textgauge.encode.token_vectors import CHOSEN, Encoding, TokenVectors, checked_layer
from textgauge.encode.tokenizers import Tokens, without_surrogates
from textgauge.errors import MissingExtra, ResourceError

LONGEST = 512


@dataclass(frozen=True)
class HuggingFaceTokens:
    """A model run by transformers on torch, on the CPU; the last layer by default.

    Texts are cut at the model's longest input, at most 512 tokens. Texts of equal length share a batch and nothing is
    padded; torch may still round the last bit by the size of a batch.
    """

    model: str
    layer: int = CHOSEN

    @property
    def name(self) -> str:
        """The name it is called by."""
        return f"hf:{self.model}"

    @cached_property
    def identity(self) -> str:
        """Everything the numbers depend on; for a folder the digest of its files, else the hub's revision."""
        from importlib.metadata import version

        model = Path(self.model).name if Path(self.model).is_dir() else self.model
        runtime = f"transformers-{version('transformers')}+torch-{version('torch')}"
        settings = f"max_length={self._max_length},dtype=float32,runtime={runtime},layer={self._layer}"
        return f"hf:{model}(revision={self._revision()},{settings})"

    def tokenize(self, texts: Sequence[str]) -> Encoding:
        """Give the tokens alone."""
        return self._encoding(*self._ids(texts))

    def encode(self, texts: Sequence[str], *, batch_size: int = 32) -> TokenVectors:
        """Give the vectors of all tokens."""
        ids, special = self._ids(texts)
        found = self._encoding(ids, special)
        vectors = np.empty((found.offsets[-1], int(self._network.config.hidden_size)), dtype=np.float32)
        full = [row for row in range(len(ids)) if len(ids[row])]
        for places in equal_length_batches([ids[row] for row in full], batch_size):
            rows = [full[place] for place in places]
            block = self._run(np.stack([ids[row] for row in rows]))
            vectors[found.offsets[rows][:, None] + np.arange(block.shape[1])] = block
        return TokenVectors(found.tokens, found.special, vectors, self.identity)

    @cached_property
    def _tokenizer(self) -> Any:
        return self._load("AutoTokenizer")

    @cached_property
    def _network(self) -> Any:
        return self._load("AutoModel").eval()

    @cached_property
    def _layer(self) -> int:
        layers = int(self._network.config.num_hidden_layers)
        return checked_layer(self.name, self.layer, layers, layers)

    @cached_property
    def _max_length(self) -> int:
        places = getattr(self._network.config, "max_position_embeddings", LONGEST)
        return int(min(self._tokenizer.model_max_length, places, LONGEST))

    @cached_property
    def _vocabulary(self) -> tuple[str, ...]:
        return tuple(self._tokenizer.convert_ids_to_tokens(list(range(len(self._tokenizer)))))

    def _load(self, kind: str) -> Any:
        try:
            import torch  # noqa: F401, transformers without it can do nothing here
            import transformers
        except ImportError as error:
            raise MissingExtra.named(self.name, "hf") from error
        load: Callable[[str], Any] = getattr(transformers, kind).from_pretrained
        try:
            return load(self.model)
        except (OSError, ValueError) as error:
            raise ResourceError(f"cannot load {self.name}: {str(error).splitlines()[0]}") from error

    def _revision(self) -> str:
        if Path(self.model).is_dir():
            return tree_sha256(Path(self.model), "*")[:16]
        return str(getattr(self._network.config, "_commit_hash", None) or "unknown")

    def _ids(self, texts: Sequence[str]) -> tuple[list[Ints], list[Any]]:
        if not texts:
            return [], []
        clean = [without_surrogates(text) for text in texts]
        found = self._tokenizer(clean, truncation=True, max_length=self._max_length, return_special_tokens_mask=True)
        return [np.array(row, dtype=np.int64) for row in found["input_ids"]], list(found["special_tokens_mask"])

    def _encoding(self, ids: list[Ints], special: list[Any]) -> Encoding:
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(row) for row in ids], dtype=np.int64)])
        flat = np.concatenate([np.empty(0, np.int64), *ids]).astype(np.int32)
        marks = np.concatenate([np.empty(0, bool), *(np.array(row, dtype=bool) for row in special)])
        return Encoding(Tokens(flat, offsets, self._vocabulary), marks)

    def _run(self, ids: Ints) -> Floats32:
        import torch

        with torch.inference_mode():
            states = self._network(
                input_ids=torch.from_numpy(ids),
                attention_mask=torch.ones(ids.shape, dtype=torch.long),
                output_hidden_states=True,
            ).hidden_states
        return np.asarray(states[self._layer].to(torch.float32).numpy())
