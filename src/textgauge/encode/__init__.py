"""Text to arrays, row by row: resources, tokenizers, embedders, grounds."""

from typing import TYPE_CHECKING

from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from textgauge.encode.embedders import Embedder, embedder, list_embedders, register_embedder
    from textgauge.encode.embedders.transformer import equal_length_batches
    from textgauge.encode.hugging_face import load_pretrained, revision
    from textgauge.encode.resource_sources import file_sha256
    from textgauge.encode.resources import cache_root, cached_folder, make_cache_folder
    from textgauge.encode.token_vectors import (
        CHOSEN,
        Encoding,
        TokenEncoder,
        TokenVectors,
        checked_layer,
        register_token_encoder,
        token_encoder,
    )
    from textgauge.encode.tokenizers import SplitTokenizer, Tokens, without_surrogates
    from textgauge.encode.wordnet import Synonyms, thesaurus

__all__ = [
    "CHOSEN",
    "Embedder",
    "Encoding",
    "SplitTokenizer",
    "Synonyms",
    "TokenEncoder",
    "TokenVectors",
    "Tokens",
    "cache_root",
    "cached_folder",
    "checked_layer",
    "embedder",
    "equal_length_batches",
    "file_sha256",
    "list_embedders",
    "load_pretrained",
    "make_cache_folder",
    "register_embedder",
    "register_token_encoder",
    "revision",
    "thesaurus",
    "token_encoder",
    "without_surrogates",
]

if not TYPE_CHECKING:
    __getattr__ = export_lazily(
        __name__,
        {
            "embedders": "Embedder embedder list_embedders register_embedder",
            "embedders.transformer": "equal_length_batches",
            "hugging_face": "load_pretrained revision",
            "resource_sources": "file_sha256",
            "resources": "cache_root cached_folder make_cache_folder",
            "token_vectors": "CHOSEN Encoding TokenEncoder TokenVectors checked_layer register_token_encoder "
            "token_encoder",
            "tokenizers": "SplitTokenizer Tokens without_surrogates",
            "wordnet": "Synonyms thesaurus",
        },
    )
