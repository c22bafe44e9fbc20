"""Datasets that packages register: where their files are looked for, and what is refused."""

import csv
import hashlib
from importlib import metadata
from types import SimpleNamespace

import pytest
from tests.servers import serve_folder

from textgauge.core.errors import InputError, ResourceError, UnknownName
from textgauge.core.registry import Registry
from textgauge.data import (
    DatasetFile,
    DatasetItem,
    datasets,
    fetch_dataset,
    find_dataset_file,
    is_here,
    list_published,
    load_corpus,
    load_pairs,
    load_published_pairs,
    load_published_texts,
    load_texts,
    register_dataset,
)

BANKING = {
    "train.csv": b'text,category\nwhere is my card?,card_arrival\n"lost, again",lost_card\n',
    "test.csv": b"text,category\nhello,greeting\n",
}


def new_registry():
    return Registry("dataset", group="textgauge.datasets", plug_in=lambda _, register: register())


def file(name, content, url="http://127.0.0.1:9/x"):
    return DatasetFile(name, url, hashlib.sha256(content).hexdigest(), len(content))


def read_banking():
    for split in ("train", "test"):
        with open(find_dataset_file("banking", f"{split}.csv"), encoding="utf-8", newline="") as lines:
            for text, label in list(csv.reader(lines))[1:]:
                yield DatasetItem(split, text, label)


def register_banking(files):
    datasets.DATASETS.pop("banking", None)
    register_dataset("banking", read_banking, size=3, files=files, splits=("train", "test"))


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """One dataset, no data folder, an empty cache, no network."""
    monkeypatch.delenv("TEXTGAUGE_DATA", raising=False)
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(datasets, "DATASETS", Registry("dataset"))
    register_banking([file(name, content) for name, content in BANKING.items()])
    return tmp_path


def filled(folder, files=BANKING):
    (folder / "banking").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / "banking" / name).write_bytes(content)
    return folder


def test_data_folder(alone, monkeypatch):
    assert not is_here("banking")
    monkeypatch.setenv("TEXTGAUGE_DATA", str(filled(alone / "data")))
    assert is_here("banking")
    corpus = load_published_texts("banking")
    assert corpus.texts == ("where is my card?", "lost, again", "hello")
    assert corpus.labels == ("card_arrival", "lost_card", "greeting")
    assert load_published_texts("banking/test/text").texts == ("hello",)


def test_wrong_bytes_in_the_data_folder_are_refused(alone, monkeypatch):
    folder = filled(alone / "data", BANKING | {"test.csv": BANKING["test.csv"].replace(b"hello", b"hallo")})
    monkeypatch.setenv("TEXTGAUGE_DATA", str(folder))
    with pytest.raises(ResourceError, match=r"test\.csv is not the published file"):
        load_published_texts("banking")


@pytest.fixture
def address(tmp_path):
    (tmp_path / "www").mkdir()
    for name, content in {**BANKING, "changed": b"something else"}.items():
        (tmp_path / "www" / name).write_bytes(content)
    with serve_folder(tmp_path / "www") as found:
        yield found


def test_download_is_checked_and_kept(alone, monkeypatch, address):
    register_banking([file(name, content, f"{address}/{name}") for name, content in BANKING.items()])
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "0")
    assert [path.name for path in fetch_dataset("banking")] == ["train.csv", "test.csv"]
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    assert len(load_published_texts("banking")) == 3


def test_download_with_other_bytes_is_refused_and_nothing_is_kept(alone, monkeypatch, address):
    register_banking([file("train.csv", BANKING["train.csv"], f"{address}/changed")])
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "0")
    with pytest.raises(ResourceError, match="its bytes have changed"):
        fetch_dataset("banking")
    assert not [path for path in (alone / "cache").rglob("*") if path.is_file()]


def test_unknown_names(alone):
    with pytest.raises(UnknownName, match="banking"):
        load_published_texts("bankin")
    with pytest.raises(UnknownName, match="train"):
        load_published_texts("banking/trian")
    with pytest.raises(InputError, match="not pairs"):
        load_published_pairs("banking")


@pytest.fixture
def plugged(monkeypatch):
    """A package that names `register` under the entry point group of datasets."""

    def install(register):
        plugin = SimpleNamespace(name="extra", value="extra:register", dist=None, load=lambda: register)
        monkeypatch.setattr(metadata, "entry_points", lambda group: [plugin] if group == "textgauge.datasets" else [])
        monkeypatch.setattr(datasets, "DATASETS", new_registry())

    return install


def register_two():
    texts = [DatasetItem("all", "a tale", "prose"), DatasetItem("all", "a poem", "verse")]
    pairs = [
        DatasetItem("all", "a", right="c", grade=1.0, raters=(1.0, 1.0)),
        DatasetItem("all", "b", right="d", grade=0.5, raters=(0.0, 1.0)),
    ]
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
        register_dataset("old", lambda: load_texts("tales"), size=2)
        with pytest.raises(InputError, match="gives LabelledTexts, not DatasetItems"):
            load_texts("old")

    def test_a_broken_package_leaves_the_others(self, plugged):
        plugged(lambda: (register_two(), register_two()))
        with pytest.warns(UserWarning, match="package extra:register is left out: .*'tales'"):
            assert "tales" in {card.name for card in list_published()}

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
