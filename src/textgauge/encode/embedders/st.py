"""`st:MODEL`: any sentence-transformers model, by hub name or folder (extra `st`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats32
from textgauge.core.errors import ResourceError
from textgauge.encode.embedders import Progress
from textgauge.encode.embedders.whole import WordSpans, group_words
from textgauge.encode.hugging_face import explain_unloadable, pin_revision, shorten_name
from textgauge.encode.resources import is_offline
from textgauge.encode.tokenizers import replace_surrogates


@dataclass(frozen=True)
class SentenceTransformersEmbedder:
    """A model run by sentence-transformers, unchanged: its own pooling, normalisation and longest input.

    torch pads the texts of a batch and may round by its shape: the last bit of a vector can depend on the rest of
    its batch (differences around 1e-7). Texts are sorted by length first, to pad little.
    """

    model: str

    @property
    def name(self) -> str:
        """The name it is called by."""
        return f"st:{self.model}"

    @cached_property
    def _encoder(self) -> Any:
        with explain_unloadable(self.name, "st"):
            from sentence_transformers import SentenceTransformer

            return SentenceTransformer(self.model, local_files_only=is_offline())

    @cached_property
    def identity(self) -> str:
        """Everything the numbers depend on; for a folder the digest of its files, else the hub's revision."""
        longest = getattr(self._encoder, "max_seq_length", None)
        pinned = pin_revision(self.model, getattr(getattr(self._encoder[0], "auto_model", None), "config", None))
        settings = f"revision={pinned},max_length={longest},dtype=float32,runtime={_format_version()}"
        return f"st:{shorten_name(self.model)}({settings})"

    @cached_property
    def dimension(self) -> int:
        """The length of a vector."""
        for method in ("get_embedding_dimension", "get_sentence_embedding_dimension"):
            if hasattr(self._encoder, method):
                return int(getattr(self._encoder, method)())
        return int(self.encode(["dimension"]).shape[1])

    @cached_property
    def window(self) -> int | None:
        """How many tokens of a text it reads; None where the model has no end."""
        longest = getattr(self._encoder, "max_seq_length", None)
        return None if longest is None else int(longest) - int(self._tokenizer.num_special_tokens_to_add())

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = getattr(self._encoder, "tokenizer", None)
        if not getattr(tokenizer, "is_fast", False):
            raise ResourceError(f"{self.name} has no fast tokenizer, which is needed to find its tokens in a text")
        return tokenizer

    def words(self, texts: Sequence[str]) -> Iterator[WordSpans]:
        """Yield the words of each text with their numbers of tokens."""
        options = {"add_special_tokens": False, "truncation": False, "verbose": False}
        for text in texts:
            encoding = self._tokenizer(replace_surrogates(text), return_offsets_mapping=True, **options)
            yield group_words(encoding.word_ids(), encoding["offset_mapping"])

    def encode(self, texts: Sequence[str], *, batch_size: int = 32, progress: Progress | None = None) -> Floats32:
        """Return one vector per text, shape (texts, dimension)."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]), reverse=True)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            batch = [replace_surrogates(texts[row]) for row in rows]
            vectors[rows] = self._encoder.encode(batch, batch_size=batch_size, show_progress_bar=False)
            if progress is not None:
                progress(start + len(rows), len(texts))
        return vectors


def _format_version() -> str:
    try:
        return f"sentence-transformers-{version('sentence-transformers')}"
    except PackageNotFoundError:
        return "sentence-transformers"
