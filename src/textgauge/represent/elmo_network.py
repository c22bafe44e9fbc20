"""The arithmetic of ELMo on numpy: convolution over characters, highways, projection, two LSTMs per direction.

A row gets the same bits whatever rows are beside it: products are taken over blocks of a fixed number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Ids = NDArray[np.int64]

# Words or texts of a product: always as many, because a BLAS may round by the number of rows, and so few that its
# kernels take all of them in one way; with 16 the last four are rounded differently on some processors.
ROWS = 8


@dataclass(frozen=True)
class Direction:
    """One LSTM with projection: gates in the order input, candidate, forget, output, the forget bias included."""

    into: Array
    back: Array
    bias: Array
    projection: Array


@dataclass(frozen=True)
class Network:
    """The weights, and the arithmetic on them."""

    characters: Array
    filters: tuple[tuple[Array, Array], ...]
    highways: tuple[tuple[Array, Array, Array, Array], ...]
    projection: tuple[Array, Array]
    layers: tuple[tuple[Direction, Direction], ...]
    activation: str
    cell_clip: float
    projection_clip: float

    def words(self, ids: Ids) -> Array:
        """Give the vectors of words without context, (words, width), from their characters (words, 50)."""
        return in_blocks(self._words, ids)

    def texts(self, words: Array) -> Array:
        """Give all layers of texts of equally many words, (layers, texts, length, 2 width)."""
        found = [np.concatenate([words, words], axis=2)]
        forward, backward = words, words[:, ::-1]
        for depth, (ahead, behind) in enumerate(self.layers):
            sides = self._lstm(ahead, forward), self._lstm(behind, backward)
            forward, backward = (
                (out + before if depth else out) for out, before in zip(sides, (forward, backward), strict=True)
            )
            found.append(np.concatenate([forward, backward[:, ::-1]], axis=2))
        return np.stack(found)

    def _words(self, ids: Ids) -> Array:
        letters = self.characters[ids]
        hidden = np.concatenate([self._convolve(letters, *pair) for pair in self.filters], axis=1)
        for transform, transform_bias, carry, carry_bias in self.highways:
            share = _sigmoid(hidden @ carry + carry_bias)
            hidden = share * np.maximum(hidden @ transform + transform_bias, 0) + (1 - share) * hidden
        return hidden @ self.projection[0] + self.projection[1]

    def _convolve(self, letters: Array, weight: Array, bias: Array) -> Array:
        width = weight.shape[0]
        windows = np.lib.stride_tricks.sliding_window_view(letters, width, axis=1).swapaxes(2, 3)
        flat = windows.reshape(*windows.shape[:2], -1)
        largest = (flat @ weight.reshape(-1, weight.shape[2])).max(axis=1) + bias
        return np.asarray(np.maximum(largest, 0) if self.activation == "relu" else np.tanh(largest))

    def _lstm(self, side: Direction, inputs: Array) -> Array:
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


def in_blocks(function: Callable[[Any], Array], rows: NDArray[Any]) -> Array:
    """Apply a function to blocks of exactly ROWS rows, the last one filled up with its first row."""
    blocks = []
    for start in range(0, len(rows), ROWS):
        block = rows[start : start + ROWS]
        filled = np.concatenate([block, np.repeat(block[:1], ROWS - len(block), axis=0)])
        blocks.append(function(filled)[: len(block)])
    return np.concatenate(blocks)


def _clip(values: Array, limit: float) -> Array:
    return np.asarray(np.clip(values, -limit, limit))


def _sigmoid(values: Array) -> Array:
    from scipy.special import expit

    return np.asarray(expit(values))
