"""Protocols that fit texts and time, and plans over no more texts than they use."""

import numpy as np
import pytest
from polars.testing import assert_frame_equal

from textgauge.errors import InputError
from textgauge.evaluate import Plan, Store, run
from textgauge.evaluate.protocols import Ksc
from textgauge.evaluate.recommend.plans import CutPlan, chosen_ksc, fitting_ksc, fitting_size, fitting_speed, piloted
from textgauge.evaluate.recommend.texts import Embedded
from textgauge.evaluate.run import plan_cells
from textgauge.metrics import get_corpus_metrics

METRICS = "jsd@words,energy@given,pr@given"


def test_a_cut_plan_gives_the_cells_of_the_whole_plan(make_sources, tmp_path):
    sources, metrics = make_sources(200), get_corpus_metrics(METRICS)
    whole = Plan(Ksc(k=4, n=8, repetitions=2), sources, metrics, 3)
    cut = CutPlan(whole.protocol, sources, metrics, 3, embedded=Embedded(sources.joint, metrics))
    assert len(cut.touched) < 70
    assert max(batch.joint.pool.size for batch in cut.batches()) == len(cut.touched)
    for plan, name in ((whole, "whole"), (cut, "cut")):
        run([plan], Store(tmp_path / name))
    assert plan_cells(whole) == plan_cells(cut)
    for cell in plan_cells(whole):
        whole_cell, cut_cell = (Store(tmp_path / name).read(cell).drop("seconds") for name in ("whole", "cut"))
        assert_frame_equal(whole_cell, cut_cell, rel_tol=1e-12, abs_tol=1e-12)
        assert cell.metric == "jsd@words" or whole_cell.equals(cut_cell, null_equal=True)


@pytest.mark.parametrize(
    ("texts", "k", "n"), [(400, 7, 100), (350, 7, 100), (100, 7, 28), (40, 7, 10), (20, 4, 10), (9, 3, 5)]
)
def test_the_protocol_shrinks_only_where_texts_are_few(make_sources, texts, k, n):
    sources = make_sources(texts)
    protocol = fitting_ksc(sources)
    protocol.check(sources)
    assert (protocol.k, protocol.n) == (k, pytest.approx(n, abs=1))


def test_too_few_texts_are_refused(make_sources):
    with pytest.raises(InputError, match="too few different texts"):
        fitting_ksc(make_sources(4))


def test_the_largest_protocol_that_fits_the_time_is_chosen_and_slow_metrics_are_named():
    times = {"quick": ([40, 100], [0.1, 0.25]), "slow": ([10], [30.0])}
    assert chosen_ksc(Ksc(), times, 100.0) == (Ksc(n=100, repetitions=5), {"slow": pytest.approx(216.1, rel=1e-3)})
    assert chosen_ksc(Ksc(), {"quick": times["quick"]}, 1.0) == (Ksc(n=70, repetitions=5), {})
    assert chosen_ksc(Ksc(n=34), {"quick": times["quick"]}, 100.0)[0].n == 34


def test_a_pilot_leaves_out_sizes_that_take_too_long(make_sources, make_clock, hands):
    class Slow:
        key, reads_texts, needs = "slow", True, "texts"

        def compute_many(self, joint, draws):
            hands.seconds += len(joint) / 700
            return {}

    def pilot(budget):
        return piloted([Slow()], sources, fitting_ksc(sources), make_clock(budget), 0.1)["slow"]

    sources = make_sources(400)
    assert pilot(40.0) == ([10, 40, 100], pytest.approx([0.1, 0.4, 1.0]))
    assert pilot(30.0) == ([10], pytest.approx([0.1]))


def test_speed_and_size_fit_texts_and_time(make_sources):
    few, many = make_sources(70), make_sources(600)
    assert (fitting_speed(few).sizes, fitting_speed(many).sizes) == ([70], [100, 200])
    costs = {"m": (0.001, 1.0, 100)}
    for sources, large in ((few, 60), (many, 500)):
        protocol = fitting_size(sources, costs, 100.0)
        protocol.check(sources)
        assert protocol.large == large
    assert fitting_size(many, costs, 0.05).large < 500
    assert fitting_size(many, costs, 0.0) is None
    assert fitting_size(make_sources(30), costs, 100.0) is None


def test_rows_are_embedded_until_the_time_is_up(make_sources, make_clock, hands, monkeypatch):
    def encode(_, texts):
        hands.seconds += len(texts)
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    monkeypatch.setattr("textgauge.evaluate.recommend.texts.encode_cached", encode)
    sources = make_sources(300)
    embedded = Embedded(sources.joint, get_corpus_metrics("energy@wordllama"))
    assert not embedded.reach(range(600), make_clock(1000.0), share=0.1)
    assert embedded.ready.tolist() == list(range(100))
    corpus = embedded.corpus(np.array([5, 7]))
    assert corpus.embeddings("wordllama")[:, 0].tolist() == [len(text) for text in corpus.texts]
    assert embedded.reach(range(10), make_clock(0.0), share=0.1)
