"""The static encoder `wordllama`: the mean of token vectors, thousands of sentences per second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.arrays import Floats32
from textgauge.encode.embedders import Progress
from textgauge.encode.embedders.whole import WordSpans, words_of
from textgauge.encode.resources import locate, resource
from textgauge.encode.tokenizers import without_surrogates

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


@dataclass(frozen=True)
class StaticEmbedder:
    """Mean of the vectors of a text's tokens, not normalised; a text without tokens is the zero vector.

    Source: WordLlama l2_supercat, 256 dimensions. Sums are taken in float64, token by token.
    """

    name: str = "wordllama"
    dimension: int = 256
    window: None = None  # it reads everything

    @property
    def identity(self) -> str:
        """Everything the numbers depend on."""
        digest = resource("wordllama").files[_WEIGHTS]
        return f"wordllama-l2-supercat-256(weights={digest[:16]},pooling=mean,normalise=false,dtype=float32)"

    @cached_property
    def _table(self) -> NDArray[np.float32]:
        from safetensors.numpy import load_file

        (table,) = load_file(locate("wordllama") / _WEIGHTS).values()
        return np.asarray(table, dtype=np.float32)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(locate("wordllama") / _TOKENIZER))

    def words(self, texts: Sequence[str]) -> Iterator[WordSpans]:
        """The words of each text with their numbers of tokens."""
        return words_of(self._tokenizer, texts)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256, progress: Progress | None = None) -> Floats32:
        """Give one vector per text, shape (texts, dimension)."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), batch_size):
            batch = [without_surrogates(text) for text in texts[start : start + batch_size]]
            for row, encoding in enumerate(self._tokenizer.encode_batch(batch, add_special_tokens=False), start):
                if encoding.ids:
                    vectors[row] = self._table[encoding.ids].mean(axis=0, dtype=np.float64)
            if progress is not None:
                progress(start + len(batch), len(texts))
        return vectors
