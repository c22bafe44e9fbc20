"""The data of the tasks: drawn, built in, and of users' files, with what is left out in notes and what is refused."""

import gzip
import json

import pytest

from textgauge.core.errors import InputError, UnknownName
from textgauge.data import (
    ClusteringTexts,
    ComparedSummaries,
    Documents,
    RatedSummaries,
    RetrievalSet,
    load_compared_summaries,
    load_documents,
    load_labelled,
    load_rated_summaries,
    load_retrieval,
)

LETTERS = tuple("abcdefghijklmnopqrst")


def rated(order):
    ids = tuple(f"d{n % 5}" for n in order)
    scores = {"overall": tuple(float(n) for n in order), "accuracy": tuple(float(-n) for n in order)}
    return RatedSummaries("r", ids, tuple(LETTERS[n] for n in order), tuple(LETTERS[n].upper() for n in order), scores)


def compared(order):
    texts = tuple(LETTERS[n] for n in order)
    sides = tuple(text * 2 for text in texts), tuple(text * 3 for text in texts)
    return ComparedSummaries("c", tuple(map(str, order)), texts, *sides, tuple(n % 2 for n in order))


def documents(order):
    return Documents("d", tuple(map(str, order)), tuple(LETTERS[n] for n in order), tuple(str(-n) for n in order))


def labelled(order):
    return ClusteringTexts("l", tuple(LETTERS[n] for n in order), tuple("xyz"[n % 3] for n in order))


def retrieval(order, queries=range(4)):
    relevant = {f"q{n}": frozenset({f"d{n}", f"d{n + 1}"}) for n in queries}
    ids, texts = tuple(f"d{n}" for n in order), tuple(LETTERS[n] for n in order)
    return RetrievalSet("t", ids, texts, tuple(f"q{n}" for n in queries), tuple(f"find {n}" for n in queries), relevant)


@pytest.mark.parametrize("make", [rated, compared, documents, labelled, retrieval])
def test_draws_do_not_depend_on_the_order_of_rows(make):
    forward, backward = make(range(20)), make(range(19, -1, -1))
    assert forward.draw(12, seed=3) == backward.draw(12, seed=3)
    assert forward.draw(12, seed=3) != forward.draw(12, seed=4)
    assert len(forward.draw(100)) == 20
    if make in (rated, compared, documents):
        short, long = forward.draw(5, seed=1), forward.draw(12, seed=1)
        assert long.texts[:5] == short.texts
        assert len(set(long.texts)) == 12
        with pytest.raises(InputError, match="at least one"):
            forward.draw(0)


def test_draws_keep_columns_together():
    drawn = rated(range(20)).draw(7, seed=2)
    assert drawn.summaries == tuple(text.upper() for text in drawn.texts)
    assert drawn.ratings["overall"] == tuple(float(LETTERS.index(text)) for text in drawn.texts)
    assert drawn.ratings["accuracy"] == tuple(-value for value in drawn.ratings["overall"])
    assert drawn.documents == tuple(f"d{LETTERS.index(text) % 5}" for text in drawn.texts)


@pytest.mark.parametrize("n", range(2, 20))
def test_a_draw_of_labelled_texts_leaves_no_label_alone(n):
    if n == 2:
        with pytest.raises(InputError, match=r"2 texts hold [01] labels that occur twice"):
            labelled(range(20)).draw(n)
    elif n > 3:
        drawn = labelled(range(20)).draw(n, seed=8)
        assert len(drawn) in (n, n - 1)
        assert all(drawn.labels.count(label) > 1 for label in drawn.labels)


