import os
from types import SimpleNamespace

import pytest

from textgauge.bench.store import Store
from textgauge.core.errors import TextgaugeError
from textgauge.core.parallel import count_workers
from textgauge.core.settings import read_stored_bytes
from textgauge.data import load_texts, read_embeddings
from textgauge.data.cache import EmbeddingStore
from textgauge.measure.checking import read_baselines, read_checks
from textgauge_papers.elmo import read_sizes


@pytest.fixture(params=["device", "pipe"])
def endless(request, tmp_path):
    """Makes a path lead to something without an end."""

    def make(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if request.param == "device":
            path.symlink_to("/dev/zero")
        else:
            os.mkfifo(path)
        return path

    return make


def test_whole_files_are_read_up_to_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_stored_bytes(path) == b"12345"
    monkeypatch.setenv("TEXTGAUGE_MAX_BYTES", "4")
    with pytest.raises(OSError, match="5 bytes; the limit is 4 bytes"):
        read_stored_bytes(path)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("run/manifests/a.json", lambda path: Store(path.parent.parent).manifests()),
        ("checks.toml", read_checks),
        ("baselines.json", read_baselines),
        ("options.json", read_sizes),
        ("vectors.npy", read_embeddings),
    ],
)
def test_what_has_no_end_is_refused_at_once(tmp_path, endless, name, read):
    with pytest.raises(TextgaugeError, match="not a regular file"):
        read(endless(tmp_path / name))


def test_a_result_without_end_counts_as_missing(tmp_path, endless):
    endless(tmp_path / "derived" / "x.json")
    with pytest.warns(RuntimeWarning, match="not a regular file"):
        assert Store(tmp_path).read_extra("x") is None


def test_what_a_cache_keeps_without_end_counts_as_missing(tmp_path, endless):
    path = endless(tmp_path / "cache" / "vectors.sqlite")
    with pytest.warns(UserWarning, match="damaged"):
        assert EmbeddingStore(path.parent).read(["a"]) == {}
    assert not path.is_symlink()
    assert not path.exists()


@pytest.mark.parametrize("ending", ["", ".txt", ".csv", ".json", ".jsonl", ".parquet", ".arrow", ".xlsx", ".txt.gz"])
def test_a_device_is_no_text(tmp_path, ending):
    path = tmp_path / f"x{ending}"
    path.symlink_to("/dev/zero")
    with pytest.raises(TextgaugeError, match="this is a device; give a file"):
        load_texts(path)


def test_a_pipe_of_zeros_is_left_at_once(monkeypatch):
    taken = []

    def read(size):
        taken.append(size)
        return bytes(size)

    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=SimpleNamespace(read=read)))
    with pytest.raises(TextgaugeError, match="standard input"):
        load_texts("-")
    assert sum(taken) < 2**24


def test_a_pipe_of_texts_is_read(tmp_path):
    reading, writing = os.pipe()
    os.write(writing, b"one\ntwo\n")
    os.close(writing)
    assert load_texts(f"/dev/fd/{reading}").texts == ("one", "two")
    os.close(reading)


@pytest.mark.parametrize("given", ["-1", "0", "abc", "1e9", "9" * 30, "²", "2.5", "1025"])
def test_a_number_of_threads_that_makes_no_sense_is_refused(monkeypatch, given):
    monkeypatch.setenv("TEXTGAUGE_THREADS", given)
    with pytest.raises(TextgaugeError, match=r"TEXTGAUGE_THREADS=.*: give a whole number from 1 to 1,024"):
        count_workers()
