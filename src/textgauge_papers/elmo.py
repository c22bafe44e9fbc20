"""`elmo:FOLDER`: ELMo (Peters et al. 2018) from its published weights, on numpy (extra `elmo` reads the file).

Convolution over characters, highways, projection, two LSTMs per direction. A folder holds one `*options*.json` and one
`*.hdf5` in the layout AllenNLP distributes. A text gets the same bits whatever the other texts are: products are taken
over blocks of a fixed number of rows. Unlike AllenNLP, the LSTMs start every text from zero and remember no text before
it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core import Floats32, Ints, MissingExtra, ResourceError, read_stored_bytes, use_one_blas_thread
from textgauge.encode import (
    CHOSEN,
    Encoding,
    SplitTokenizer,
    Tokens,
    TokenVectors,
    check_layer,
    compute_sha256,
    split_by_length,
)

LONGEST = 512
_BEGIN_TEXT, _END_TEXT, _BEGIN_WORD, _END_WORD, _PADDING = 256, 257, 258, 259, 260
_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
# Words or texts of a product: always as many, because a BLAS may round by the number of rows, and so few that its
# kernels take all of them in one way; with 16 the last four are rounded differently on some processors.
ROWS = 8
CHARACTERS = 50  # of a word, its frame included
CODES = 261  # bytes, begin and end of text and word, padding
_LARGEST = 1 << 16  # no width of a real model comes near: a larger one is a damaged file
_Read = Callable[..., Floats32]


def words_of(text: str) -> list[str]:
    """Split a text into words and signs as they stand, at most 512.

    >>> words_of("It's 3.5%!")
    ["It's", '3', '.', '5', '%', '!']
    """
    return [match[0] for match in islice(_WORD.finditer(unicodedata.normalize("NFC", text)), LONGEST)]


def character_ids(word: bytes | int) -> list[int]:
    """Return the 50 character numbers of a word's bytes, or of the code for the begin or end of a text.

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
        options, weights = (compute_sha256(path)[:16] for path in find_files(Path(self.folder)))
        layer = "mean" if self.layer == CHOSEN else self.layer
        return f"elmo(options={options},weights={weights},max_length={LONGEST},dtype=float32,layer={layer})"

    @cached_property
    def network(self) -> Network:
        """The weights, read and checked."""
        found = read_network(*find_files(Path(self.folder)))
        check_layer(self.name, self.layer, 0, len(found.layers))
        return found

    def tokenize(self, texts: Sequence[str]) -> Encoding:
        """Return the tokens alone."""
        tokens = SplitTokenizer(words_of).encode(texts)
        return Encoding(tokens, np.zeros(len(tokens.ids), dtype=bool))

    def encode(self, texts: Sequence[str]) -> TokenVectors:
        """Return the vectors of all tokens."""
        found = self.tokenize(texts)
        with use_one_blas_thread():
            vectors = self._vectors(found.tokens)
        return TokenVectors(found.tokens, found.special, vectors, self.identity)

    def _vectors(self, tokens: Tokens) -> Floats32:
        words = [character_ids(word.encode("utf-8", "ignore")) for word in tokens.vocabulary]
        begin, end = len(words), len(words) + 1
        table = self.network.words(np.array([*words, character_ids(_BEGIN_TEXT), character_ids(_END_TEXT)]))
        vectors = np.empty((len(tokens.ids), 2 * table.shape[1]), dtype=np.float32)
        full = np.flatnonzero(tokens.lengths)
        for batch in split_by_length([tokens[row].astype(np.int64) for row in full.tolist()], ROWS):
            rows = full[batch]
            places = tokens.offsets[rows][:, None] + np.arange(tokens.lengths[rows[0]])
            framed = np.pad(tokens.ids[places], ((0, 0), (1, 1)), constant_values=((0, 0), (begin, end)))
            vectors[places] = in_blocks(self._layer_of, table[framed])[:, 1:-1]
        return vectors

    def _layer_of(self, words: Floats32) -> Floats32:
        layers = self.network.texts(words)
        return np.asarray(layers.mean(axis=0) if self.layer == CHOSEN else layers[self.layer])


@dataclass(frozen=True)
class Direction:
    """One LSTM with projection: gates in the order input, candidate, forget, output, the forget bias included."""

    into: Floats32
    back: Floats32
    bias: Floats32
    projection: Floats32


