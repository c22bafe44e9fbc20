"""Token encoders by name: built in, `hf:MODEL` (a transformers model), or of another package, as `elmo:FOLDER`.

They give a vector for every token of a text in its context, where an embedder gives one vector per text. With a
built-in one a text gets the same bits whatever the other texts are, for the reasons given in embedders/transformer.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats32, Ints
from textgauge.core.errors import InputError, UnknownName
from textgauge.core.parallel import workers
from textgauge.core.registry import load_plugins
from textgauge.encode.embedders import embedder
from textgauge.encode.embedders.minilm import LAYERS, MAX_LENGTH, WIDTH, minilm, runner
from textgauge.encode.embedders.transformer import Run, TransformerEmbedder, equal_length_batches, token_ids
from textgauge.encode.named import Entry, Named, Prefix, lazy
from textgauge.encode.tokenizers import PieceTokenizer, Tokens

__all__ = [
    "CHOSEN",
    "MINILM_LAYER",
    "Encoding",
    "TokenEncoder",
    "TokenVectors",
    "checked_layer",
    "register_token_encoder",
    "token_encoder",
]

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
    if name.partition(":")[0] not in (*TOKEN_ENCODERS.entries, *TOKEN_ENCODERS.prefixes):
        _load_plugins()
    return TOKEN_ENCODERS.get(name, layer)


def register_token_encoder(prefix: str, make: Callable[[str, int], TokenEncoder], value: str = "MODEL") -> None:
    """Make token encoders known as `prefix:VALUE`; `make` is called with the value and the layer.

    A package names `make` under the entry point `textgauge.token_encoders`; the name there is the prefix.
    """
    if prefix in TOKEN_ENCODERS.prefixes:
        raise InputError(f"token encoder {prefix!r} exists already")
    TOKEN_ENCODERS.prefixes[prefix] = Prefix(make, value)


@cache
def _load_plugins() -> None:
    load_plugins("textgauge.token_encoders", register_token_encoder)


def checked_layer(name: str, layer: int, chosen: int, layers: int) -> int:
    """Give the layer meant, out of 0 (the embeddings) to `layers`."""
    if layer == CHOSEN:
        return chosen
    if not 0 <= layer <= layers:
        raise UnknownName(f"{name} has layers 0 to {layers}, and no layer {layer}")
    return layer


@dataclass(frozen=True)
class PieceEncoder:
    """Hidden states of a transformer over word pieces; every text is [CLS] pieces [SEP], cut at `max_length` tokens."""

    name: str
    identity: str
    dimension: int
    max_length: int
    load: Callable[[], Run]

    @cached_property
    def run(self) -> Run:
        """The network, loaded."""
        return self.load()

    def tokenize(self, texts: Sequence[str]) -> Encoding:
        """Give the tokens alone."""
        return _encoding(token_ids(texts, self.max_length))

    def encode(self, texts: Sequence[str], *, batch_size: int = 64) -> TokenVectors:
        """Give the vectors of all tokens."""
        run = self.run  # first of all, because the weights bring the word pieces with them
        ids = token_ids(texts, self.max_length)
        found = _encoding(ids)
        vectors = np.empty((found.offsets[-1], self.dimension), dtype=np.float32)
        with ThreadPoolExecutor(workers()) as pool:
            batches = list(equal_length_batches(ids, batch_size))
            blocks = pool.map(lambda rows: run(np.stack([ids[row] for row in rows])), batches)
            for rows, block in zip(batches, blocks, strict=True):
                vectors[found.offsets[rows][:, None] + np.arange(block.shape[1])] = block
        return TokenVectors(found.tokens, found.special, vectors, self.identity)


def minilm_tokens(layer: int) -> PieceEncoder:
    """Give the token encoder `minilm`: the hidden states of all-MiniLM-L6-v2 after a layer; those above do not run."""
    layer = checked_layer("minilm", layer, MINILM_LAYER, LAYERS)
    _, load = runner()
    return PieceEncoder("minilm", _identity(minilm(), layer), WIDTH, MAX_LENGTH, partial(load, layer))


def last_layer(name: str, layer: int) -> PieceEncoder:
    """Give the last hidden states of a built-in embedder whose graph comes ready-made."""
    if layer != CHOSEN:
        raise UnknownName(f"{name} gives its last layer only: leave out layer={layer}")
    known = embedder(name)
    assert isinstance(known, TransformerEmbedder)  # noqa: S101, what the table of embedders holds under these names
    return PieceEncoder(name, _identity(known, "last"), known.dimension, known.max_length, lambda: known.run)


def _identity(known: TransformerEmbedder, layer: int | str) -> str:
    model, _, settings = known.identity.partition("(")
    kept = [item for item in settings.rstrip(")").split(",") if not item.startswith(("pooling=", "normalise="))]
    return f"{model}({','.join([*kept, f'layer={layer}'])})"


def _encoding(ids: Sequence[Ints]) -> Encoding:
    lengths = np.array([len(row) for row in ids], dtype=np.int64)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    special = np.zeros(offsets[-1], dtype=bool)
    special[offsets[:-1]] = special[offsets[1:] - 1] = True
    flat = np.concatenate(ids).astype(np.int32) if ids else np.empty(0, np.int32)
    return Encoding(Tokens(flat, offsets, PieceTokenizer().encode([]).vocabulary), special)


TOKEN_ENCODERS: Named[TokenEncoder] = Named(
    "token encoder",
    {
        "minilm": Entry(minilm_tokens),
        "minilm-int8": Entry(partial(last_layer, "minilm-int8")),
        "paraphrase-minilm": Entry(partial(last_layer, "paraphrase-minilm")),
    },
    {
        "hf": Prefix(lazy(f"{__name__}.hf", "HuggingFaceTokens")),
    },
)
