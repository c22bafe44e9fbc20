"""An embedder of your own: any function of a list of texts, or any object with a method `encode`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats32
from textgauge.core.errors import InputError
from textgauge.core.progress import advance
from textgauge.encode.embedders import EMBEDDERS, Embedder, EmbedderLike, get_embedder, register_embedder

# Their vectors tell models apart in names and signatures.
_PROBES = ("a red cat", "the bank refused my card", "42", "Où est la gare ?", "天气很好", "x" * 300, "yes", "no")


class OwnEmbedder:
    """A function that gives one vector for each of a list of texts."""

    cheap = True  # nothing says when a function changes, so its vectors are not kept on disk

    def __init__(self, function: Callable[[list[str]], Any]) -> None:
        self.function = function
        probes = self.encode(_PROBES)
        self.dimension = probes.shape[1]
        digest = hashlib.sha256(np.round(probes, 4).tobytes()).hexdigest()[:12]
        owner = getattr(function, "__self__", function)  # of a method, its object
        called = str(getattr(owner, "__name__", type(owner).__name__))
        self.name = f"{re.sub('[^a-z0-9]+', '-', called.lower()).strip('-')}-{digest[:6]}"
        self.identity = f"own:{self.name},{digest},{self.dimension}"

    def encode(self, texts: Sequence[str], *, batch_size: int = 64) -> Floats32:
        """Return one vector per text, shape (texts, dimension)."""
        parts = []
        for start in range(0, len(texts), batch_size):
            some = list(texts[start : start + batch_size])
            rows = np.asarray(self.function(some), dtype=np.float32)
            if rows.ndim != 2 or len(rows) != len(some):
                raise InputError(f"the embedder gave an array of shape {rows.shape} for {len(some)} texts")
            parts.append(rows)
            advance(start + len(some), len(texts))
        return np.concatenate(parts)


def name_embedder(given: EmbedderLike) -> str:
    """Return the name of an embedder; a function or a model of your own is made known under a name first.

    >>> name_embedder("minilm"), name_embedder(lambda texts: [[len(text), 1.0] for text in texts])[:7]
    ('minilm', 'lambda-')
    """
    if isinstance(given, str):
        return given
    made: Embedder
    if isinstance(given, Embedder):
        made = given
    elif callable(function := getattr(given, "encode", given)):
        made = OwnEmbedder(function)
        name = made.name
        for number in count(2):
            known = get_embedder(made.name) if made.name in EMBEDDERS else made
            if getattr(known, "function", None) == function:
                break
            made.name = f"{name}-{number}"  # another function with the same vectors for the probes
    else:
        kinds = "a name, a function of a list of texts, or an object with a method encode"
        raise InputError(f"an embedder is {kinds}, not {type(given).__name__}")
    if made.name not in EMBEDDERS:
        register_embedder(made.name, lambda: made, dimension=made.dimension, note="your own")
    return made.name
