"""Agreement with people judged with metrics whose verdict is known beforehand."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from tests.oracle.conftest import make_oracle

from textgauge.bench import Agreement, Observations, PairSources, Plan, Store, run
from textgauge.bench.leaderboard import rank_metrics
from textgauge.bench.results import Results, filter_measures
from textgauge.data import Corpus
from textgauge.metrics import PairMetric, Part, registry


class Oracle(PairMetric):
    """The right text of a pair is its rating, and some noise."""

    label = "oracle"
    source = "none"
    needs = "texts"
    default_on = ""
    headline = Part("value", closer="larger", bounds=(-math.inf, math.inf))
    undefined = "just so"

    def compute(self, pairs):
        numbers = np.array([[float(part) for part in text.split()] for text in pairs.right.texts])
        return {"value": self.of(*numbers.T)}


@dataclass(frozen=True, kw_only=True)
class Noisy(Oracle):
    name = "noisy"
    noise: float = 1.0

    def of(self, rating, noise):
        return rating + self.noise * noise


DISTANCE = Part("value", closer="smaller", bounds=(-math.inf, math.inf))
METRICS = {
    "noisy": Noisy,
    "perfect": make_oracle(Oracle, "perfect", lambda rating, _: rating),
    "distance": make_oracle(Oracle, "distance", lambda rating, _: -rating, headline=DISTANCE),
    "inverted": make_oracle(Oracle, "inverted", lambda rating, _: -rating),
    "random": make_oracle(Oracle, "random", lambda _, noise: noise),
    "constant": make_oracle(Oracle, "constant", lambda rating, _: np.full(len(rating), 0.5)),
    "gaps": make_oracle(Oracle, "gaps", lambda rating, _: np.where(rating == 3.0, np.nan, rating)),
}
SETS = ("a", "b", "c", "a_random", "b_random", "c_random")
PAIR = ("pearson", "spearman", "kendall")
WITHIN = tuple(f"within_{column}_{name}" for column in ("set", "system", "item") for name in PAIR)
BETWEEN = ("system_pearson", "system_spearman", "system_kendall", "set_pearson", "order_correlation")
ORDER = ("coinciding_ranks", "swaps", "inversions", "variability", "disqualified")


def rated(n=360, seed=0, **changed):
    """Pairs of six sets, six systems and sixty items; related sets are rated higher."""
    rng = np.random.default_rng(seed)
    place = np.arange(n)
    ratings = rng.integers(1, 4, n) + np.where(place % 6 < 3, 2, 0) + (place % 6) / 10
    columns = {
        "rating": ratings.astype(float),
        "set": np.array(SETS)[place % 6],
        "system": np.array([f"s{i}" for i in (place // 7) % 6]),
        "item": place // 6,
    }
    columns |= changed
    texts = [f"{rating:.6f} {noise:.6f}" for rating, noise in zip(columns["rating"], rng.normal(size=n), strict=True)]
    kept = {name: column for name, column in columns.items() if column is not None}
    return PairSources("rated", Corpus.of([f"text {i}" for i in range(n)]), Corpus.of(texts), kept)


@pytest.fixture
def judged(tmp_path, monkeypatch):
    for name, kind in METRICS.items():
        monkeypatch.setitem(registry.METRICS, name, kind)

    def judge_all(names, sources=None, protocol=None):
        store = Store(tmp_path / f"{len(list(tmp_path.iterdir()))}")
        metrics = registry.get_pair_metrics(names)
        assert not run([Plan(protocol or Agreement(), sources or rated(), metrics)], store).failures
        return Results(store).groups()

    return judge_all


@pytest.fixture
def verdicts(judged):
    def of(name, sources=None, protocol=None):
        (group,) = judged(name, sources, protocol)
        (found,) = group.verdicts.values()
        return found

    return of


@pytest.mark.parametrize("name", ["perfect", "distance"])
def test_a_perfect_metric_gets_everything_right(verdicts, name):
    found = verdicts(name)
    for measure in (*PAIR, *WITHIN, *BETWEEN, "pairwise_accuracy", "within_item_accuracy", "system_accuracy"):
        assert found[measure].value == pytest.approx(1.0), measure
        assert (found[measure].low, found[measure].high) == pytest.approx((1.0, 1.0), abs=1e-6)
        assert found[measure].reason is None
    assert [found[name].value for name in ("coinciding_ranks", "swaps", "inversions", "disqualified")] == [6, 0, 0, 0]
    assert 0 < found["variability"].value < 50


def test_an_inverted_metric_gets_everything_wrong(verdicts):
    found = verdicts("inverted")
    for measure in (*PAIR, *WITHIN, *BETWEEN):
        assert found[measure].value == pytest.approx(-1.0), measure
    assert found["system_accuracy"].value == 0.0
    assert (found["coinciding_ranks"].value, found["swaps"].value, found["inversions"].value) == (0, 9, 15)
    assert found["disqualified"].value == 1.0


def test_a_random_metric_is_at_chance(verdicts):
    found = verdicts("random", rated(3_000))
    for measure in (*PAIR, *WITHIN[:3]):
        verdict = found[measure]
        assert abs(verdict.value) < 2.5 * verdict.chance
        assert verdict.low < 0.03
        assert verdict.high > -0.03
        assert 0 < verdict.chance < 0.1
    assert found["pairwise_accuracy"].value == pytest.approx(found["pairwise_accuracy"].chance, abs=0.05)


def test_random_metrics_pass_the_chance_level_in_one_case_of_twenty():
    rng, passed, covered = np.random.default_rng(8), 0, 0
    for _ in range(40):
        columns = {"rating": rng.integers(1, 6, 80).astype(float)}
        found = Agreement().judge(Observations(rng.normal(size=80), np.zeros(80, np.int64), columns))
        spearman = next(verdict for verdict in found if verdict.measure == "spearman")
        passed += spearman.value > spearman.chance
        covered += spearman.low <= 0 <= spearman.high
    assert passed <= 6
    assert covered >= 34


def test_a_constant_metric_has_no_correlation_and_a_reason(verdicts):
    found = verdicts("constant")
    for measure in (*PAIR, "kendall_c", *BETWEEN, *WITHIN):
        assert math.isnan(found[measure].value)
        assert found[measure].reason
    assert "the same value for all pairs" in found["spearman"].reason
    ratings = rated().columns["rating"]
    ties = np.equal.outer(ratings, ratings).sum() - len(ratings)
    assert found["pairwise_accuracy"].value == pytest.approx(ties / (len(ratings) * (len(ratings) - 1)))


def test_constant_ratings_are_a_reason_and_the_rest_goes_on(verdicts):
    found = verdicts("noisy", rated(rating=np.full(360, 2.0)))
    for verdict in found.values():
        if verdict.measure not in (*ORDER, "system_accuracy", "within_item_accuracy"):
            assert math.isnan(verdict.value), verdict.measure
            assert "equal" in verdict.reason


def test_pairs_without_a_value_are_left_out_and_counted(verdicts):
    sources = rated()
    found = verdicts("gaps", sources)
    missing = int((sources.columns["rating"] == 3.0).sum())
    assert missing > 10
    assert found["spearman"].value == pytest.approx(1.0)
    assert found["spearman"].n == 360 - missing
    assert found["spearman"].reason == f"{missing} of 360 pairs left out: just so"


def test_a_set_without_values_has_no_order_and_the_rest_goes_on(verdicts):
    sets = np.array(SETS)[np.arange(360) % 6]
    ratings = np.where(sets == "a", 3.0, rated().columns["rating"])
    found = verdicts("gaps", rated(rating=ratings))
    assert found["pearson"].value == pytest.approx(1.0)
    assert math.isnan(found["order_correlation"].value)
    assert "1 of the 6 means of sets do not exist" in found["order_correlation"].reason


def test_columns_decide_the_measures(verdicts):
    found = verdicts("noisy", rated(set=None, system=None, item=None))
    assert tuple(found) == (*PAIR, "kendall_c", "pairwise_accuracy")
    plain = verdicts("noisy", rated(set=np.array(["x", "y", "z"])[np.arange(360) % 3]))
    assert "order_correlation" in plain
    assert "variability" not in plain


def test_single_ratings_are_each_compared(verdicts):
    rng = np.random.default_rng(4)
    mean = rated().columns["rating"]
    single = {f"rating_{i}": mean + gap for i, gap in enumerate((rng.normal(size=360), -rng.normal(size=360)), 1)}
    sources = rated(**single)
    every, means = (verdicts("perfect", sources, Agreement(ratings=kind)) for kind in ("single", "mean"))
    assert every["pearson"].n == 2 * means["pearson"].n
    assert every["pearson"].value < means["pearson"].value
    assert every["order_correlation"].draws == means["order_correlation"].draws


def test_the_leaderboard_separates_metrics_by_paired_resamples(judged):
    names = "noisy(noise=0.5),noisy(noise=0.52),noisy(noise=3),random"
    board = rank_metrics(judged(names, rated(1_200, item=None)))
    rows = {row.metric: row for row in board}
    assert [row.metric for row in board] == names.split(",")
    assert rows["noisy(noise=0.5)"].tier < rows["noisy(noise=3)"].tier < rows["random"].tier
    near = filter_measures(
        judged("noisy(noise=1),noisy(noise=1.02)", rated(1_200, item=None)), "pearson,spearman,kendall"
    )
    alone = rank_metrics(near)
    assert [row.tier for row in alone] == [1, 2]  # the same noise: a small difference in every resample
