"""Embedders by name: built in, `st:MODEL`, `api:MODEL`, and `whole:EMBEDDER`, which reads long texts to their end."""

from textgauge.encode.embedders.base import (
    Embedder,
    Entry,
    Progress,
    declare,
    declare_prefix,
    embedder,
    list_embedders,
    list_prefixes,
    register_embedder,
)

__all__ = ["Embedder", "Progress", "embedder", "list_embedders", "list_prefixes", "register_embedder"]


def _minilm() -> Embedder:
    from textgauge.encode.embedders.minilm import minilm

    return minilm()


def _minilm_int8() -> Embedder:
    from textgauge.encode.embedders.minilm import minilm_int8

    return minilm_int8()


def _paraphrase_minilm() -> Embedder:
    from textgauge.encode.embedders.minilm import paraphrase_minilm

    return paraphrase_minilm()


def _wordllama() -> Embedder:
    from textgauge.encode.embedders.static import StaticEmbedder

    return StaticEmbedder()


def _st(model: str) -> Embedder:
    from textgauge.encode.embedders.st import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(model)


def _api(model: str) -> Embedder:
    from textgauge.encode.embedders.api import ApiEmbedder

    return ApiEmbedder(model)


def _whole(name: str) -> Embedder:
    from textgauge.encode.embedders.whole import WholeEmbedder

    return WholeEmbedder.of(embedder(name))


declare("minilm", Entry(_minilm, 384, ("minilm",), "all-MiniLM-L6-v2, exact float32; the default"))
declare("minilm-int8", Entry(_minilm_int8, 384, ("minilm-int8", "wordpiece"), "the same with int8 weights, light"))
declare("wordllama", Entry(_wordllama, 256, ("wordllama",), "static word vectors, the fastest"))
declare("paraphrase-minilm", Entry(_paraphrase_minilm, 384, ("paraphrase-minilm", "wordpiece"), "a third opinion"))
declare_prefix("st", _st, note="a sentence-transformers model (extra `st`)")
declare_prefix("api", _api, note="an OpenAI-compatible endpoint (extra `api`)")
declare_prefix("whole", _whole, value="EMBEDDER", note="an embedder that reads texts to their end, in windows")