def test_a_draw_of_retrieval_keeps_what_is_relevant():
    drawn = retrieval(range(20)).draw(8, seed=1, queries=2)
    assert (len(drawn), len(drawn.queries), drawn.notes) == (8, 2, ())
    assert all(drawn.relevant[query] <= set(drawn.documents) for query in drawn.query_ids)
    assert set(drawn.relevant) == set(drawn.query_ids)
    assert drawn.texts == tuple(LETTERS[int(name[1:])] for name in drawn.documents)
    few = retrieval(range(20), queries=range(2))
    assert max(few.draw(20, seed=seed).documents.index("d1") for seed in range(20)) > 9  # not first
    drawn = retrieval(range(20)).draw(3, seed=1)
    left_out = 4 - len(drawn.queries)
    assert drawn.notes == (f"{left_out} of 4 queries left out: their relevant documents do not fit into 3",)
    with pytest.raises(InputError, match="1 documents cannot hold"):
        retrieval(range(20)).draw(1)


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        (Documents, (("1",), ("a", "b"), None)),
        (RatedSummaries, (("1",), ("a",), ("b",), {"overall": (1.0, 2.0)})),
        (RatedSummaries, (("1",), ("a",), ("b",), {"quality": (1.0,)})),
        (RetrievalSet, (("1",), ("a",), ("q",), ("b",), {"q": frozenset({"2"})})),
    ],
)
def test_columns_that_do_not_fit_are_refused(kind, columns):
    with pytest.raises(InputError, match="own data"):
        kind("own data", *columns)


def test_samples():
    found = load_documents("sample:articles", summary="summary")
    assert len(found) == len(set(found.texts)) == len(set(found.documents)) == 80
    assert not any(summary in text for summary, text in zip(found.summaries, found.texts, strict=True))
    intents = load_labelled("sample:intents")
    assert {intents.labels.count(label) for label in intents.labels} == {40}
    assert len(set(intents.texts)) == 480
    assert len(set(load_labelled("sample:banking").labels)) > 8
    library = load_retrieval("sample:library")
    assert (library.name, len(library), len(set(library.texts)), len(library.queries)) == (
        "sample:library", 148, 148, 40,
    )  # fmt: skip
    assert {len(answers) for answers in library.relevant.values()} == {1, 2, 3}


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