@dataclass(frozen=True)
class Network:
    """The weights, and the arithmetic on them."""

    characters: Floats32
    filters: tuple[tuple[Floats32, Floats32], ...]
    highways: tuple[tuple[Floats32, Floats32, Floats32, Floats32], ...]
    projection: tuple[Floats32, Floats32]
    layers: tuple[tuple[Direction, Direction], ...]
    activation: str
    cell_clip: float
    projection_clip: float

    def words(self, ids: Ints) -> Floats32:
        """Return the vectors of words without context, (words, width), from their characters (words, 50)."""
        return in_blocks(self._words, ids)

    def texts(self, words: Floats32) -> Floats32:
        """Return all layers of texts of equally many words, (layers, texts, length, 2 width)."""
        found = [np.concatenate([words, words], axis=2)]
        forward, backward = words, words[:, ::-1]
        for depth, (ahead, behind) in enumerate(self.layers):
            sides = self._lstm(ahead, forward), self._lstm(behind, backward)
            forward, backward = (
                (out + before if depth else out) for out, before in zip(sides, (forward, backward), strict=True)
            )
            found.append(np.concatenate([forward, backward[:, ::-1]], axis=2))
        return np.stack(found)

    def _words(self, ids: Ints) -> Floats32:
        letters = self.characters[ids]
        hidden = np.concatenate([self._convolve(letters, *pair) for pair in self.filters], axis=1)
        for transform, transform_bias, carry, carry_bias in self.highways:
            share = _sigmoid(hidden @ carry + carry_bias)
            hidden = share * np.maximum(hidden @ transform + transform_bias, 0) + (1 - share) * hidden
        return hidden @ self.projection[0] + self.projection[1]

    def _convolve(self, letters: Floats32, weight: Floats32, bias: Floats32) -> Floats32:
        width = weight.shape[0]
        windows = np.lib.stride_tricks.sliding_window_view(letters, width, axis=1).swapaxes(2, 3)
        flat = windows.reshape(*windows.shape[:2], -1)
        largest = (flat @ weight.reshape(-1, weight.shape[2])).max(axis=1) + bias
        return np.asarray(np.maximum(largest, 0) if self.activation == "relu" else np.tanh(largest))

    def _lstm(self, side: Direction, inputs: Floats32) -> Floats32:
        texts, length, _ = inputs.shape
        driven = inputs @ side.into + side.bias
        output = np.zeros((texts, side.projection.shape[1]), dtype=np.float32)
        memory = np.zeros((texts, side.projection.shape[0]), dtype=np.float32)
        outputs = np.empty((texts, length, output.shape[1]), dtype=np.float32)
        for place in range(length):
            gates = driven[:, place] + output @ side.back
            enter, candidate, forget, leave = np.split(gates, 4, axis=1)
            memory = _sigmoid(enter) * np.tanh(candidate) + _sigmoid(forget) * memory
            memory = _clip(memory, self.cell_clip)
            output = _clip((_sigmoid(leave) * np.tanh(memory)) @ side.projection, self.projection_clip)
            outputs[:, place] = output
        return outputs


def in_blocks(function: Callable[[Any], Floats32], rows: NDArray[Any]) -> Floats32:
    """Apply a function to blocks of exactly ROWS rows, the last one filled up with its first row."""
    blocks = []
    for start in range(0, len(rows), ROWS):
        block = rows[start : start + ROWS]
        filled = np.concatenate([block, np.repeat(block[:1], ROWS - len(block), axis=0)])
        blocks.append(function(filled)[: len(block)])
    return np.concatenate(blocks)


def _clip(values: Floats32, limit: float) -> Floats32:
    return np.asarray(np.clip(values, -limit, limit))


def _sigmoid(values: Floats32) -> Floats32:
    from scipy.special import expit

    return np.asarray(expit(values))


def find_files(folder: Path) -> tuple[Path, Path]:
    """Return the options and the weights of a folder."""
    found = [sorted(folder.glob(pattern)) for pattern in ("*options*.json", "*.hdf5")]
    if any(len(paths) != 1 for paths in found):
        raise ResourceError(f"an ELMo folder holds one *options*.json and one *.hdf5; {folder} does not")
    return found[0][0], found[1][0]


