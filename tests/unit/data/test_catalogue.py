"""The catalogue: its list, where files are looked for, what is refused, and the readers on the real files."""

from __future__ import annotations

import hashlib
import importlib
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from textgauge.core.errors import InputError, ResourceError, UnknownName
from textgauge.data import (
    LabelledTexts,
    TextPairs,
    catalogue,
    list_published,
    load_corpus,
    load_pairs,
    load_texts,
    published_pairs,
    published_texts,
    register_dataset,
)
from textgauge.data.catalogue import fetch_dataset, is_here
from textgauge.data.catalogue.files import PublishedFile, entries, entries_of

registry = importlib.import_module("textgauge.data.catalogue.files")

BANKING = {
    "train.csv": b'text,category\nwhere is my card?,card_arrival\n"lost, again",lost_card\n',
    "test.csv": b"text,category\nhello,greeting\n",
}


def entry(file: str, content: bytes, url: str = "http://127.0.0.1:9/x") -> PublishedFile:
    return PublishedFile("banking77", file, url, hashlib.sha256(content).hexdigest(), len(content), "CC0-1.0")


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """No data folder, an empty cache, no network."""
    monkeypatch.delenv("TEXTGAUGE_DATA", raising=False)
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    known = tuple(entry(file, content) for file, content in BANKING.items())
    monkeypatch.setattr(registry, "entries", lambda: known)
    return tmp_path


def filled(folder: Path, files: dict[str, bytes] = BANKING) -> Path:
    (folder / "banking77").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / "banking77" / name).write_bytes(content)
    return folder


def test_data_folder(alone, monkeypatch):
    assert not is_here("banking77")
    monkeypatch.setenv("TEXTGAUGE_DATA", str(filled(alone / "data")))
    assert is_here("banking77")
    corpus = published_texts("banking77")
    assert corpus.texts == ("where is my card?", "lost, again", "hello")
    assert corpus.labels == ("card_arrival", "lost_card", "greeting")
    assert published_texts("banking77/test/text").texts == ("hello",)


def test_several_data_folders(alone, monkeypatch):
    first = filled(alone / "one", {"train.csv": BANKING["train.csv"]})
    second = filled(alone / "two", {"test.csv": BANKING["test.csv"]})
    monkeypatch.setenv("TEXTGAUGE_DATA", os.pathsep.join([str(alone / "none"), str(first), "", str(second)]))
    assert len(published_texts("banking77")) == 3


def test_wrong_bytes_in_the_data_folder_are_refused(alone, monkeypatch):
    folder = filled(alone / "data", BANKING | {"test.csv": BANKING["test.csv"].replace(b"hello", b"hallo")})
    monkeypatch.setenv("TEXTGAUGE_DATA", str(folder))
    with pytest.raises(ResourceError, match=r"test\.csv is not the published file"):
        published_texts("banking77")


def test_a_file_that_changes_is_checked_again(alone, monkeypatch):
    folder = filled(alone / "data")
    monkeypatch.setenv("TEXTGAUGE_DATA", str(folder))
    published_texts("banking77")
    filled(folder, {"test.csv": b"text,category\nbye,greeting,\n"})
    with pytest.raises(ResourceError, match="not the published file"):
        published_texts("banking77")


def test_cache_is_used_offline(alone):
    filled(alone / "cache" / "datasets")
    assert is_here("banking77")
    assert len(published_texts("banking77")) == 3


def test_offline_and_absent_is_one_clear_line(alone):
    with pytest.raises(ResourceError) as caught:
        published_texts("banking77")
    line = str(caught.value)
    assert "\n" not in line
    assert "banking77/train.csv is not on this machine and TEXTGAUGE_OFFLINE is set" in line
    assert "TEXTGAUGE_DATA" in line


class Server(BaseHTTPRequestHandler):
    def do_GET(self):
        content = BANKING.get(self.path.strip("/"), b"something else")
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def address():
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_download_is_checked_and_kept(alone, monkeypatch, address):
    known = tuple(entry(file, content, f"{address}/{file}") for file, content in BANKING.items())
    monkeypatch.setattr(registry, "entries", lambda: known)
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "0")
    assert [path.name for path in fetch_dataset("banking77")] == ["train.csv", "test.csv"]
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    assert len(published_texts("banking77")) == 3


def test_download_with_other_bytes_is_refused_and_nothing_is_kept(alone, monkeypatch, address):
    known = (entry("train.csv", BANKING["train.csv"], f"{address}/changed"),)
    monkeypatch.setattr(registry, "entries", lambda: known)
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "0")
    with pytest.raises(ResourceError, match="its bytes have changed"):
        fetch_dataset("banking77")
    assert not [path for path in (alone / "cache").rglob("*") if path.is_file()]


def test_no_answer_is_a_clear_line(alone, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "0")
    with pytest.raises(ResourceError, match="cannot be used"):
        fetch_dataset("banking77")


def test_unknown_names(alone):
    with pytest.raises(UnknownName, match="banking77"):
        published_texts("baking77")
    with pytest.raises(UnknownName, match="train"):
        published_texts("banking77/trian")
    with pytest.raises(InputError, match="not pairs"):
        published_pairs("banking77")


