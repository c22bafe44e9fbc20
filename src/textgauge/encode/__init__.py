"""Text to arrays, row by row: resources, tokenizers, embedders, grounds."""

from typing import TYPE_CHECKING

from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from textgauge.encode.embedders import Embedder, embedder, list_embedders, register_embedder
    from textgauge.encode.embedders.transformer import batch_by_length
    from textgauge.encode.hugging_face import load_pretrained, pin_revision
    from textgauge.encode.resources import cache_root, compute_sha256, get_cached_folder, make_cache_folder
    from textgauge.encode.token_vectors import (
        CHOSEN,
        Encoding,
        TokenEncoder,
        TokenVectors,
        check_layer,
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
    "batch_by_length",
    "cache_root",
    "check_layer",
    "compute_sha256",
    "embedder",
    "get_cached_folder",
    "list_embedders",
    "load_pretrained",
    "make_cache_folder",
    "pin_revision",
    "register_embedder",
    "register_token_encoder",
    "thesaurus",
    "token_encoder",
    "without_surrogates",
]

if not TYPE_CHECKING:
    __getattr__ = export_lazily(
        __name__,
        {
            "embedders": "Embedder embedder list_embedders register_embedder",
            "embedders.transformer": "batch_by_length",
            "hugging_face": "load_pretrained pin_revision",
            "resources": "cache_root compute_sha256 get_cached_folder make_cache_folder",
            "token_vectors": "CHOSEN Encoding TokenEncoder TokenVectors check_layer register_token_encoder "
            "token_encoder",
            "tokenizers": "SplitTokenizer Tokens without_surrogates",
            "wordnet": "Synonyms thesaurus",
        },
    )
