"""Metrics of known verdict in the five tasks: what each definition implies for them."""

import math
from functools import cache

import numpy as np
import pytest
from tests.oracle.conftest import make_oracle

from textgauge.bench import Clustering, ComparedAlignment, RatedAlignment, Retrieval, Robustness, Sensitivity
from textgauge.bench.protocols.base import Observations
from textgauge.bench.protocols.tasks import COPIES
from textgauge.metrics import Part
from textgauge.metrics.pair_metric import PairMetric, to_similarity

SPECS = {Clustering: "sample:intents", Retrieval: "sample:library"}


@cache
def trials(task, sources):
    batches = list(task.trials(sources, 0))
    names = batches[0].columns
    columns = {name: np.concatenate([batch.columns[name] for batch in batches]) for name in names}
    return columns, np.concatenate([np.full(len(batch), batch.number) for batch in batches])


def observed(task, sources, answer):
    """Observations of a metric that answers with a function of the columns of all trials."""
    columns, numbers = trials(task, sources)
    return Observations(answer(columns, len(numbers)), numbers, columns)


def verdicts(task, sources, answer):
    return {verdict.measure: verdict for verdict in task.judge(observed(task, sources, answer))}


def at_random(columns, n):
    return np.random.default_rng(5).random(n)


def constant(columns, n):
    return np.full(n, 0.7)


@cache
def sources_of(kind):
    return kind.data.read(SPECS.get(kind, "sample:articles"))


def perfect(task):
    return lambda columns, n: task.targets(columns)