LABELS = [("a", 1), ("b", 2), ("c", 1), ("d", 2), ("e", 3), (" ", 1), ("f", None)]
READ = {  # loader and options, the file and its content, what is read, what is noted
    "rated": (
        (load_rated_summaries, {"document": "doc", "ratings": ("overall", "style")}),
        ("a.csv", "doc,text,summary,overall,style\n1,long one,one,3,2\n1,long one,uno,4.5,1\n2,long two,two,1,0\n"),
        {"documents": ("1", "1", "2"), "texts": ("long one", "long one", "long two"),
         "summaries": ("one", "uno", "two"), "ratings": {"overall": (3.0, 4.5, 1.0), "style": (2.0, 1.0, 0.0)}},
        (),
    ),
    "aspects of other columns": (
        (load_rated_summaries, {"ratings": {"overall": "q2", "accuracy": "q1"}}),
        ("a.csv", "text,summary,q1,q2\na,b,1,3\nc,d,2,2\n"),
        {"ratings": {"overall": (3.0, 2.0), "accuracy": (1.0, 2.0)}},
        (),
    ),
    "the mean of aspects": (
        (load_rated_summaries, {"ratings": ("q1", "q2")}),
        ("a.csv", "text,summary,q1,q2\na,b,1,3\nc,d,2,2\n"),
        {"ratings": {"overall": (2.0, 2.0), "q1": (1.0, 2.0), "q2": (3.0, 2.0)}},
        ("'overall' is the mean of q1, q2",),
    ),
    "bad rows of ratings": (
        (load_rated_summaries, {}),
        ("a.csv", "text,summary,overall\na,s,1\n,s,1\nb,  ,1\nc,s,good\nd,s,\ne,s,nan\nf,s,inf\ng,,oops\nh,s,2\n"),
        {"texts": ("a", "h")},
        ("1 of 9 lines has an empty text: skipped (line 3)",
         "2 of 9 lines have an empty summary: skipped (lines 4, 9)",
         "4 of 9 lines have a rating 'overall' that is not a number: skipped (lines 5, 6, 7, 8)"),
    ),
    "a missing id": (
        (load_rated_summaries, {"document": "id"}),
        ("a.jsonl", lines([{"id": 7, "text": "a", "summary": "s", "overall": 1},
                           {"text": "b", "summary": "s", "overall": 2}])),
        {"documents": ("7",)},
        ("1 of 2 lines has no document id: skipped (line 2)",),
    ),
    "bad rows of comparisons": (
        (load_compared_summaries, {}),
        ("a.csv", "text,first,second,chosen\nt,a,b,0\n,a,b,0\nt,,b,1\nt,a,,1\nt,a,a,1\n"),
        {"texts": ("t",)},
        ("1 of 5 lines has an empty text: skipped (line 3)",
         "2 of 5 lines have an empty summary: skipped (lines 4, 5)",
         "1 of 5 lines has two equal summaries: skipped (line 6)"),
    ),
    "documents": (
        (load_documents, {"document": "id", "summary": "summary"}),
        ("a.tsv", "id\ttext\tsummary\n1\ta\ts\n2\t\ts\n3\tb\t\n4\ta\tt\n5\tc\tu\n"),
        {"documents": ("1", "5"), "texts": ("a", "c"), "summaries": ("s", "u")},
        ("1 of 5 lines has an empty text: skipped (line 3)",
         "1 of 5 lines has an empty summary: skipped (line 4)",
         "1 of 5 lines has the text of an earlier one: skipped (line 5)"),
    ),
    "an equal text whose first copy is unusable": (
        (load_documents, {"summary": "summary"}),
        ("a.csv", "text,summary\na,\na,s\n"),
        {"summaries": ("s",)},
        ("1 of 2 lines has an empty summary: skipped (line 2)",),
    ),
    "documents of a text file": (
        (load_documents, {}),
        ("a.txt", "one\n\ntwo\n"),
        {"texts": ("one", "two"), "summaries": None},
        ("1 of 3 lines has an empty text: skipped (line 2)",),
    ),
    "labels": (
        (load_labelled, {}),
        ("a.jsonl", lines({"text": text, "label": label} for text, label in LABELS)),
        {"texts": ("a", "b", "c", "d"), "labels": ("1", "2", "1", "2")},
        ("1 of 7 lines has an empty text: skipped (line 6)",
         "1 of 7 lines has an empty label: skipped (line 7)",
         "1 of 7 lines has a label that occurs once: skipped (line 5)"),
    ),
    "a label that is left once": (
        (load_labelled, {}),
        ("a.csv", "text,label\na,x\nb,x\nc,y\n,y\nd,z\ne,z\n"),
        {"labels": ("x", "x", "z", "z")},
        ("1 of 6 lines has an empty text: skipped (line 5)",
         "1 of 6 lines has a label that occurs once: skipped (line 4)"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_files_are_read_and_what_is_left_out_is_noted(file, name):
    (load, options), (path, content), expected, notes = READ[name]
    found = load(file(path, content), **options)
    assert {field: getattr(found, field) for field in expected} == expected
    assert found.notes == notes


REFUSED = [
    (load_rated_summaries, {"ratings": ()}, "text,summary,q1\na,b,1\n", "at least one column of ratings"),
    (load_rated_summaries, {}, "text,summary,q1\na,b,1\n", "no column 'overall'"),
    (load_rated_summaries, {}, "text,summary,overall\na,,1\nb,s,x\n",
     "nothing is left to score; 1 of 2 lines has an empty summary.*; 1 of 2"),
    *((load_compared_summaries, {}, f"text,first,second,chosen\nt,a,b,0\nt,c,d,{choice}\n",
       f"line 3: column 'chosen' holds '{choice}', not 0 or 1, first or second")
      for choice in ("2", "", "both", "-1", "0.5", "nan", "True")),
    (load_documents, {"document": "id"}, "id,text\n1,a\n1,b\n2,c\n", r"1 document ids occur more than once \(1\)"),
    (load_labelled, {}, "text,label\na,x\nb,x\nc,y\n", r"only 'x' \(1 of 3 lines has a label that occurs once"),
]  # fmt: skip


@pytest.mark.parametrize(("load", "options", "content", "reason"), REFUSED)
def test_files_that_cannot_be_used_are_refused(file, load, options, content, reason):
    with pytest.raises(InputError, match=reason):
        load(file("a.csv", content), **options)


def test_documents_without_ids_are_numbered_by_text_whatever_the_order(file):
    rows, header = ["x,s1,1", "y,s2,2", "x,s3,3", "z,s4,4"], "text,summary,overall\n"
    forward = load_rated_summaries(file("a.csv", header + "\n".join(rows)))
    backward = load_rated_summaries(file("b.csv", header + "\n".join(rows[::-1])))
    assert forward.documents[0] == forward.documents[2]
    assert len(set(forward.documents)) == 3
    assert backward.documents == forward.documents[::-1]


@pytest.mark.parametrize(("zero", "one"), [("0", "1"), ("0.0", "1.0"), ("first", "Second"), ("a", "B"), ("x", "y")])
def test_choices(file, zero, one):
    path = file("a.csv", f"text,x,y,best\nt,s1,s2,{zero}\nt,s3,s4,{one}\nu,s5,s6, {zero} \n")
    found = load_compared_summaries(path, first="x", second="y", chosen="best")
    assert found.chosen == (0, 1, 0)
    assert (found.first, found.second) == (("s1", "s3", "s5"), ("s2", "s4", "s6"))
    assert found.documents[0] == found.documents[1] != found.documents[2]


def test_documents_of_a_folder(tmp_path):
    for name, content in {"b.txt": "second\nline", "a.txt": "first", "empty.txt": "", "note.md": "no"}.items():
        (tmp_path / name).write_text(content)
    found = load_documents(tmp_path)
    assert (found.documents, found.texts) == (("a.txt", "b.txt"), ("first", "second\nline"))
    assert found.notes == ("1 of 3 files has an empty text: skipped (file empty.txt)",)
    with pytest.raises(InputError, match="has no summaries"):
        load_documents(tmp_path, summary="summary")


def test_names_that_are_no_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownName, match="newsgroups20"):
        load_labelled("newsgroup20")
    with pytest.raises(InputError, match="no such file"):
        load_labelled("nothing.csv")
    (tmp_path / "squality").write_text("my own text\n")
    assert load_documents("squality").texts == ("my own text",)  # a file wins


@pytest.fixture
def beir(tmp_path):
    """Write a retrieval set; `qrels` are rows of (query, document, relevance)."""

    def write(corpus=None, queries=None, qrels=(("q1", "d1", 1), ("q2", "d2", 2)), *, where="qrels.csv", extra=None):
        corpus = corpus or [{"_id": f"d{n}", "title": f"title {n}", "text": f"text {n}"} for n in range(1, 5)]
        queries = queries or [{"_id": "q1", "text": "find one"}, {"_id": "q2", "text": "find two"}]
        (tmp_path / "corpus.jsonl").write_text(lines(corpus))
        with gzip.open(tmp_path / "queries.jsonl.gz", "wt") as stream:
            stream.write(lines(queries))
        is_csv = where.endswith("csv")
        comma, header = (",", "query_id,doc_id,relevance") if is_csv else ("\t", "query-id\tcorpus-id\tscore")
        rows = [header, *(comma.join(map(str, row)) for row in qrels)]
        if extra:
            rows = [f"{row}{comma}{part}" for row, part in zip(rows, ("split", *extra), strict=True)]
        path = tmp_path / where
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(rows) + "\n")
        return tmp_path

    return write


@pytest.mark.parametrize("where", ["qrels.csv", "qrels.tsv", "qrels/test.tsv", "qrels/test.csv"])
def test_retrieval_folder(beir, where):
    found = load_retrieval(beir(where=where))
    assert (found.documents, found.texts[0]) == (("d1", "d2", "d3", "d4"), "title 1 text 1")
    assert (found.query_ids, found.queries) == (("q1", "q2"), ("find one", "find two"))
    assert found.relevant == {"q1": frozenset({"d1"}), "q2": frozenset({"d2"})}
    assert found.notes == ()


def test_splits(beir):
    folder = beir(extra=("train", "test"))
    assert load_retrieval(folder).notes == ("1 of 2 queries has no judgement in this split: skipped (query q1)",)
    asked = {split: load_retrieval(folder, split=split).query_ids for split in ("test", None, "train")}
    assert asked == {"test": ("q2",), None: ("q1", "q2"), "train": ("q1",)}
    with pytest.raises(InputError, match="no judgement is in split 'dev'; there are test, train"):
        load_retrieval(folder, split="dev")
    (folder / "qrels.csv").unlink()
    beir(where="qrels/test.tsv", qrels=[("q2", "d2", 1)])
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td3\t1\n")
    assert load_retrieval(folder).query_ids == ("q2",)
    assert load_retrieval(folder, split=None).relevant["q1"] == {"d3"}
    with pytest.raises(InputError, match=r"qrels/dev\.tsv"):
        load_retrieval(folder, split="dev")


SAME = [{"_id": name, "text": text} for name, text in (("a", "same"), ("b", "same"), ("c", ""), ("d", "x"))]
RETRIEVED = [  # what is written, the documents of each query, what is noted
    (
        {"corpus": [{"_id": 1, "text": "a"}, {"_id": 2, "text": "b"}], "queries": [{"_id": 9, "text": "q"}],
         "qrels": [(9, 2, 1)]},
        {"9": {"2"}},
        (),
    ),
    (
        {"qrels": [("q1", "d1", 1), ("q1", "d98", 1), ("q2", "d99", 1), ("q7", "d1", 1), ("q1", "d2", "x"),
                   ("q1", "d3", 0)]},
        {"q1": {"d1"}},
        ("1 of 6 judgements has a relevance that is not a number: skipped (judgement q1/d2)",
         "2 of 6 judgements have a document that is missing or empty: skipped (judgements q1/d98, q2/d99)",
         "1 of 6 judgements has a query that is missing or empty: skipped (judgement q7/d1)",
         "1 of 2 queries has no relevant document left: skipped (query q2)"),
    ),
    (
        {"corpus": SAME, "qrels": [("q1", "b", 1), ("q2", "d", 1)]},
        {"q1": {"a"}, "q2": {"d"}},
        ("1 of 4 documents has no text: skipped (document c)",
         "1 of 4 documents has the text of an earlier document: skipped (document b)"),
    ),
    (
        {"queries": [{"_id": "q1", "text": " "}, {"_id": "q2", "text": "two"}], "qrels": [("q2", "d2", 1)]},
        {"q2": {"d2"}},
        ("1 of 2 queries has no text: skipped (query q1)",),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("written", "relevant", "notes"), RETRIEVED)
def test_what_cannot_be_used_of_a_retrieval_set_is_noted(beir, written, relevant, notes):
    found = load_retrieval(beir(**written))
    assert (found.relevant, found.notes) == (relevant, notes)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ({"corpus": [{"_id": "d1", "text": "a"}, {"_id": "d1", "text": "b"}]}, r"1 document ids occur more .*\(d1\)"),
        ({"queries": [{"_id": "q1", "text": "a"}, {"_id": "q1", "text": "b"}]}, r"1 query ids occur more .*\(q1\)"),
        ({"qrels": [("q1", "d1", 0), ("q2", "d1", 0)]}, "nothing is left to score; 2 of 2 queries have no relevant"),
    ],
)
def test_retrieval_sets_that_cannot_be_used_are_refused(beir, written, reason):
    with pytest.raises(InputError, match=reason):
        load_retrieval(beir(**written))


def test_incomplete_folders_are_refused(beir, tmp_path):
    with pytest.raises(InputError, match=r"no corpus\.jsonl"):
        load_retrieval(tmp_path)
    folder = beir()
    (folder / "qrels.csv").write_text("query,doc\n1,2\n")
    with pytest.raises(InputError, match="no column 'query-id'"):
        load_retrieval(folder)
    (folder / "qrels.csv").unlink()
    with pytest.raises(InputError, match=r"no qrels\.csv, qrels\.tsv or qrels/test\.tsv"):
        load_retrieval(folder)
    with pytest.raises(InputError, match="a retrieval set is a folder"):
        load_retrieval(folder / "corpus.jsonl")
