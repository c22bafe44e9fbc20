from __future__ import annotations

import re
import sys
import tomllib
import zipfile
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks import transformer_graphs
from onnx import ModelProto

from textgauge.core.errors import InputError, MissingExtra, ResourceError, UnknownName
from textgauge.encode import embedders, hugging_face
from textgauge.encode.embedders import EMBEDDERS, Embedder, get_embedder, list_embedders, register_embedder, transformer
from textgauge.encode.embedders.static import StaticEmbedder
from textgauge.encode.embedders.transformer import TOKENS_PER_RUN, make_built_in, split_by_length
from textgauge.encode.embedders.whole import WholeEmbedder
from textgauge.encode.encoders import Encoders
from textgauge.encode.hugging_face import SentenceTransformersEmbedder

NAMES = [*embedders.BUILT_IN, "wordllama"]
TEXTS = [
    "Why was my card declined at the shop?",
    "book a table for two",
    "",
    "नमस्ते दुनिया 😀",
    "lone \ud800 surrogate",
    "long " * 300,
    *(f"please tell me about topic number {number} " + "again " * (number % 9) for number in range(24)),
]


@pytest.fixture
def own_table(monkeypatch):
    own = Encoders("embedder", dict(EMBEDDERS), group="textgauge.embedders", plug_in=register_embedder)
    monkeypatch.setattr(embedders, "EMBEDDERS", own)


def test_packages_bring_embedders_of_their_own(own_table, monkeypatch):
    found = [EntryPoint("mine", f"{StaticEmbedder.__module__}:make_wordllama", "textgauge.embedders")]
    monkeypatch.setattr(metadata, "entry_points", lambda group: [one for one in found if one.group == group])
    assert isinstance(get_embedder("mine"), StaticEmbedder)
    assert "mine" in [entry["name"] for entry in list_embedders()]


@pytest.mark.parametrize("name", NAMES)
def test_same_text_same_bits(name, need, monkeypatch):
    """Batch size, order, neighbours and the number of threads leave every bit of a vector as it is."""
    need(name)
    need("wordpiece")
    encoder = get_embedder(name)
    expected = encoder.encode(TEXTS)
    for threads, batch_size in ((1, 1), (3, 7)):
        monkeypatch.setenv("TEXTGAUGE_THREADS", str(threads))
        np.testing.assert_array_equal(encoder.encode(TEXTS, batch_size=batch_size), expected)
    order = np.random.default_rng(0).permutation(len(TEXTS))
    np.testing.assert_array_equal(encoder.encode([TEXTS[row] for row in order]), expected[order])
    for row in range(8):
        np.testing.assert_array_equal(encoder.encode([TEXTS[row]])[0], expected[row])


@pytest.mark.parametrize("name", NAMES)
def test_shape_type_and_progress(name, need, counts):
    need(name)
    need("wordpiece")
    encoder = get_embedder(name)
    vectors = encoder.encode(TEXTS, batch_size=8)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), encoder.dimension)
    assert np.isfinite(vectors).all()
    assert len(set(counts[-1])) == 1
    assert counts == sorted(counts)
    assert encoder.encode([]).shape == (0, encoder.dimension)
    assert isinstance(encoder, Embedder)
    assert EMBEDDERS[name].window == getattr(encoder, "window", None)
    assert EMBEDDERS[name].dimension == vectors.shape[1]
    if name in embedders.BUILT_IN and embedders.BUILT_IN[name].normalise:
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    if name == "wordllama":
        assert not encoder.encode([""]).any()


def test_the_graphs_are_those_that_the_script_writes():
    with zipfile.ZipFile(transformer_graphs.TARGET) as graphs:
        found = {name: ModelProto.FromString(graphs.read(name)) for name in graphs.namelist()}
    assert found == transformer_graphs.make_graphs()


def test_models_that_need_onnxruntime_say_so_where_there_is_none(monkeypatch):
    def missing(package):
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr(transformer, "version", missing)
    uses = (
        (make_built_in, "minilm"),
        (transformer.make_cross_encoder, "ms-marco-int8"),
        (transformer.import_onnxruntime,),
    )
    for use, *arguments in uses:
        with pytest.raises(ResourceError, match="wordllama"):
            use(*arguments)


