"""Metrics of known verdict in the five tasks: what each definition implies for them."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from textgauge.bench.protocols import (
    Clustering,
    ComparedAlignment,
    RatedAlignment,
    Retrieval,
    Robustness,
    Sensitivity,
)
from textgauge.bench.protocols.base import Observations
from textgauge.bench.protocols.document_tasks import compute_ideal_similarity
from textgauge.bench.protocols.matrix_tasks import COPIES
from textgauge.metrics import Part
from textgauge.metrics.pair_metric import PairMetric, to_similarity

SPECS = {Clustering: "sample:intents", Retrieval: "sample:library"}


@dataclass(frozen=True, kw_only=True)
class Oracle(PairMetric):
    """Gives what a task's own targets say, whatever the texts: trials are told by their place."""

    name = "task_oracle"
    label = "oracle"
    source = "none"
    needs = "texts"
    default_on = ""
    headline = Part("value", closer="larger")


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
    [
        (RatedAlignment(), 0.5),
        (ComparedAlignment(), 0.5),
        (Robustness(), (1 / 4 + 1 / 20 + 1 / 4) / 3),
    ],
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


def test_half_inserted_and_half_removed_have_the_ideals_of_the_paper():
    task = Sensitivity()
    columns = observed(task, sources_of(Sensitivity), constant).columns
    ideal = task.targets(columns)
    for change, share in (("insert", 1.0), ("remove", 0.5)):
        assert (ideal[(columns["change"] == change) & (columns["share"] == share)] == 0.5).all()


def test_the_straight_ideal_has_the_same_ends_and_lies_above():
    shares = np.array([0.0, 0.25, 1.0])
    inserted = np.array(["insert"] * 3)
    assert compute_ideal_similarity(inserted, shares, "straight").tolist() == [1.0, 0.875, 0.5]
    assert compute_ideal_similarity(inserted, shares, "reciprocal").tolist() == [1.0, 0.8, 0.5]


def test_bent_ideals_are_the_square_and_the_root():
    columns = observed(Sensitivity(), sources_of(Sensitivity), constant).columns
    line = Sensitivity().targets(columns)
    np.testing.assert_allclose(Sensitivity(ideal="quadratic").targets(columns), line**2)
    np.testing.assert_allclose(Sensitivity(ideal="root").targets(columns), np.sqrt(line))


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


def test_similarities_run_from_distances_with_and_without_an_upper_bound():
    @dataclass(frozen=True, kw_only=True)
    class Bounded(Oracle):
        headline = Part("value", closer="smaller", bounds=(0.0, 2.0))

    @dataclass(frozen=True, kw_only=True)
    class Unbounded(Oracle):
        headline = Part("value", closer="smaller", bounds=(0.0, math.inf))

    assert to_similarity(Bounded(), np.array([0.0, 2.0])).tolist() == [1.0, 0.0]
    assert to_similarity(Unbounded(), np.array([0.0, 1.0])).tolist() == [1.0, 0.5]
    assert to_similarity(Oracle(), np.array([0.25])).tolist() == [0.25]
