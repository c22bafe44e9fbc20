"""Embedders by name: built in, or of a model that the name gives.

`static:MODEL`, `onnx:MODEL`, `st:MODEL`, `api:MODEL`; `whole:EMBEDDER` reads long texts to their end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from textgauge.core.arrays import Floats32
from textgauge.encode.encoders import Encoder, Encoders

__all__ = ["Embedder", "Progress", "get_embedder", "get_window", "has_own_model", "list_embedders", "register_embedder"]

Progress = Callable[[int, int], None]
"""Called with the number of texts done and the number of all texts."""


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

    def encode(self, texts: Sequence[str], *, batch_size: int = 64, progress: Progress | None = None) -> Floats32:
        """Return one vector per text, shape (texts, dimension)."""


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


EMBEDDERS: Encoders[Embedder] = Encoders(
    "embedder",
    {
        "minilm": Encoder(
            "embedders.transformer:make_minilm",
            "all-MiniLM-L6-v2, exact float32; the default",
            dimension=384,
            resources=("minilm",),
            language="English",
            window=254,
        ),
        "minilm-int8": Encoder(
            "embedders.transformer:make_minilm_int8",
            "the same with int8 weights, light",
            dimension=384,
            resources=("minilm-int8", "wordpiece"),
            language="English",
            window=254,
        ),
        "wordllama": Encoder(
            "embedders.static:make_wordllama",
            "static word vectors, the fastest",
            dimension=256,
            resources=("wordllama",),
            language="English",
        ),
        "paraphrase-minilm": Encoder(
            "embedders.transformer:make_paraphrase_minilm",
            "an alternative encoder",
            dimension=384,
            resources=("paraphrase-minilm", "wordpiece"),
            language="English",
            window=126,
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
