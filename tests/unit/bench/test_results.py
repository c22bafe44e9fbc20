"""The reader of a store: each result file is opened once, however often and in whatever way it is judged."""

from dataclasses import fields

import pytest

from textgauge.bench import Ksc, Store, run
from textgauge.bench.results import Results, _make_protocol, list_verdicts, sum_times
from textgauge.core.errors import InputError


@pytest.fixture
def results(tmp_path, make_plan):
    run([make_plan()], Store(tmp_path))
    return Results(Store(tmp_path))


def test_judging_in_several_ways_opens_each_file_once(results, monkeypatch):
    opened = []
    read = Store.read
    monkeypatch.setattr(Store, "read", lambda self, cell: opened.append(cell.name) or read(self, cell))
    first = list_verdicts(results.groups())
    list_verdicts(results.groups({"ties": "wrong"}))
    sum_times([results])
    assert len(opened) == len(set(opened)) == results.count
    assert first == list_verdicts(Results(results.store).groups())


def test_options_change_how_trials_are_judged_and_not_the_trials(results):
    (plain,), (strict,) = results.groups(), results.groups({"ties": "wrong"})
    assert (plain.protocol.ties, strict.protocol.ties) == ("half", "wrong")
    assert plain.trials == strict.trials
    assert plain.observed.keys() == plain.complete.keys() == strict.observed.keys() == results.metrics


def test_metrics_share_what_is_known_of_their_trials_in_memory(results):
    (group,) = results.groups()
    first, *others = group.observed.values()
    assert others
    for other in others:
        assert other.batch is first.batch
        assert other.columns["i"] is first.columns["i"]


def test_results_of_one_seed_are_those_of_a_store_that_has_no_other(results, tmp_path, make_plan):
    alone = list_verdicts(Results(results.store).groups())
    run([make_plan(seed=1)], results.store)
    assert len(list_verdicts(Results(results.store).groups())) == 2 * len(alone)
    assert list_verdicts(Results(results.store, seed=0).groups()) == alone
    assert {group.seed for group in Results(results.store, seed=1).groups()} == {1}


def test_times_of_several_runs_add_up(results):
    once = sum_times([results])
    twice = sum_times([results, results])
    for one, two in zip(once, twice, strict=True):
        assert (one["metric"], one["protocol"]) == (two["metric"], two["protocol"])
        assert (two["trials"], two["failed"]) == (2 * one["trials"], 2 * one["failed"])
        assert two["each"] == pytest.approx(one["each"]) == pytest.approx(one["seconds"] / one["trials"])


def test_parameters_of_another_version_are_refused():
    stored = {"documents_drawn": 40, "ideal": "root"}
    assert _make_protocol({"name": "sensitivity", "parameters": stored}, {}).ideal == "root"
    for other in (stored | {"ideal": "linear"}, {"documents_drawn": 40}):
        with pytest.raises(InputError, match="run the same command again"):
            _make_protocol({"name": "sensitivity", "parameters": other}, {})


def test_a_tacit_parameter_that_is_not_stored_has_its_usual_value():
    stored = {item.name: item.default for item in fields(Ksc) if item.name not in Ksc.tacit}
    assert _make_protocol({"name": "ksc", "parameters": stored}, {}) == Ksc()
