"""Models of transformers as language models, on tiny ones with random weights."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from textgauge.core.errors import MissingExtra, ResourceError
from textgauge.encode.language_models import LanguageModel, get_language_model
from textgauge.encode.language_models.hf import CausalModel, MaskedModel

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "dog", "##s", "."]
TEXTS = ["the cat sat .", "dogs", "", "the dog sat on the cat", "\ud800 the"]


def save(folder: Path, kind: str) -> Path:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    marks = {"bos_token": "[CLS]"} if kind == "GPT2LMHeadModel" else {}
    transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=12, **marks).save_pretrained(folder)
    torch.manual_seed(0)
    if kind == "GPT2LMHeadModel":
        config = transformers.GPT2Config(vocab_size=len(WORDS), n_embd=16, n_layer=2, n_head=2, n_positions=16)
    else:
        config = transformers.BertConfig(
            vocab_size=len(WORDS),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=16,
        )
    getattr(transformers, kind)(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    folder = save(tmp_path_factory.mktemp("gpt"), "GPT2LMHeadModel")
    return get_language_model(f"hf-causal:{folder}")


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    folder = save(tmp_path_factory.mktemp("bert"), "BertForMaskedLM")
    return get_language_model(f"hf-masked:{folder}")


def test_causal_costs_are_the_models_own(causal: CausalModel) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(causal.model).eval()
    tokenizer = AutoTokenizer.from_pretrained(causal.model)
    nats, tokens = causal.surprise(TEXTS)
    for row, text in enumerate(TEXTS):
        inner = tokenizer(text.replace("\ud800", "\ufffd"), add_special_tokens=False)["input_ids"]
        ids = torch.tensor([[WORDS.index("[CLS]"), *inner]])
        assert tokens[row] == len(inner)
        if inner:
            loss = model(ids, labels=ids).loss.item()
            assert nats[row] == pytest.approx(loss * len(inner), rel=1e-5)


def test_masked_costs_are_the_models_own(masked: MaskedModel) -> None:
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    model = AutoModelForMaskedLM.from_pretrained(masked.model).eval()
    tokenizer = AutoTokenizer.from_pretrained(masked.model)
    nats, tokens = masked.surprise(TEXTS)
    for row, text in enumerate(TEXTS):
        ids = tokenizer(text.replace("\ud800", "\ufffd"), return_tensors="pt")["input_ids"]
        total = 0.0
        for place in range(1, ids.shape[1] - 1):
            hidden = ids.clone()
            hidden[0, place] = tokenizer.mask_token_id
            with torch.inference_mode():
                total -= torch.log_softmax(model(hidden).logits[0, place], -1)[ids[0, place]].item()
        assert tokens[row] == ids.shape[1] - 2
        assert nats[row] == pytest.approx(total, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_batches_and_windows(kind: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(kind)
    nats, _ = model.surprise(TEXTS)
    np.testing.assert_allclose(model.surprise(TEXTS[::-1] * 3)[0], np.tile(nats[::-1], 3), rtol=1e-5)
    window = 11 if kind == "causal" else 10
    long, size = model.surprise(["cat " * (2 * window), "cat " * window])
    assert size.tolist() == [2 * window, window]
    assert long[0] == pytest.approx(2 * long[1], rel=1e-5)
    assert model.surprise([])[0].shape == (0,)


def test_signatures_follow_the_files(masked: MaskedModel) -> None:
    assert masked.signature.startswith(f"hf-masked:{Path(masked.model).name}(revision=")
    assert str(Path(masked.model).parent) not in masked.signature
    assert "window=12" in masked.signature


def test_weights_that_could_run_code_are_refused(tmp_path: Path) -> None:
    folder = save(tmp_path, "GPT2LMHeadModel")
    import torch

    torch.save({}, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ResourceError, match="cannot load hf-causal:"):
        CausalModel(str(folder)).surprise(["the cat"])


def test_no_such_model(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(ResourceError, match="cannot load hf-masked:"):
        MaskedModel(str(tmp_path)).surprise(["a"])


@pytest.mark.parametrize("kind", ["hf-causal", "hf-masked"])
def test_the_install_line(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"textgauge\[hf\]"):
        get_language_model(f"{kind}:some/model").surprise(["a"])
    with pytest.raises(MissingExtra, match=r"textgauge\[hf\]"):
        assert get_language_model(f"{kind}:some/other").signature
