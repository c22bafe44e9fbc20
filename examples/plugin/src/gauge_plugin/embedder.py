"""An embedder that needs no model: the shares of the 26 letters in a text."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray


class Letters:
    """Shares of the letters a to z; 0 for a text without any."""

    name = "letters"
    identity = "letters(version=1)"
    dimension = len(ascii_lowercase)

    def encode(self, texts: Sequence[str], *, batch_size: int = 64) -> NDArray[np.float32]:
        """Give one vector per text, shape (texts, 26)."""
        counts = np.array([[text.lower().count(letter) for letter in ascii_lowercase] for text in texts], dtype=float)
        counts = counts.reshape(len(texts), self.dimension)
        return (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).astype(np.float32)