def read_network(options: Path, weights: Path) -> Network:
    """Read a model, every size and shape checked against its options."""
    try:
        import h5py
    except ImportError as error:
        raise MissingExtra.named("ELMo", "elmo") from error
    sizes = read_sizes(options)
    try:
        with h5py.File(weights, "r") as file:
            return _network(lambda name, *shape: _array(file, name, shape), sizes)
    except ResourceError:
        raise
    except Exception as error:  # h5py has no error of its own: damage ends in one of any kind
        raise ResourceError(f"{weights.name} is not a readable HDF5 file") from error


@dataclass(frozen=True)
class Sizes:
    """What the options say."""

    letter: int
    filters: tuple[tuple[int, int], ...]
    highways: int
    activation: str
    width: int
    cell: int
    layers: int
    cell_clip: float
    projection_clip: float


def read_sizes(path: Path) -> Sizes:
    """Read and check the options."""
    try:
        options = json.loads(read_stored_bytes(path))
        convolution, lstm = options["char_cnn"], options["lstm"]
        sizes = Sizes(
            letter=_size(convolution["embedding"]["dim"]),
            filters=tuple((_size(width), _size(count)) for width, count in convolution["filters"]),
            highways=_size(convolution["n_highway"], least=0),
            activation=str(convolution["activation"]),
            width=_size(lstm["projection_dim"]),
            cell=_size(lstm["dim"]),
            layers=_size(lstm["n_layers"]),
            cell_clip=float(lstm.get("cell_clip") or np.inf),
            projection_clip=float(lstm.get("proj_clip") or np.inf),
        )
        whole = lstm["use_skip_connections"] is True and convolution["max_characters_per_token"] == CHARACTERS
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ResourceError(f"{path.name} does not hold the options of an ELMo model: {error}") from error
    wide = any(width > CHARACTERS for width, _ in sizes.filters)
    if not whole or wide or not sizes.filters or sizes.activation not in ("relu", "tanh"):
        raise ResourceError(f"{path.name}: this is no ELMo model with {CHARACTERS} characters and skip connections")
    return sizes


def _network(read: _Read, sizes: Sizes) -> Network:
    count = sum(number for _, number in sizes.filters)
    letters = read("char_embed", CODES, sizes.letter)
    return Network(
        characters=np.concatenate([np.zeros_like(letters[:1]), letters]),
        filters=tuple(
            (read(f"CNN/W_cnn_{i}", 1, width, sizes.letter, number)[0], read(f"CNN/b_cnn_{i}", number))
            for i, (width, number) in enumerate(sizes.filters)
        ),
        highways=tuple(_highway(read, f"CNN_high_{i}", count) for i in range(sizes.highways)),
        projection=(read("CNN_proj/W_proj", count, sizes.width), read("CNN_proj/b_proj", sizes.width)),
        layers=tuple((_direction(read, 0, i, sizes), _direction(read, 1, i, sizes)) for i in range(sizes.layers)),
        activation=sizes.activation,
        cell_clip=sizes.cell_clip,
        projection_clip=sizes.projection_clip,
    )


def _highway(read: _Read, name: str, count: int) -> tuple[Floats32, Floats32, Floats32, Floats32]:
    transform, carry = (read(f"{name}/W_{part}", count, count) for part in ("transform", "carry"))
    transform_bias, carry_bias = (read(f"{name}/b_{part}", count) for part in ("transform", "carry"))
    return transform, transform_bias, carry, carry_bias


def _direction(read: _Read, side: int, layer: int, sizes: Sizes) -> Direction:
    name = f"RNN_{side}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
    weights = read(f"{name}/W_0", 2 * sizes.width, 4 * sizes.cell)
    bias = read(f"{name}/B", 4 * sizes.cell)
    bias[2 * sizes.cell : 3 * sizes.cell] += 1  # the forget bias that training added outside the file
    projection = read(f"{name}/W_P_0", sizes.cell, sizes.width)
    return Direction(weights[: sizes.width].copy(), weights[sizes.width :].copy(), bias, projection)


def _array(file: Any, name: str, shape: tuple[int, ...]) -> Floats32:
    stored = file.get(name)
    if getattr(stored, "shape", None) != shape or stored.dtype.kind != "f":
        raise ResourceError(f"the ELMo weights hold no {name} of shape {shape}")
    values = np.array(stored, dtype=np.float32)
    if not np.isfinite(values).all():
        raise ResourceError(f"the ELMo weights in {name} are not finite")
    return values


def _size(value: Any, *, least: int = 1) -> int:
    if not isinstance(value, int) or not least <= value <= _LARGEST:
        raise ValueError(f"{value!r} is no size")
    return value
