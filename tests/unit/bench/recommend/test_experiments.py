"""Experiments that fit the data, from the largest to the smallest, over no more texts than they use."""

import numpy as np
import pytest
from polars.testing import assert_frame_equal

from textgauge.bench import Plan, Store, run
from textgauge.bench.protocols import Agreement, Clustering, Ksc, PairSources
from textgauge.bench.protocols.batch import MatrixBatch, PairBatch
from textgauge.bench.recommend.experiments import (
    Experiment,
    corpora_ladder,
    first_pairs,
    items_of,
    largest_ksc,
    pairs_ladder,
    part_of,
    smaller_tasks,
)
from textgauge.core.errors import InputError
from textgauge.data import Corpus
from textgauge.metrics import get_corpus_metrics

METRICS = "jsd@words,energy@given,pr@given"


def test_an_experiment_gives_the_results_of_the_whole_plan(make_sources, tmp_path):
    sources, metrics = make_sources(200), get_corpus_metrics(METRICS)
    whole = Plan(Ksc(k=4, n=8, repetitions=2), sources, metrics, 3)
    experiment = Experiment(whole.protocol, sources, 3)
    assert len(experiment.texts) < 70
    assert [batch.joint.pool.size for batch in experiment.batches] == [32, 32]
    cut = Plan(whole.protocol, sources, metrics, 3, experiment.batches)
    for plan, name in ((whole, "whole"), (cut, "cut")):
        run([plan], Store(tmp_path / name))
    assert whole.cells() == cut.cells()
    for cell in whole.cells():
        whole_cell, cut_cell = (Store(tmp_path / name).read(cell).drop("seconds") for name in ("whole", "cut"))
        assert_frame_equal(whole_cell, cut_cell, rel_tol=1e-12, abs_tol=1e-12)
        assert cell.metric == "jsd@words" or whole_cell.equals(cut_cell, null_equal=True)


@pytest.mark.parametrize(
    ("texts", "k", "n"), [(400, 7, 100), (350, 7, 100), (100, 7, 28), (40, 7, 10), (20, 4, 10), (9, 3, 5)]
)
def test_the_protocol_shrinks_only_where_texts_are_few(make_sources, texts, k, n):
    sources = make_sources(texts)
    protocol = largest_ksc(sources)
    protocol.check(sources)
    assert (protocol.k, protocol.n) == (k, pytest.approx(n, abs=1))


def test_too_few_texts_are_refused(make_sources):
    with pytest.raises(InputError, match="too few different texts"):
        largest_ksc(make_sources(4))


def test_mixtures_become_smaller_before_they_become_fewer(make_sources):
    ladder = corpora_ladder(make_sources(1_600), 0)
    sizes = [step.protocol.n for step in ladder.steps]
    assert sizes == [100, 100, 70, 70, 50, 50, 30, 30, 20, 20, 12, 12, 12, 12]
    assert [step.protocol.repetitions for step in ladder.steps] == [20] * 12 + [10, 5]
    whole, few = ladder.steps[10:12]
    assert len(few.texts) < 400 < len(whole.texts)
    assert few.protocol.pool_share(few.sources) < 0.25
    assert set(few.sources.joint.texts) <= set(ladder.steps[9].sources.joint.texts)
    assert [len(batch.joint) for batch in ladder.pilots] == [84, 210]
    assert [next(s.protocol.n for s in corpora_ladder(make_sources(n), 0).steps) for n in (400, 100, 30)] == [
        28,
        12,
        12,
    ]


def test_what_time_grows_with(make_sources):
    batch = corpora_ladder(make_sources(800), 0).pilots[0]
    energy, ground = get_corpus_metrics("energy@given,energy@levenshtein")
    assert (items_of(batch, energy), items_of(batch, ground)) == (84, 84**2)


def test_fewer_pairs_are_the_first_ones_of_more():
    corpora = [Corpus.of([f"{side} {i}" for i in range(500)]) for side in "lr"]
    sources = PairSources("x", *corpora, {"rating": np.arange(500.0)})
    ladder = pairs_ladder(sources, 0, 20.0, Agreement().judge)
    counts = [step.trials for step in ladder.steps]
    assert counts == sorted(counts, reverse=True)
    assert (counts[0], counts[-1]) == (500, 61)
    assert [len(batch) for batch in ladder.pilots] == [20, 100]
    for large, small in zip(ladder.steps, ladder.steps[1:], strict=False):
        assert set(small.texts) < set(large.texts)
    assert pairs_ladder(sources, 0, 0.3, Agreement().judge).steps[0].trials == 300


def test_first_pairs_keep_columns_and_references_together():
    left, texts = [f"l{i}" for i in range(30)], [f"r{i}.{j}" for i in range(30) for j in range(1 + i % 2)]
    items = np.repeat(np.arange(30), [1 + i % 2 for i in range(30)])
    sources = PairSources("x", Corpus.of(left), Corpus.of(texts), {"rating": np.arange(30.0)}, items)
    some = first_pairs(sources, 10, seed=1)
    assert some.pairs.n_items == len(some.left) == 10
    for pair in range(len(some.pairs)):
        item = some.items[pair]
        number = some.left.texts[item][1:]
        assert some.pairs.left.texts[pair] == f"l{number}"
        assert some.right.texts[pair].startswith(f"r{number}.")
        assert some.columns["rating"][item] == float(number)
    assert first_pairs(sources, 30, seed=1) is sources


def test_a_task_becomes_smaller():
    assert [size.n for size in smaller_tasks(Clustering(n=330))] == [330, 233, 165, 116, 82, 58, 41]


def test_parts_of_batches_are_small(make_sources):
    corpora = make_sources(60).corpora
    pairs = next(Agreement().trials(PairSources("x", corpora["a"], corpora["b"], {"rating": np.arange(60.0)}), 0))
    assert isinstance(pairs, PairBatch)
    joint = corpora["a"] | corpora["b"]
    a, b = joint.take(np.arange(60)), joint.take(np.arange(60, 120))
    one, two = (MatrixBatch(0, a, others, {}, a) for others in (None, b))
    assert [len(part_of(batch, 20)) for batch in (pairs, one, two)] == [20, 28, 36]
