import numpy as np
import pytest
from scipy import stats

from textgauge.measure.describing import describe as run

RNG = np.random.default_rng(0)
WORDS = ["red", "green", "blue", "cat", "dog", "bird", "tree", "house", "road", "tea"]


def texts(n, words=WORDS, mark=""):
    return [" ".join(RNG.choice(words, RNG.integers(4, 9))) + mark for _ in range(n)]


TRAIN, TEST = texts(60), texts(40)
ONE, TWO = texts(50), texts(45, [*WORDS, "zig", "zag", "quiz"], "!")


@pytest.fixture
def found(backends):
    return run(generated={"one": ONE, "two": TWO}, train=TRAIN, held_out=TEST, embedder="letters")


def test_corpora_are_tested_against_each_other_and_against_test(found):
    rows = {(row["property"], row["first"], row["second"]): row for row in found.differences.to_dicts()}
    both = {(name, "one", "two") for name in ("grammar", "plausibility", "semantic", "syntactic")}
    with_test = {
        (name, corpus, "test") for name in ("grammar", "plausibility", "syntactic") for corpus in ("one", "two")
    }
    assert set(rows) == both | with_test
    one, two = (measured.text_values()["semantic"] for measured in found.generated)
    row = rows["semantic", "one", "two"]
    assert row["p_t"] == pytest.approx(stats.ttest_ind(one, two, equal_var=False).pvalue)
    assert row["p_mann_whitney"] == pytest.approx(stats.mannwhitneyu(one, two).pvalue)
    assert row["p_t_holm"] >= row["p_t"]
    assert row["mean_first"] == pytest.approx(one.mean())
    equal = rows["grammar", "one", "test"]  # no text has an error
    assert equal["p_t"] is equal["p_t_holm"] is None
    assert rows["grammar", "one", "two"]["p_mann_whitney_holm"] < 1e-6


def test_ratings_are_correlated_with_every_property(backends):
    ratings = [-len(text.split()) for text in ONE]
    options = {"train": TRAIN, "held_out": TEST, "embedder": "letters", "seed": 1}
    found = run(generated=ONE, ratings=ratings, **options)
    links = {row["property"]: row for row in found.links.to_dicts()}
    assert list(links) == ["grammar", "plausibility", "semantic", "syntactic"]
    values = found.generated[0].text_values()["semantic"]
    semantic = links["semantic"]
    assert semantic["rho"] == pytest.approx(stats.spearmanr(ratings, values).statistic)
    assert semantic["low"] <= semantic["rho"] <= semantic["high"]
    assert semantic["n"] == len(ONE)
    assert links["grammar"]["rho"] is None  # no text has an error
    turned = run(generated=ONE[::-1], ratings=ratings[::-1], **options).links
    assert turned["low"][2] == pytest.approx(semantic["low"])


def test_ratings_of_several_corpora_go_by_name_and_missing_ones_are_left_out(backends):
    ratings = {"two": [np.nan, *range(len(TWO) - 1)]}
    found = run(generated={"one": ONE, "two": TWO}, ratings=ratings, train=TRAIN, held_out=TEST, embedder="letters")
    assert set(found.links["corpus"]) == {"two"}
    assert set(found.links["n"]) == {len(TWO) - 1}


def test_questions_are_summarised_correlated_and_compared_each_by_itself(backends):
    likes = {
        "one": [5, 4] * (len(ONE) // 2) + [1] * (len(ONE) % 2),
        "two": [1, 2] * (len(TWO) // 2) + [2] * (len(TWO) % 2),
    }
    ratings = {name: {"fluency": marks, "stars": [mark * 2.5 for mark in marks]} for name, marks in likes.items()}
    found = run(generated={"one": ONE, "two": TWO}, ratings=ratings, train=TRAIN, held_out=TEST, embedder="letters")
    marks = {(row["corpus"], row["question"]): row for row in found.marks.to_dicts()}
    assert marks["two", "fluency"]["high"] == 0.0
    assert marks["one", "fluency"]["high"] == pytest.approx(np.mean(np.array(likes["one"]) >= 4))
    assert marks["one", "fluency"]["mean"] == pytest.approx(np.mean(likes["one"]))
    assert marks["one", "stars"]["high"] is None  # not on a scale from 1 to 5
    assert set(found.links["question"]) == {"fluency", "stars"}
    (row,) = [row for row in found.differences.to_dicts() if row["property"] == "rating_fluency"]
    expected = stats.mannwhitneyu(likes["one"], likes["two"], method="asymptotic").pvalue
    assert (row["first"], row["second"]) == ("one", "two")
    assert row["p_mann_whitney"] == pytest.approx(expected)
    assert {"rating_fluency", "rating_stars"} <= set(found.per_text.columns)
