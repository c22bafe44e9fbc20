"""Token encoders by name: built in, `hf:MODEL` (a transformers model), `elmo:FOLDER` (ELMo weights).

They give a vector for every token of a text in its context, where an embedder gives one vector per text.
"""

from textgauge.encode.token_vectors.base import (
    CHOSEN,
    MINILM_LAYER,
    Encoding,
    TokenEncoder,
    TokenVectors,
    declare,
    declare_prefix,
    token_encoder,
)

__all__ = ["CHOSEN", "MINILM_LAYER", "Encoding", "TokenEncoder", "TokenVectors", "token_encoder"]


def _minilm(layer: int) -> TokenEncoder:
    from textgauge.encode.token_vectors.pieces import minilm_tokens

    return minilm_tokens(layer)


def _minilm_int8(layer: int) -> TokenEncoder:
    from textgauge.encode.token_vectors.pieces import last_layer

    return last_layer("minilm-int8", layer)


def _paraphrase_minilm(layer: int) -> TokenEncoder:
    from textgauge.encode.token_vectors.pieces import last_layer

    return last_layer("paraphrase-minilm", layer)


def _hf(model: str, layer: int) -> TokenEncoder:
    from textgauge.encode.token_vectors.hf import HuggingFaceTokens

    return HuggingFaceTokens(model, layer)


def _elmo(folder: str, layer: int) -> TokenEncoder:
    from textgauge.encode.token_vectors.elmo import ElmoTokens

    return ElmoTokens(folder, layer)


declare("minilm", _minilm)
declare("minilm-int8", _minilm_int8)
declare("paraphrase-minilm", _paraphrase_minilm)
declare_prefix("hf", _hf)
declare_prefix("elmo", _elmo)
