"""Embedders by name: built in, `st:MODEL` (sentence-transformers), `api:MODEL` (an OpenAI-compatible endpoint)."""

from textgauge.represent.embedders.base import (
    Embedder,
    Entry,
    Progress,
    declare,
    declare_prefix,
    embedder,
    list_embedders,
    register_embedder,
)

__all__ = ["Embedder", "Progress", "embedder", "list_embedders", "register_embedder"]


def _minilm() -> Embedder:
    from textgauge.represent.embedders.minilm import minilm

    return minilm()


def _minilm_int8() -> Embedder:
    from textgauge.represent.embedders.ready import minilm_int8

    return minilm_int8()


def _paraphrase_minilm() -> Embedder:
    from textgauge.represent.embedders.ready import paraphrase_minilm

    return paraphrase_minilm()


def _wordllama() -> Embedder:
    from textgauge.represent.embedders.static import StaticEmbedder

    return StaticEmbedder()


def _st(model: str) -> Embedder:
    from textgauge.represent.embedders.st import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(model)


def _api(model: str) -> Embedder:
    from textgauge.represent.embedders.api import ApiEmbedder

    return ApiEmbedder(model)


declare("minilm", Entry(_minilm, 384, ("minilm",), "all-MiniLM-L6-v2, exact float32; the default"))
declare("minilm-int8", Entry(_minilm_int8, 384, ("minilm-int8", "wordpiece"), "the same with int8 weights, light"))
declare("wordllama", Entry(_wordllama, 256, ("wordllama",), "static word vectors, the fastest"))
declare("paraphrase-minilm", Entry(_paraphrase_minilm, 384, ("paraphrase-minilm", "wordpiece"), "a third opinion"))
declare_prefix("st", _st)
declare_prefix("api", _api)
