"""Corpora described without train and test: every number against a plain computation, and the texts behind them."""

import math
import sys
import zlib
from functools import partial
from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t as student

from textgauge.core.errors import ResourceError
from textgauge.measure.describing import Measuring
from textgauge.measure.describing import describe as describe_texts

TEXTS = [
    "The red cat sat on the old mat today.",
    "the red cat sat on the old mat today",
    "the red cat sat on the old mat today again",
    "My order is late and I want my money back",
    "My order is late and nobody answers the phone",
    "My order is late so please send it soon",
    "zzz qqq xxx",
]
OTHER = ["the red cat sat on the old mat today", "something else"]


def describe(texts=TEXTS, **options):
    return describe_texts(texts, **{"embedder": "letters", "grammar": "marks", "plausibility": "lengths"} | options)


def words(text):
    return {"".join(filter(str.isalnum, word)) for word in text.lower().split()}


def test_counts_are_those_of_a_plain_twin():
    found = describe()
    assert found["texts"].value == 7
    assert found["words"].value == pytest.approx(np.mean([10, 9, 10, 10, 9, 9, 3]))
    assert found["unique"].value == pytest.approx(5 / 7)
    alike = {
        place
        for pair in combinations(range(7), 2)
        if len(words(TEXTS[pair[0]]) & words(TEXTS[pair[1]])) / len(words(TEXTS[pair[0]]) | words(TEXTS[pair[1]]))
        >= 0.8
        for place in pair
    }
    assert alike == {0, 1, 2}
    assert found["near_duplicates"].value == pytest.approx(len(alike) / 7)
    assert found["templates"].value == pytest.approx(6 / 7)  # a text with neither run is the last
    whole = "\n".join(sorted(TEXTS)).encode()
    assert found["compression"].value == pytest.approx(len(whole) / len(zlib.compress(whole, 9)))
    grams = [pair for text in TEXTS for row in [tokens(text)] for pair in pairwise(row)]
    assert found["distinct_2"].value == pytest.approx(len(set(grams)) / len(grams))


def tokens(text):
    from textgauge.encode.tokenizers import split_folded_words

    return split_folded_words(text)


def test_numbers_of_meaning_are_those_of_a_plain_twin():
    found = describe()
    units = np.array([[text.lower().count(chr(97 + place)) for place in range(26)] for text in TEXTS], dtype=float)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    values = np.linalg.eigvalsh(units @ units.T / 7)
    values = values[values > 1e-12]
    assert found["vendi"].value == pytest.approx(math.exp(-(values * np.log(values)).sum()))
    assert math.isnan(found["vendi"].low)
    assert found["vendi"].reason == "no interval: too few texts"
    cosines = units @ units.T
    assert found["self_similarity"].value == pytest.approx((cosines.sum() - 7) / 42)
    nearest = np.where(np.eye(7, dtype=bool), -1, cosines).max(axis=1)
    assert found.per_text["nearest_cosine"].to_list() == pytest.approx(nearest.tolist())
    assert found["restated"].value == pytest.approx((nearest >= 0.95).mean())
    low, high = np.quantile(nearest, [0.25, 0.75])
    assert found["outliers"].value == pytest.approx((nearest < low - 1.5 * (high - low)).mean())
    assert found.list_texts("outliers")["text"].to_list() == ["zzz qqq xxx"]


def test_intervals_of_meaning_are_the_jackknifes():
    texts = [f"{a} {b} {c}" for a in ("red", "old", "new", "big") for b in ("cat", "dog", "cow", "hen") for c in "wxyz"]
    found = describe(texts)
    units = np.array([[text.count(chr(97 + place)) for place in range(26)] for text in texts], dtype=float)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    cosines, n = units @ units.T, len(texts)
    without = [(np.delete(np.delete(cosines, i, 0), i, 1).sum() - (n - 1)) / ((n - 1) * (n - 2)) for i in range(n)]
    error = math.sqrt((n - 1) / n * ((np.array(without) - np.mean(without)) ** 2).sum())
    row = found["self_similarity"]
    assert row.high - row.value == pytest.approx(student.ppf(0.975, n - 1) * error)
    assert found["vendi"].low < found["vendi"].value < found["vendi"].high
    assert describe(texts[::-1])["vendi"].high == pytest.approx(found["vendi"].high)


def test_duplicates_of_another_file_are_named():
    found = describe(against=OTHER)
    assert found["shared"].value == pytest.approx(3 / 7)
    assert found["shared"].low < 3 / 7 < found["shared"].high
    rows = found.list_texts("shared").to_dicts()
    assert [row["index"] for row in rows] == [0, 1, 2]
    assert {row["match"] for row in rows} == {OTHER[0]}
    assert rows[2]["similarity"] == pytest.approx(8 / 9)
    assert found["shared_meaning"].value >= 3 / 7
    assert "3 (42.9 %) have a near duplicate in the other file" in found.answer
    assert "shared" not in describe()


def test_lists_show_templates_duplicates_and_scripts():
    found = describe([*TEXTS, "добрый день"])
    rows = {row["template"]: row for row in found.list_texts("templates").to_dicts()}
    assert rows["my order is late"]["texts"] == 3
    assert rows["my order is late"]["example"] == TEXTS[3]
    assert "is late and i" not in rows
    assert found.list_texts("near_duplicates")["match_index"].to_list() == [1, 0, 0]
    languages = {row["language"]: row["texts"] for row in found.list_texts("languages").to_dicts()}
    assert languages == {"English": 6, "not known": 1, "Cyrillic script": 1}
    assert found["main_language"].value == pytest.approx(6 / 8)
    assert any("not in Latin script" in text for text in found.warnings)
    frame = found.per_text
    assert frame["duplicate"].to_list() == [1, 0, 0, None, None, None, None, None]
    assert frame["words"].to_list()[0] == 10


def test_what_needs_a_backend_that_was_left_out_says_so():
    found = describe(embedder=None, grammar=None, plausibility=None)
    for name in ("vendi", "outliers", "grammar", "plausibility"):
        assert math.isnan(found[name].value)
        assert found[name].reason == "not asked for"
    assert describe(plausibility="kneser-ney")["plausibility"].reason == "needs train texts"
    assert not len(found.list_texts("outliers"))
    assert not len(found.list_texts("same_meaning"))
    assert "semantic_f1" not in found
    assert math.isnan(describe(ci=False)["words"].low)


def test_models_see_a_sample_of_a_large_corpus(monkeypatch):
    monkeypatch.setattr(sys.modules["textgauge.measure.describing"], "Measuring", partial(Measuring, train_sample=4))
    found = describe()
    assert any("grammar is that of 4 of the 7 texts" in text for text in found.warnings)


def test_a_single_text_has_no_pairs():
    found = describe(["one text"])
    assert math.isnan(found["self_similarity"].value)
    assert found["vendi"].value == pytest.approx(1.0)
    assert found["near_duplicates"].value == 0.0
    assert found["outliers"].value == 0.0


def test_without_texts_to_learn_from_there_is_no_plausibility(monkeypatch):
    def missing(name, *, representative=None):
        raise ResourceError(f"{name} is not on this machine")

    models = SimpleNamespace(get_language_model=missing)
    monkeypatch.setitem(sys.modules, "textgauge.encode.language_models", models)
    report = describe(plausibility="kneser-ney")
    assert math.isnan(report["plausibility"].value)
    assert not report.warnings
    with pytest.raises(ResourceError):
        describe(plausibility="smollm2")
