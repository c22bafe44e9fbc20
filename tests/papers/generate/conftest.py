"""A network like SmolLM2's with random weights, of 257 pieces: the bytes and the mark between documents."""

import pytest
from tests.toys import make_llama


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
        known = {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.merges": []}
        return make_tokenizer(known), Llama(*make_llama(16, 24, len(tokens)))


@pytest.fixture
def tiny_smollm2(monkeypatch):
    """Put the tiny network in the place of the resource."""
    from textgauge_papers.generate import adapted

    monkeypatch.setattr(adapted, "SmolLM2", TinySmolLM2)
    return TinySmolLM2()
