from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from textgauge.encode import get_token_encoder
from textgauge_papers.elmo import ROWS, ElmoTokens, words_of

h5py = pytest.importorskip("h5py", reason="h5py reads ELMo weights (extra elmo)")

FILTERS = [[1, 3], [2, 4], [3, 2]]
LETTERS = {"max_characters_per_token": 50, "n_characters": 262, "n_highway": 2}
CELLS = {"dim": 5, "n_layers": 2, "projection_dim": 3, "use_skip_connections": True}
OPTIONS: dict[str, Any] = {
    "char_cnn": {"activation": "relu", "embedding": {"dim": 4}, "filters": FILTERS, **LETTERS},
    "lstm": {"cell_clip": 0.5, "proj_clip": 0.25, **CELLS},
}
TEXTS = ["The cat sat.", "", "naïve 猫 cat", "It's a dog", "cat", "a " * 3, "\ud800 dog", "x" * 80]


def changed(section, **values):
    return OPTIONS | {section: OPTIONS[section] | values}


def shapes():
    found: dict[str, tuple[int, ...]] = {"char_embed": (261, 4), "CNN_proj/W_proj": (9, 3), "CNN_proj/b_proj": (3,)}
    for i, (width, count) in enumerate(FILTERS):
        found |= {f"CNN/W_cnn_{i}": (1, width, 4, count), f"CNN/b_cnn_{i}": (count,)}
    for i in range(2):
        found |= {f"CNN_high_{i}/W_{part}": (9, 9) for part in ("carry", "transform")}
        found |= {f"CNN_high_{i}/b_{part}": (9,) for part in ("carry", "transform")}
        for side in range(2):
            cell = f"RNN_{side}/RNN/MultiRNNCell/Cell{i}/LSTMCell"
            found |= {f"{cell}/W_0": (6, 20), f"{cell}/B": (20,), f"{cell}/W_P_0": (5, 3)}
    return found


def arrays():
    rng = np.random.default_rng(3)
    return {name: (0.5 * rng.normal(size=shape)).astype(np.float32) for name, shape in shapes().items()}


def write(folder, *, options=OPTIONS, weights=None):
    folder.mkdir(exist_ok=True)
    (folder / "tiny_options.json").write_text(options if isinstance(options, str) else json.dumps(options))
    with h5py.File(folder / "tiny_weights.hdf5", "w") as file:
        for name, values in (arrays() if weights is None else weights).items():
            file[name] = values
    return folder


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "elmo")


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def times(row, matrix, bias):
    return [float(bias[j]) + sum(row[i] * float(matrix[i, j]) for i in range(len(row))) for j in range(matrix.shape[1])]


def plain_word(w, codes, activation):
    letters = [w["char_embed"][code - 1] for code in codes]
    hidden: list[float] = []
    for i, (width, count) in enumerate(FILTERS):
        for k in range(count):
            sums = [
                sum(float(letters[start + t] @ w[f"CNN/W_cnn_{i}"][0, t, :, k]) for t in range(width))
                for start in range(50 - width + 1)
            ]
            largest = max(sums) + float(w[f"CNN/b_cnn_{i}"][k])
            hidden.append(max(largest, 0.0) if activation == "relu" else math.tanh(largest))
    for i in range(2):
        carry = times(hidden, w[f"CNN_high_{i}/W_carry"], w[f"CNN_high_{i}/b_carry"])
        changed = times(hidden, w[f"CNN_high_{i}/W_transform"], w[f"CNN_high_{i}/b_transform"])
        hidden = [
            sigmoid(c) * max(t, 0.0) + (1 - sigmoid(c)) * h for c, t, h in zip(carry, changed, hidden, strict=True)
        ]
    return times(hidden, w["CNN_proj/W_proj"], w["CNN_proj/b_proj"])


def plain_lstm(w, cell, inputs):
    clip = lambda value, limit: min(max(value, -limit), limit)  # noqa: E731
    h, c, outputs = [0.0] * 3, [0.0] * 5, []
    for x in inputs:
        gates = times([*x, *h], w[f"{cell}/W_0"], w[f"{cell}/B"])
        enter, candidate, forget, leave = (gates[5 * g : 5 * g + 5] for g in range(4))
        c = [clip(sigmoid(enter[j]) * math.tanh(candidate[j]) + sigmoid(forget[j] + 1) * c[j], 0.5) for j in range(5)]
        h = times([sigmoid(leave[j]) * math.tanh(c[j]) for j in range(5)], w[f"{cell}/W_P_0"], np.zeros(3))
        h = [clip(value, 0.25) for value in h]
        outputs.append(h)
    return outputs


def plain_text(w, words, activation="relu"):
    """All three layers of one text, (3, words, 6), by loops over single numbers."""
    codes = [[259, 257, 260, *[261] * 47]]
    codes += [[259, *(byte + 1 for byte in word.encode("utf-8", "ignore")[:48]), 260] for word in words]
    codes += [[259, 258, 260]]
    vectors = [plain_word(w, row + [261] * (50 - len(row)), activation) for row in codes]
    sides = []
    for side in range(2):
        states = vectors[::-1] if side else vectors
        layers = [states]
        for depth in range(2):
            new = plain_lstm(w, f"RNN_{side}/RNN/MultiRNNCell/Cell{depth}/LSTMCell", states)
            if depth:
                new = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(new, states, strict=True)]
            layers.append(new)
            states = new
        sides.append([layer[::-1] if side else layer for layer in layers])
    return np.concatenate([np.array(sides[0]), np.array(sides[1])], axis=2)[:, 1:-1]


@pytest.mark.parametrize(("layer", "activation"), [(-1, "relu"), (0, "relu"), (1, "relu"), (2, "relu"), (-1, "tanh")])
def test_equals_loops_over_single_numbers(tmp_path, layer, activation):
    options = changed("char_cnn", activation=activation)
    found = ElmoTokens(str(write(tmp_path / "elmo", options=options)), layer).encode(TEXTS)
    for row, text in enumerate(TEXTS):
        layers = plain_text(arrays(), words_of(text), activation)
        expected = layers.mean(axis=0) if layer == -1 else layers[layer]
        np.testing.assert_allclose(found[row], expected, rtol=0, atol=2e-5)
    assert not found.special.any()


def test_company_changes_no_bit(folder):
    encoder = ElmoTokens(str(folder))
    texts = [*TEXTS, *(f"word{i} cat" for i in range(2 * ROWS + 3))]
    together, backwards = encoder.encode(texts), encoder.encode(texts[::-1])
    for row, text in enumerate(texts):
        np.testing.assert_array_equal(encoder.encode([text])[0], together[row])
        np.testing.assert_array_equal(backwards[len(texts) - 1 - row], together[row])
    assert encoder.encode([]).vectors.shape == (0, 6)


def test_by_name_with_identity(folder):
    encoder = get_token_encoder(f"elmo:{folder}", layer=1)
    assert isinstance(encoder, ElmoTokens)
    assert encoder.identity.endswith("layer=1)")
    assert str(folder) not in encoder.identity
    assert "layer=mean" in ElmoTokens(str(folder)).identity
