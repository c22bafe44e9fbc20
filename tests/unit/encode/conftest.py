from __future__ import annotations

import hashlib
import zipfile

import pytest
from tests.servers import serve_folder

from textgauge.core.errors import ResourceError
from textgauge.core.registry import Registry
from textgauge.encode import resources
from textgauge.encode.resources import Package, Resource

CONTENT = {"data/a.txt": b"alpha", "data/deep/b.txt": b"beta", "notes.md": b"not wanted"}

LARGE = {"mpnet", "gte-small", "e5-small", "bge-small", "glove-840b"}


@pytest.fixture
def need():
    """Give the folder of a real resource, or skip the test where it cannot be had; large ones are not fetched."""

    def folder(name):
        if name in LARGE and not resources.is_available(name):
            pytest.skip(f"{name} is not on this machine: textgauge resources fetch {name}")
        try:
            return resources.locate(name)
        except ResourceError as error:
            pytest.skip(str(error))

    return folder


def save_word_tokenizer(folder, words, *, begin=""):
    """Write a tokenizer that splits at space and knows these words; `begin` is put before every text."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    library = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    library.pre_tokenizer = Whitespace()
    if begin:
        library.post_processor = TemplateProcessing(f"{begin} $A", special_tokens=[(begin, words[begin])])
    library.save(str(folder / "tokenizer.json"))


def sha(content):
    return hashlib.sha256(content).hexdigest()


def publish(www, package, archive):
    """Put an archive on the page that an index has of a package."""
    page = www / "simple" / package / "index.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f'<a href="../../{archive.relative_to(www)}#sha256={sha(archive.read_bytes())}">{archive.name}</a>')


@pytest.fixture
def www(tmp_path, monkeypatch):
    """A folder that is served as package index (`simple/`) and as hub; the hub is switched off."""
    folder = tmp_path / "www"
    folder.mkdir()
    settings = {
        "PIP_CONFIG_FILE": "/dev/null",
        "NO_PROXY": "127.0.0.1",
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "hub"),
        "TEXTGAUGE_CACHE": str(tmp_path / "cache"),
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    for name in ("PIP_EXTRA_INDEX_URL", "HF_HUB_CACHE", "TEXTGAUGE_OFFLINE", "TEXTGAUGE_RESOURCES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(resources, "_checked", set())
    with serve_folder(folder) as address:
        monkeypatch.setenv("PIP_INDEX_URL", f"{address}/simple")
        monkeypatch.setattr(resources, "HUB", address)
        yield folder


@pytest.fixture
def wheel(www):
    """The wheel of the resource `tiny`, on the index."""
    path = www / "tiny_data-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_data/__init__.py", "raise RuntimeError('the code of a data package must never run')")
        archive.writestr("tiny_data-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-data\nVersion: 1.0\n")
        for name, content in CONTENT.items():
            archive.writestr(f"tiny_data/{name}", content)
    publish(www, "tiny-data", path)
    return path


@pytest.fixture
def tiny(wheel, monkeypatch):
    """A declared resource of two files, and a cache of its own."""
    files = {path: sha(CONTENT[path]) for path in ("data/a.txt", "data/deep/b.txt")}
    packages = (Package("tiny-data", "1.0", sha(wheel.read_bytes()), "tiny_data"),)
    entry = Resource("tiny", "two small files", "CC0", 9, files, packages, "org/tiny@f00d", lighter="tokenizer words")
    part = Resource("tiny-part", "one of them", "CC0", 5, {"data/a.txt": sha(b"alpha")}, part_of="tiny")
    monkeypatch.setattr(resources, "RESOURCES", Registry("resource", {"tiny": entry, "tiny-part": part}))
    return entry


@pytest.fixture
def tiny_here(tiny, tmp_path, monkeypatch):
    """The same resource with its files in a folder of the user."""
    for name in tiny.files:
        path = tmp_path / "mine" / "tiny" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(CONTENT[name])
    monkeypatch.setenv("TEXTGAUGE_RESOURCES", str(tmp_path / "mine"))
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    return tiny
