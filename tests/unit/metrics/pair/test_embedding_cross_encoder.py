from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from textgauge.core.errors import InputError, ResourceError
from textgauge.data import Corpus, Pairs
from textgauge.encode.hugging_face import get_cross_encoder
from textgauge.metrics import get_metric


class Stub:
    """Scores a pair by the lengths of its texts, left counting double."""

    max_length = 128
    asked: list[tuple[str, str]]

    def __init__(self, model, *, local_files_only):
        if model == "missing":
            raise OSError("no such model\nand more")
        self.wide = model == "wide"
        Stub.asked = []

    def predict(self, pairs, batch_size, show_progress_bar, activation_fn):
        assert activation_fn == "as it is"
        Stub.asked += pairs
        scores = np.array([2.0 * len(a) - len(b) for a, b in pairs], dtype=np.float32)
        return np.stack([scores] * 3, axis=1) if self.wide else scores


class OldStub(Stub):
    """The same with the option's name of version 3."""

    def predict(self, pairs, batch_size, show_progress_bar, activation_fct):
        return super().predict(pairs, batch_size, show_progress_bar, activation_fct)


@pytest.fixture(params=[Stub, OldStub])
def _stub(request, monkeypatch):
    package, torch, nn = ModuleType("sentence_transformers"), ModuleType("torch"), ModuleType("torch.nn")
    package.CrossEncoder = request.param  # type: ignore[attr-defined]
    nn.Identity = lambda: "as it is"  # type: ignore[attr-defined]
    for module in (package, torch, nn):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    get_cross_encoder.cache_clear()


@pytest.mark.usefixtures("_stub")
def test_scores_are_sigmoids_in_order():
    left, right = ["aaa", "b", "cc\ud800"], ["b", "aaa", "cccc"]
    found = get_metric("cross_encoder")(left=left, right=right)
    np.testing.assert_allclose(found.values, 1 / (1 + np.exp(-np.array([5.0, -1, 2]))))
    assert ("cc\ufffd", "cccc") in Stub.asked
    assert "model=cross-encoder/stsb-roberta-base(revision=unknown,max_length=128" in found.signature


@pytest.mark.usefixtures("_stub")
def test_equal_and_blank_texts_are_not_asked_about():
    found = get_metric("cross_encoder@some/model")(left=["a", "", " ", "a"], right=["a", " ", "b", ""])
    assert found.values.tolist() == [1, 1, 0, 0]


@pytest.mark.usefixtures("_stub")
def test_the_matrix():
    matrix = get_metric("cross_encoder@some/model").matrix(Corpus.of(["a", "bb"]), Corpus.of(["a", "ccc", ""]))
    np.testing.assert_allclose(matrix, [[1, 1 / (1 + np.e), 0], [1 / (1 + np.exp(-3)), 1 / (1 + np.exp(-1)), 0]])


@pytest.mark.usefixtures("_stub")
def test_a_model_that_cannot_be_used():
    with pytest.raises(InputError, match="not one number each"):
        get_metric("cross_encoder@wide")(left=["a"], right=["b"])
    with pytest.raises(ResourceError, match=r"cannot load cross-encoder missing: no such model$"):
        get_metric("cross_encoder@missing")(left=["a"], right=["b"])


def test_a_real_model(tmp_path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat"]))
    transformers.BertTokenizer(str(tmp_path / "vocab.txt"), model_max_length=32).save_pretrained(tmp_path)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, num_labels=1
    )
    model = transformers.BertForSequenceClassification(config).eval()
    model.save_pretrained(tmp_path)
    pairs = [("the cat", "the cat sat"), ("sat", "cat")]
    found = get_metric(f"cross_encoder@{tmp_path}").measure(Pairs(*map(list, zip(*pairs, strict=True))))
    tokens = transformers.AutoTokenizer.from_pretrained(tmp_path)(
        *map(list, zip(*pairs, strict=True)), padding=True, return_tensors="pt"
    )
    with torch.inference_mode():
        expected = torch.sigmoid(model(**tokens).logits[:, 0]).numpy()
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-6)
    assert f"model={tmp_path.name}(revision=" in found.signature
