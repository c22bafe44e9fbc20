"""Published sets for the tasks: from small copies of their layout, and the real ones where they are."""

from __future__ import annotations

import json
import os

import pytest

from textgauge.core.errors import InputError, ResourceError, UnknownName
from textgauge.data.tasks import (
    PUBLISHED_TASKS,
    load_compared_summaries,
    load_documents,
    load_labelled,
    load_rated_summaries,
    load_retrieval,
    task_set_is_here,
)

LOADERS = {
    "axis": load_rated_summaries,
    "comparisons": load_compared_summaries,
    "robustness": lambda name: load_documents(name, summary="summary"),
    "sensitivity": load_documents,
    "clustering": load_labelled,
    "retrieval": load_retrieval,
}
CATALOGUE = {"scitldr", "legal_summ", "banking77", "clinc150", "atis", "nfcats"}


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Write the file of a set into the second of two data folders."""
    monkeypatch.setenv("TEXTGAUGE_DATA", os.pathsep.join([str(tmp_path / "empty"), str(tmp_path / "data")]))

    def write(name, content):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else "".join(json.dumps(row) + "\n" for row in content))

    return write


@pytest.mark.parametrize("name", sorted(set(PUBLISHED_TASKS) - CATALOGUE))
def test_a_set_that_is_absent_says_what_is_wanted(name, monkeypatch):
    monkeypatch.delenv("TEXTGAUGE_DATA", raising=False)
    assert not task_set_is_here(name)
    for task in PUBLISHED_TASKS[name]:
        with pytest.raises(ResourceError, match=rf"^{name} is not on this machine .*columns .*TEXTGAUGE_DATA as \w+/"):
            LOADERS[task](name)


def test_unknown_sets():
    with pytest.raises(UnknownName, match="summeval"):
        task_set_is_here("sumeval")


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
    assert found.notes == ("1 of 2 lines has the reference itself as summary: skipped (line 3)",)


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


def test_documents_without_summaries(data):
    data("squality/squality_dev_documents.jsonl", [{"passage_id": "7", "document": "story"}])
    assert load_documents("squality").documents == ("7",)
    with pytest.raises(InputError, match="squality has no summaries; the sets that have are scitldr"):
        load_documents("squality", summary="summary")


def test_a_file_with_other_columns_is_refused(data):
    data("stackoverflow_titles/stackoverflow20.csv", "kind,text\na,b\n")
    with pytest.raises(InputError, match=r"stackoverflow20\.csv: no column 'tag'"):
        load_labelled("stackoverflow_titles")


def test_retrieval_set(data):
    data("cranfield/corpus.jsonl", [{"_id": "1", "title": "t", "text": "a"}])
    data("cranfield/queries.jsonl", [{"_id": "1", "text": "q"}])
    data("cranfield/qrels.csv", "query_id,doc_id,relevance\n1,1,1\n")
    found = load_retrieval("cranfield")
    assert (found.name, found.texts, found.relevant) == ("cranfield", ("t a",), {"1": frozenset({"1"})})
    assert task_set_is_here("cranfield")


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
    if not task_set_is_here(name):
        pytest.skip(f"{name} is not in a folder of TEXTGAUGE_DATA")
    found = LOADERS[task](name)
    second = {"clustering": "labels", "retrieval": "query_ids"}.get(task, "documents")
    assert (len(found), len(set(getattr(found, second)))) == SIZES[name][task]
