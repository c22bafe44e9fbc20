"""Text to arrays, row by row: tokenizers, embedders, token and word vectors, language models, grammar; resources."""

from typing import TYPE_CHECKING

from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from textgauge.core.settings import get_cache_root, make_cache_folder
    from textgauge.encode.embedders import Embedder, get_embedder, list_embedders, register_embedder
    from textgauge.encode.embedders.transformer import split_by_length
    from textgauge.encode.hugging_face import load_pretrained, pin_revision
    from textgauge.encode.language_models.smollm2 import Llama, SmolLM2
    from textgauge.encode.resources import compute_sha256, get_cached_folder
    from textgauge.encode.token_vectors import (
        CHOSEN,
        Encoding,
        TokenEncoder,
        TokenVectors,
        check_layer,
        get_token_encoder,
        register_token_encoder,
    )
    from textgauge.encode.tokenizers import SplitTokenizer, Tokens, replace_surrogates
    from textgauge.encode.wordnet import Synonyms, load_thesaurus

__all__ = [
    "CHOSEN",
    "Embedder",
    "Encoding",
    "Llama",
    "SmolLM2",
    "SplitTokenizer",
    "Synonyms",
    "TokenEncoder",
    "TokenVectors",
    "Tokens",
    "check_layer",
    "compute_sha256",
    "get_cache_root",
    "get_cached_folder",
    "get_embedder",
    "get_token_encoder",
    "list_embedders",
    "load_pretrained",
    "load_thesaurus",
    "make_cache_folder",
    "pin_revision",
    "register_embedder",
    "register_token_encoder",
    "replace_surrogates",
    "split_by_length",
]

if not TYPE_CHECKING:
    __getattr__ = export_lazily(__name__)
