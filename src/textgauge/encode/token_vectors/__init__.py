"""Token encoders by name: built in, `hf:MODEL` (a transformers model), `elmo:FOLDER` (ELMo weights).

They give a vector for every token of a text in its context, where an embedder gives one vector per text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from textgauge.arrays import Floats32
from textgauge.encode.named import Entry, Named, Prefix, lazy
from textgauge.encode.tokenizers import Tokens
from textgauge.errors import UnknownName

__all__ = ["CHOSEN", "MINILM_LAYER", "Encoding", "TokenEncoder", "TokenVectors", "checked_layer", "token_encoder"]

CHOSEN = -1
"""Stands for the layer that an encoder takes by default."""

# The layer whose BERTScore agrees best with people on the training part of STS-B: see benchmarks/pair_bertscore.py.
MINILM_LAYER = 6


@dataclass(frozen=True)
class Encoding:
    """The tokens of n texts as an encoder sees them; `special` marks those that are not in the text, as [CLS]."""

    tokens: Tokens
    special: NDArray[np.bool_]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the tokens of each text begin and end."""
        return self.tokens.offsets

    @cached_property
    def words(self) -> NDArray[np.int64]:
        """The number of tokens of each text without special ones."""
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(~self.special, dtype=np.int64)])
        return np.diff(before[self.offsets])


@dataclass(frozen=True)
class TokenVectors(Encoding):
    """The same with a vector for each token: those of text i are `vectors[offsets[i]:offsets[i + 1]]`."""

    vectors: Floats32
    identity: str

    def __getitem__(self, row: int) -> Floats32:
        return self.vectors[self.offsets[row] : self.offsets[row + 1]]


class TokenEncoder(Protocol):
    """Texts to vectors of tokens in context. The vectors of a text do not depend on the other texts."""

    @property
    def name(self) -> str:
        """The name it is called by."""

    @property
    def identity(self) -> str:
        """Everything the numbers depend on, the layer included."""

    def tokenize(self, texts: Sequence[str]) -> Encoding:
        """Give the tokens alone, which costs little."""

    def encode(self, texts: Sequence[str]) -> TokenVectors:
        """Give the vectors of all tokens."""


def token_encoder(name: str, *, layer: int = CHOSEN) -> TokenEncoder:
    """Give the token encoder of that name and layer, the same object each time; its model is loaded on first use."""
    return TOKEN_ENCODERS.get(name, layer)


def checked_layer(name: str, layer: int, chosen: int, layers: int) -> int:
    """Give the layer meant, out of 0 (the embeddings) to `layers`."""
    if layer == CHOSEN:
        return chosen
    if not 0 <= layer <= layers:
        raise UnknownName(f"{name} has layers 0 to {layers}, and no layer {layer}")
    return layer


_last_layer = lazy(f"{__name__}.pieces", "last_layer")
TOKEN_ENCODERS: Named[TokenEncoder] = Named(
    "token encoder",
    {
        "minilm": Entry(lazy(f"{__name__}.pieces", "minilm_tokens")),
        "minilm-int8": Entry(partial(_last_layer, "minilm-int8")),
        "paraphrase-minilm": Entry(partial(_last_layer, "paraphrase-minilm")),
    },
    {
        "hf": Prefix(lazy(f"{__name__}.hf", "HuggingFaceTokens")),
        "elmo": Prefix(lazy(f"{__name__}.elmo", "ElmoTokens"), "FOLDER"),
    },
)
