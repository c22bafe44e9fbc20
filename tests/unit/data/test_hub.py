"""Datasets of the hub: a split by its name, one file at a revision; nothing here uses the network."""

import sys
from types import SimpleNamespace

import pytest
from tests.unit.data.conftest import Rows

from textgauge.core.errors import InputError, MissingExtra
from textgauge.data.source import load_texts


def test_hub_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match="pip install datasets; or name a file of it"):
        load_texts("hf://owner/name")


def test_hub_with_the_package(monkeypatch):
    asked = []

    def load_dataset(name, split):
        asked.append((name, split))
        return Rows(text=["a", "b"], label=[0, 1])

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    assert load_texts("hf://owner/name:test", labels="label").labels == ("0", "1")
    assert load_texts("hf://owner/name").texts == ("a", "b")
    assert asked == [("owner/name", "test"), ("owner/name", "train")]
    with pytest.raises(InputError, match="give a dataset"):
        load_texts("hf://")


def test_offline_the_package_may_not_fetch(monkeypatch):
    asked = []

    def load_dataset(name, split, download_config):
        asked.append(download_config)
        return Rows(text=["a", "b"])

    package = SimpleNamespace(load_dataset=load_dataset, DownloadConfig=lambda **options: options)
    monkeypatch.setitem(sys.modules, "datasets", package)
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    assert load_texts("hf://owner/name").texts == ("a", "b")
    assert asked == [{"local_files_only": True}]


def test_hub_that_fails(monkeypatch):
    def load_dataset(name, split):
        raise RuntimeError("no such dataset\nand a long story")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    with pytest.raises(InputError, match=r"RuntimeError: no such dataset\)$"):
        load_texts("hf://owner/name")


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """What was asked of the hub, which has one file of each kind."""
    (tmp_path / "a.csv").write_text("question,label\nwhere is it?,x\nhow much?,y\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    calls = []

    def hf_hub_download(repo, path, **options):
        calls.append((repo, path, options["revision"], options["repo_type"]))
        found = tmp_path / path.rpartition("/")[2]
        if not found.exists():
            raise FileNotFoundError(f"404\n{path}")
        return str(found)

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(hf_hub_download=hf_hub_download))
    return calls


def test_a_file_at_a_revision_is_read_by_its_ending(asked):
    assert load_texts("hf://datasets/owner/name@a1b2/data/a.csv:question").texts == ("where is it?", "how much?")
    assert load_texts("hf://datasets/owner/name/a.csv", column="label").texts == ("x", "y")
    assert load_texts("hf://datasets/owner/name/a.txt", column="label").texts == ("one", "two")
    assert asked == [
        ("owner/name", "data/a.csv", "a1b2", "dataset"),
        ("owner/name", "a.csv", None, "dataset"),
        ("owner/name", "a.txt", None, "dataset"),
    ]


def test_a_file_that_is_not_there_is_one_line(asked):
    with pytest.raises(InputError, match=r"name@x/none.csv: cannot be loaded \(FileNotFoundError: 404\)$"):
        load_texts("hf://datasets/owner/name@x/none.csv")
    assert len(asked) == 1


@pytest.mark.parametrize("spec", ["hf://datasets/owner/name", "hf://datasets/owner/name@main/*.parquet"])
def test_a_name_without_one_file_is_refused(asked, spec):
    with pytest.raises(InputError, match=r"or one of its files, as in hf://datasets/owner/name@revision/data.csv"):
        load_texts(spec)
    assert asked == []
