"""Explanations: rows, rankings, nearest texts, and the report that carries them."""

import math

import numpy as np
import polars as pl
import pytest

from textgauge import compare
from textgauge.core.errors import InputError
from textgauge.data import Corpus
from textgauge.measure.explaining import Explanation, explain

REFERENCE = ["the cat sat", "the cat sat", "a dog ran", "a bird sang", "one cow", "the old cat", "red dogs"]
CANDIDATE = ["pay the card", "a bank loan", "the cat sat", "<b>bold</b> & [red]x[/red]", "my card", "the loan is due"]


def test_rows_are_the_texts_in_order_with_their_nearest():
    found = explain(reference=REFERENCE, candidate=CANDIDATE, metric="ahd@levenshtein")
    rows = found.to_dicts()
    assert [row["text"] for row in rows] == REFERENCE + CANDIDATE
    assert [(row["side"], row["index"]) for row in rows[6:8]] == [("reference", 6), ("candidate", 0)]
    assert rows[0]["nearest"] == "the cat sat"
    assert (rows[0]["nearest_index"], rows[0]["distance"]) == (2, 0.0)
    assert rows[5]["distance"] == pytest.approx(14 * rows[5]["contribution"])
    assert sum(row["contribution"] for row in rows) == pytest.approx(found.value, abs=1e-9)
    assert found.distance == "levenshtein"


def test_top_texts_are_different_ones_that_add_something():
    found = explain(reference=REFERENCE, candidate=CANDIDATE, metric="irpr@levenshtein")
    top = found.top(99, "reference")
    assert [row["text"] for row in top].count("the cat sat") == 0
    adds = [row["contribution"] for row in top]
    assert adds == sorted(adds, reverse=True)
    assert min(adds) > 0
    assert len(found.top(2, "candidate")) == 2
    assert {row["text"]: row["copies"] for row in found.uncovered(99)}["the cat sat"] == 2
    assert found.outliers(1)[0]["distance"] == max(row["distance"] for row in found.to_dicts()[len(REFERENCE) :])


def test_of_a_part_where_larger_is_closer_the_texts_that_add_less_are_on_top():
    found = explain(reference=REFERENCE, candidate=CANDIDATE, metric="pr.precision(k=1)@levenshtein")
    assert {row["inside"] for row in found.top(99, "candidate")} == {False}
    assert found.top(99, "reference") == []


def test_nearest_texts_of_token_metrics_are_by_their_counts():
    found = explain(reference=Corpus.of([*REFERENCE, " "]), candidate=CANDIDATE, metric="chi@words")
    rows = found.to_dicts()
    assert rows[5]["nearest"] == "the cat sat"
    assert rows[5]["distance"] == pytest.approx(1 - 2 / 3)
    assert (rows[7]["text"], rows[7]["distance"]) == (" ", 1.0)
    assert found.tokens[0]["contribution"] >= found.tokens[-1]["contribution"]


def test_embeddings_without_texts_are_named_by_their_place():
    rng = np.random.default_rng(0)
    found = explain(reference=rng.normal(size=(9, 3)), candidate=rng.normal(size=(8, 3)) + 1, metric="energy")
    row = found.top(1, "candidate")[0]
    assert (found.metric, row["text"], row["nearest"], row["copies"]) == ("energy@given", None, None, 1)
    assert len(found.terms) == 0
    assert "candidate" in found._repr_html_()


def test_a_classifier_leaves_texts_unknown_that_it_was_not_asked_about():
    rng = np.random.default_rng(0)
    found = explain(reference=rng.normal(size=(20, 3)), candidate=rng.normal(size=(20, 3)) + 2, metric="classifier")
    rows = found.to_dicts()
    assert sum(row["contribution"] is None for row in rows) == 32
    assert all(row["decision"] is not None for row in found.top(99, "candidate"))
    assert math.fsum(row["contribution"] or 0.0 for row in rows) == pytest.approx(found.value, abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "complaint"),
    [
        ("fid", "no per-text contributions"),
        ("pr(k=3|5)", "one metric"),
        ("pr(k=40)@levenshtein", "undefined.*at least 41"),
    ],
)
def test_what_cannot_be_explained_is_refused_in_one_line(metric, complaint):
    with pytest.raises(InputError, match=complaint):
        explain(reference=REFERENCE, candidate=CANDIDATE, metric=metric)


def test_a_report_carries_the_explanations_of_metrics_that_have_one():
    report = compare(
        reference=REFERENCE, candidate=CANDIDATE, metrics="ahd@levenshtein,jsd@words,pr(k=40)@levenshtein", explain=True
    )
    assert list(report.explanations) == ["ahd@levenshtein"]
    found = report.explanations["ahd@levenshtein"]
    alone = explain(reference=REFERENCE, candidate=CANDIDATE, metric="ahd@levenshtein")
    assert isinstance(found, Explanation)
    assert found.to_dicts() == alone.to_dicts()
    assert found.total == pytest.approx(report["ahd@levenshtein"].value, abs=1e-9)
    assert (len(report.texts), len(report.details["terms"])) == (13, len(report.terms))
    plain = compare(reference=REFERENCE, candidate=CANDIDATE, metrics="ahd@levenshtein")
    assert not plain.explanations
    assert plain.terms.to_dicts() == report.terms.to_dicts()


def test_texts_of_several_candidates_say_whose_distance_they_add_to():
    candidates = {"far": CANDIDATE, "near": REFERENCE}
    report = compare(reference=REFERENCE, candidate=candidates, metrics="ahd@levenshtein,jsd@words", explain=True)
    assert list(report.explanations) == [("ahd@levenshtein", "far"), ("ahd@levenshtein", "near")]
    for name, of in candidates.items():
        own = report.texts.filter(pl.col("candidate") == name)
        alone = explain(reference=REFERENCE, candidate=of, metric="ahd@levenshtein")
        assert own["contribution.ahd@levenshtein"].sum() == pytest.approx(alone.total, abs=1e-9)
        assert own["source"].value_counts().sort("source").rows() == sorted(
            {name: len(of), "reference": len(REFERENCE)}.items()
        )


def test_texts_of_slices_are_named_by_their_label():
    labels = ["a"] * 20 + ["b"] * 20
    frames = [pl.DataFrame({"text": [f"{word} {n}" for n in range(40)], "label": labels}) for word in ("cat", "dog")]
    report = compare(*frames, by="label", metrics="ahd@levenshtein", explain=True)
    assert set(report.texts["slice"]) == {"a", "b"}
    assert len(report.texts) == 80
    assert set(report.explanations) == {(name, "ahd@levenshtein", "candidate") for name in "ab"}
