"""Word vectors that come with a resource: `wordvec` and `glove-50d`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

import numpy as np

from textgauge.encode.resources import locate, resource
from textgauge.encode.word_vectors.formats import Block
from textgauge.encode.word_vectors.store import WordVectors, as_bytes

_BATCH = 1 << 14  # rows copied at once


@dataclass(frozen=True)
class BuiltIn:
    """Where built-in vectors come from, and what a list says of them."""

    resource: str
    dimension: int
    note: str
    read: Callable[[], Iterator[Block]]


@cache
def built_in(name: str) -> WordVectors:
    """Give built-in vectors; their resource is located when they are first used."""
    entry = BUILT_IN[name]
    digests = "".join(sorted(resource(entry.resource).files.values()))
    known = blake2b(digests.encode(), digest_size=8).hexdigest()
    return WordVectors(name, f"{name}(digest={known})", entry.read)


def _whole_words() -> Iterator[Block]:
    """Yield MiniLM's input vectors of whole words (no continuation pieces, no special tokens), centred."""
    from safetensors import safe_open

    folder = locate("minilm")
    pieces = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    special = {piece for piece in pieces if len(piece) > 1 and piece.startswith("[") and piece.endswith("]")}
    words = {piece: row for piece, row in pieces.items() if not piece.startswith("##") and piece not in special}
    with safe_open(folder / "model.safetensors", "np") as weights:
        vectors = weights.get_tensor("embeddings.word_embeddings.weight")[list(words.values())].astype(np.float64)
    yield list(map(as_bytes, words)), (vectors - vectors.mean(axis=0)).astype(np.float32)


def _glove() -> Iterator[Block]:
    import polars as pl

    folder = locate("glove-50d") / "data"
    words = pl.read_parquet(folder / "glove_6B_index.parquet")["index"]
    matrix = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")
    for start in range(0, len(words), _BATCH):
        yield list(map(as_bytes, words[start : start + _BATCH])), matrix[start : start + _BATCH]


BUILT_IN = {
    "wordvec": BuiltIn("minilm", 384, "input vectors of all-MiniLM-L6-v2, whole words, centred", _whole_words),
    "glove-50d": BuiltIn("glove-50d", 50, "GloVe 6B, 400,000 words", _glove),
}
