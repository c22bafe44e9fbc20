"""What a token encoder is, and the table of those known by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from textgauge.encode.embedders.base import Vectors
from textgauge.encode.tokenizers import Tokens
from textgauge.errors import UnknownName

CHOSEN = -1
"""The layer to name for the one an encoder takes by itself."""

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

    vectors: Vectors
    identity: str

    def __getitem__(self, row: int) -> Vectors:
        return self.vectors[self.offsets[row] : self.offsets[row + 1]]


class TokenEncoder(Protocol):
    """Texts to vectors of tokens in context. What a text gets does not depend on the texts beside it."""

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


_ENTRIES: dict[str, Callable[[int], TokenEncoder]] = {}
_PREFIXES: dict[str, Callable[[str, int], TokenEncoder]] = {}
_MADE: dict[tuple[str, int], TokenEncoder] = {}
_LOCK = Lock()


def token_encoder(name: str, *, layer: int = CHOSEN) -> TokenEncoder:
    """Give the token encoder of that name and layer, the same object each time; its model is loaded on first use."""
    with _LOCK:
        if (name, layer) not in _MADE:
            _MADE[name, layer] = _make(name, layer)
        return _MADE[name, layer]


def _make(name: str, layer: int) -> TokenEncoder:
    prefix, colon, model = name.partition(":")
    if colon and model and prefix in _PREFIXES:
        return _PREFIXES[prefix](model, layer)
    if name not in _ENTRIES:
        raise UnknownName.among("token encoder", name, [*_ENTRIES, *(f"{prefix}:MODEL" for prefix in _PREFIXES)])
    return _ENTRIES[name](layer)


def declare(name: str, make: Callable[[int], TokenEncoder]) -> None:
    """Make a token encoder known under a new name; `make` takes the layer. A name in use is refused."""
    if name in _ENTRIES:
        raise ValueError(f"token encoder {name!r} exists already")
    _ENTRIES[name] = make


def declare_prefix(prefix: str, make: Callable[[str, int], TokenEncoder]) -> None:
    """Let `prefix:MODEL` name a token encoder made from MODEL and a layer."""
    _PREFIXES[prefix] = make


def checked_layer(name: str, layer: int, chosen: int, layers: int) -> int:
    """Give the layer meant, out of 0 (the embeddings) to `layers`."""
    if layer == CHOSEN:
        return chosen
    if not 0 <= layer <= layers:
        raise UnknownName(f"{name} has layers 0 to {layers}, and no layer {layer}")
    return layer
