import numpy as np
import pytest
from safetensors.numpy import load_file
from scipy.special import erf, softmax

from textgauge.encode.embedders import get_embedder
from textgauge.encode.resources import locate
from textgauge.encode.token_vectors import get_token_encoder

TEXTS = [
    "The old bridge was closed.",
    "",
    "मैं कल बाज़ार गया था",
    "[SEP] in the text",
    "a",
    "The old bridge was shut!",
    " \ud800 ",
]


def forward(weights, ids, layers):
    """The hidden states of one text after this many layers, in float64."""

    def norm(rows, name):
        centred = rows - rows.mean(axis=-1, keepdims=True)
        centred /= np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-12)
        return centred * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def linear(rows, name):
        return rows @ weights[f"{name}.weight"].T.astype(np.float64) + weights[f"{name}.bias"]

    places, kinds = (weights[f"embeddings.{of}_embeddings.weight"] for of in ("position", "token_type"))
    hidden = weights["embeddings.word_embeddings.weight"][ids] + places[: len(ids)] + kinds[0]
    hidden = norm(hidden.astype(np.float64), "embeddings.LayerNorm")
    for name in (f"encoder.layer.{layer}" for layer in range(layers)):
        parts = (linear(hidden, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        query, key, value = (part.reshape(len(ids), 12, -1).swapaxes(0, 1) for part in parts)
        shares = softmax(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[2]), axis=-1)
        mixed = (shares @ value).swapaxes(0, 1).reshape(len(ids), -1)
        attended = linear(mixed, f"{name}.attention.output.dense") + hidden
        hidden = norm(attended, f"{name}.attention.output.LayerNorm")
        wide = linear(hidden, f"{name}.intermediate.dense")
        wide *= 0.5 * (1 + erf(wide * np.sqrt(0.5)))
        hidden = norm(linear(wide, f"{name}.output.dense") + hidden, f"{name}.output.LayerNorm")
    return hidden


def test_the_tokens_of_a_prompt_are_special(need):
    need("e5-small")
    seen = get_token_encoder("e5-small").tokenize(["a cat", ""])
    assert seen.words.tolist() == [2, 0]
    assert [word for word, special in zip(seen.tokens.strings(0), seen.special, strict=False) if not special] == [
        "a",
        "cat",
    ]


@pytest.fixture
def _minilm(need):
    need("minilm")


@pytest.mark.usefixtures("_minilm")
@pytest.mark.parametrize("layer", [0, 1, 3, 6])
def test_layers_are_those_of_the_plain_network(layer):
    found = get_token_encoder("minilm", layer=layer).encode(TEXTS)
    weights = load_file(locate("minilm") / "model.safetensors")
    for row in range(len(TEXTS)):
        expected = forward(weights, found.tokens[row].astype(np.int64), layer)
        np.testing.assert_allclose(found[row], expected, rtol=0, atol=2e-5)


@pytest.mark.usefixtures("_minilm")
def test_special_tokens_frame_every_text():
    encoder = get_token_encoder("minilm")
    seen = encoder.tokenize(TEXTS)
    assert seen.words.tolist() == [6, 0, seen.tokens.lengths[2] - 2, 4, 1, 6, 0]
    for row in range(len(TEXTS)):
        marks = seen.special[seen.offsets[row] : seen.offsets[row + 1]]
        assert marks.tolist() == [True, *[False] * (len(marks) - 2), True]
        assert [seen.tokens.strings(row)[end] for end in (0, -1)] == ["[CLS]", "[SEP]"]
    assert encoder.encode([]).vectors.shape == (0, 384)
    assert encoder.tokenize(["word " * 1_000]).words.tolist() == [254]


@pytest.mark.parametrize("name", ["minilm", "minilm-int8", "paraphrase-minilm", "gte-small"])
def test_the_last_layer_averages_to_the_sentence_vector(name, need):
    need(name)
    need("wordpiece")
    found = get_token_encoder(name).encode(TEXTS)
    means = np.stack([found[row].mean(axis=0, dtype=np.float64) for row in range(len(TEXTS))])
    if name != "paraphrase-minilm":
        means /= np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(means, get_embedder(name).encode(TEXTS), rtol=0, atol=1e-6)
