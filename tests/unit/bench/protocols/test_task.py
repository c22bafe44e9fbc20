"""Batches of tasks and their trials: every way to compute gives the same numbers, whatever order, workers, batches."""

import random
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest

from textgauge.bench import (
    Clustering,
    ComparedAlignment,
    Plan,
    RatedAlignment,
    Retrieval,
    Robustness,
    Sensitivity,
    Store,
    TaskSources,
    run,
)
from textgauge.bench.results import Results
from textgauge.bench.sources import MatrixBatch
from textgauge.core.errors import InputError
from textgauge.data import Corpus, Pairs
from textgauge.metrics import get_metric, get_pair_metrics

METRICS = ["levenshtein", "jaccard", "bm25plus", "rouge"]
TEXTS = [
    "the red cat sat on the mat",
    "a red dog sat on the mat by the door",
    "pay the fee at the bank",
    "the bank takes a fee and a fee again",
    "birds sing",
    "the cat sang at the bank",
]
SAMPLES = {
    RatedAlignment(): "sample:articles",
    ComparedAlignment(): "sample:articles",
    Robustness(documents_drawn=8): "sample:articles",
    Sensitivity(documents_drawn=4): "sample:articles",
    Clustering(n=12, folds=3): "sample:intents",
    Retrieval(n=24, queries=8, folds=2): "sample:library",
}


def square():
    corpus = Corpus.of(TEXTS)
    return MatrixBatch(0, corpus, None, {}, corpus)


def oblong():
    corpus = Corpus.of(["unused", *TEXTS])
    return MatrixBatch(0, corpus.take([6, 2]), corpus.take([1, 3, 4, 5]), {}, corpus.take([1, 2, 3, 4]))


def shown(metric, batch):
    return metric.select(batch.compute(metric))


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("make", [square, oblong])
def test_a_matrix_is_its_pairs_one_by_one_or_the_mean_of_both_directions(make, name):
    batch, metric = make(), get_metric(name)
    n, others = len(batch.rows), batch.rows if batch.others is None else batch.others
    left, right = np.triu_indices(n, 1) if batch.others is None else np.divmod(np.arange(len(batch)), len(others))
    sides = [(batch.rows.take(left), others.take(right)), (others.take(right), batch.rows.take(left))]
    ways = [metric.select(metric.compute(Pairs(*pair, background=batch.background))) for pair in sides]
    expected = np.mean(ways, axis=0) if batch.others is None else ways[0]
    assert shown(metric, batch) == pytest.approx(expected, abs=1e-12)
    assert name != "bm25plus" or not np.allclose(*ways)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("make", [square, oblong])
def test_a_compact_batch_and_single_trials_give_the_same_numbers(make, name):
    batch, metric = make(), get_metric(name)
    small = batch.compact([metric])
    assert small.rows.pool.size < 7 or make is square
    assert len(small) == len(batch)
    whole = shown(metric, batch)
    assert shown(metric, small).tolist() == whole.tolist()
    for trial, value in enumerate(whole):
        found, reason = batch.one(metric, trial)
        assert metric.select(found) == pytest.approx(value, abs=1e-12)
        assert reason is None


def mixed(card, seed=1):
    """The same card with its rows, and what belongs to each, in another order."""
    changed = {}
    for lengths in (
        {"documents", "texts", "summaries", "first", "second", "chosen", "labels"},
        {"query_ids", "queries"},
    ):
        names = [item.name for item in fields(card) if item.name in lengths and getattr(card, item.name) is not None]
        if names:
            order = random.Random(seed).sample(range(len(getattr(card, names[0]))), len(getattr(card, names[0])))
            changed |= {name: tuple(getattr(card, name)[row] for row in order) for name in names}
            if hasattr(card, "ratings"):
                changed["ratings"] = {k: tuple(v[row] for row in order) for k, v in card.ratings.items()}
    return replace(card, **changed)


def judged(task, sources, metrics, folder):
    store = Store(folder)
    report = run([Plan(task, sources, get_pair_metrics(metrics), 0)], store)
    assert not report.failures
    (found,) = Results(store).groups()
    return found.protocol.judge_all(found.observed)