def test_registry_is_sound():
    assert len(entries()) == 36
    for item in entries():
        assert item.url.startswith("https://")
        assert len(item.sha256) == 64
        assert int(item.sha256, 16) >= 0
        assert item.size > 0
        assert Path(item.file).name == item.file
    assert {item.dataset for item in entries()} == {card.name for card in list_published()}
    assert len({(item.dataset, item.file) for item in entries()}) == len(entries())
    with pytest.raises(UnknownName):
        entries_of("nothing")


@pytest.fixture
def real(monkeypatch):
    """The real files, where this machine has them."""
    beside = Path(__file__).resolve().parents[4] / "shared" / "raw"
    folder = os.environ.get("TEXTGAUGE_DATA") or str(beside)
    monkeypatch.setenv("TEXTGAUGE_DATA", folder)
    if not all(is_here(card.name) for card in list_published()):
        pytest.skip("the published files are not on this machine (TEXTGAUGE_DATA)")


@pytest.mark.parametrize("card", list_published(), ids=lambda card: card.name)
def test_reader_on_the_real_files(real, card):
    corpus = published_texts(card.name)
    assert len(corpus) == card.size
    assert all(text.strip() for text in corpus.texts)
    assert corpus.licence == card.licence
    if card.kind == "pairs":
        pairs = published_pairs(card.name)
        assert len(pairs) == card.size
        assert pairs.left == corpus.texts
        assert all(text.strip() for text in pairs.right)
        assert set(pairs.group) <= set(card.parts)


def test_label_counts(real):
    counts = {name: len(set(published_texts(name).labels)) for name in ("banking77", "clinc150", "atis", "nfcats")}
    assert counts == {"banking77": 77, "clinc150": 150, "atis": 26, "nfcats": 8}
    assert set(published_texts("clinc150/oos").labels) == {"oos"}
    assert len(published_texts("clinc150/oos")) == 1200


def test_ratings(real):
    assert len(published_pairs("stsb/dev")) == 1500
    assert {0.0, 5.0} <= set(published_pairs("stsb").grade)
    rated = published_pairs("yamshchikov14/Bible")
    assert rated.raters[0] == (2.0, 3.0, 4.0)
    assert rated.grade[0] == 3.0
    translated = published_pairs("wmt21_mqm_ted_zhen")
    assert max(translated.grade) == 0.0
    assert len(set(translated.group)) == 15
    assert not any("<v>" in text for text in translated.right)
    assert published_pairs("scitldr").grade is None


def test_sides(real):
    pairs = published_pairs("stsb/dev")
    assert published_texts("stsb/dev/right").texts == pairs.right
    assert published_texts("stsb/left/dev").texts == pairs.left


@pytest.fixture
def plugged(monkeypatch):
    """A package that names `register` under the entry point group of datasets."""

    def install(register):
        plugin = SimpleNamespace(name="extra", value="extra:register", dist=None, load=lambda: register)
        monkeypatch.setattr(metadata, "entry_points", lambda group: [plugin] if group == "textgauge.datasets" else [])
        monkeypatch.setattr(catalogue, "_registered", {})
        catalogue._load_plugins.cache_clear()

    yield install
    monkeypatch.undo()
    catalogue._load_plugins.cache_clear()


def register_two():
    texts = LabelledTexts(("a tale", "a poem"), ("prose", "verse"), "own")
    pairs = TextPairs(("a", "b"), ("c", "d"), "own", (1.0, 0.5), ((1.0, 1.0), (0.0, 1.0)))
    register_dataset("tales", lambda: texts, size=2, about="short tales", licence="CC0-1.0")
    register_dataset("tale-pairs", lambda: pairs, kind="pairs", size=2)


class TestPlugIns:
    def test_a_package_adds_datasets_by_entry_point(self, plugged):
        plugged(register_two)
        card = next(card for card in list_published() if card.name == "tales")
        assert (card.kind, card.size, card.licence, card.about) == ("texts", 2, "CC0-1.0", "short tales")
        assert load_corpus("tales").texts == ("a tale", "a poem")
        assert load_texts("tales").labels == ("prose", "verse")
        assert load_texts("tale-pairs/right").texts == ("c", "d")
        pairs = load_pairs("tale-pairs")
        assert (pairs.grade, pairs.raters) == ((1.0, 0.5), ((1.0, 1.0), (0.0, 1.0)))
        assert is_here("tales")
        assert fetch_dataset("tales") == []

    def test_a_broken_package_leaves_the_others(self, plugged):
        plugged(lambda: register_dataset("banking77", list, size=1))
        with pytest.warns(UserWarning, match="package extra:register is left out: .*'banking77' is registered already"):
            assert "banking77" in {card.name for card in list_published()}

    @pytest.mark.parametrize(
        ("name", "kind", "reason"),
        [
            ("a/b", "texts", "no slash"),
            ("hf:x", "texts", "no colon"),
            ("", "texts", "called"),
            ("x", "words", "'words'"),
        ],
    )
    def test_impossible_names_and_kinds_are_refused(self, plugged, name, kind, reason):
        plugged(lambda: None)
        with pytest.raises(InputError, match=reason):
            register_dataset(name, list, kind=kind, size=1)

    def test_a_reader_must_give_what_was_declared(self, plugged):
        plugged(lambda: register_dataset("odd", lambda: ["a", "b"], size=2))
        with pytest.raises(InputError, match="'odd' is registered as texts, but reads as list"):
            load_texts("odd")
