from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from textgauge.core.errors import MissingExtra, ResourceError, UnknownName
from textgauge.encode.token_vectors import HuggingFaceTokens

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "dog", "##s", "."]
TEXTS = ["the cat sat .", "dogs", "", "the dog sat on the cat", "\ud800 the"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with random weights."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("bert")
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=12).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=16,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("layer", [-1, 0, 1, 2])
def test_layers_are_the_models_own(folder: Path, layer: int) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    found = HuggingFaceTokens(str(folder), layer).encode(TEXTS)
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    for row, text in enumerate(TEXTS):
        inputs = tokenizer([text.replace("\ud800", "\ufffd")], return_tensors="pt", truncation=True, max_length=12)
        with torch.inference_mode():
            states = model(**inputs, output_hidden_states=True).hidden_states[layer]
        np.testing.assert_allclose(found[row], states[0].numpy(), rtol=0, atol=1e-5)


def test_tokens_are_marked_and_cut(folder: Path) -> None:
    seen = HuggingFaceTokens(str(folder)).tokenize([*TEXTS, "cat " * 50])
    assert seen.words.tolist()[:3] == [4, 2, 0]
    assert seen.words[-1] == 10
    assert seen.tokens.strings(1) == ["[CLS]", "dog", "##s", "[SEP]"]
    assert HuggingFaceTokens(str(folder)).encode([]).vectors.shape == (0, 16)


def test_identity_follows_the_files(folder: Path) -> None:
    identity = HuggingFaceTokens(str(folder), 1).identity
    assert identity.startswith(f"hf:{folder.name}(revision=")
    assert "layer=1)" in identity
    assert str(folder.parent) not in identity


def test_a_layer_too_many(folder: Path) -> None:
    with pytest.raises(UnknownName, match="layers 0 to 2"):
        HuggingFaceTokens(str(folder), 3).encode(["the"])


def test_no_such_model(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(ResourceError, match="cannot load hf:"):
        HuggingFaceTokens(str(tmp_path)).tokenize(["a"])


def test_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"textgauge\[hf\]"):
        HuggingFaceTokens("some/model").tokenize(["a"])
