"""Streams: partitions of one size, blank texts left out, texts found again, many files as one."""

from __future__ import annotations

import gzip
import os
import sys
from types import SimpleNamespace

import numpy as np
import polars
import pytest

from textgauge.core.errors import InputError
from textgauge.core.sizes import cap_sizes
from textgauge.data import load_corpus
from textgauge.data.source import open_stream
from textgauge.data.stream import ArrayStream, TextStream, is_large


@pytest.fixture
def parts():
    def texts(source, **options):
        return [part.texts for part in open_stream(source, **options).partitions()]

    with cap_sizes(4):
        yield texts


def test_partitions_have_one_size_whatever_the_files(file, parts, tmp_path):
    for name, content in (("a.txt", "1\n2\n3\n"), ("b.txt", "4\n5\n"), ("c.txt", "6\n7\n8\n9\n")):
        file(name, content)
    assert parts(str(tmp_path / "*.txt")) == [["1", "2", "3", "4"], ["5", "6", "7", "8"], ["9"]]
    assert load_corpus(str(tmp_path / "*.txt")).texts == tuple("123456789")


def test_a_folder_of_tables_and_a_glob_with_a_column(parts, tmp_path):
    for number in range(2):
        frame = polars.DataFrame({"body": [f"{number}{i}" for i in range(3)], "n": [1, 2, 3]})
        frame.write_parquet(tmp_path / f"{number}.parquet")
    expected = [["00", "01", "02", "10"], ["11", "12"]]
    assert parts(tmp_path, column="body") == expected
    assert parts(f"{tmp_path}/*.parquet:body") == expected
    assert load_corpus(f"{tmp_path}/*.parquet:body").texts == tuple(expected[0] + expected[1])
    with pytest.raises(InputError, match="no file has such a name"):
        open_stream(f"{tmp_path}/*.csv")


def test_an_arrow_file_and_a_saved_dataset(parts, tmp_path):
    for number in range(2):
        frame = polars.DataFrame({"text": [f"{number}{i}" for i in range(3)]})
        frame.write_ipc_stream(tmp_path / f"data-{number}.arrow")
    (tmp_path / "state.json").write_text("{}")
    assert parts(tmp_path / "data-0.arrow") == [["00", "01", "02"]]
    assert parts(tmp_path) == [["00", "01", "02", "10"], ["11", "12"]]
    assert load_corpus(str(tmp_path)).texts == ("00", "01", "02", "10", "11", "12")


def test_files_and_splits_of_the_hub(parts, tmp_path, monkeypatch):
    polars.DataFrame({"text": [f"{i}" for i in range(6)]}).write_ipc_stream(tmp_path / "a.arrow")
    polars.DataFrame({"body": [f"{i}" for i in range(6)]}).write_parquet(tmp_path / "a.parquet")

    class Split:
        def __init__(self, size):
            self.cache_files, self.size = [{"filename": str(tmp_path / "a.arrow")}], size

        def __len__(self):
            return self.size

    known = {"train": Split(6), "train[:50%]": Split(3)}
    datasets = SimpleNamespace(load_dataset=lambda name, split: known[split])
    download = SimpleNamespace(hf_hub_download=lambda *_, **__: str(tmp_path / "a.parquet"))
    monkeypatch.setitem(sys.modules, "datasets", datasets)
    monkeypatch.setitem(sys.modules, "huggingface_hub", download)
    assert parts("hf://owner/name") == [["0", "1", "2", "3"], ["4", "5"]]
    assert open_stream("hf://owner/name:train[:50%]") is None  # its rows are some of the file's
    assert parts("hf://datasets/owner/name@main/a.parquet", column="body") == [["0", "1", "2", "3"], ["4", "5"]]


def test_blank_texts_are_left_out_and_counted(file, parts):
    path = file("a.txt", "1\n\n2\n   \n3\n4\n5\n")
    with pytest.warns(UserWarning, match="blank texts left out: 2 of 7"):
        assert parts(path) == [["1", "2", "3", "4"], ["5"]]
    assert open_stream(path).count() == 5
    with pytest.raises(InputError, match="every line is blank"):
        parts(file("b.txt", "\n\n"))


def test_texts_are_found_again(file, parts):
    path = file("a.txt", "0\n\n1\n2\n3\n4\n5\n")
    assert open_stream(path).take(np.array([0, 2, 5])) == ["0", "2", "5"]


def test_what_is_large(file, parts):
    assert not is_large(open_stream(file("a.txt", "a text\n" * 4)))
    assert is_large(open_stream(file("b.txt", "a text\n" * 5)))
    assert is_large(open_stream(np.ones((5, 2))))
    assert is_large(open_stream(["a text"] * 5))


@pytest.mark.parametrize("source", ["sample:banking", "-", "missing", ["a", 1], object()])
def test_what_is_read_whole(source):
    assert open_stream(source) is None


def test_rows_of_arrays_are_checked_with_their_place(parts):
    rows = np.ones((9, 2))
    rows[6, 1] = np.nan
    with pytest.raises(InputError, match="embedding 6 is not finite"):
        list(ArrayStream("rows", rows).partitions())


def test_a_file_that_vanishes_between_two_others(file, parts, tmp_path):
    paths = [str(file(f"{i}.txt", "1\n2\n3\n4\n5\n")) for i in range(3)]
    found = TextStream("some", tuple(paths)).partitions()
    assert next(found).texts == ["1", "2", "3", "4"]
    (tmp_path / "1.txt").unlink()
    with pytest.raises(InputError, match=r"1\.txt: no such file"):
        list(found)


@pytest.mark.parametrize("change", ["grows", "shrinks", "replaced"])
def test_a_file_that_changes_between_two_readings_is_refused(file, parts, tmp_path, change):
    path = file("a.txt", "1\n2\n3\n4\n5\n")
    stream = open_stream(path)
    assert stream.count() == 5
    if change == "replaced":
        file("b.txt", "5\n4\n3\n2\n1\n").replace(path)
    else:
        file("a.txt", "1\n2\n3\n4\n5\n6\n" if change == "grows" else "1\n2\n")
    with pytest.raises(InputError, match=r"a\.txt: the file was changed while it was read"):
        list(stream.partitions())


@pytest.mark.parametrize("kind", ["txt", "txt.gz", "parquet"])
def test_a_file_that_changes_while_it_is_read_is_refused(parts, tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        polars.DataFrame({"text": list("123456789")}).write_parquet(path)
    else:
        path.write_bytes(gzip.compress(b"1\n" * 50) if kind.endswith("gz") else b"1\n" * 50)
    found = open_stream(path).partitions()
    next(found)
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match="the file was changed while it was read"):
        list(found)
