from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from textgauge.core.errors import ResourceError
from textgauge.encode import resources
from textgauge.encode.resource_sources import Package, Resource, file_sha256

PAYLOAD = b"alpha\r\n"


def write_archive(path: Path, files: dict[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"only_source-1.0/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Declare a resource whose only source is a source archive; gives a file its setup.py would write."""
    sign = tmp_path / "setup-was-run"

    def declared(*, digest: str | None = None, size: int = len(PAYLOAD)) -> Path:
        run = (
            f"open({str(sign)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name='only-source', version='1.0')"
        )
        files = {"setup.py": run.encode(), "only_source/data/a.txt": PAYLOAD, "only_source/__init__.py": run.encode()}
        archive = write_archive(tmp_path / "index" / "only_source-1.0.tar.gz", files)
        package = Package("only-source", "1.0", digest or file_sha256(archive), "only_source/data", sdist=True)
        (tmp_path / "a.txt").write_bytes(PAYLOAD)
        entry = Resource("tiny", "a file", "CC0", size, {"a.txt": file_sha256(tmp_path / "a.txt")}, (package,))
        monkeypatch.setattr(resources, "RESOURCES", (entry,))
        return sign

    for name, value in {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "index"),
        "PIP_CONFIG_FILE": "/dev/null",
        "TEXTGAUGE_CACHE": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("TEXTGAUGE_OFFLINE", raising=False)
    monkeypatch.delenv("TEXTGAUGE_RESOURCES", raising=False)
    return declared


def test_a_source_archive_is_read_and_never_run(declare: Callable[..., Path]) -> None:
    sign = declare()
    assert (resources.locate("tiny") / "a.txt").read_bytes() == PAYLOAD
    assert not sign.exists()


def test_another_archive_under_the_same_name_is_refused_unread(declare: Callable[..., Path]) -> None:
    sign = declare(digest="0" * 64)
    with pytest.raises(ResourceError, match="only-source"):
        resources.locate("tiny")
    assert not sign.exists()


def test_an_archive_larger_than_declared_is_refused(declare: Callable[..., Path]) -> None:
    declare(size=3)
    with pytest.raises(ResourceError, match="larger than declared"):
        resources.locate("tiny")
