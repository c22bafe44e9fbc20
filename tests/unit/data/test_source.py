"""What a source is: paths, samples, published datasets, the hub, and what is in memory."""

import numpy as np
import polars
import pytest
from tests.unit.data.conftest import Rows

from textgauge.core.errors import InputError, UnknownName
from textgauge.data import Comparison, Corpus, Pairs, load_aligned, load_corpus, load_pairs, load_texts

pytestmark = pytest.mark.filterwarnings("ignore:.*holds numbers")  # numbers are the shortest texts


def test_file_with_labels(file):
    path = file("a.csv", "text,kind\na,x\nb,y\nc,x\n")
    corpus = load_texts(str(path), labels="kind")
    assert (corpus.texts, corpus.labels) == (("a", "b", "c"), ("x", "y", "x"))
    assert load_texts(path).labels is None


def test_limit_is_a_seeded_draw_in_order(file):
    path = file("a.txt", "\n".join(map(str, range(1000))))
    drawn = [int(text) for text in load_texts(path, limit=100, seed=1).texts]
    assert drawn == sorted(drawn)
    assert len(set(drawn)) == 100
    assert max(drawn) > 900
    assert load_texts(path, limit=100, seed=1) == load_texts(path, limit=100, seed=1)
    assert load_texts(path, limit=100, seed=1) != load_texts(path, limit=100, seed=2)
    assert len(load_texts(path, limit=5000)) == 1000


def test_pairs_with_ratings(file):
    path = file("a.csv", "l,r,score\none,uno,5\ntwo,,0.5\n")
    pairs = load_pairs(path, left="l", right="r", rating="score")
    assert (pairs.left, pairs.right, pairs.grade) == (("one", "two"), ("uno", ""), (5.0, 0.5))


def test_pairs_refuse_holes(file):
    path = file("a.csv", "l,r,score\none,uno,5\ntwo,dos,?\n")
    missing = file("a.jsonl", '{"l": "a", "r": "b"}\n{"l": "a"}\n')
    with pytest.raises(InputError, match=r"line 3: column 'score' holds '\?'"):
        load_pairs(path, left="l", right="r", rating="score")
    with pytest.raises(InputError, match="line 2: column 'r' is missing"):
        load_pairs(missing, left="l", right="r")
    with pytest.raises(InputError, match="no column 'x'"):
        load_pairs(path, left="l", right="x")
    with pytest.raises(InputError, match="no columns left and right: name its columns of texts by `left` and `right`"):
        load_pairs(path)


def test_published_name_gives_way_to_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "atis").write_text("my own text\n")
    assert load_texts("atis").texts == ("my own text",)


def test_published_name_wins_over_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "atis").mkdir()
    with pytest.raises(UnknownName, match="part of atis"):
        load_texts("atis/nothing")


class TestLoadCorpus:
    def test_rows_of_the_source_are_kept_in_views_and_joined_pools(self):
        texts = ["a", " ", "b", None, "c", "d"]
        with pytest.warns(UserWarning, match="blank texts left out: 2 of 6"):
            corpus = load_corpus(texts)
        assert corpus.source_rows.tolist() == [0, 2, 4, 5]
        assert corpus.take([3, 1]).source_rows.tolist() == [5, 2]
        drawn = load_corpus(corpus, limit=2)
        assert [texts[row] for row in drawn.source_rows] == list(drawn.texts)
        assert (corpus | Corpus.of(["x", "y"])).source_rows.tolist() == [0, 2, 4, 5, 0, 1]
        vectors = np.arange(20.0).reshape(10, 2)
        some = load_corpus(vectors, limit=4)
        assert np.array_equal(some.embeddings("given"), vectors[some.source_rows])

    @pytest.mark.parametrize("of", [list, np.array, Corpus.of, polars.Series, iter], ids=str)
    def test_limit_holds_for_what_is_in_memory(self, of):
        texts = [f"text {n}" for n in range(30)]
        drawn = load_corpus(of(texts), limit=5, seed=1).texts
        assert len(drawn) == 5
        assert drawn != tuple(texts[:5])
        assert drawn == load_corpus(texts, limit=5, seed=1).texts

    def test_a_role_refuses_what_cannot_be_compared(self):
        for texts, reason in {
            ("a",): "1 text; at",
            (): "0 texts",
            (" ", ""): "only empty",
            ("a", "a"): "2 times",
        }.items():
            with pytest.raises(InputError, match=f"the candidate .*{reason}"):
                load_corpus(texts, role="candidate")
            assert load_corpus(texts).texts == texts


