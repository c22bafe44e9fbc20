"""Token encoders by name: built in, `hf:MODEL` (a transformers model), or of another package, as `elmo:FOLDER`.

They give a vector for every token of a text in its context, where an embedder gives one vector per text. With a
built-in one a text gets the same bits whatever the other texts are, for the reasons given in embedders/transformer.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats32, Ints
from textgauge.core.errors import UnknownName
from textgauge.encode.embedders import BUILT_IN, get_embedder
from textgauge.encode.embedders.transformer import LAYERS, TransformerEmbedder, make_built_in, run_batches
from textgauge.encode.encoders import Encoder, Encoders
from textgauge.encode.tokenizers import Tokens, compute_offsets, list_pieces

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
        return np.diff(compute_offsets(~self.special)[self.offsets])


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
        """Return the tokens alone, which costs little."""

    def encode(self, texts: Sequence[str]) -> TokenVectors:
        """Return the vectors of all tokens."""


def get_token_encoder(name: str, *, layer: int = CHOSEN) -> TokenEncoder:
    """Return the token encoder of that name and layer, the same object each time; its model is loaded on first use."""
    return TOKEN_ENCODERS.make(name, layer)


def register_token_encoder(prefix: str, make: Callable[[str, int], TokenEncoder], value: str = "MODEL") -> None:
    """Make token encoders known as `prefix:VALUE`; `make` is called with the value and the layer.

    A package names `make` under the entry point `textgauge.token_encoders`; the name there is the prefix.
    """
    TOKEN_ENCODERS.register(Encoder(make), f"{prefix}:{value}")


def check_layer(name: str, layer: int, chosen: int, layers: int) -> int:
    """Return the layer meant, out of 0 (the embeddings) to `layers`."""
    if layer == CHOSEN:
        return chosen
    if not 0 <= layer <= layers:
        raise UnknownName(f"{name} has layers 0 to {layers}, and no layer {layer}")
    return layer


@dataclass(frozen=True)
class PieceEncoder:
    """Hidden states of a built-in transformer over word pieces; a text is [CLS] pieces [SEP], cut at `max_length`.

    A prompt stands after [CLS] and counts as special, too.
    """

    model: TransformerEmbedder
    layer: int | str

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def identity(self) -> str:
        model, _, settings = self.model.identity.partition("(")
        kept = [item for item in settings.rstrip(")").split(",") if not item.startswith(("pooling=", "normalise="))]
        return f"{model}({','.join([*kept, f'layer={self.layer}'])})"

    def tokenize(self, texts: Sequence[str]) -> Encoding:
        return self._encoding(self.model.tokenize(texts))

    def encode(self, texts: Sequence[str], *, batch_size: int = 64) -> TokenVectors:
        ids = self.model.tokenize(texts)
        encoding = self._encoding(ids)
        batches = run_batches(self.model.run, ids, batch_size)
        return fill_vectors(encoding, batches, self.model.dimension, self.identity)

    @cached_property
    def _vocabulary(self) -> tuple[str, ...]:
        return list_pieces(self.model.load_tokenizer())

    def _encoding(self, ids: Sequence[Ints]) -> Encoding:
        offsets = compute_offsets([len(row) for row in ids])
        special = np.zeros(offsets[-1], dtype=bool)
        for place in range(BUILT_IN[self.name].marks - 1):
            special[offsets[:-1] + place] = True
        special[offsets[1:] - 1] = True
        flat = np.concatenate([np.empty(0, np.int32), *ids], dtype=np.int32, casting="same_kind")
        return Encoding(Tokens(flat, offsets, self._vocabulary), special)


def fill_vectors(
    encoding: Encoding, batches: Iterable[tuple[list[int], Floats32]], dimension: int, identity: str
) -> TokenVectors:
    """Put the hidden states of batches of rows of equal length at the places of their tokens."""
    vectors = np.empty((encoding.offsets[-1], dimension), dtype=np.float32)
    for rows, block in batches:
        vectors[encoding.offsets[rows][:, None] + np.arange(block.shape[1])] = block
    return TokenVectors(encoding.tokens, encoding.special, vectors, identity)


def _make_minilm(layer: int) -> PieceEncoder:
    """Return the hidden states of all-MiniLM-L6-v2 after a layer; those above do not run."""
    layer = check_layer("minilm", layer, MINILM_LAYER, LAYERS["minilm"])
    return PieceEncoder(make_built_in("minilm", layer), layer)


def _make_last_layer(name: str, layer: int) -> PieceEncoder:
    """Return the last hidden states of a built-in embedder whose graph comes ready-made."""
    if layer != CHOSEN:
        raise UnknownName(f"{name} gives its last layer only: leave out layer={layer}")
    return PieceEncoder(cast("TransformerEmbedder", get_embedder(name)), "last")


TOKEN_ENCODERS: Encoders[TokenEncoder] = Encoders(
    "token encoder",
    {
        **{name: Encoder(partial(_make_last_layer, name)) for name in BUILT_IN},
        "minilm": Encoder(_make_minilm),
        "hf:MODEL": Encoder("hugging_face:HuggingFaceTokens"),
    },
    group="textgauge.token_encoders",
    plug_in=register_token_encoder,
)
