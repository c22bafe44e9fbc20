"""How long a reproduction took."""

import contextlib

from textgauge.bench import Ksc, Plan, Store, read_two, run
from textgauge.metrics import get_corpus_metrics
from textgauge_papers.paper import measure_time, read_time


def plan(seed):
    sources = read_two([f"red {i}" for i in range(30)], [f"blue {i}" for i in range(30)])
    return Plan(Ksc(k=4, n=6, repetitions=1), sources, get_corpus_metrics("jsd@words"), seed)


def test_processor_time_adds_up_over_runs_and_reading_takes_none(tmp_path, monkeypatch):
    clock = iter(range(0, 100, 10))
    monkeypatch.setattr("textgauge_papers.paper._read_clock", lambda: next(clock))
    store = Store(tmp_path / "run")
    assert read_time(store) == 0.0
    with measure_time(store):
        run([plan(0)], store)
    assert read_time(store) == 10.0
    with measure_time(store):
        run([plan(0)], store)
    assert read_time(store) == 10.0
    with contextlib.suppress(KeyboardInterrupt), measure_time(store):
        run([plan(1)], store)
        raise KeyboardInterrupt
    assert read_time(store) == 20.0
