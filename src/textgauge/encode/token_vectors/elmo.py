"""`elmo:FOLDER`: ELMo (Peters et al. 2018) from its published weights, on numpy (extra `elmo` reads the file).

A folder holds one `*options*.json` and one `*.hdf5` in the layout AllenNLP distributes. A text gets the same bits
whatever the other texts are; unlike AllenNLP, the LSTMs start every text from zero and remember no text before it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from textgauge.arrays import Floats32
from textgauge.encode.embedders.transformer import equal_length_batches
from textgauge.encode.resource_sources import file_sha256
from textgauge.encode.token_vectors import CHOSEN, Encoding, TokenVectors, checked_layer
from textgauge.encode.token_vectors.elmo_file import CHARACTERS, ROWS, Network, find_files, in_blocks, read_network
from textgauge.encode.tokenizers import SplitTokenizer, Tokens

LONGEST = 512
_BEGIN_TEXT, _END_TEXT, _BEGIN_WORD, _END_WORD, _PADDING = 256, 257, 258, 259, 260
_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def words_of(text: str) -> list[str]:
    """Split a text into words and signs as they stand, at most 512.

    >>> words_of("It's 3.5%!")
    ["It's", '3', '.', '5', '%', '!']
    """
    return [match[0] for match in islice(_WORD.finditer(unicodedata.normalize("NFC", text)), LONGEST)]


def character_ids(word: bytes | int) -> list[int]:
    """Give the 50 character numbers of a word's bytes, or of the code for the begin or end of a text.

    Bytes are framed by the codes of begin and end of word, filled up, and shifted by one, 0 being no word at all.

    >>> character_ids(b"at")[:6]
    [259, 98, 117, 260, 261, 261]
    """
    inner = [word] if isinstance(word, int) else list(word[: CHARACTERS - 2])
    codes = [_BEGIN_WORD, *inner, _END_WORD]
    return [code + 1 for code in codes + [_PADDING] * (CHARACTERS - len(codes))]


@dataclass(frozen=True)
class ElmoTokens:
    """ELMo's word vectors: by themselves the mean of its three layers, or one of them (0 knows no context)."""

    folder: str
    layer: int = CHOSEN

    @property
    def name(self) -> str:
        """The name it is called by."""
        return f"elmo:{self.folder}"

    @cached_property
    def identity(self) -> str:
        """Digests of both files, and what is made of the layers."""
        options, weights = (file_sha256(path)[:16] for path in find_files(Path(self.folder)))
        layer = "mean" if self.layer == CHOSEN else self.layer
        return f"elmo(options={options},weights={weights},max_length={LONGEST},dtype=float32,layer={layer})"

    @cached_property
    def network(self) -> Network:
        """The weights, read and checked."""
        found = read_network(*find_files(Path(self.folder)))
        checked_layer(self.name, self.layer, 0, len(found.layers))
        return found

    def tokenize(self, texts: Sequence[str]) -> Encoding:
        """Give the tokens alone."""
        tokens = SplitTokenizer(words_of).encode(texts)
        return Encoding(tokens, np.zeros(len(tokens.ids), dtype=bool))

    def encode(self, texts: Sequence[str]) -> TokenVectors:
        """Give the vectors of all tokens."""
        from threadpoolctl import threadpool_limits

        found = self.tokenize(texts)
        with threadpool_limits(limits=1, user_api="blas"):
            vectors = self._vectors(found.tokens)
        return TokenVectors(found.tokens, found.special, vectors, self.identity)

    def _vectors(self, tokens: Tokens) -> Floats32:
        words = [character_ids(word.encode("utf-8", "ignore")) for word in tokens.vocabulary]
        begin, end = len(words), len(words) + 1
        table = self.network.words(np.array([*words, character_ids(_BEGIN_TEXT), character_ids(_END_TEXT)]))
        vectors = np.empty((len(tokens.ids), 2 * table.shape[1]), dtype=np.float32)
        full = np.flatnonzero(tokens.lengths)
        for batch in equal_length_batches([tokens[row].astype(np.int64) for row in full.tolist()], ROWS):
            rows = full[batch]
            places = tokens.offsets[rows][:, None] + np.arange(tokens.lengths[rows[0]])
            framed = np.pad(tokens.ids[places], ((0, 0), (1, 1)), constant_values=((0, 0), (begin, end)))
            vectors[places] = in_blocks(self._layer_of, table[framed])[:, 1:-1]
        return vectors

    def _layer_of(self, words: Floats32) -> Floats32:
        layers = self.network.texts(words)
        return np.asarray(layers.mean(axis=0) if self.layer == CHOSEN else layers[self.layer])
