"""Embedders by name: built in, or of a model that the name gives.

`static:MODEL`, `onnx:MODEL`, `st:MODEL`, `api:MODEL`; `whole:EMBEDDER` reads long texts to their end. One of your
own is any function of a list of texts, or any object with a method `encode`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from textgauge.core.arrays import Floats32
from textgauge.core.errors import InputError
from textgauge.core.progress import advance
from textgauge.encode.encoders import Encoder, Encoders


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors. The vector of a text must not depend on the other texts, their order or the batch size.

    `identity` spells out everything the numbers depend on (model, digest or revision of the weights, pooling, longest
    input, dtype, runtime): it is part of the cache's key and of every signature.
    """

    @property
    def name(self) -> str:
        """The name it is called by."""

    @property
    def identity(self) -> str:
        """Everything the numbers depend on."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def encode(self, texts: Sequence[str], *, batch_size: int = 64) -> Floats32:
        """Return one vector per text, shape (texts, dimension)."""


EmbedderLike: TypeAlias = str | Embedder | Callable[[list[str]], Any]
"""The name of an embedder, an embedder, an object with a method `encode`, or a function of a list of texts."""


def get_embedder(name: str) -> Embedder:
    """Return the embedder of that name, the same object each time; its model is loaded when it is first used."""
    return EMBEDDERS.make(name)


def register_embedder(name: str, factory: Callable[[], Embedder], **declared: Any) -> None:
    """Make an embedder known under a new name; a name in use is refused.

    `declared` is what a list says of it: `dimension`, `note`, `language`, and `window`, the tokens that it reads.
    """
    EMBEDDERS.register(Encoder(factory, **declared), name)


def list_embedders() -> list[dict[str, object]]:
    """List the embedders: name, dimension, language, window, megabytes to fetch, whether it is here, a note."""
    return [entry.describe(name) for name, entry in EMBEDDERS.items()]


def get_window(name: str) -> int | None:
    """Return how many tokens of a text an embedder reads; None for all, and for models that would have to be loaded."""
    if name not in EMBEDDERS:
        return None
    declared = EMBEDDERS[name].window
    return getattr(get_embedder(name), "window", None) if declared is None else declared


def has_own_model(name: str) -> bool:
    """Return whether an embedder runs a model that textgauge brings, on this machine."""
    return name in EMBEDDERS and bool(EMBEDDERS[name].resources)


@dataclass(frozen=True)
class BuiltIn:
    """A transformer that textgauge brings: how texts are given to it, and how a vector is made of its hidden states.

    `marks` counts the tokens around a text, those of the prompt included; `output` names an output of the network
    other than the first.
    """

    model: str
    note: str
    max_length: int = 512
    dimension: int = 384
    pooling: str = "mean_tokens"
    normalise: bool = True
    prompt: str = ""
    marks: int = 2
    output: str | None = None


BUILT_IN = {
    "minilm": BuiltIn("all-MiniLM-L6-v2", "all-MiniLM-L6-v2, exact float32; the default", 256),
    "minilm-int8": BuiltIn(
        "all-MiniLM-L6-v2-int8", "the same with int8 weights, light", 256, output="last_hidden_state"
    ),
    # Three layers, not normalised, as its own graph pools.
    "paraphrase-minilm": BuiltIn(
        "paraphrase-MiniLM-L3-v2", "three layers, the fastest transformer", 128, normalise=False,
        output="onnx::Shape_422",
    ),
    "mpnet": BuiltIn("all-mpnet-base-v2", "all-mpnet-base-v2, exact float32; large and slow", 384, 768),
    "gte-small": BuiltIn("gte-small", "gte-small, float32"),
    "e5-small": BuiltIn("e5-small", "e5-small, float32, each text after `query: `", prompt="query: ", marks=4),
    "bge-small": BuiltIn("bge-small-en-v1.5", "bge-small-en-v1.5, half-precision weights", pooling="cls_token"),
    "bge-small-int8": BuiltIn("bge-small-en-v1.5-int8", "the same in int8, light", pooling="cls_token"),
}  # fmt: skip
_WITH_TOKENIZER = {"minilm", "mpnet"}  # the others have the word pieces of minilm


def _make_built_in(name: str) -> Embedder:
    from textgauge.encode.embedders.transformer import make_built_in

    return make_built_in(name)


EMBEDDERS: Encoders[Embedder] = Encoders(
    "embedder",
    {
        **{
            name: Encoder(
                partial(_make_built_in, name),
                model.note,
                dimension=model.dimension,
                resources=(name,) if name in _WITH_TOKENIZER else (name, "wordpiece"),
                language="English",
                window=model.max_length - model.marks,
            )
            for name, model in BUILT_IN.items()
        },
        "wordllama": Encoder(
            "embedders.static:make_wordllama",
            "static word vectors, the fastest",
            dimension=256,
            resources=("wordllama",),
            language="English",
        ),
        "st:MODEL": Encoder("hugging_face:SentenceTransformersEmbedder", "a sentence-transformers model (extra `st`)"),
        "static:MODEL": Encoder("embedders.static:make_static", "a Model2Vec model: a folder, or its name on the hub"),
        "onnx:MODEL": Encoder(
            "embedders.transformer:make_onnx",
            "a sentence-transformers model exported to ONNX: a folder, or its name on the hub",
        ),
        "api:MODEL": Encoder("endpoint:ApiEmbedder", "an OpenAI-compatible endpoint (extra `api`)"),
        "whole:EMBEDDER": Encoder(
            "embedders.whole:make_whole", "an embedder that reads texts to their end, in windows"
        ),
    },
    group="textgauge.embedders",
    plug_in=register_embedder,
)

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
        parts = []
        for start in range(0, len(texts), batch_size):
            some = list(texts[start : start + batch_size])
            rows = np.asarray(self.function(some), dtype=np.float32)
            if rows.ndim != 2 or len(rows) != len(some):
                raise InputError(f"the embedder gave an array of shape {rows.shape} for {len(some)} texts")
            parts.append(rows)
            advance(start + len(some), len(texts))
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), dtype=np.float32)


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
