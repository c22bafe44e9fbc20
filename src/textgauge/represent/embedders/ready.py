"""Encoders whose ONNX graph comes ready-made: `minilm-int8` and `paraphrase-minilm`."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from textgauge.represent.embedders.transformer import Ids, Run, TransformerEmbedder, identity, onnx_session
from textgauge.represent.resources import locate, resource


def minilm_int8() -> TransformerEmbedder:
    """Give `minilm-int8`: all-MiniLM-L6-v2 with weights rounded to int8 (21 MB), arithmetic in float32."""
    known = _identity("minilm-int8", "all-MiniLM-L6-v2-int8", max_length=256, normalise=True)
    load = partial(_load, "minilm-int8", "last_hidden_state")
    return TransformerEmbedder("minilm-int8", known, 384, 256, True, load)


def paraphrase_minilm() -> TransformerEmbedder:
    """Give `paraphrase-minilm`: paraphrase-MiniLM-L3-v2, three layers, not normalised, as its own graph pools."""
    known = _identity("paraphrase-minilm", "paraphrase-MiniLM-L3-v2", max_length=128, normalise=False)
    load = partial(_load, "paraphrase-minilm", "onnx::Shape_422")
    return TransformerEmbedder("paraphrase-minilm", known, 384, 128, False, load)


def _identity(name: str, model: str, *, max_length: int, normalise: bool) -> str:
    (digest,) = resource(name).files.values()
    return identity(model, digest, max_length=max_length, normalise=normalise, runtime="onnxruntime")


def _load(name: str, output: str) -> Run:
    (file,) = resource(name).files
    session = onnx_session(str(locate(name) / file))
    inputs = [given.name for given in session.get_inputs()]

    def run(ids: Ids) -> NDArray[np.float32]:
        values = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return session.run([output], {key: values[key] for key in inputs})[0]  # type: ignore[no-any-return]

    return run
