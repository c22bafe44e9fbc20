"""Cross-encoders: models that read two texts together and give one number (extra `st`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import InputError
from textgauge.encode.hugging_face import explain_unloadable, pin_revision, shorten_name
from textgauge.encode.tokenizers import without_surrogates


@dataclass(frozen=True)
class CrossEncoderModel:
    """A model run by sentence-transformers, by hub name or folder.

    Its raw number goes through a sigmoid, whatever the model's own activation: models trained on similarities have the
    sigmoid anyway, rankers keep their order. torch pads a batch and may round by its shape, in the 7th decimal.
    """

    model: str

    @cached_property
    def _encoder(self) -> Any:
        with explain_unloadable(f"cross-encoder {self.model}", "st"):
            from sentence_transformers import CrossEncoder

            return CrossEncoder(self.model)

    @cached_property
    def identity(self) -> str:
        """Model and revision; for a folder the digest of its files."""
        pinned = pin_revision(self.model, getattr(getattr(self._encoder, "model", None), "config", None))
        renamed = "max_seq_length" if hasattr(self._encoder, "max_seq_length") else "max_length"
        longest = getattr(self._encoder, renamed, None)
        return f"{shorten_name(self.model)}(revision={pinned},max_length={longest},activation=sigmoid,dtype=float32)"

    def score(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
        """Return a number between 0 and 1 for each pair."""
        from scipy.special import expit

        pairs = [(without_surrogates(a), without_surrogates(b)) for a, b in zip(left, right, strict=True)]
        # Neighbours in length are padded little.
        order = sorted(range(len(pairs)), key=lambda row: len(pairs[row][0]) + len(pairs[row][1]))
        raw = self._raw([pairs[row] for row in order])
        values = np.empty(len(pairs))
        values[order] = expit(raw)
        return values

    def _raw(self, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
        predict = self._encoder.predict  # first of all, because it says which package is missing

        from torch.nn import Identity

        # The name of this option changed with version 4.
        names = signature(predict).parameters
        activation = {"activation_fn" if "activation_fn" in names else "activation_fct": Identity()}
        raw = np.asarray(predict(pairs, batch_size=32, show_progress_bar=False, **activation), dtype=np.float64)
        if raw.shape != (len(pairs),):
            raise InputError(
                f"{self.model} gives an array of shape {raw.shape} for {len(pairs)} pairs, not one number each"
            )
        return raw


@cache
def cross_encoder(model: str) -> CrossEncoderModel:
    """Return the cross-encoder of that name, the same object each time; it is loaded when it is first used."""
    return CrossEncoderModel(model)
