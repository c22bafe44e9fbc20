"""Texts from files of every format, good and bad."""

import bz2
import csv
import gc
import gzip
import io
import json
import lzma
import sys
import zipfile

import polars
import pytest

from textgauge.core.errors import InputError, MissingExtra
from textgauge.data import formats, load_texts, packing


def read_texts(path, **options):
    return list(load_texts(path, **options).texts)


def complaint(read, *args, **options):
    with pytest.raises(InputError) as caught:
        read(*args, **options)
    line = str(caught.value)
    assert line
    assert "\n" not in line
    return line


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_plain_text_is_one_text_a_line(file, end, mark):
    path = file("a.txt", mark + end.join(["eins", "zwei \u2028 drei", "عربي 🙂"]) + end)
    assert read_texts(path) == ["eins", "zwei \u2028 drei", "عربي 🙂"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x\ny\n")))
    assert read_texts("-") == ["x", "y"]


def test_csv_with_quotes_and_newlines(file):
    path = file("a.csv", 'id,text\r\n1,"a, ""b"""\r\n2,"two\nlines"\r\n')
    assert read_texts(path) == ['a, "b"', "two\nlines"]


def test_tsv_keeps_quotes_unless_the_cell_is_quoted(file):
    path = file("a.tsv", 'text\tn\n"hi" he said\t1\n"a ""b"""\t2\n')
    assert read_texts(path) == ['"hi" he said', 'a "b"']


def test_jsonl_of_objects_strings_and_lone_surrogates(file):
    path = file("a.jsonl", '{"text": "\\ud83d!"}\n\n{"text": "\\ud83d\\ude00", "n": 1}\n"plain"\n')
    assert read_texts(path) == ["\ufffd!", "😀", "plain"]
    "".join(read_texts(path)).encode()


JSON = {
    "strings": ["a", "b"],
    "objects": [{"text": "a", "n": 1}, {"text": "b"}],
    "columns": {"text": ["a", "b"], "n": [1, 2]},
    "pandas": {"text": {"0": "a", "1": "b"}, "n": {"0": 1, "1": 2}},
    "wrapped": {"version": "1", "data": [{"text": "a"}, {"text": "b"}]},
    "wrapped alone": {"data": [{"text": "a"}, {"text": "b"}]},
}


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("indent", [None, 2])
def test_json(file, name, indent):
    assert read_texts(file("a.json", json.dumps(JSON[name], indent=indent))) == ["a", "b"]


@pytest.mark.parametrize("ending", packing.PACKINGS)
def test_packed_files(file, monkeypatch, ending):
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.get(ending)
    if pack is None:
        pack = pytest.importorskip("backports.zstd").compress
    for name, content in {"a.txt": b"x\ny\n", "a.csv": b"text\nx\ny\n", "a.json": b'["x", "y"]'}.items():
        assert read_texts(file(name + ending, pack(content))) == ["x", "y"]
        assert read_texts(file(name + ending.upper(), pack(content[:4]) + pack(content[4:]))) == ["x", "y"]
    monkeypatch.setenv("TEXTGAUGE_MAX_BYTES", "1000")
    assert "the limit is 1,000 bytes" in complaint(read_texts, file(f"b.txt{ending}", pack(b"x\n" * 100_000)))
    assert f"not a whole {ending} file" in complaint(read_texts, file(f"c.txt{ending}", pack(b"x\n" * 90)[:-3]))


def test_zst_without_its_package_says_what_to_install(file, monkeypatch):
    for module in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install 'textgauge\[zstd\]'"):
        read_texts(file("a.txt.zst", b"x"))


def test_xlsx(tmp_path, monkeypatch):
    pytest.importorskip("fastexcel")
    path = tmp_path / "a.xlsx"
    pytest.importorskip("xlsxwriter")
    polars.DataFrame({"n": [1, 2], "words": ["a", "b"]}).write_excel(path)
    assert read_texts(path) == ["a", "b"]
    monkeypatch.setenv("TEXTGAUGE_MAX_BYTES", "9000")
    assert "the limit is 9,000 bytes" in complaint(read_texts, path)


def test_xlsx_without_its_package_says_what_to_install(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    content = io.BytesIO()
    zipfile.ZipFile(content, "w").close()
    with pytest.raises(MissingExtra, match=r"a\.xlsx: .*pip install 'textgauge\[excel\]'"):
        read_texts(file("a.xlsx", content.getvalue()))


def test_arrow_file_and_saved_dataset(tmp_path, monkeypatch):
    polars.DataFrame({"words": ["x"]}).write_ipc(tmp_path / "a.feather")
    assert read_texts(tmp_path / "a.feather") == ["x"]
    saved = tmp_path / "saved" / "train"
    saved.mkdir(parents=True)
    for n, texts in enumerate((["a", "b"], ["c"])):
        polars.DataFrame({"words": texts}).write_ipc_stream(saved / f"data-0000{n}-of-00002.arrow")
    (saved / "state.json").write_text("{}")
    assert read_texts(saved) == ["a", "b", "c"]
    assert complaint(read_texts, saved.parent).endswith(f"give one of them: {saved}")
    polars.DataFrame({"other": ["d"]}).write_ipc_stream(saved / "more.arrow")
    said = complaint(read_texts, saved)
    assert "no column in common" in said
    assert str(saved / "more.arrow") in said
    monkeypatch.setenv("TEXTGAUGE_MAX_BYTES", "100")
    assert "the limit is 100 bytes" in complaint(read_texts, saved)


def test_folder_of_texts_is_one_text_a_file(tmp_path, monkeypatch):
    for name, text in {
        "b.txt": "second\nline",
        "a.txt": "first",
        "c.txt": "",
        ".d.txt": "hidden",
        "e.md": "no",
    }.items():
        (tmp_path / name).write_text(text)
    with pytest.warns(UserWarning, match="blank texts left out: 1 of 3"):
        assert read_texts(tmp_path) == ["first", "second\nline"]
    with monkeypatch.context() as patch:
        patch.setenv("TEXTGAUGE_MAX_BYTES", "12")
        assert "the limit is 12 bytes" in complaint(read_texts, tmp_path)
    (tmp_path / "table.csv").write_text("text\nof a table\n")
    with pytest.warns(UserWarning, match=r"not its \.txt files: .*a\.txt"):
        assert read_texts(tmp_path) == ["of a table"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(file, delimiter):
    lines = [("text", "price"), ('"a; b | c, d\te"', '"0,5"'), ("f", "1")]
    path = file("a.csv", "\n".join(map(delimiter.join, lines)))
    assert read_texts(path) == ["a; b | c, d\te", "f"]


@pytest.mark.parametrize(
    "line", ["I like it a lot.,5", "good,0.5", "yes,fine", "it was the best of all of the times,x"]
)
def test_a_first_line_that_is_no_header_is_noticed(file, line):
    with pytest.warns(UserWarning, match="if the file has no header line, add one"):
        formats.read_table(file("a.csv", f"{line}\nyes,other\n"))


@pytest.mark.parametrize("line", ["text,label", ",text", "0,1", "Input.text,How was it?"])
def test_headers_are_taken_as_such(file, line):
    formats.read_table(file("a.csv", f"{line}\n7,other\n"))


def test_column_is_chosen_or_asked_for(file):
    path = file("a.csv", "question,answer,n\nwhy,because,1\n")
    assert read_texts(path, column="answer") == ["because"]
    assert "'question', 'answer'" in complaint(read_texts, path)
    assert read_texts(file("b.csv", "n,words\n1,hi\n")) == ["hi"]
    assert read_texts(file("c.csv", "text,other\nhi,ho\n")) == ["hi"]


def test_a_named_column_of_numbers_keeps_its_spelling(file):
    with pytest.warns(UserWarning, match="holds numbers"):
        assert read_texts(file("a.csv", "code,text\n007,x\n1e3,y\n"), column="code") == ["007", "1e3"]


@pytest.mark.parametrize(("encoding", "said"), [("utf-16", "UTF-16"), ("cp1252", "Windows-1252")])
def test_other_encodings_are_found_and_said(file, encoding, said):
    lines = ["a café", "der Müßiggang", "“quoted” – and…"]
    with pytest.warns(UserWarning, match=said):
        assert read_texts(file("a.txt", "\r\n".join(lines).encode(encoding))) == lines
    with pytest.warns(UserWarning, match=said):
        assert read_texts(file("b.csv", "\n".join(["n,text", *(f"1,{x}" for x in lines)]).encode(encoding))) == lines


def test_an_encoding_may_be_named(file, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_ENCODING", "shift_jis")
    assert read_texts(file("a.txt", "日本語\n東京".encode("shift_jis"))) == ["日本語", "東京"]
    monkeypatch.setenv("TEXTGAUGE_ENCODING", "klingon")
    assert "klingon" in complaint(read_texts, file("b.txt", "x"))


CHAT = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": [{"type": "text", "text": "Because."}]}]


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (None, "Because."),
        ("messages[-1].content", "Because."),
        ("messages[role=user]", "Why?"),
        ("$.meta.a.b", "deep"),
        ("meta.list[0]", "x"),
    ],
)
def test_chats_and_nested_objects_are_reached_by_a_path(file, column, wanted):
    row = {"messages": CHAT, "meta": {"a": {"b": "deep"}, "list": ["x", "y"]}, "n": 1}
    assert read_texts(file("a.jsonl", json.dumps(row) + "\n"), column=column) == [wanted]


def test_splits_of_different_lengths_are_columns(file):
    path = file("a.json", json.dumps({"train": [{"text": "a"}, {"text": "b"}], "test": [{"text": "c"}]}))
    assert read_texts(path, column="train.text") == ["a", "b"]
    assert "'train.text'" in complaint(read_texts, path, column="train")


BAD = {
    "empty.txt": (b"", "the file is empty"),
    "empty.csv": (b"", "the file is empty"),
    "empty.jsonl": (b"", "the file is empty"),
    "empty.parquet": (b"", "the file is empty"),
    "blank.txt": (b"\n \n\t\n", "every line is blank (3 of 3)"),
    "blank.csv": (b'text\n""\n" "\n', "every line is blank (2 of 2)"),
    "zero.txt": (b"abc\0def", "binary file"),
    "latin.txt": ("one\r\ntwo\ncaf\xe9 caf".encode("latin-1") + "é".encode(), "line 3 is not UTF-8 (byte 0xe9)"),
    "latin.csv": (b"text\nok\n\xff\n", "line 3 is not UTF-8"),
    "ragged.csv": (b'a,b\n1,"x\ny"\n2\n', "line 4 has 1 fields, the header 2"),
    "ragged.tsv": (b"a\tb\n1\t2\t3\n", "line 2 has 3 fields"),
    "open.csv": (b'text\nfine\n"never closed\n', "line 3: bad CSV"),
    "twice.csv": (b"a,b,a\n1,2,3\n", "'a' more than once"),
    "header.csv": (b"text,label\n", "no rows"),
    "numbers.csv": (b"a,b\n1,2\n", "no column holds texts"),
    "cut.jsonl": (b'{"text": "a"}\n{"text": \n', "line 2: bad JSON"),
    "list.jsonl": (b'{"text": "a"}\n[1]\n', "line 2: expected a JSON object, found a list"),
    "number.jsonl": (b'{"text": 5}\n', "line 1: column 'text' holds a number"),
    "deep.jsonl": (b"[" * 100_000, "line 1: JSON nested too deeply"),
    "digits.jsonl": (b'{"text": ' + b"9" * 5000 + b"}", "too many digits"),
    "object.json": (b"{}", "call the file .jsonl"),
    "number.json": (b"5", "expected an array of texts or objects"),
    "empty.json": (b"[]", "no rows"),
    "cut.json": (b'["a",\n"b"', "bad JSON (Expecting ',' delimiter, line 2, column 4)"),
    "mixed.json": (b'["a", 5]', "item 2: expected a JSON object, found a number"),
    "junk.arrow": (b"ARROW1 nothing", "bad Arrow"),
    "text.arrow": (b"hello", "bad Arrow"),
    "text.xlsx": (b"hello", "bad spreadsheet"),
    "commas.csv": (b"text\none, two\n", "or call the file .txt"),
    "cut.txt.bz2": (bz2.compress(b"hello" * 1000)[:-9], "not a whole .bz2 file"),
    "text.txt.xz": (b"hello", "not a whole .xz file"),
    "cut.csv.xz": (lzma.compress(b"hello" * 1000)[:-9], "not a whole .xz file"),
    "junk.parquet": (b"PAR1 nothing PAR1", "bad Parquet"),
    "text.parquet": (b"hello", "bad Parquet"),
    "cut.txt.gz": (gzip.compress(b"hello" * 1000)[:-9], "not a whole .gz file"),
    "text.txt.gz": (b"hello", "not a whole .gz file"),
    "array.npy": (b"\x93NUMPY", "embeddings, not texts"),
    "long.txt": (b"ok\n" + b"x" * 10_000_000, "too long a text from line 2 on; the limit is 1,000,000"),
    "long.csv": (b"text\nok\n" + b"x" * 1_000_001, "line 3: too long a text"),
    "long.jsonl": (json.dumps({"text": "x" * 1_000_001}).encode(), "line 1: a text of 1,000,001 characters"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_get_one_clear_line(file, name):
    content, reason = BAD[name]
    line = complaint(read_texts, file(name, content))
    assert name in line
    assert reason in line


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl", "a.json", "a.parquet", "a.arrow"])
def test_many_small_texts_are_limited_by_what_they_take_in_memory(tmp_path, monkeypatch, name):
    texts, path = ["x"] * 500, tmp_path / name
    frame = polars.DataFrame({"text": texts})
    write = {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".arrow": frame.write_ipc}
    lines = {".txt": "\n".join(texts), ".jsonl": "\n".join(map(json.dumps, texts)), ".json": json.dumps(texts)}
    write.get(path.suffix, lambda path: path.write_text(lines[path.suffix]))(path)
    monkeypatch.setenv("TEXTGAUGE_MAX_BYTES", "20000")
    assert path.stat().st_size < 20_000
    line = complaint(read_texts, path)
    assert f"{name}: unpacked, " in line
    assert "the limit is 20,000 bytes" in line
    monkeypatch.setenv("TEXTGAUGE_MAX_BYTES", "50000")
    assert read_texts(path) == texts


def test_more_characters_can_be_allowed(file, monkeypatch):
    path = file("a.csv", f"text\n{'x' * 1_000_001}\n")
    assert "TEXTGAUGE_MAX_CHARACTERS" in complaint(read_texts, path)
    monkeypatch.setenv("TEXTGAUGE_MAX_CHARACTERS", "1000001")
    assert len(read_texts(path)[0]) == 1_000_001


def test_a_table_is_found_whatever_its_format(tmp_path):
    assert formats.find_table(tmp_path, "a") is None
    for name in ("a.ndjson.gz", "a.parquet", "a.csv"):
        (tmp_path / name).write_bytes(b"")
        assert formats.find_table(tmp_path, "a") == tmp_path / name
    assert [formats.is_table(name) for name in ("a.csv", "a.tsv.gz", "a.txt", "a.npy", "a.in", "-")] == [True, True] + [
        False
    ] * 4
    assert [formats.is_text_file(name) for name in ("a.txt", "a.csv.gz", "a.npy", "a.in")] == [True, True, False, False]


def parquet_bytes(columns):
    content = io.BytesIO()
    polars.DataFrame(columns).write_parquet(content)
    return content.getvalue()


def test_messages_cut_long_column_names(tmp_path):
    path = tmp_path / "wide.parquet"
    path.write_bytes(parquet_bytes({"x" * 5_000: [1], "y" * 5_000: [2]}))
    for wanted in (None, "z" * 5_000):
        with pytest.raises(InputError) as caught:
            formats.read_table(path).find_column(wanted)
        assert len(str(caught.value)) < 600


def test_files_that_are_read_by_turns_may_all_have_long_texts():
    gc.collect()  # readers that errors of other tests keep
    before = csv.field_size_limit()
    long_lines = ["text\n", "x\n", "y" * 200_000 + "\n"]
    short, long = formats.parse_csv(["text\n", "x\n"], "a.csv"), formats.parse_csv(long_lines, "b.csv")
    assert (next(short), next(long)) == ((1, ["text"]), (1, ["text"]))
    assert list(short) == [(2, ["x"])]
    assert [len(text) for _, (text,) in long] == [1, 200_000]
    assert csv.field_size_limit() == before


def test_a_file_that_is_written_to_while_it_is_read_is_refused(file, monkeypatch):
    path, real = file("a.txt", "one\ntwo\n"), packing.os.fstat

    def fstat(descriptor):
        found = real(descriptor)
        path.write_bytes(b"one\n")  # after the first look, before the bytes are read
        return found

    monkeypatch.setattr("textgauge.data.packing.os.fstat", fstat)
    assert complaint(read_texts, path).endswith("a.txt: the file was changed while it was read; run the command again")
