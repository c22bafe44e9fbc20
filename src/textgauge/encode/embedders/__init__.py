"""Embedders by name: built in, or of a model that the name gives.

`static:MODEL`, `onnx:MODEL`, `st:MODEL`, `api:MODEL`; `whole:EMBEDDER` reads long texts to their end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Protocol, runtime_checkable

from textgauge.core.arrays import Floats32
from textgauge.core.registry import load_plugins
from textgauge.encode.named import Entry, Named, Prefix, lazy

__all__ = ["Embedder", "Progress", "embedder", "list_embedders", "list_prefixes", "register_embedder"]

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
        """Give one vector per text, shape (texts, dimension)."""


def embedder(name: str) -> Embedder:
    """Give the embedder of that name, the same object each time; its model is loaded when it is first used."""
    _load_plugins()
    return EMBEDDERS.get(name)


def register_embedder(
    name: str,
    factory: Callable[[], Embedder],
    *,
    dimension: int | None = None,
    note: str = "",
    language: str | None = None,
    window: int | None = None,
) -> None:
    """Make an embedder known under a new name; a name in use is refused."""
    EMBEDDERS.register(name, Entry(factory, dimension, (), note, language, window))


def list_prefixes() -> list[dict[str, str]]:
    """List the names with a part to fill in: form and note."""
    return [{"name": f"{name}:{prefix.value}", "note": prefix.note} for name, prefix in EMBEDDERS.prefixes.items()]


def list_embedders() -> list[dict[str, object]]:
    """List the embedders: name, dimension, language, window, megabytes to fetch, whether it is here, a note."""
    _load_plugins()
    return [entry.row(name) for name, entry in EMBEDDERS.entries.items()]


@cache
def _load_plugins() -> None:
    """Register the embedders of installed packages: entry points of `textgauge.embedders`, each naming a factory."""
    load_plugins("textgauge.embedders", register_embedder)


_MINILM = f"{__name__}.minilm"
EMBEDDERS: Named[Embedder] = Named(
    "embedder",
    {
        "minilm": Entry(
            lazy(_MINILM, "minilm"), 384, ("minilm",), "all-MiniLM-L6-v2, exact float32; the default", "English", 254
        ),
        "minilm-int8": Entry(
            lazy(_MINILM, "minilm_int8"),
            384,
            ("minilm-int8", "wordpiece"),
            "the same with int8 weights, light",
            "English",
            254,
        ),
        "wordllama": Entry(
            lazy(f"{__name__}.static", "wordllama"), 256, ("wordllama",), "static word vectors, the fastest", "English"
        ),
        "paraphrase-minilm": Entry(
            lazy(_MINILM, "paraphrase_minilm"),
            384,
            ("paraphrase-minilm", "wordpiece"),
            "an alternative encoder",
            "English",
            126,
        ),
    },
    {
        "st": Prefix(
            lazy(f"{__name__}.st", "SentenceTransformersEmbedder"), note="a sentence-transformers model (extra `st`)"
        ),
        "static": Prefix(
            lazy(f"{__name__}.static", "static_embedder"), note="a Model2Vec model: a folder, or its name on the hub"
        ),
        "onnx": Prefix(
            lazy(f"{__name__}.onnx_folder", "onnx_embedder"),
            note="a sentence-transformers model exported to ONNX: a folder, or its name on the hub",
        ),
        "api": Prefix(lazy(f"{__name__}.api", "ApiEmbedder"), note="an OpenAI-compatible endpoint (extra `api`)"),
        "whole": Prefix(
            lazy(f"{__name__}.whole", "whole_embedder"),
            "EMBEDDER",
            "an embedder that reads texts to their end, in windows",
        ),
    },
)
