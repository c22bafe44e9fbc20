"""Models of transformers: how they are loaded and named, on stand-ins for the packages; numbers, on tiny ones."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from textgauge.core.errors import ResourceError, UnknownName
from textgauge.encode import hugging_face
from textgauge.encode.encoders import shorten_name
from textgauge.encode.hugging_face import CausalModel, HuggingFaceTokens, MaskedModel, pin_revision

CONFIG = SimpleNamespace(max_position_embeddings=40, num_hidden_layers=3, _commit_hash="abc123")


class Network(SimpleNamespace):
    def eval(self):
        return self

    def float(self):
        return Network(**{**vars(self), "widened": True})


@pytest.fixture
def calls(monkeypatch):
    """Stand-ins for torch and transformers; what was loaded, with which options."""
    made: list[tuple[str, dict[str, Any]]] = []

    def maker(kind, result):
        def from_pretrained(model, **options):
            if model == "nowhere":
                raise OSError("nowhere is not a model\nand a long explanation")
            made.append((kind, options))
            return result

        return SimpleNamespace(from_pretrained=from_pretrained)

    transformers = ModuleType("transformers")
    transformers.AutoTokenizer = maker("AutoTokenizer", SimpleNamespace(model_max_length=10**30))  # type: ignore[attr-defined]
    for kind in ("AutoModel", "AutoModelForCausalLM"):
        setattr(transformers, kind, maker(kind, Network(config=CONFIG)))
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    monkeypatch.setattr(hugging_face, "version", lambda package: f"{package}-1")
    return made


def test_identities_name_everything_the_numbers_depend_on(calls):
    runtime = "dtype=float32,runtime=transformers-transformers-1+torch-torch-1"
    assert HuggingFaceTokens("some/bert").identity == f"hf:some/bert(revision=abc123,max_length=40,{runtime},layer=3)"
    assert CausalModel("some/gpt").signature == f"hf-causal:some/gpt(revision=abc123,window=40,{runtime},version=1)"


@pytest.mark.parametrize("offline", ["", "1"])
def test_no_code_of_a_model_is_run_and_scores_come_from_safetensors(calls, monkeypatch, offline):
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", offline)
    model = CausalModel("some/gpt")
    assert model.network.widened
    options = {"trust_remote_code": False, "use_safetensors": True, "local_files_only": bool(offline)}
    assert calls == [("AutoModelForCausalLM", options)]
    assert model.tokenizer is model.tokenizer
    assert len(calls) == 2


def test_a_model_that_does_not_load_is_one_line(calls):
    with pytest.raises(ResourceError, match=r"^cannot load hf:nowhere: nowhere is not a model$"):
        _ = HuggingFaceTokens("nowhere").identity


def test_a_folder_is_known_by_its_content(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "a").write_text("one")
    first = pin_revision(str(folder), None)
    (folder / "a").write_text("two")
    assert pin_revision(str(folder), None) != first
    assert shorten_name(str(folder)) == "model"
    assert (pin_revision("hub/name", None), shorten_name("hub/name")) == ("unknown", "hub/name")


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "dog", "##s", "."]
TEXTS = ["the cat sat .", "dogs", "", "the dog sat on the cat", "\ud800 the"]


def save(folder, kind):
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
def causal(tmp_path_factory):
    return CausalModel(str(save(tmp_path_factory.mktemp("gpt"), "GPT2LMHeadModel")))


@pytest.fixture(scope="module")
def masked(tmp_path_factory):
    return MaskedModel(str(save(tmp_path_factory.mktemp("bert"), "BertForMaskedLM")))


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save(tmp_path_factory.mktemp("bert"), "BertModel")


def test_causal_costs_are_the_models_own(causal):
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


def test_masked_costs_are_the_models_own(masked):
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
def test_batches_and_windows(kind, request):
    model = request.getfixturevalue(kind)
    nats, _ = model.surprise(TEXTS)
    np.testing.assert_allclose(model.surprise(TEXTS[::-1] * 3)[0], np.tile(nats[::-1], 3), rtol=1e-5)
    window = 11 if kind == "causal" else 10
    long, size = model.surprise(["cat " * (2 * window), "cat " * window])
    assert size.tolist() == [2 * window, window]
    assert long[0] == pytest.approx(2 * long[1], rel=1e-5)
    assert model.surprise([])[0].shape == (0,)


def test_weights_that_could_run_code_are_refused(tmp_path):
    folder = save(tmp_path, "GPT2LMHeadModel")
    import torch

    torch.save({}, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ResourceError, match="cannot load hf-causal:"):
        CausalModel(str(folder)).surprise(["the cat"])


@pytest.mark.parametrize("layer", [-1, 0, 1, 2])
def test_layers_are_the_models_own(bert, layer):
    import torch
    from transformers import AutoModel, AutoTokenizer

    found = HuggingFaceTokens(str(bert), layer).encode(TEXTS)
    model, tokenizer = AutoModel.from_pretrained(bert).eval(), AutoTokenizer.from_pretrained(bert)
    for row, text in enumerate(TEXTS):
        inputs = tokenizer([text.replace("\ud800", "\ufffd")], return_tensors="pt", truncation=True, max_length=12)
        with torch.inference_mode():
            states = model(**inputs, output_hidden_states=True).hidden_states[layer]
        np.testing.assert_allclose(found[row], states[0].numpy(), rtol=0, atol=1e-5)


def test_tokens_are_marked_and_cut(bert):
    seen = HuggingFaceTokens(str(bert)).tokenize([*TEXTS, "cat " * 50])
    assert seen.words.tolist()[:3] == [4, 2, 0]
    assert seen.words[-1] == 10
    assert seen.tokens.strings(1) == ["[CLS]", "dog", "##s", "[SEP]"]
    assert HuggingFaceTokens(str(bert)).encode([]).vectors.shape == (0, 16)
    with pytest.raises(UnknownName, match="layers 0 to 2"):
        HuggingFaceTokens(str(bert), 3).encode(["the"])
