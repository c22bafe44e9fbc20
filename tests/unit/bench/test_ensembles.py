"""Ensembles of a store: made once, kept, and read again as they were; only from metrics that are complete."""

import shutil

import numpy as np
import pytest

from textgauge.bench import Clustering, Plan, Robustness, Sensitivity, Store, ensembles, run
from textgauge.bench.results import NOT_TRAINED, Results, group_cells
from textgauge.metrics import get_pair_metrics

TASKS = {
    Robustness(documents_drawn=12): "sample:articles",
    Sensitivity(documents_drawn=6): "sample:articles",
    Clustering(n=12, folds=3): "sample:intents",
}
SEEDS = 3


def make(folder, metrics="levenshtein,jaccard,rouge", tasks=TASKS):
    store = Store(folder)
    chosen = get_pair_metrics(metrics)
    run([Plan(task, task.data.read(TASKS[task]), chosen, 0) for task in tasks], store)
    return store


def made(store):
    """What is kept of the ensembles after they are trained."""
    groups = Results(store).groups()
    ensembles.train_ensembles(store, groups, seeds=SEEDS)
    return ensembles.read_ensembles(store, groups, seeds=SEEDS)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return make(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def found(store):
    return made(store)


def verdicts(found):
    """The verdicts of each ensemble, by its name and the place that it is filed under."""
    return {(name, place): of for place, named in found.verdicts.items() for name, of in named.items()}


def values(found):
    return {key: [verdict.value for verdict in of] for key, of in verdicts(found).items()}


def assert_same(first, second):
    """Equal bit by bit, NaN among it; `repr` leaves the resamples out."""
    assert repr(verdicts(first)) == repr(verdicts(second))
    assert repr(first.contributions) == repr(second.contributions)
    for mine, others in zip(verdicts(first).values(), verdicts(second).values(), strict=True):
        for a, b in zip(mine, others, strict=True):
            assert np.array_equal(a.draws, b.draws, equal_nan=True)


def remove_cell(store, metric, protocol):
    (manifest,) = (manifest for manifest in store.manifests() if manifest["protocol"]["name"] == protocol)
    store.path(group_cells(manifest["cells"])[metric][0]).unlink()


def test_each_task_has_its_ensembles_and_all_have_one(found):
    names = {task.name for task in TASKS}
    assert {(name, of[0].measure) for (name, _), of in verdicts(found).items()} == {
        (kind, name) for kind in ensembles.NAMES.values() for name in names
    }
    for first, *_ in verdicts(found).values():
        assert 0 <= first.low <= first.value <= first.high <= 1
        assert first.units > 1


def test_they_are_kept_and_read_again_as_they_were(store, found, monkeypatch):
    def never(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(ensembles, "train_job", never)
    assert_same(found, made(store))


def test_the_order_of_metrics_and_of_runs_changes_nothing(found, tmp_path):
    other = make(tmp_path, "rouge,jaccard,levenshtein", list(TASKS)[::-1])
    again = made(other)
    assert values(again).keys() == values(found).keys()
    for place, numbers in values(found).items():
        assert values(again)[place] == pytest.approx(numbers, abs=1e-12)


def test_shares_are_of_one_and_a_universal_ensemble_has_none(found):
    for task in TASKS:
        parts = [item for item in found.contributions if item.task == task.name]
        of_task = [item for item in parts if item.ensemble == ensembles.NAMES["task"]]
        assert {item.metric for item in of_task} == {"levenshtein", "jaccard", "rouge"}
        assert sum(item.share for item in of_task) == pytest.approx(1.0)
        assert all(np.isfinite(item.importance) for item in of_task)
        universal = [item for item in parts if item.ensemble == ensembles.NAMES["universal"]]
        assert all(np.isnan(item.share) for item in universal)


def test_an_incomplete_metric_is_no_part_of_an_ensemble(tmp_path):
    store = make(tmp_path)
    remove_cell(store, "rouge", "clustering")
    parts = made(store).contributions
    assert {item.metric for item in parts if item.task == "robustness" and "task" in item.ensemble} == {
        "levenshtein",
        "jaccard",
        "rouge",
    }
    assert {item.metric for item in parts if item.task == "clustering"} == {"levenshtein", "jaccard"}
    universal = ensembles.NAMES["universal"]
    assert {item.metric for item in parts if item.ensemble == universal} == {"levenshtein", "jaccard"}


def test_one_metric_makes_no_ensemble(tmp_path):
    store = make(tmp_path, "jaccard", [next(iter(TASKS))])
    none = made(store)
    assert none == ({}, [], 0)
    assert not (store.folder / "derived").exists()
    assert {metric for group in Results(store).groups() for metric in group.verdicts} == {"jaccard"}


def test_two_ways_to_judge_the_same_trials_stay_apart(tmp_path):
    sources = Sensitivity.data.read("sample:articles")
    bent = [Sensitivity(documents_drawn=6, ideal=ideal) for ideal in ("straight", "quadratic")]
    store = Store(tmp_path)
    run([Plan(task, sources, get_pair_metrics("levenshtein,jaccard"), 0) for task in bent], store)
    found = [of[0].value for (name, _), of in verdicts(made(store)).items() if "task" in name]
    assert len(found) == len(set(found)) == 2


def test_another_metric_changes_no_verdict_of_the_others(store, tmp_path):
    few, many = (
        {(metric, g.protocol.name): of for g in Results(s).groups() for metric, of in g.verdicts.items()}
        for s in (make(tmp_path, "jaccard"), store)
    )
    assert len(few) == 3
    for place, verdicts in few.items():
        assert repr(verdicts) == repr(many[place])


def test_judging_trains_nothing_writes_nothing_and_says_what_is_lacking(store, tmp_path):
    copy = Store(tmp_path / "copy")
    shutil.copytree(store.folder, copy.folder)
    shutil.rmtree(copy.folder / "derived", ignore_errors=True)
    before = {path: path.stat().st_mtime_ns for path in copy.folder.rglob("*")}
    for path in before:
        path.chmod(0o555 if path.is_dir() else 0o444)
    results = Results(copy)
    assert {metric for group in results.groups() for metric in group.verdicts} == {"levenshtein", "jaccard", "rouge"}
    assert results.warnings == [NOT_TRAINED]
    assert {path: path.stat().st_mtime_ns for path in copy.folder.rglob("*")} == before
    for path in before:
        path.chmod(0o755)
