"""Files are whole or not there at all; tables read back; a disk that refuses is one clear error."""

import os

import polars as pl
import pytest

from textgauge.core.errors import InputError, TextgaugeError
from textgauge.core.files import (
    check_table_path,
    escape_formula,
    install_folder,
    open_scratch_folder,
    remove_unfinished,
    replace_file,
    write_atomically,
    write_table,
)

FRAME = pl.DataFrame({"text": ["one", "two, three", 'a "b"'], "value": [0.5, None, 2.0]})


def test_bytes_text_and_functions_are_written_into_a_folder_that_exists(tmp_path):
    for content in (b"caf\xc3\xa9", "café", lambda part: part.write_text("café", encoding="utf-8")):
        path = write_atomically(tmp_path / "x", content)
        assert path.read_text(encoding="utf-8") == "café"
        assert os.listdir(path.parent) == ["x"]
        with pytest.raises(InputError, match=r"cannot write .*x: there is no folder .*none"):
            write_atomically(tmp_path / "none" / "x", content)
        assert os.listdir(tmp_path) == ["x"]
        path.unlink()


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = write_atomically(tmp_path / "x", "old")

    def half(part):
        part.write_text("ne")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_atomically(path, half)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x"]


def test_a_link_keeps_leading_to_its_file(tmp_path):
    path = write_atomically(tmp_path / "x", "old")
    (tmp_path / "link").symlink_to(path)
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert path.read_text() == "new"


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no /dev/null")
def test_what_is_no_regular_file_stays_what_it_is(tmp_path):
    (tmp_path / "null").symlink_to("/dev/null")
    write_atomically(tmp_path / "null", "gone")
    assert not (tmp_path / "null").is_file()


def test_a_disk_that_refuses_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "x", tmp_path):
        with pytest.raises(TextgaugeError, match=r"^cannot write .*: ") as caught:
            write_atomically(path, b"")
        assert "\n" not in str(caught.value)
    with pytest.raises(OSError, match="No such file"), replace_file(tmp_path / "none" / "x") as part:
        part.write_bytes(b"")


@pytest.mark.parametrize(
    ("ending", "read"), [(".csv", pl.read_csv), (".parquet", pl.read_parquet), (".jsonl", pl.read_ndjson)]
)
def test_tables_read_back_from_frames_and_from_rows(tmp_path, ending, read):
    for name, table in {"frame": FRAME, "rows": FRAME.to_dicts()}.items():
        write_table(tmp_path / f"{name}{ending}", table)
        assert read(tmp_path / f"{name}{ending}").equals(FRAME)


def test_files_that_hold_no_table_are_refused_at_once(tmp_path):
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(InputError, match=r"the ending must be one of \.txt, \.csv, \.jsonl, \.parquet"):
        check_table_path(tmp_path / "x.xls")
    with pytest.raises(InputError, match="it is a folder"):
        write_table(tmp_path / "x.csv", FRAME)


FORMULAS = ["=HYPERLINK(1)", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"]


def test_no_text_of_a_csv_file_is_a_formula_to_a_spreadsheet_unless_it_is_written_exactly(tmp_path):
    frame = pl.DataFrame({"text": [*FORMULAS, "1 - 2", "", None], "value": [-1.5] * 11, "=1": 1})
    for ending in (".csv", ".jsonl", ".parquet"):
        write_table(tmp_path / f"safe{ending}", frame)
        write_table(tmp_path / f"exact{ending}", frame, exact=True)
    safe = pl.read_csv(tmp_path / "safe.csv")
    assert safe.columns == ["text", "value", "'=1"]
    assert safe["text"].to_list()[:9] == [*(f"'{text}" for text in FORMULAS), "1 - 2"]
    assert safe["value"].to_list() == [-1.5] * 11
    assert pl.read_csv(tmp_path / "exact.csv")["text"].to_list()[:8] == FORMULAS
    assert pl.read_parquet(tmp_path / "safe.parquet").equals(frame)
    assert [escape_formula(text) for text in FORMULAS] == [f"'{text}" for text in FORMULAS]


def fresh_folder(folder, content):
    folder.mkdir()
    (folder / "file").write_text(content)
    return folder


@pytest.mark.parametrize(("there", "kept"), [(None, "new"), ("old", "old"), ("damaged", "new")])
def test_a_folder_takes_the_place_of_a_damaged_one_alone(tmp_path, there, kept):
    target = tmp_path / "target"
    if there is not None:
        fresh_folder(target, there)
    with open_scratch_folder(tmp_path) as scratch:
        install_folder(fresh_folder(scratch / "x", "new"), target, lambda found: (found / "file").read_text() == "old")
    assert (target / "file").read_text() == kept
    assert os.listdir(tmp_path) == ["target"]


def test_what_a_killed_process_left_goes_after_a_day(tmp_path):
    for name in (".new-old", ".new-fresh", "other"):
        fresh_folder(tmp_path / name, "")
        (tmp_path / f"{name}.part").touch()
    for name in (".new-old", ".new-old.part", "other"):
        os.utime(tmp_path / name, (1, 1))
    remove_unfinished(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".new-fresh", ".new-fresh.part", "other", "other.part"]
