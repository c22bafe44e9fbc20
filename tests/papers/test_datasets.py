"""The data sets of the papers: what is registered, readers on small copies of their layout and on the real files."""

import csv
import json
import os
from importlib.resources import files
from pathlib import Path

import pytest

from textgauge.core import ResourceError
from textgauge.data import (
    is_here,
    list_published,
    load_compared_summaries,
    load_documents,
    load_labelled,
    load_published_pairs,
    load_published_texts,
    load_rated_summaries,
    load_retrieval,
)
from textgauge_papers.usmb import TASK_DATA

LOADERS = {
    "axis": load_rated_summaries,
    "comparisons": load_compared_summaries,
    "robustness": lambda name: load_documents(name, summary="summary"),
    "sensitivity": load_documents,
    "clustering": load_labelled,
    "retrieval": load_retrieval,
}
FREE = {"scitldr", "legal_summ", "banking77", "clinc150", "atis", "nfcats"}


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Write the file of a set into the second of two data folders."""
    monkeypatch.setenv("TEXTGAUGE_DATA", os.pathsep.join([str(tmp_path / "empty"), str(tmp_path / "data")]))

    def write(name, content):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else "".join(json.dumps(row) + "\n" for row in content))

    return write


def test_a_set_that_is_absent_says_what_is_wanted(monkeypatch):
    monkeypatch.delenv("TEXTGAUGE_DATA", raising=False)
    for kind, names in TASK_DATA.items():
        for name in set(names) - FREE:
            with pytest.raises(ResourceError, match=rf"{name} .*columns .*TEXTGAUGE_DATA"):
                kind.data.read(name)


def test_summeval(data):
    data("summeval/summeval_documents.jsonl", [{"doc_id": "d1", "source": "article", "cnndm_reference": "reference"}])
    rows = [
        "doc_id,system,summary,coherence,consistency,fluency,relevance",
        "d1,M1,s1,1,2,3,4",
        "d1,M2,s2,5,4,,2",
        "d2,M1,s3,1,1,1,1",
    ]
    data("summeval/summeval_summaries.csv", "\n".join(rows))
    found = load_rated_summaries("summeval")
    assert (found.name, found.documents, found.texts, found.summaries) == ("summeval", ("d1",), ("article",), ("s1",))
    assert {aspect: values[0] for aspect, values in found.ratings.items()} == {
        "overall": 2.5,
        "accuracy": 2.0,
        "coverage": 4.0,
        "coherence": 1.0,
        "fluency": 3.0,
    }
    assert found.notes[0] == "1 of 3 lines has an empty text: skipped (line 4)"
    assert "1 of 3 lines has a rating" in found.notes[1]
    assert load_rated_summaries("summeval_reference").texts == ("reference",)


def test_rated_references_are_left_out(data):
    rows = ["doc_id,system,reference,summary,overall,grammar,redundancy", "1,ml,r,s,0.5,0,1", "1,reference,r,r,1,1,1"]
    data("cnndm_chaganty/cnndm_human_scores.csv", "\n".join(rows))
    found = load_rated_summaries("cnndm_chaganty")
    assert (found.texts, found.summaries) == (("r",), ("s",))
    assert found.ratings == {"overall": (0.5,), "grammar": (0.0,), "redundancy": (1.0,)}
    assert len(found.notes) == 1


def test_comparisons(data):
    rows = [
        {"doc_id": "", "document": "post", "summary_0": "a", "summary_1": "b", "choice": choice} for choice in (0, 1)
    ]
    data("openai_summary_comparisons/comparisons.jsonl", rows)
    found = load_compared_summaries("openai_summary_comparisons")
    assert (found.documents, found.texts, found.chosen) == (("1", "1"), ("post", "post"), (0, 1))


def test_documents_and_labels(data):
    rows = [
        {"category": c, "id": f"{n}", "title": "T", "text": f"{c} {n}", "summary": f"s{n}"}
        for c in "xy"
        for n in (1, 2)
    ]
    data("bbc_news/bbc_news.jsonl", rows)
    found = load_documents("bbc_news")
    assert (found.documents[0], found.texts[0], found.summaries[1]) == ("x/1", "x 1", "s2")
    labels = load_labelled("bbc_news")
    assert (labels.texts[0], labels.labels) == ("T x 1", ("x", "x", "y", "y"))


def test_retrieval_set(data):
    data("cranfield/corpus.jsonl", [{"_id": "1", "title": "t", "text": "a"}])
    data("cranfield/queries.jsonl", [{"_id": "1", "text": "q"}])
    data("cranfield/qrels.csv", "query_id,doc_id,relevance\n1,1,1\n")
    found = load_retrieval("cranfield")
    assert (found.name, found.texts, found.relevant) == ("cranfield", ("t a",), {"1": frozenset({"1"})})


# Rows, and labels or documents or queries, of the sets as they were published.
SIZES = {
    "summeval": {"axis": (1_600, 100)},
    "summeval_reference": {"axis": (1_600, 100)},
    "cnndm_chaganty": {"axis": (2_005, 503)},
    "openai_summary_comparisons": {"comparisons": (2_201, 1_051)},
    "scitldr": {"robustness": (1_235, 1_235)},
    "legal_summ": {"robustness": (445, 445)},
    "bbc_news": {"robustness": (2_089, 2_089), "clustering": (2_225, 5)},
    "paul_graham_essays": {"sensitivity": (49, 49)},
    "squality": {"sensitivity": (25, 25)},
    "newsgroups20": {"sensitivity": (7_814, 7_814), "clustering": (7_922, 20)},
    "stackoverflow_titles": {"clustering": (20_000, 20)},
    "biomedical_titles": {"clustering": (20_000, 20)},
    "ag_news": {"clustering": (7_600, 4)},
    "banking77": {"clustering": (13_083, 77)},
    "clinc150": {"clustering": (22_500, 150)},
    "scifact_beir": {"retrieval": (5_183, 300)},
    "cranfield": {"retrieval": (1_398, 225)},
    "vaswani_npl": {"retrieval": (11_413, 93)},
}


@pytest.mark.parametrize(("name", "task"), [(name, task) for name, tasks in SIZES.items() for task in tasks])
def test_real_sets(name, task):
    try:
        found = LOADERS[task](name)
    except ResourceError:
        pytest.skip(f"{name} is not in a folder of TEXTGAUGE_DATA")
    second = {"clustering": "labels", "retrieval": "query_ids"}.get(task, "documents")
    assert (len(found), len(set(getattr(found, second)))) == SIZES[name][task]


def test_registered_files_are_sound():
    rows = list(csv.DictReader((files("textgauge_papers") / "datasets.csv").read_text("utf-8").splitlines()))
    assert len({(row["dataset"], row["file"]) for row in rows}) == len(rows) == 36
    for row in rows:
        assert row["url"].startswith("https://")
        assert len(bytes.fromhex(row["sha256"])) == 32
        assert int(row["bytes"]) > 0
        assert Path(row["file"]).name == row["file"]
    assert {row["dataset"] for row in rows} == {card.name for card in list_published()}


@pytest.fixture
def real(monkeypatch):
    """The real files, where this machine has them."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "raw"
    folder = os.environ.get("TEXTGAUGE_DATA") or str(beside)
    monkeypatch.setenv("TEXTGAUGE_DATA", folder)
    if not all(is_here(card.name) for card in list_published()):
        pytest.skip("the published files are not on this machine (TEXTGAUGE_DATA)")


