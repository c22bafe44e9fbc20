"""Yamshchikov et al. 2021: the paper's own numbers give the paper's own tables, and ours come out beside them."""

import math
from itertools import product

import numpy as np
import pytest

from textgauge.bench import Agreement, Group, Observations, PairSources, Plan, Results, Store, run
from textgauge.data import Corpus
from textgauge.metrics import get_pair_metrics
from textgauge_papers import PAPERS
from textgauge_papers import yamshchikov2020 as paper
from textgauge_papers import yamshchikov2020_tables as tables
from textgauge_papers.paper import Request, load_published
from textgauge_papers.yamshchikov2020_tables import compute_variability


@pytest.fixture(scope="module")
def fed(tmp_path_factory):
    return paper.rows(Results(Store(tmp_path_factory.mktemp("empty"))), Request())


def test_published_ranks_give_the_published_numbers_to_the_printed_digit(fed):
    rows = [row for row in fed if row["source"] == "published ranks"]
    counted = {name: sum(row["measure"] == name for row in rows) for name in {row["measure"] for row in rows}}
    assert counted == {"order_correlation": 91, "order_correlation_with_human": 13, "coinciding_ranks": 13, "swaps": 13}
    for row in rows:
        assert f"{row['ours']:.2f}" == f"{row['published']:.2f}", row


def test_published_means_give_the_published_numbers_up_to_rounding(fed):
    rows = [row for row in fed if row["source"] == "published means"]
    assert len(rows) == 26
    correlations = [row for row in rows if row["measure"] == "correlation_with_human"]
    assert all(abs(row["difference"]) < 0.01 and "low" not in row for row in correlations)
    shares = [row for row in rows if row["measure"] == "variability_on_random_pct"]
    inside = {row["metric"] for row in shares if row["low"] - 0.05 <= row["published"] <= row["high"] + 0.05}
    near = {row["metric"] for row in shares if abs(row["difference"]) < 2}
    everything = {row["metric"] for row in shares}
    assert everything - inside == {"wmd"}  # of which one mean is a misprint, read otherwise
    assert everything - near == {"bleu", "bertscore"}  # whose means on random sets are one or two last digits apart


def test_the_reach_of_rounding_is_that_of_the_worst_means():
    rng = np.random.default_rng(5)
    random = np.array([True, True, True, False, False])
    corners = 0.005 * np.array(list(product((-1, 0, 1), repeat=5)))
    for scale in (0.02, 0.1, 1.0):
        means = np.round(scale * rng.random(5), 2)
        found = [compute_variability(means + corner, random) for corner in corners]
        expected = pytest.approx((np.nanmin(found), np.nanmax(found)), abs=1e-9)
        assert tables.variability_of_rounded(means, random, 0.005) == expected


def test_the_misprint_is_put_right_where_means_are_fed_and_said(fed):
    printed, read = (tables.load_published_numbers(corrected=c).means["wmd"] for c in (False, True))
    assert sorted(np.flatnonzero(printed != read)) == [list(tables.SETS).index("paraphrase_random")]
    assert (printed.min(), read.max()) == (0.34, 1.34)
    noted = [row for row in fed if row["metric"] == "wmd" and row["source"] == "published means"]
    assert all("misprinted, read as 1.34" in row["note"] for row in noted)


def test_names_are_those_of_the_published_files():
    assert set(tables._OURS) - {tables.WMD_AGAIN} | {"human"} == set(
        load_published("yamshchikov2020_table3_ranks")["metric"]
    )
    assert set(tables.SETS) == set(load_published("yamshchikov2020_table1_2")["dataset"])
    assert PAPERS["yamshchikov2020"].tables == ("1", "2", "3", "4", "5", "figure1")


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """Rows of a run on made-up pairs of the fourteen sets, with two of the metrics."""
    rng, words = np.random.default_rng(3), ["red", "green", "blue", "cat", "dog", "bird", "sun", "moon"]
    left, right, sets, ratings = [], [], [], []
    for place, name in enumerate(tables.SETS.values()):
        for _ in range(12):
            text = list(rng.choice(words, 6))
            kept = 1 if name.endswith("_random") else 3 + place % 3
            left.append(" ".join(text))
            right.append(" ".join(text[:kept] + list(rng.choice(words, 6 - kept))))
            sets.append(name)
            ratings.append(kept + rng.random())
    columns = {"rating": np.array(ratings), "set": np.array(sets)}
    sources = PairSources("yamshchikov14", Corpus.of(left), Corpus.of(right), columns)
    store = Store(tmp_path_factory.mktemp("run"))
    run([Plan(Agreement(), sources, get_pair_metrics("overlap,chrf"))], store)
    made = paper.rows(Results(store), Request()), paper.ledger_rows(Results(store), Request())
    return sources, [row for row in made[0] if row["source"] == "our data"], made[1]


