"""Tables of texts, and columns of other libraries (here by stand-ins that behave as theirs)."""

import pytest

from textgauge.core.errors import InputError
from textgauge.data.source import load_table
from textgauge.data.tables import TextTable, get_cells, is_frame


class Column:
    """Iterating over an Arrow column gives scalars, not strings."""

    def __init__(self, cells):
        self.cells = cells

    def __iter__(self):
        return map(object, self.cells)

    def to_pylist(self):
        return self.cells


class Frame:
    """Iterating over a pandas frame gives the names of its columns; `columns` of a lazy frame is slow to read."""

    def __init__(self, **cells):
        self.cells = cells

    @property
    def columns(self):
        raise RuntimeError("do not look")

    def __iter__(self):
        return iter(self.cells)

    def __getitem__(self, name):
        return Column(self.cells[name])


@pytest.fixture
def table():
    return TextTable.of("a.csv", {"text": ["a", None, "c"], "n": ["1", " ", "x"], "name": ["", "b", "c"]})


@pytest.mark.parametrize("column", [None, "text"])
def test_two_columns_of_one_name_are_refused(column):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="the frame has several columns 'text'"):
        get_cells(pandas.DataFrame([["a", "b"], ["c", "d"]], columns=["text", "text"]), column)


@pytest.mark.parametrize("texts", [3, 1.5, None, {"text": "a cat"}, b"a cat"])
def test_a_number_or_one_text_is_no_corpus(texts):
    with pytest.raises(InputError, match="texts are a list, a file or a table"):
        get_cells(texts)


def test_columns_have_one_length():
    with pytest.raises(InputError, match="columns differ in length"):
        get_cells({"text": ["a", "b"], "label": ["x"]})


def test_a_column_of_another_library_is_its_cells():
    assert get_cells(Column(["a", "b"])) == ["a", "b"]
    assert get_cells(Frame(text=["a", "b"]), "text") == ["a", "b"]
    assert get_cells(text for text in "ab") == ["a", "b"]


def test_a_column_of_a_frame_is_chosen_as_that_of_a_file():
    assert is_frame(Frame())
    assert is_frame({"text": []})
    assert not any(map(is_frame, ([], (), "a", Column([]), iter([]))))
    assert get_cells({"text": ["a"], "n": [1]}) == ["a"]
    with pytest.raises(InputError, match="the frame: no column 'words'; the columns are 'text'"):
        get_cells({"text": ["a"]}, "words")
    for read in (get_cells, load_table):
        with pytest.raises(InputError, match="no columns"):
            read({})


def test_holes_and_words_among_numbers_name_the_row(table):
    with pytest.raises(InputError, match=r"a\.csv: row 2: column 'text' is missing"):
        table.get_filled("text")
    with pytest.raises(InputError, match="row 2: column 'n' holds ' ', not a number"):
        table.get_numbers("n")
    with pytest.raises(InputError, match="row 3: column 'n' holds 'x', not a number"):
        table.get_numbers("n", blank=True)
