"""How models of transformers are loaded and named, on stand-ins for the packages."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from textgauge.core.errors import MissingExtra, ResourceError
from textgauge.encode import hugging_face
from textgauge.encode.hugging_face import load_pretrained, pin_revision, shorten_name
from textgauge.encode.language_models.hf import CausalModel
from textgauge.encode.token_vectors import HuggingFaceTokens

CONFIG = SimpleNamespace(max_position_embeddings=40, num_hidden_layers=3, _commit_hash="abc123")


class Network(SimpleNamespace):
    def eval(self) -> Network:
        return self

    def float(self) -> Network:
        return Network(**{**vars(self), "widened": True})


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """Stand-ins for torch and transformers; what was loaded, with which options."""
    made: list[tuple[str, dict[str, Any]]] = []

    def maker(kind: str, result: Any) -> Any:
        def from_pretrained(model: str, **options: Any) -> Any:
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


def test_identities_name_everything_the_numbers_depend_on(calls: list[Any]) -> None:
    runtime = "dtype=float32,runtime=transformers-transformers-1+torch-torch-1"
    assert HuggingFaceTokens("some/bert").identity == f"hf:some/bert(revision=abc123,max_length=40,{runtime},layer=3)"
    assert CausalModel("some/gpt").signature == f"hf-causal:some/gpt(revision=abc123,window=40,{runtime},version=1)"


def test_offline_no_model_is_fetched(calls: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    assert CausalModel("some/gpt").signature
    assert calls
    assert all(options["local_files_only"] for _, options in calls)


def test_no_code_of_a_model_is_run_and_scores_come_from_safetensors(calls: list[Any]) -> None:
    model = CausalModel("some/gpt")
    assert model.network.widened
    options = {"trust_remote_code": False, "use_safetensors": True, "local_files_only": False}
    assert calls == [("AutoModelForCausalLM", options)]
    assert model.tokenizer is model.tokenizer
    assert len(calls) == 2


def test_a_model_that_does_not_load_is_one_line(calls: list[Any]) -> None:
    with pytest.raises(ResourceError, match=r"^cannot load hf:nowhere: nowhere is not a model$"):
        _ = HuggingFaceTokens("nowhere").identity


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"hf:x needs .*textgauge\[hf\]"):
        load_pretrained("hf:x", "x", "AutoModel")


def test_a_folder_is_known_by_its_content(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "a").write_text("one")
    first = pin_revision(str(folder), None)
    (folder / "a").write_text("two")
    assert pin_revision(str(folder), None) != first
    assert shorten_name(str(folder)) == "model"
    assert (pin_revision("hub/name", None), shorten_name("hub/name")) == ("unknown", "hub/name")