def test_our_means_ranks_and_correlations_are_those_of_the_run(ours):
    sources, rows, _ = ours
    sets, ratings = sources.columns["set"], sources.columns["rating"]
    people = np.array([ratings[sets == name].mean() for name in tables.SETS.values()])

    def column(metric, measure):
        return np.array([row["ours"] for row in rows if (row["metric"], row["measure"]) == (metric, measure)])

    assert column("human", "mean") == pytest.approx(people)
    assert column("human", "rank").tolist() == (14 - people.argsort().argsort()).tolist()
    means = column("word_overlap", "mean")
    assert np.corrcoef(means, people)[0, 1] == pytest.approx(column("word_overlap", "correlation_with_human")[0])
    order = np.corrcoef(column("word_overlap", "rank"), column("human", "rank"))[0, 1]
    assert order == pytest.approx(column("word_overlap", "order_correlation_with_human")[0])
    assert not math.isnan(order)


def test_without_a_run_nothing_is_decided_and_one_metric_counts_once(tmp_path):
    rows = paper.ledger_rows(Results(Store(tmp_path)), Request())
    assert {row["outcome"] for row in rows} == {"not testable here"}
    assert all(row["criterion"] for row in rows)
    assert sum("fasttext" in row["claim"] for row in rows) == 4
    same = paper.claims(Request(params={"word2vec": "wordvec"}))
    assert not any("fasttext" in one.claim for one in same)


def test_what_is_about_elmo_is_tested_where_its_weights_are_given():
    def list_untested(params):
        return [one.claim for one in paper.claims(Request(params=params)) if one.test is None]

    assert sum("elmo" in claim.lower() for claim in list_untested({})) == 3
    assert not list_untested({"elmo": "weights"})
    assert tables.name_instead("elmo_l2", Request(params={"elmo": "weights"})) == ""


def test_claims_on_a_run_have_intervals_over_pairs(ours):
    _, _, rows = ours
    found = {row["claim"]: row for row in rows}
    passes = next(row for claim, row in found.items() if claim.startswith("chrf") and "inequality" in claim)
    assert passes["ours"].startswith("gap = +")  # the made-up pairs are well apart
    assert (passes["outcome"] == "holds") == ("does not" not in passes["claim"])
    swaps = next(
        row for claim, row in found.items() if claim.startswith("the order by word_overlap") and "swaps" in claim
    )
    low, high = map(float, swaps["interval"].split(" to "))
    assert low <= float(swaps["ours"]) <= high
    assert found["wmd has the highest correlation with human"]["outcome"] == "not testable here"


def test_resampled_means_are_around_the_means_even_where_one_metric_has_no_value():
    sets = np.repeat(list(tables.SETS.values()), 20)
    rng = np.random.default_rng(1)
    values = {key: rng.normal(size=len(sets)) for key in ("overlap", "chrf")}
    values["chrf"][values["overlap"] > 0.5] = np.nan  # dropping these pairs would shift the means of overlap
    columns = {"rating": rng.normal(size=len(sets)), "set": sets}
    number = np.zeros(len(sets), dtype=np.int64)
    observed = {key: Observations(-of, number, columns) for key, of in values.items()}
    group = Group("yamshchikov14", Agreement(), 0, observed=observed)
    drawn = paper._resampled_means(group, Request())["word_overlap"]
    means = [values["overlap"][sets == name].mean() for name in tables.SETS.values()]
    assert drawn.mean(axis=0) == pytest.approx(means, abs=0.05)
