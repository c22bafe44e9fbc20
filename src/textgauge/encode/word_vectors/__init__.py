"""Word vectors by name: built in, or a file of the user's, read once and memory-mapped from then on.

- wordvec: MiniLM's own input vectors of whole words, centred; nothing to fetch but the default encoder
- glove-50d: GloVe 6B, 50 dimensions, 400,000 words
- PATH: GloVe, word2vec or fastText text, or word2vec binary, gzip or not: see formats.py
"""

from __future__ import annotations

from pathlib import Path

from textgauge.encode.resources import available, resource
from textgauge.encode.word_vectors.built_in import BUILT_IN, built_in
from textgauge.encode.word_vectors.files import of_file
from textgauge.encode.word_vectors.store import WordVectors
from textgauge.errors import InputError, UnknownName

__all__ = ["WordVectors", "list_word_vectors", "word_vectors"]


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
