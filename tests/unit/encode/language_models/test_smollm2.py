"""GGUF files, the Llama network against a plain twin, and the real model against transformers."""

import struct

import numpy as np
import pytest
from tests.toys import make_llama

from textgauge.encode.language_models import get_language_model
from textgauge.encode.language_models.smollm2 import Llama, make_tokenizer, read_gguf

LAYERS, WIDTH, HEADS, KEY_HEADS, TOKENS = 2, 32, 4, 2, 48
HEAD = WIDTH // HEADS
SIZES, WEIGHTS = make_llama(WIDTH, 64, TOKENS)

# By transformers 5.22.2 on torch 2.13.0, with gguf 0.19.0, all of it in float32 and the sums in float64:
#   model = AutoModelForCausalLM.from_pretrained(FOLDER, gguf_file=FILE, dtype=torch.float32).eval()
#   ids = [0, *tokenizer(text, add_special_tokens=False)["input_ids"]]
#   logs = torch.log_softmax(model(torch.tensor([ids])).logits[0, :-1].double(), -1)
#   -logs.gather(1, torch.tensor(ids)[1:, None]).sum()
TRANSFORMERS = {
    "The cat sat on the mat.": (7, 20.916447666543238),
    "Colorless green ideas sleep furiously.": (8, 61.52653165086011),
    "sat mat cat the the on.": (7, 68.85757135182675),
    "Naïve café 123 🙂!": (9, 60.576434651691685),
    "a": (1, 10.592148011619962),
}


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def value(item):
    """A kind and a value; lists hold strings."""
    if isinstance(item, list):
        return struct.pack("<IIQ", 9, 8, len(item)) + b"".join(map(text, item))
    if isinstance(item, str):
        return struct.pack("<I", 8) + text(item)
    return struct.pack("<If", 6, item) if isinstance(item, float) else struct.pack("<II", 4, item)


def gguf(metadata, tensors):
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    head += b"".join(text(name) + value(item) for name, item in metadata.items())
    body = b""
    for name, (shape, kind, content) in tensors.items():
        head += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
        head += struct.pack("<IQ", kind, len(body))
        body += content + b"\0" * (-len(content) % 32)
    return head + b"\0" * (-len(head) % 32) + body


def twin(ids):
    """−ln P of every token but the first, one text at a time, in float64; pairs of rows lie side by side."""
    known = {name: array.astype(np.float64) for name, array in WEIGHTS.items()}
    hidden = known["token_embd.weight"][ids[:-1]]
    places = np.arange(len(hidden))
    angle = np.outer(places, 10_000.0 ** (-np.arange(0, HEAD, 2) / HEAD))

    def norm(rows, name):
        return rows / np.sqrt((rows**2).mean(-1, keepdims=True) + 1e-5) * known[name]

    def turned(rows):
        both = (rows[:, ::2] + 1j * rows[:, 1::2]) * np.exp(1j * angle)
        return np.stack([both.real, both.imag], axis=-1).reshape(rows.shape)

    for layer in range(LAYERS):
        own = f"blk.{layer}."
        part = {name[len(own) : -7]: array for name, array in known.items() if name.startswith(own)}
        near = norm(hidden, f"{own}attn_norm.weight")
        mixed = []
        for head in range(HEADS):
            mine, shared = slice(head * HEAD, (head + 1) * HEAD), head * KEY_HEADS // HEADS
            keys = slice(shared * HEAD, (shared + 1) * HEAD)
            scores = turned(near @ part["attn_q"][mine].T) @ turned(near @ part["attn_k"][keys].T).T / np.sqrt(HEAD)
            scores[places[:, None] < places] = -np.inf
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            mixed.append(shares / shares.sum(-1, keepdims=True) @ (near @ part["attn_v"][keys].T))
        hidden = hidden + np.concatenate(mixed, axis=1) @ part["attn_output"].T
        near = norm(hidden, f"{own}ffn_norm.weight")
        gate = near @ part["ffn_gate"].T
        hidden = hidden + (gate / (1 + np.exp(-gate)) * (near @ part["ffn_up"].T)) @ part["ffn_down"].T
    scores = norm(hidden, "output_norm.weight") @ known["token_embd.weight"].T
    return np.log(np.exp(scores).sum(-1)) - scores[places, ids[1:]]


def test_the_network_as_its_twin():
    network = Llama(SIZES, WEIGHTS)
    draw = np.random.default_rng(1)
    for length in (2, 5, 17):
        ids = draw.integers(0, TOKENS, length)
        np.testing.assert_allclose(network.compute_costs(ids), twin(ids.tolist()), rtol=2e-5, atol=2e-5)


def test_kinds_of_weights(tmp_path):
    scale, least = struct.pack("<e", 0.5), struct.pack("<e", -1.0)
    tensors = {
        "f32": ((3, 2), 0, np.arange(6, dtype=np.float32).tobytes()),
        "q8_0": ((1, 32), 8, scale + np.arange(-16, 16, dtype=np.int8).tobytes()),
        "q4_1": ((1, 32), 3, scale + least + bytes(range(16))),  # low half 0…15, high half 0
    }
    known = {"list": ["a", "b"], "number": 7, "real": 0.5}
    (tmp_path / "model.gguf").write_bytes(gguf(known, tensors))
    metadata, found = read_gguf(tmp_path / "model.gguf")
    assert metadata == known
    np.testing.assert_array_equal(found["f32"], np.arange(6).reshape(3, 2))
    np.testing.assert_array_equal(found["q8_0"][0], np.arange(-16, 16) * 0.5)
    np.testing.assert_array_equal(found["q4_1"][0], np.concatenate([np.arange(16), np.zeros(16)]) * 0.5 - 1)


def test_the_tokenizer_of_a_file():
    tokens = ["<|endoftext|>", "a", "b", "Ġ", "ab", "Ġab", "1"]
    pieces = make_tokenizer({"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.merges": ["a b", "Ġ ab"]})
    assert pieces.encode("ab ab11ba").tokens == ["ab", "Ġab", "1", "1", "b", "a"]


@pytest.mark.slow
def test_as_transformers_has_it(need):
    need("smollm2")
    model = get_language_model("smollm2")
    nats, tokens = model.surprise([*TRANSFORMERS, ""])
    assert tokens.tolist() == [size for size, _ in TRANSFORMERS.values()] + [0]
    np.testing.assert_allclose(nats[:-1], [cost for _, cost in TRANSFORMERS.values()], rtol=0, atol=1e-4)
    assert nats[-1] == 0
    crowd = [*list(TRANSFORMERS)[::-1], *(f"{word} {text}" for word in "abc" for text in TRANSFORMERS)]
    np.testing.assert_allclose(model.surprise(crowd)[0][:5][::-1], nats[:-1], rtol=0, atol=1e-5)


@pytest.mark.slow
def test_long_texts_are_cut_into_windows(need):
    need("smollm2")
    model = get_language_model("smollm2")
    sentence = " The cat sat on the mat."
    nats, tokens = model.surprise([sentence * 73, sentence * 74])
    assert tokens.tolist() == [511, 518]
    assert nats[1] - nats[0] == pytest.approx(model.surprise([sentence])[0][0], abs=1e-3)
