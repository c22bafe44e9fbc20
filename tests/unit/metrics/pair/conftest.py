"""A token encoder without a model: vectors of words by their letters, turned by the word before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from textgauge.encode.encoders import Encoder
from textgauge.encode.token_vectors import CHOSEN, TOKEN_ENCODERS, Encoding, TokenVectors
from textgauge.encode.tokenizers import Tokens

DIMENSION = 5


@dataclass
class ToyEncoder:
    """Every text is `<` words `>`; the vectors of a text depend on the text alone."""

    layer: int
    name: str = "toy"
    framed: bool = True
    calls: int = 0

    @property
    def identity(self):
        return f"toy(layer={self.layer})"

    def tokenize(self, texts):
        numbers: dict[str, int] = {}
        rows = [["<", *text.split(), ">"] if self.framed else text.split() for text in texts]
        ids = np.array([numbers.setdefault(word, len(numbers)) for row in rows for word in row], dtype=np.int32)
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        special = np.zeros(len(ids), dtype=bool)
        if self.framed:
            special[offsets[:-1]] = special[offsets[1:] - 1] = True
        return Encoding(Tokens(ids, offsets, tuple(numbers)), special)

    def encode(self, texts):
        self.calls += 1
        found = self.tokenize(texts)
        vectors = np.zeros((len(found.special), DIMENSION), dtype=np.float32)
        for row in range(len(texts)):
            before = 0
            for place, word in zip(
                range(found.offsets[row], found.offsets[row + 1]), found.tokens.strings(row), strict=True
            ):
                rng = np.random.default_rng([len(word), *word.encode("utf-8", "surrogatepass"), before])
                vectors[place] = rng.normal(size=DIMENSION) + 0.2
                before = len(word)
        return TokenVectors(found.tokens, found.special, vectors, self.identity)


@pytest.fixture
def toy(monkeypatch):
    """The encoders `toy` and, without special tokens, `bare`; the one given back counts its calls."""
    made = ToyEncoder(CHOSEN)
    monkeypatch.setitem(TOKEN_ENCODERS, "toy", Encoder(lambda _: made))
    monkeypatch.setitem(TOKEN_ENCODERS, "bare", Encoder(lambda _: ToyEncoder(CHOSEN, "bare", framed=False)))
    return made
