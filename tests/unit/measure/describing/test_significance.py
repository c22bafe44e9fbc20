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
    names = {(row.property, row.first, row.second) for row in found.differences}
    both = {(name, "one", "two") for name in ("grammar", "plausibility", "semantic", "syntactic")}
    with_test = {
        (name, corpus, "test") for name in ("grammar", "plausibility", "syntactic") for corpus in ("one", "two")
    }
    assert names == both | with_test


def test_p_values_are_scipys_and_corrected(found):
    values = {one.name: one.text_values()["semantic"] for one in found.generated}
    row = next(row for row in found.differences if row.property == "semantic")
    assert row.p_t == pytest.approx(stats.ttest_ind(values["one"], values["two"], equal_var=False).pvalue)
    assert row.p_mann_whitney == pytest.approx(stats.mannwhitneyu(values["one"], values["two"]).pvalue)
    assert row.p_t_holm >= row.p_t
    assert row.mean_first == pytest.approx(values["one"].mean())


def test_equal_values_give_no_p_value_and_other_ones_a_small_one(found):
    grammar = {(row.first, row.second): row for row in found.differences if row.property == "grammar"}
    assert np.isnan(grammar["one", "test"].p_t)
    assert grammar["one", "test"].to_dict()["p_t_holm"] is None
    assert grammar["one", "two"].p_mann_whitney_holm < 1e-6


def test_ratings_are_correlated_with_every_property(backends):
    ratings = [-len(text.split()) for text in ONE]
    options = {"train": TRAIN, "held_out": TEST, "embedder": "letters", "seed": 1}
    found = run(generated=ONE, ratings=ratings, **options)
    links = {link.property: link for link in found.links}
    assert set(links) == {"grammar", "plausibility", "semantic", "syntactic"}
    values = found.generated[0].text_values()["semantic"]
    assert links["semantic"].rho == pytest.approx(stats.spearmanr(ratings, values).statistic)
    assert links["semantic"].low <= links["semantic"].rho <= links["semantic"].high
    assert links["semantic"].n == len(ONE)
    assert links["grammar"].to_dict()["rho"] is None  # no text has an error
    turned = run(generated=ONE[::-1], ratings=ratings[::-1], **options)
    assert turned.links[2].low == pytest.approx(links["semantic"].low)


def test_ratings_of_several_corpora_go_by_name_and_missing_ones_are_left_out(backends):
    ratings = {"two": [np.nan, *range(len(TWO) - 1)]}
    found = run(generated={"one": ONE, "two": TWO}, ratings=ratings, train=TRAIN, held_out=TEST, embedder="letters")
    assert {link.corpus for link in found.links} == {"two"}
    assert {link.n for link in found.links} == {len(TWO) - 1}