def test_onnxruntime_is_required_but_for_macs_with_intel_processors():
    from packaging.requirements import Requirement

    declared = (Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8")
    required = map(Requirement, tomllib.loads(declared)["project"]["dependencies"])
    (marker,) = (found.marker for found in required if found.name == "onnxruntime")
    machines = {("linux", "x86_64"): True, ("darwin", "arm64"): True, ("darwin", "x86_64"): False}
    for (system, machine), wanted in machines.items():
        assert marker.evaluate({"sys_platform": system, "platform_machine": machine}) is wanted


def test_batches_have_equal_lengths_and_bounded_tokens():
    ids = [np.zeros(length, dtype=np.int64) for length in (3, 5, 3, 3, 900, 900, 900)]
    batches = list(split_by_length(ids, 2))
    assert batches == [[4, 5], [6], [1], [0, 2], [3]]
    assert all(sum(len(ids[row]) for row in batch) <= TOKENS_PER_RUN for batch in batches)


@pytest.fixture
def nothing_here(monkeypatch, tmp_path):
    for name, value in {"TEXTGAUGE_CACHE": str(tmp_path), "TEXTGAUGE_OFFLINE": "1", "HF_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("TEXTGAUGE_RESOURCES", raising=False)


def test_lists_and_identities_need_no_models(nothing_here):
    identities = {get_embedder(name).identity for name in NAMES}
    assert len(identities) == len(NAMES)
    for identity in identities:
        assert re.search("weights=.*pooling=(mean|cls),.*dtype=float32", identity)
    listed = list_embedders()
    assert all(row["note"] for row in listed)
    rows = {row["name"]: row for row in listed if ":" not in row["name"]}
    assert list(rows) == NAMES
    assert rows["minilm"]["megabytes"] == 91.3
    assert {row["language"] for row in rows.values()} == {"English"}
    assert not any(row["available"] for row in rows.values())
    with pytest.raises(ResourceError, match=r"fetch minilm or use the lighter embedder wordllama"):
        make_built_in("minilm").encode(["text"])


def test_names(own_table):
    with pytest.raises(UnknownName, match="minilm"):
        get_embedder("minlm")
    with pytest.raises(UnknownName):
        get_embedder("st:")
    register_embedder("ones", Ones, dimension=2)
    assert get_embedder("ones") is get_embedder("ones")
    assert get_embedder("ones").encode(["a"]).tolist() == [[1, 1]]
    with pytest.raises(InputError, match="ones"):
        register_embedder("ones", Ones)
    assert list_embedders()[-1]["name"] == "ones"


class Ones:
    name = "ones"
    identity = "ones"
    dimension = 2

    def encode(self, texts, *, batch_size=1):
        return np.ones((len(texts), 2), dtype=np.float32)


class FakeTokens(dict[str, Any]):
    def word_ids(self):
        return list(range(len(self["offset_mapping"])))


class FakeTokenizer:
    is_fast = True

    def num_special_tokens_to_add(self):
        return 2

    def __call__(self, text, *, add_special_tokens, truncation, **options):
        assert not add_special_tokens
        assert not truncation
        return FakeTokens(offset_mapping=[found.span() for found in re.finditer(r"\S+", text)])


class FakeSentenceTransformer:
    max_seq_length = 12
    tokenizer: Any = FakeTokenizer()

    def __init__(self, model, *, local_files_only):
        self.local_files_only = local_files_only
        if model == "nowhere":
            raise OSError("nowhere is not a model\nand more lines")

    def __getitem__(self, index):
        return SimpleNamespace(auto_model=SimpleNamespace(config=SimpleNamespace(_commit_hash="abc123")))

    def get_sentence_embedding_dimension(self):
        return 3

    def encode(self, texts, *, batch_size, show_progress_bar):
        assert len(texts) <= batch_size
        return np.array([[len(text), "\ud800" in text, 0] for text in texts], dtype=np.float64)


@pytest.fixture
def fake_module(monkeypatch):
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = FakeSentenceTransformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(hugging_face, "version", lambda package: f"{package}-1")


def test_sentence_transformers_in_order_with_revision(fake_module, own_table, counts):
    encoder = get_embedder("st:org/model")
    assert encoder.name == "st:org/model"
    assert "revision=abc123" in encoder.identity
    assert "max_length=12" in encoder.identity
    texts = ["a", "bbb", "\ud800", "", "cc"]
    vectors = encoder.encode(texts, batch_size=2)
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1, 0, 0], [3, 0, 0], [1, 0, 0], [0, 0, 0], [2, 0, 0]]
    assert counts == [(2, 5), (4, 5), (5, 5)]


def test_sentence_transformers_tell_where_they_stop_reading(fake_module, own_table, monkeypatch):
    whole = get_embedder("whole:st:org/model")
    assert isinstance(whole, WholeEmbedder)
    assert "revision=abc123" in whole.identity
    text = " ".join(f"word{number}" for number in range(40))
    windows = [window for window, _ in whole.cut_windows([text])[0]]
    assert " ".join(windows) == text
    assert all(5 <= len(window.split()) <= 10 for window in windows[:-1])
    assert whole.encode(["one two", text])[0].tolist() == get_embedder("st:org/model").encode(["one two"])[0].tolist()
    monkeypatch.setattr(FakeTokenizer, "is_fast", False)
    with pytest.raises(ResourceError, match="no fast tokenizer"):
        WholeEmbedder(SentenceTransformersEmbedder("other")).encode([text])


@pytest.mark.parametrize(
    ("name", "package", "extra"), [("st:any", "sentence_transformers", "st"), ("api:any", "httpx", "api")]
)
def test_the_extra_is_named(monkeypatch, name, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"textgauge\[{extra}\]"):
        get_embedder(name).encode(["a"])


@pytest.mark.parametrize("given", ["", "1"])
def test_models_are_loaded_as_the_user_allows(fake_module, monkeypatch, given):
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", given)
    assert SentenceTransformersEmbedder("org/model")._encoder.local_files_only is bool(given)
    with pytest.raises(ResourceError, match=r"^cannot load st:nowhere: nowhere is not a model$"):
        SentenceTransformersEmbedder("nowhere").encode(["a"])