TASKS = [
    RatedAlignment(),
    ComparedAlignment(),
    Robustness(),
    Sensitivity(),
    Clustering(n=60, folds=4),
    Retrieval(folds=4),
]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_perfect_metric_gets_one(task):
    found = verdicts(task, sources_of(type(task)), perfect(task))
    assert found[task.measures[0].name].value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("task", "expected"),
    [(RatedAlignment(), 0.5), (ComparedAlignment(), 0.5), (Robustness(), (1 / 4 + 1 / 20 + 1 / 4) / 3)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_random_metric_gets_what_chance_gives(task, expected):
    values = [
        verdicts(task, sources_of(type(task)), lambda columns, n, s=seed: np.random.default_rng(s).random(n))[
            task.measures[0].name
        ].value
        for seed in range(20)
    ]
    assert np.mean(values) == pytest.approx(expected, abs=4 * np.std(values) / math.sqrt(len(values)))


def test_a_random_metric_keeps_the_share_of_originals_in_retrieval():
    task = Retrieval(folds=4)
    found = [
        verdicts(task, sources_of(Retrieval), lambda columns, n, s=seed: np.random.default_rng(s).random(n))
        for seed in range(20)
    ]
    before, after = ([row[name].value for row in found] for name in ("found_before", "found_after"))
    error = 4 * np.std(after) / math.sqrt(len(after)) / np.mean(before)
    assert np.mean(after) / np.mean(before) == pytest.approx(1 / (1 + len(COPIES)), abs=error)


@pytest.mark.parametrize(
    ("task", "expected"),
    [(ComparedAlignment(), 0.5), (Robustness(), 0.0), (Retrieval(folds=4), 1 / (1 + len(COPIES)))],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_constant_metric_gets_what_ties_give(task, expected):
    assert verdicts(task, sources_of(type(task)), constant)[task.measures[0].name].value == pytest.approx(expected)


def test_folds_that_repeat_others_do_not_shrink_the_interval_of_retrieval():
    task = Retrieval(folds=4)
    once = observed(task, sources_of(Retrieval), at_random)
    columns = {name: np.concatenate([column, column]) for name, column in once.columns.items()}
    columns["fold"] = np.concatenate([once.columns["fold"], once.columns["fold"] + task.folds])
    twice = Observations(np.tile(once.value, 2), np.tile(once.batch, 2), columns)
    for mine, others in zip(task.judge(once), task.judge(twice), strict=True):
        assert others.value == pytest.approx(mine.value)
        assert (others.low, others.high) == pytest.approx((mine.low, mine.high))
        assert others.units == mine.units == len(np.unique(once.columns["query"]))


def test_a_query_that_some_folds_leave_undefined_counts_where_it_is_defined():
    task = Retrieval(folds=4)
    seen = observed(task, sources_of(Retrieval), perfect(task))
    asked = [set(seen.columns["query"][seen.columns["fold"] == fold].tolist()) for fold in range(task.folds)]
    several = next(query for query in sorted(asked[0]) if any(query in other for other in asked[1:]))
    here = (seen.columns["query"] == several) & (seen.columns["fold"] == 0)
    all_of_it, rest = task.units(seen.value, seen.columns), task.units(np.where(here, np.nan, seen.value), seen.columns)
    row = all_of_it.labels == several
    assert (all_of_it.sums[row] - rest.sums[row]).tolist() == [[1.0, 1.0, 1.0]]
    assert rest.sums[row][0, 0] >= 1
    assert np.array_equal(all_of_it.sums[~row], rest.sums[~row])


def test_a_constant_metric_has_no_correlation_and_says_why():
    found = verdicts(RatedAlignment(), sources_of(RatedAlignment), constant)["axis"]
    assert math.isnan(found.value)
    assert found.reason


def test_a_constant_metric_errs_by_its_distance_from_the_ideal():
    task = Sensitivity()
    seen = observed(task, sources_of(Sensitivity), constant)
    error = np.abs(0.7 - task.targets(seen.columns)).mean()
    assert verdicts(task, sources_of(Sensitivity), constant)["sensitivity"].value == pytest.approx(1 - error)


def test_an_inverted_metric_is_at_the_other_end():
    for task in (RatedAlignment(), ComparedAlignment()):
        found = verdicts(task, sources_of(type(task)), lambda columns, n, t=task: -t.targets(columns))
        assert found[task.measures[0].name].value == pytest.approx(0.0)


def test_undefined_values_leave_their_document_out_and_are_counted():
    task = Robustness()

    def with_holes(columns, n):
        values = task.targets(columns)
        values[columns["document"] == columns["document"][0]] = np.nan
        return values

    seen = observed(task, sources_of(Robustness), with_holes)
    documents = len(np.unique(seen.columns["document"]))
    found = {verdict.measure: verdict for verdict in task.judge(seen)}["robustness"]
    assert found.value == pytest.approx(1.0)
    assert found.units == documents - 1
    assert "undefined in 7 of" in found.reason


@pytest.mark.parametrize(
    ("ideal", "inserted", "removed"),
    [
        ("reciprocal", [1.0, 0.8, 0.5], [1.0, 0.75, 0.5]),
        ("straight", [1.0, 0.875, 0.5], [1.0, 0.75, 0.5]),
        ("quadratic", [1.0, 0.64, 0.25], [1.0, 0.5625, 0.25]),
        ("root", [1.0, 0.8**0.5, 0.5**0.5], [1.0, 0.75**0.5, 0.5**0.5]),
    ],
)
def test_ideals_fall_as_their_names_say(ideal, inserted, removed):
    columns = {"change": np.repeat(["insert", "remove"], 3), "share": np.array([0.0, 0.25, 1.0, 0.0, 0.25, 0.5])}
    np.testing.assert_allclose(Sensitivity(ideal=ideal).targets(columns), [*inserted, *removed])


@pytest.mark.parametrize(
    ("headline", "value", "similarity"),
    [
        (Part("value", closer="smaller", bounds=(0.0, 2.0)), [0.0, 2.0], [1.0, 0.0]),
        (Part("value", closer="smaller", bounds=(0.0, math.inf)), [0.0, 1.0], [1.0, 0.5]),
        (Part("value", closer="larger"), [0.25], [0.25]),
    ],
)
def test_similarities_run_from_distances_with_and_without_an_upper_bound(headline, value, similarity):
    metric = make_oracle(PairMetric, "distance", None, headline=headline, default_on="")()
    assert to_similarity(metric, np.array(value)).tolist() == similarity