def frames():
    yield polars.DataFrame({"text": ["a cat", "a dog"], "n": [1, 2]})
    for name, make in {"pandas": "DataFrame", "pyarrow": "table", "datasets": "Dataset"}.items():
        try:
            library = __import__(name)
        except ImportError:
            continue
        columns = {"text": ["a cat", "a dog"], "n": [1, 2]}
        yield getattr(library, make).from_dict(columns) if name == "datasets" else getattr(library, make)(columns)
    yield Rows(text=["a cat", "a dog"], n=[1, 2])


@pytest.mark.parametrize("frame", list(frames()), ids=lambda frame: type(frame).__module__.partition(".")[0])
class TestFrames:
    def test_a_frame_is_never_read_as_its_column_names(self, frame):
        for read in (
            load_corpus,
            Corpus.of,
            lambda texts: Comparison(["a"], texts).candidate,
            lambda texts: Pairs.of(["a", "b"], texts).right,
        ):
            assert read(frame).texts == ("a cat", "a dog")

    def test_one_column_is_a_list_of_texts(self, frame):
        assert load_corpus(frame["text"]).texts == ("a cat", "a dog")
        assert load_corpus(frame, column="text").texts == ("a cat", "a dog")
        assert Pairs.of(frame["text"], frame["text"]).right.texts == ("a cat", "a dog")

    def test_a_column_that_is_not_there_or_holds_no_texts(self, frame):
        with pytest.raises(InputError, match="the frame: no column 'words'; the columns are 'text', 'n'"):
            load_corpus(frame, column="words")
        with pytest.raises(InputError, match="text 0 is int, not a string"):
            load_corpus(frame, column="n")


def test_blank_texts_are_left_out_of_memory_as_of_files(file):
    path = file("a.jsonl", '{"text": "a"}\n{"text": " "}\n{"text": null}\n{"text": "b"}\n')
    for source in (path, ["a", " ", None, "b"], polars.Series(["a", " ", None, "b"]), iter(["a", "", "\t", "b"])):
        with pytest.warns(UserWarning, match="blank texts left out: 2 of 4"):
            assert load_corpus(source).texts == ("a", "b")


def test_missing_cells_of_pandas_are_left_out():
    pandas = pytest.importorskip("pandas")
    for column in (
        pandas.Series(["a", None, float("nan")], dtype=object),
        pandas.Series(["a", None, ""], dtype="string"),
    ):
        with pytest.warns(UserWarning, match="blank texts left out: 2 of 3"):
            assert load_corpus(column).texts == ("a",)


def test_a_column_in_the_path(file, tmp_path, monkeypatch):
    path = file("a.csv", "question,answer: long\nwhy,so\n")
    assert load_texts(f"{path}:question").texts == load_corpus(f"{path}:question").texts == ("why",)
    assert load_aligned(f"{path}:answer: long", column="question") == ("so",)
    with pytest.raises(InputError, match=r"b\.csv: no such file"):
        load_texts(tmp_path / "b.csv:question")
    monkeypatch.chdir(tmp_path)
    file("b.txt", "plain\n")
    assert load_texts("b.txt", column="question").texts == load_aligned("b.txt", column="question") == ("plain",)
    with pytest.raises(InputError, match="no column 'question'; the columns are 'text'"):
        load_texts("b.txt:question")
    with pytest.raises(InputError, match=r"did you mean a\.csv:question\?"):
        load_texts("a.cvs:question")
    file("a.csv:question", "a file of that name\n")
    assert load_texts("a.csv:question").texts == ("a file of that name",)


def test_aligned_keeps_blanks_and_reads_embeddings(file, tmp_path):
    assert load_aligned(file("a.txt", "a\n\nb\n")) == ("a", "", "b")
    np.save(tmp_path / "a.npy", np.eye(2))
    assert np.array_equal(load_aligned(tmp_path / "a.npy"), np.eye(2))


def test_a_warning_points_to_the_line_of_the_caller():
    with pytest.warns(UserWarning, match="blank texts left out: 1 of 3") as told:
        load_corpus(["a", "", "b"])
    assert [warning.filename for warning in told] == [__file__]
