"""Files read in batches hold what whole files hold, whatever the size of a batch; damage is one line."""

from __future__ import annotations

import gzip
import io

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge.core.errors import InputError
from textgauge.core.sizes import cap_sizes
from textgauge.data.batches import read_batches
from textgauge.data.formats import load_table
from textgauge.data.frames import _arrow_stream, arrow_rows


def rows(path, most=3):
    with cap_sizes(most):
        tables = list(read_batches(path))
    return [pair for table in tables for pair in zip(table.rows, table.texts(None), strict=True)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "one\ntwo\n\nthree and more\r\nfour\rfive\r\n\rsix"),
        ("a.txt", "\ufeffone\nzwei ü\u2028still two\n"),
        ("a.csv", 'text,n\none,1\n"two\nlines",2\n"a ""quote""",3\nfour\u2028still,4\n'),
        ("a.csv", "text;price\nfine;0,5\ngood;1,5\n"),
        ("a.tsv", 'n\ttext\n1\tone\n2\t"two, quoted"\n3\tthree\n'),
        ("a.jsonl", '{"text": "one"}\n\n{"text": "two", "n": 2}\n"three"\n{"text": null}\n'),
    ],
)
def test_batches_are_the_whole_file(file, name, content):
    path = file(name, content)
    whole = load_table(path)
    assert rows(path) == list(zip(whole.rows, whole.texts(None), strict=True))
    packed = file(f"{name}.gz", gzip.compress(content.encode()))
    assert rows(packed) == rows(path)


@settings(max_examples=40)
@given(text=st.text(st.sampled_from("ab \n\r\u2028é"), min_size=1, max_size=30), size=st.integers(1, 9))
def test_any_text_in_any_pieces(tmp_path_factory, text, size):
    path = tmp_path_factory.mktemp("pieces") / "a.txt"
    path.write_bytes(text.encode())
    assert [cell for _, cell in rows(path, size)] == load_table(path).columns["text"]


def test_parquet_by_rows_and_one_column(tmp_path):
    path = tmp_path / "a.parquet"
    polars.DataFrame({"n": range(8), "text": [f"text {i}" for i in range(8)]}).write_parquet(path)
    assert rows(path) == [(i + 1, f"text {i}") for i in range(8)]
    with cap_sizes(3):
        assert [list(table.columns) for table in read_batches(path, column="text")] == [["text"]] * 3


ARROW_TEXTS = [f"a text with the number {i}" for i in range(25)]


def write_arrow(path, kind, **options):
    """A stream or a Feather file of three batches, with a column of repeated words, which Arrow keeps by number."""
    words = polars.Series(["red", "blue", "red", "green", "blue"] * 5, dtype=polars.Categorical)
    polars.DataFrame({"text": ARROW_TEXTS, "colour": words}).write_ipc(path, record_batch_size=10, **options)
    if kind == "stream":  # the batches of three streams after the schema and dictionaries of the first
        found = [polars.DataFrame({"text": ARROW_TEXTS, "colour": words})[at : at + 10] for at in (0, 10, 20)]
        streams = [io.BytesIO() for _ in found]
        for frame, stream in zip(found, streams, strict=True):
            frame.write_ipc_stream(stream, **options)
        messages = [list(_arrow_stream(memoryview(stream.getvalue()))) for stream in streams]
        together = [*messages[0], *(some[-1] for some in messages[1:])]
        path.write_bytes(b"".join(part for pair in together for part in pair) + b"\xff\xff\xff\xff\0\0\0\0")


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_arrow_by_its_batches_and_one_column(tmp_path, kind, compression):
    path = tmp_path / "a.arrow"
    write_arrow(path, kind, compression=compression)
    whole = load_table(path)
    with cap_sizes(10):
        found = list(read_batches(path))
    assert [len(table.rows) for table in found] == [10, 10, 5]
    assert [row for table in found for row in table.rows] == list(whole.rows) == list(range(1, 26))
    assert [cell for table in found for cell in table.columns["colour"]] == whole.columns["colour"]
    one = [cell for table in read_batches(path, column="text") for cell in table.texts("text")]
    assert one == ARROW_TEXTS
    assert kind == "file" or arrow_rows(path) == 25


def test_an_arrow_file_that_is_cut_short_or_damaged_is_one_line(tmp_path):
    path = tmp_path / "a.arrow"
    write_arrow(path, "stream")
    data = path.read_bytes()
    for content, match in (
        (data[: len(data) * 2 // 3], r"from row \d+ on"),
        (b"", "empty"),
        (b"nothing of Arrow", "not a whole Arrow file"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=match) as error:
            rows(path)
        assert "\n" not in str(error.value)


def test_a_byte_that_is_no_text_is_named_by_its_line(file):
    path = file("a.txt", b"one\ntwo\nthree\nfour \xff\nfive\n")
    with pytest.raises(InputError, match=r"line 4 is not UTF-8 \(byte 0xff\)"):
        rows(path)


def test_a_text_of_ten_megabytes_is_refused_in_one_line(file):
    path = file("a.txt", b"short\n" + b"x" * 10_000_000 + b"\nshort\n")
    with pytest.raises(InputError, match="1,000,000") as error:
        rows(path, 2**22)
    assert "\n" not in str(error.value)


def test_a_broken_row_in_the_middle_of_a_parquet_file_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    texts = [f"a text with the number {i} of its own" for i in range(400)]
    polars.DataFrame({"text": texts}).write_parquet(path, row_group_size=100, compression="zstd", statistics=False)
    data = bytearray(path.read_bytes())
    third = len(data) * 5 // 8
    data[third - 200 : third] = b"\xff" * 200
    path.write_bytes(data)
    found = []
    with cap_sizes(100), pytest.raises(InputError, match=r"a\.parquet: rows \d+ to \d+: bad Parquet") as error:
        found.extend(cell for table in read_batches(path) for cell in table.texts(None))
    assert "\n" not in str(error.value)
    assert found == texts[: len(found)]
    assert len(found) >= 100


def test_a_file_that_vanishes_is_one_line(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        rows(tmp_path / "gone.txt")
    with pytest.raises(InputError, match="No such file"):
        rows(tmp_path / "gone.parquet")


def test_a_feather_file_may_be_larger_than_what_is_read_at_once(tmp_path, monkeypatch):
    path = tmp_path / "a.feather"
    texts = [f"a text with the number {i} of its own" for i in range(400)]
    polars.DataFrame({"text": texts}).write_ipc(path, compression="uncompressed", record_batch_size=100)
    monkeypatch.setenv("TEXTGAUGE_MAX_BYTES", "9000")
    with cap_sizes(100):
        assert [text for table in read_batches(path) for text in table.texts(None)] == texts
    monkeypatch.setenv("TEXTGAUGE_MAX_BYTES", "900")
    with pytest.raises(InputError, match=r"a\.feather: unpacked, a table of .* bytes; the limit is 900 bytes"):
        list(read_batches(path))
