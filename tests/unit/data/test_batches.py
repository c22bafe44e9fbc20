"""Files read in batches hold what whole files hold, whatever the size of a batch; damage is one line."""

import gzip

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge.core.errors import InputError
from textgauge.core.settings import limit_sizes
from textgauge.data.formats import read_batches, read_table


def rows(path, most=3):
    with limit_sizes(most):
        tables = list(read_batches(path))
    return [pair for table in tables for pair in zip(table.rows, table.get_texts(None), strict=True)]


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
    whole = read_table(path)
    assert rows(path) == list(zip(whole.rows, whole.get_texts(None), strict=True))
    packed = file(f"{name}.gz", gzip.compress(content.encode()))
    assert rows(packed) == rows(path)


@settings(max_examples=40)
@given(text=st.text(st.sampled_from("ab \n\r\u2028é"), min_size=1, max_size=30), size=st.integers(1, 9))
def test_any_text_in_any_pieces(tmp_path_factory, text, size):
    path = tmp_path_factory.mktemp("pieces") / "a.txt"
    path.write_bytes(text.encode())
    assert [cell for _, cell in rows(path, size)] == read_table(path).columns["text"]


def test_parquet_by_rows_and_one_column(tmp_path):
    path = tmp_path / "a.parquet"
    polars.DataFrame({"n": range(8), "text": [f"text {i}" for i in range(8)]}).write_parquet(path)
    assert rows(path) == [(i + 1, f"text {i}") for i in range(8)]
    with limit_sizes(3):
        assert [list(table.columns) for table in read_batches(path, column="text")] == [["text"]] * 3


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_arrow_by_rows_and_one_column(tmp_path, kind, compression):
    path, texts = tmp_path / "a.arrow", [f"a text with the number {i}" for i in range(25)]
    words = polars.Series(["red", "blue", "red", "green", "blue"] * 5, dtype=polars.Categorical)
    frame = polars.DataFrame({"text": texts, "colour": words})
    (frame.write_ipc if kind == "file" else frame.write_ipc_stream)(path, compression=compression)
    whole = read_table(path)
    with limit_sizes(10):
        tables = list(read_batches(path))
    assert [len(table.rows) for table in tables] == [10, 10, 5]
    assert [row for table in tables for row in table.rows] == list(whole.rows) == list(range(1, 26))
    assert [cell for table in tables for cell in table.columns["colour"]] == whole.columns["colour"]
    assert [cell for table in read_batches(path, column="text") for cell in table.get_texts("text")] == texts
    data = path.read_bytes()
    for content in (data[: len(data) * 2 // 3], b"", b"nothing of Arrow"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"a\.arrow") as error:
            rows(path)
        assert "\n" not in str(error.value)


def test_a_byte_that_is_no_text_is_named_by_its_line(file):
    path = file("a.txt", b"one\ntwo\nthree\nfour \xff\nfive\n")
    with pytest.raises(InputError, match=r"line 4 is not UTF-8 \(byte 0xff\)"):
        rows(path)


def test_a_broken_row_in_the_middle_of_a_parquet_file_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    texts = [f"a text with the number {i} of its own" for i in range(400)]
    polars.DataFrame({"text": texts}).write_parquet(path, row_group_size=100, compression="zstd", statistics=False)
    data = bytearray(path.read_bytes())
    third = len(data) * 5 // 8
    data[third - 200 : third] = b"\xff" * 200
    path.write_bytes(data)
    found = []
    with limit_sizes(100), pytest.raises(InputError, match=r"a\.parquet: from row \d+ on: bad Parquet") as error:
        found.extend(cell for table in read_batches(path) for cell in table.get_texts(None))
    assert "\n" not in str(error.value)
    assert found == texts[: len(found)]
    assert len(found) >= 100