@pytest.mark.parametrize("task", SAMPLES, ids=lambda task: task.name)
def test_the_order_of_a_file_changes_no_verdict(task, tmp_path):
    sources = task.data.read(SAMPLES[task])
    other = TaskSources(sources.name, mixed(sources.data))
    assert other.data != sources.data
    assert other.fingerprint == sources.fingerprint
    first, second = (
        judged(task, data, ["jaccard", "bm25plus"], tmp_path / name) for name, data in (("a", sources), ("b", other))
    )
    for metric in ("jaccard", "bm25plus"):
        for mine, others in zip(first[metric], second[metric], strict=True):
            assert others.value == pytest.approx(mine.value, abs=1e-12, nan_ok=True)
            assert others.draws == pytest.approx(mine.draws, abs=1e-9, nan_ok=True)


def test_models_run_on_the_texts_that_are_drawn_only():
    """Embeddings are computed for whole pools: texts of the data that no fold holds must not be in them."""
    sources = Clustering.data.read("sample:intents")
    batches = list(Clustering(n=20, folds=3).trials(sources, 0))
    assert len(set(sources.data.texts)) > 60
    assert {batch.rows.pool.size for batch in batches} == {60}
    keys = [batch.rows.keys for batch in batches]
    assert len(np.unique(np.concatenate(keys))) == 60
    assert all(np.array_equal(found, np.sort(found)) for found in keys)


LONG = " ".join(f"word{number}" for number in range(400))


@pytest.mark.parametrize(
    ("task", "data", "complaint"),
    [
        (RatedAlignment(), {"summaries": ["a", "b"]}, "alignment needs at least three rated summaries"),
        (ComparedAlignment(), {"chosen": [1]}, "alignment needs at least two comparisons of summaries"),
        (Robustness(), {"summaries": None}, "robustness needs documents with summaries"),
        (Sensitivity(), {"texts": [LONG, LONG, "short"]}, "sensitivity needs at least two different documents of"),
        (Clustering(), {"texts": list("abc"), "labels": ["x"] * 3}, "clustering needs texts of at least two labels"),
        (Clustering(), {"texts": list("abcda"), "labels": list("xyxyx")}, "4 different texts are too few for 5 folds"),
        (
            Retrieval(),
            {"queries": (), "texts": list("ab")},
            "retrieval needs a query with at least one relevant document",
        ),
        (Retrieval(), {"queries": ("q",), "texts": list("ab")}, "2 documents are too few for 5 folds"),
    ],
)
def test_data_that_do_not_fit_are_refused_with_what_is_needed(task, data, complaint):
    with pytest.raises(InputError, match=f"^mine: {complaint}"):
        task.check(SimpleNamespace(name="mine", data=SimpleNamespace(**data)))


def test_documents_shorter_than_a_needle_are_counted_in_a_note():
    data = SimpleNamespace(texts=[LONG, f"{LONG} more", "short", "short too"])
    sources = SimpleNamespace(name="mine", data=data, notes=("read",))
    assert Sensitivity().check(sources) is None
    assert Sensitivity().notes(sources) == ("read", "mine: 2 of 4 documents are shorter than one needle: left out")
    data.texts = data.texts[:2]
    assert Sensitivity().notes(sources) == ("read",)


def test_a_fold_without_all_values_is_left_out_of_clustering():
    task = Clustering(n=12, folds=3)
    batches = list(task.trials(task.data.read("sample:intents"), 0))
    columns = {name: np.concatenate([batch.columns[name] for batch in batches]) for name in batches[0].columns}
    value = task.targets(columns)
    value[np.flatnonzero(columns["fold"] == 1)[0]] = np.nan
    assert task.units(value, columns).sums[:, 0].tolist() == [1.0, 0.0, 1.0]
    assert task.of_sums(task.units(value, columns).sums.sum(axis=0, keepdims=True)) == pytest.approx(1.0)