@pytest.mark.parametrize("card", list_published(), ids=lambda card: card.name)
def test_reader_on_the_real_files(real, card):
    corpus = load_published_texts(card.name)
    assert len(corpus) == card.size
    assert all(text.strip() for text in corpus.texts)
    if card.kind == "pairs":
        pairs = load_published_pairs(card.name)
        assert len(pairs) == card.size
        assert pairs.left == corpus.texts
        assert all(text.strip() for text in pairs.right)
        assert set(pairs.group) <= set(card.parts)


def test_labels_and_ratings_of_the_real_files(real):
    counts = {name: len(set(load_published_texts(name).labels)) for name in ("banking77", "clinc150", "atis", "nfcats")}
    assert counts == {"banking77": 77, "clinc150": 150, "atis": 26, "nfcats": 8}
    assert len(load_published_texts("clinc150/oos")) == 1200
    assert load_published_texts("stsb/dev/right").texts == load_published_pairs("stsb/dev").right
    assert {0.0, 5.0} <= set(load_published_pairs("stsb").grade)
    rated = load_published_pairs("yamshchikov14/Bible")
    assert (rated.raters[0], rated.grade[0]) == ((2.0, 3.0, 4.0), 3.0)
    translated = load_published_pairs("wmt21_mqm_ted_zhen")
    assert (max(translated.grade), len(set(translated.group))) == (0.0, 15)
    assert not any("<v>" in text for text in translated.right)
