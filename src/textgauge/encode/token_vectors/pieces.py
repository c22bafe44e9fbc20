"""Token vectors of the built-in transformers: their hidden states, one per word piece.

A text gets the same bits whatever the other texts are, for the reasons given in embedders/transformer.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from textgauge.arrays import Ints
from textgauge.encode.embedders import embedder
from textgauge.encode.embedders.minilm import LAYERS, MAX_LENGTH, WIDTH, minilm, runner
from textgauge.encode.embedders.transformer import Run, TransformerEmbedder, equal_length_batches, token_ids
from textgauge.encode.token_vectors import CHOSEN, MINILM_LAYER, Encoding, TokenVectors, checked_layer
from textgauge.encode.tokenizers import PieceTokenizer, Tokens
from textgauge.errors import UnknownName
from textgauge.parallel import workers


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
