"""A store of cells: whole files or none, and one clear error where it cannot be written."""

import errno
import json
import os

import pytest

from textgauge.bench import Store, run
from textgauge.core.errors import InputError, ResourceError


def files(folder):
    """Inode and time of every file: what changes when a file is written anew."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


def test_what_is_written_is_read_back_and_nothing_else_is_left(tmp_path, make_plan):
    plan, store = make_plan(), Store(tmp_path)
    report = run([plan], store)
    assert (report.found, report.computed, report.failures) == (0, 6, ())
    for cell in plan.cells():
        frame = store.read(cell)
        parts = [name for name in frame.columns if name.startswith("part.")]
        assert frame.columns == ["i", "j", "value", *parts, "reason", "failed", "seconds"]
        assert len(frame) == 6
        assert frame["value"].is_finite().all()
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-7],
        lambda content: content[: len(content) // 2],
        lambda content: b"PAR1" + bytes(len(content) - 8) + b"PAR1",
        lambda content: bytes(reversed(content)),
        lambda content: content[:-8] + b"\xff\xff\xff\x7f" + content[-4:],
    ],
)
def test_a_damaged_cell_is_computed_again_and_no_other(tmp_path, make_plan, contents, same, damage):
    plan, store = make_plan(), Store(tmp_path)
    run([plan], store)
    before, numbers = files(tmp_path / "cells"), contents(tmp_path)
    victim = store.path(plan.cells()[2])
    victim.write_bytes(damage(victim.read_bytes()))
    with pytest.warns(RuntimeWarning, match=f"{victim.name}: damaged"):
        assert store.read(plan.cells()[2]) is None
    with pytest.warns(RuntimeWarning, match=f"{victim.name}: damaged"):
        report = run([plan], store)
    assert (report.found, report.computed) == (5, 1)
    after = files(tmp_path / "cells")
    assert {path for path in before if before[path] != after[path]} == {victim}
    assert same(contents(tmp_path), numbers)


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_link_or_pipe_in_a_run_folder_is_replaced_and_not_followed(tmp_path, make_plan, kind):
    plan, store, elsewhere = make_plan(), Store(tmp_path / "run"), tmp_path / "elsewhere"
    run([plan], store)
    elsewhere.write_text("mine")
    (manifest,) = (tmp_path / "run" / "manifests").iterdir()
    for path in (store.path(plan.cells()[2]), manifest):
        path.unlink()
        path.symlink_to(elsewhere) if kind == "link" else os.mkfifo(path)
    with pytest.warns(RuntimeWarning, match="damaged"):
        report = run([plan], store)
    assert (report.found, report.computed, elsewhere.read_text()) == (5, 1, "mine")
    assert store.read(plan.cells()[2]) is not None
    assert manifest.is_file()
    assert not manifest.is_symlink()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("where", ["write", "replace"])
def test_a_disk_that_refuses_is_one_clear_error(tmp_path, make_plan, monkeypatch, number, where):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    plan, store = make_plan(), Store(tmp_path)
    run([make_plan(repetitions=1)], store)
    before = files(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(*{"write": ("pathlib.Path.write_bytes", refuse), "replace": ("os.replace", refuse)}[where])
        with pytest.raises(ResourceError, match=f"cannot write to .*{os.strerror(number)}"):
            run([plan], store)
    assert files(tmp_path) == before
    assert run([plan], store).computed == 6


def test_the_manifest_tells_all_that_decides_the_numbers(tmp_path, make_plan):
    plan = make_plan(seed=3)
    run([plan], Store(tmp_path))
    run([plan], Store(tmp_path))
    (path,) = tmp_path.glob("manifests/*.json")
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["seed"] == 3
    share = plan.protocol.pool_share(plan.sources)
    assert found["data"] == {"name": "a,b", "fingerprint": plan.sources.fingerprint, "pool_share": share}
    assert found["protocol"]["parameters"]["k"] == 4
    assert any(version.startswith("numpy=") for version in found["versions"])
    assert {cell["signature"] for cell in found["cells"]} == {metric.signature for metric in plan.metrics}
    assert {f"{cell['name']}.parquet" for cell in found["cells"]} == {p.name for p in tmp_path.rglob("*.parquet")}


def flipped(content, position, bit):
    """The content with one bit of one byte turned."""
    return content[:position] + bytes([content[position] ^ (1 << bit)]) + content[position + 1 :]


def check_flips(store, cell, positions):
    """No flipped bit of a result is believed, and each is named: the content is refused, or none of it has changed."""
    path, frame = store.path(cell), store.read(cell)
    whole = path.read_bytes()
    for position, bit in positions:
        path.write_bytes(flipped(whole, position % len(whole), bit))
        with pytest.warns(RuntimeWarning, match=r"\.parquet: damaged \("):
            assert store.read(cell) is None
    path.write_bytes(whole)
    assert store.read(cell).equals(frame, null_equal=True)


@pytest.mark.slow
def test_every_byte_of_a_result_is_covered(tmp_path, make_plan):
    plan, store = make_plan(repetitions=1), Store(tmp_path)
    run([plan], store)
    for cell in plan.cells():
        size = store.path(cell).stat().st_size
        check_flips(store, cell, [(position, position % 8) for position in range(size)])


def test_a_result_without_checksum_is_read(tmp_path, make_plan):
    plan, store = make_plan(), Store(tmp_path)
    run([plan], store)
    cell = plan.cells()[0]
    frame = store.read(cell)
    frame.write_parquet(store.path(cell))
    assert store.read(cell).equals(frame, null_equal=True)


def test_a_changed_manifest_is_refused_and_one_without_checksum_is_read(tmp_path, make_plan):
    run([make_plan(seed=3)], Store(tmp_path))
    (path,) = tmp_path.glob("manifests/*.json")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"seed": 3', '"seed": 4'), encoding="utf-8")
    with pytest.raises(InputError, match="a damaged manifest"):
        Store(tmp_path).manifests()
    old = {name: value for name, value in json.loads(text).items() if name != "checksum"}
    path.write_text(json.dumps(old), encoding="utf-8")
    assert Store(tmp_path).manifests() == [old]
