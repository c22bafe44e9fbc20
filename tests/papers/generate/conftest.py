"""A network like SmolLM2's with random weights, of 257 pieces: the bytes and the mark between documents."""

import numpy as np
import pytest

LAYERS, WIDTH, HEADS, KEY_HEADS, WIDE = 2, 16, 4, 2, 24
HEAD = WIDTH // HEADS
SIZES = {
    "llama.block_count": LAYERS,
    "llama.embedding_length": WIDTH,
    "llama.attention.head_count": HEADS,
    "llama.attention.head_count_kv": KEY_HEADS,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.rope.freq_base": 10_000.0,
}
SHAPES = {
    "attn_q": (WIDTH, WIDTH),
    "attn_k": (KEY_HEADS * HEAD, WIDTH),
    "attn_v": (KEY_HEADS * HEAD, WIDTH),
    "attn_output": (WIDTH, WIDTH),
    "ffn_gate": (WIDE, WIDTH),
    "ffn_up": (WIDE, WIDTH),
    "ffn_down": (WIDTH, WIDE),
    "attn_norm": (WIDTH,),
    "ffn_norm": (WIDTH,),
}


class TinySmolLM2:
    """As `textgauge.encode.SmolLM2`."""

    separator = "<|endoftext|>"
    signature = "tiny"

    @property
    def parts(self):
        from tokenizers import pre_tokenizers

        from textgauge.encode import Llama
        from textgauge.encode.language_models.smollm2 import make_tokenizer

        tokens = [self.separator, *sorted(pre_tokenizers.ByteLevel.alphabet())]
        draw = np.random.default_rng(0)
        shapes = {"token_embd.weight": (len(tokens), WIDTH), "output_norm.weight": (WIDTH,)}
        shapes |= {f"blk.{layer}.{name}.weight": shape for layer in range(LAYERS) for name, shape in SHAPES.items()}
        weights = {name: draw.normal(size=shape).astype(np.float32) * 0.4 for name, shape in shapes.items()}
        known = {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.merges": []}
        return make_tokenizer(known), Llama(SIZES, weights)


@pytest.fixture
def tiny_smollm2(monkeypatch):
    """Put the tiny network in the place of the resource."""
    from textgauge_papers.generate import adapted

    monkeypatch.setattr(adapted, "SmolLM2", TinySmolLM2)
    return TinySmolLM2()
