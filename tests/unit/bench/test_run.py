"""Runs: nothing twice, old numbers untouched, and a metric that fails does not take the others with it."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from textgauge.bench import Ksc, Speed, Store, run
from textgauge.bench.results import Results
from textgauge.core import listen
from textgauge.metrics import Part, TokenMetric, registry


@dataclass(frozen=True, kw_only=True)
class Fussy(TokenMetric):
    """Share of texts with an even number, but no value at all where a certain text is in the reference."""

    name = "fussy"
    label = "fussy"
    source = "none"
    headline = Part("value", bounds=(0.0, 1.0))
    version = 1

    how: str = "fail"

    def compute(self, comparison):
        texts = comparison.reference.texts
        if self.how == "always" or any(text.endswith(" 7") for text in texts):
            raise ValueError("cannot stand the number 7")
        return {"value": float(np.mean([int(text.split()[-1]) % 2 == 0 for text in texts]))}


@pytest.fixture(autouse=True)
def _fussy(monkeypatch):
    monkeypatch.setitem(registry.METRICS, "fussy", Fussy)


def written(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("cells/*/*.parquet")}


def test_adding_a_metric_changes_no_old_number(tmp_path, make_plan, contents):
    run([make_plan("jsd@words")], Store(tmp_path))
    before, old = written(tmp_path), contents(tmp_path)
    report = run([make_plan("zipf@words,jsd@words,energy@given")], Store(tmp_path))
    assert (report.found, report.computed) == (3, 6)
    after = written(tmp_path)
    assert {name: after[name] for name in before} == before
    assert len(after) == 9
    alone = tmp_path / "alone"
    run([make_plan("energy@given,jsd@words,zipf@words")], Store(alone))
    for name, frame in contents(alone).items():
        assert frame.equals(contents(tmp_path)[name])
    assert old.keys() < contents(alone).keys()


def test_cells_that_plans_have_in_common_are_computed_once(tmp_path, make_plan):
    plans = [make_plan(ties=ties) for ties in ("half", "wrong")] + [make_plan(), make_plan("jsd@words,zipf@words")]
    steps = []
    with listen(steps.append):
        report = run(plans, Store(tmp_path))
    assert (report.found, report.computed) == (0, 9)
    counted = [(step.done, step.total) for step in steps if step.kind == "results" and step.total]
    assert counted == [(done, 9) for done in range(10)]


def test_what_decides_the_draws_decides_the_cell_and_nothing_else_does(tmp_path, make_plan):
    run([make_plan()], Store(tmp_path))
    for change in ({"ties": "wrong"}, {"judgements": "paper"}, {"linearity": "r"}, {"sample": 9}, {"name": "x"}):
        assert run([make_plan(**change)], Store(tmp_path)).computed == 0
    for change in ({"seed": 1}, {"n": 9}, {"draw": "lottery"}, {"repetitions": 2}):
        assert run([make_plan(**change)], Store(tmp_path)).found == 0


def test_a_metric_that_fails_on_some_pairs_is_undefined_there_alone(tmp_path, make_plan):
    plan = make_plan("fussy@words,jsd@words")
    report = run([plan], Store(tmp_path))
    assert report.computed == 6
    store, failed = Store(tmp_path), 0
    for batch in plan.batches():
        frame = store.read(plan.cell(batch.number, plan.metrics[0]))
        expected = [
            any(text.endswith(" 7") for text in comparison.reference.texts)
            for comparison in batch.draws.comparisons(batch.joint)
        ]
        failed += any(expected)
        assert frame["failed"].to_list() == expected
        assert frame["value"].is_nan().to_list() == expected
        reasons = ["ValueError: cannot stand the number 7" if fails else None for fails in expected]
        assert frame["reason"].to_list() == reasons
        assert store.read(plan.cell(batch.number, plan.metrics[1]))["value"].is_finite().all()
    assert len(report.failures) == failed > 0
    assert "fussy@words failed in" in report.failures[0]
    assert "cannot stand the number 7" in report.failures[0]
    assert run([plan], store).failures == report.failures


def test_a_metric_that_always_fails_has_a_verdict_with_the_reason(tmp_path, make_plan):
    run([make_plan("fussy(how=always)@words,jsd@words")], Store(tmp_path))
    (group,) = Results(Store(tmp_path)).groups()
    fussy, jsd = group.verdicts.values()
    assert {verdict.reason for verdict in fussy.values()} == {
        "undefined in 6 of 6 trials: ValueError: cannot stand the number 7"
    }
    assert all(verdict.reason is None for verdict in jsd.values())


def test_a_metric_that_fails_is_not_timed_but_the_others_are(tmp_path, make_plan):
    plan = make_plan("fussy(how=always)@words,jsd@words")
    plan = replace(plan, protocol=Speed(n=5, largest=20, repetitions=2))
    report = run([plan], Store(tmp_path))
    assert len(report.failures) == 2
    (group,) = Results(Store(tmp_path)).groups()
    fussy, jsd = group.verdicts.values()
    assert "cannot stand the number 7" in fussy["throughput"].reason
    assert jsd["throughput"].value > 0


def test_a_new_version_of_a_metric_is_computed_anew_and_the_latest_is_judged(tmp_path, make_plan, monkeypatch):
    def values():
        (group,) = Results(Store(tmp_path)).groups()
        return group.verdicts["fussy@words"]["linearity"].values

    def asked(version):
        monkeypatch.setattr(Fussy, "version", version)
        monkeypatch.setattr(
            Fussy, "compute", lambda self, c: {"value": float(c.reference.keys[0] % 97 / 97) ** version}
        )
        return run([make_plan("fussy@words")], Store(tmp_path)).computed

    computed, seen = [], []
    for version in (1, 2, 3, 1):
        computed.append(asked(version))
        seen.append(values())
    assert computed == [3, 3, 3, 0]
    assert seen[0] == seen[3]
    assert len(set(seen)) == 3
    assert len(Results(Store(tmp_path)).times) == 3  # what was replaced is not read


def test_a_run_that_has_not_come_far_is_judged_by_what_is_there(tmp_path, make_plan):
    plan = make_plan("zipf@words,jsd@words", repetitions=4)
    store = Store(tmp_path)
    run([plan], store)
    for batch in (1, 3):
        store.path(plan.cell(batch, plan.metrics[0])).unlink()
    (group,) = Results(store).groups()
    assert group.missing == {"zipf@words": 2, "jsd@words": 0}
    assert len(group.verdicts["zipf@words"]["accuracy"].values) == 2
    for path in tmp_path.glob("cells/*/*.parquet"):
        path.unlink()
    (group,) = Results(store).groups()
    assert (group.missing, group.verdicts) == ({"zipf@words": 4, "jsd@words": 4}, {})


def test_generators_differ_between_protocols_repetitions_and_data(make_plan):
    def first(plan):
        return [batch.joint.texts for batch in plan.batches()]

    assert len(set(first(make_plan()))) == 3
    assert first(make_plan()) != first(make_plan(draw="lottery"))
    assert first(make_plan()) == first(make_plan("zipf@words", ties="wrong"))
    assert isinstance(make_plan().protocol, Ksc)
