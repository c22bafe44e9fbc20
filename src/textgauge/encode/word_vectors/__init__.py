"""Word vectors by name: built in, or a file of the user's, read once and memory-mapped from then on.

- wordvec: MiniLM's own input vectors of whole words, centred; nothing to fetch but the default encoder
- glove-50d: GloVe 6B, 50 dimensions, 400,000 words
- PATH: GloVe, word2vec or fastText text, or word2vec binary, gzip or not: see formats.py
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from textgauge.core.errors import InputError, UnknownName
from textgauge.core.sizes import blocks
from textgauge.encode.resources import available, locate, resource
from textgauge.encode.word_vectors.formats import of_file
from textgauge.encode.word_vectors.store import Block, WordVectors, as_bytes

__all__ = ["WordVectors", "list_word_vectors", "word_vectors"]

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
    for some in blocks(len(words), _BATCH):
        yield list(map(as_bytes, words[some])), matrix[some]


BUILT_IN = {
    "wordvec": BuiltIn("minilm", 384, "input vectors of all-MiniLM-L6-v2, whole words, centred", _whole_words),
    "glove-50d": BuiltIn("glove-50d", 50, "GloVe 6B, 400,000 words", _glove),
}


def word_vectors(name: str) -> WordVectors:
    """Give the word vectors of that name, or of the file of that path."""
    if name in BUILT_IN:
        return built_in(name)
    path = Path(name).expanduser()
    if path.is_file():
        return of_file(path)
    if path.suffix or len(path.parts) > 1:
        raise InputError(f"no file of word vectors {name}")
    raise UnknownName.among("word vectors (or file)", name, BUILT_IN)


def list_word_vectors() -> list[dict[str, object]]:
    """List the word vectors: name, dimension, megabytes to fetch, whether on this machine, a note.

    >>> [row["name"] for row in list_word_vectors()]
    ['wordvec', 'glove-50d', 'PATH']
    """
    rows: list[dict[str, object]] = [
        {
            "name": name,
            "dimension": entry.dimension,
            "megabytes": round(resource(entry.resource).size / 1e6, 1),
            "available": available(entry.resource),
            "note": entry.note,
        }
        for name, entry in BUILT_IN.items()
    ]
    note = "a file of yours: GloVe, word2vec (text, binary) or fastText .vec, gzip or not"
    return [*rows, {"name": "PATH", "dimension": None, "megabytes": 0.0, "available": True, "note": note}]
