"""The data of the tasks in memory, drawn, and built in."""

from __future__ import annotations

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


@pytest.mark.parametrize("make", [rated, compared, documents])
def test_a_longer_draw_begins_with_the_shorter_and_repeats_nothing(make):
    short, long = make(range(20)).draw(5, seed=1), make(range(20)).draw(12, seed=1)
    assert long.texts[:5] == short.texts
    assert len(set(long.texts)) == 12
    with pytest.raises(InputError, match="at least one"):
        make(range(20)).draw(0)


def test_draws_keep_columns_together():
    drawn = rated(range(20)).draw(7, seed=2)
    assert drawn.summaries == tuple(text.upper() for text in drawn.texts)
    assert drawn.ratings["overall"] == tuple(float(LETTERS.index(text)) for text in drawn.texts)
    assert drawn.ratings["accuracy"] == tuple(-value for value in drawn.ratings["overall"])
    assert drawn.documents == tuple(f"d{LETTERS.index(text) % 5}" for text in drawn.texts)
    pairs = compared(range(20)).draw(7, seed=2)
    assert pairs.chosen == tuple(LETTERS.index(text) % 2 for text in pairs.texts)
    assert pairs.first == tuple(text * 2 for text in pairs.texts)
    assert documents(range(20)).draw(3).summaries is not None


def test_a_row_more_does_not_change_which_rows_come_first():
    few, many = documents(range(19)).draw(19, seed=5), documents(range(20)).draw(20, seed=5)
    assert tuple(text for text in many.texts if text != "t") == few.texts


@pytest.mark.parametrize("n", range(4, 20))
def test_a_draw_of_labelled_texts_leaves_no_label_alone(n):
    drawn = labelled(range(20)).draw(n, seed=8)
    assert len(drawn) in (n, n - 1)
    assert all(drawn.labels.count(label) > 1 for label in drawn.labels)


def test_a_draw_that_leaves_one_label_is_refused():
    with pytest.raises(InputError, match=r"2 texts hold [01] labels that occur twice"):
        labelled(range(20)).draw(2)


def test_a_draw_of_retrieval_keeps_what_is_relevant():
    whole = retrieval(range(20))
    drawn = whole.draw(8, seed=1, queries=2)
    assert (len(drawn), len(drawn.queries)) == (8, 2)
    assert all(drawn.relevant[query] <= set(drawn.documents) for query in drawn.query_ids)
    assert set(drawn.relevant) == set(drawn.query_ids)
    assert drawn.notes == ()
    assert drawn.texts == tuple(LETTERS[int(name[1:])] for name in drawn.documents)


def test_relevant_documents_do_not_stand_first():
    whole = retrieval(range(20), queries=range(2))
    places = [whole.draw(20, seed=seed).documents.index("d1") for seed in range(20)]
    assert max(places) > 9


def test_queries_that_do_not_fit_are_left_out_with_a_note():
    drawn = retrieval(range(20)).draw(3, seed=1)
    assert len(drawn) == 3
    assert len(drawn.queries) < 4
    assert drawn.notes == (
        f"{4 - len(drawn.queries)} of 4 queries left out: their relevant documents do not fit into 3",
    )
    with pytest.raises(InputError, match="1 documents cannot hold"):
        retrieval(range(20)).draw(1)


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="differ in length"):
        Documents("d", ("1",), ("a", "b"), None)
    with pytest.raises(InputError, match="differ in length"):
        RatedSummaries("r", ("1",), ("a",), ("b",), {"overall": (1.0, 2.0)})
    with pytest.raises(InputError, match="no rating is called 'overall'"):
        RatedSummaries("r", ("1",), ("a",), ("b",), {"quality": (1.0,)})
    with pytest.raises(InputError, match="query 'q' has no relevant document"):
        RetrievalSet("t", ("1",), ("a",), ("q",), ("b",), {"q": frozenset({"2"})})


def test_articles():
    found = load_documents("sample:articles", summary="summary")
    assert len(found) == len(set(found.texts)) == len(set(found.documents)) == 80
    assert all(1 <= summary.count(". ") + 1 <= 2 for summary in found.summaries)
    assert not any(summary in text for summary, text in zip(found.summaries, found.texts, strict=True))


def test_ratings_and_comparisons_of_articles_agree():
    summaries, comparisons = load_rated_summaries("sample:articles"), load_compared_summaries("sample:articles")
    assert (len(summaries), len(comparisons)) == (400, 800)
    assert set(summaries.ratings) == {"overall", "accuracy", "coverage", "coherence"}
    assert set(summaries.ratings["overall"]) == {1.0, 2.0, 3.0, 4.0, 5.0}
    worth = dict(
        zip(zip(summaries.documents, summaries.summaries, strict=True), summaries.ratings["overall"], strict=True)
    )
    rows = zip(comparisons.documents, comparisons.first, comparisons.second, comparisons.chosen, strict=True)
    for document, first, second, chosen in rows:
        assert (worth[document, second] > worth[document, first]) == bool(chosen)
    assert 0.4 < sum(comparisons.chosen) / 800 < 0.6


def test_intents():
    found = load_labelled("sample:intents")
    assert len(set(found.labels)) == 12
    assert all(found.labels.count(label) == 40 for label in set(found.labels))
    assert len(set(found.texts)) == 480
    assert len(set(load_labelled("sample:banking").labels)) > 8


def test_library():
    found = load_retrieval("sample:library")
    assert (len(found), len(set(found.texts)), len(found.queries)) == (148, 148, 40)
    assert {len(documents) for documents in found.relevant.values()} == {1, 2, 3}


def test_library_queries_use_other_words():
    found = load_retrieval("sample:library")
    texts = dict(zip(found.documents, found.texts, strict=True))
    for name, query in zip(found.query_ids, found.queries, strict=True):
        assert not any(query.casefold() in texts[document].casefold() for document in found.relevant[name])


@pytest.mark.parametrize(
    ("load", "near"),
    [
        (load_rated_summaries, "sample:articles"),
        (load_compared_summaries, "sample:articles"),
        (load_documents, "sample:articles"),
        (load_labelled, "sample:intents"),
        (load_retrieval, "sample:library"),
    ],
)
def test_unknown_samples_get_the_nearest_name(load, near):
    with pytest.raises(UnknownName, match=near):
        load(near + "s")
