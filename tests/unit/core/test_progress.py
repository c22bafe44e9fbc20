"""Long loops tell a listener how far they are; steps count permutations, parts of intervals and embedded texts."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import pytest

import textgauge
from textgauge import progress
from textgauge.core.parallel import map_threads
from textgauge.core.progress import counting, listening, report


def passes(work):
    found = []
    with listening(lambda done, total: found.append((done, total))):
        work()
    return [list(some) for _, some in groupby(found, key=itemgetter(1))]


@pytest.fixture
def every_report(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0.0)


def test_threads_report_every_trial(monkeypatch):
    for threads in ("1", "2"):
        monkeypatch.setenv("TEXTGAUGE_THREADS", threads)
        (told,) = passes(lambda: map_threads(float, 5))
        assert told == [(number, 5) for number in range(1, 6)]


def test_counts_are_parts_of_a_step_and_seldom(monkeypatch):
    steps = []
    with counting(steps.append, "permutations"):
        for done in range(1_000):
            report(done, 1_000)
    assert len(steps) < 10
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0.0)
    with counting(steps.append, "permutations"):
        report(3, 12)
    assert (steps[-1], steps[-1].part, steps[-1].share) == ("permutations", True, 0.25)
    report(4, 12)
    assert steps[-1].done == 3


def test_a_comparison_counts_permutations_parts_of_intervals_and_texts(every_report):
    steps = []
    texts = [f"{letter} {number} cat" for letter in "abc" for number in range(20)]
    options = {"metrics": "jsd@words,vendi_gap@minilm", "ci": True, "permutations": 39}
    textgauge.compare(texts[:30], texts[30:], on_step=steps.append, **options)
    parts = {str(step): step.total for step in steps if isinstance(step, progress.Stage) and step.part}
    assert parts["vendi_gap: permutations"] == 40  # 39 and the observed split
    assert not {"jsd@words: parts for the interval", "texts embedded with minilm"} - set(parts)
    wholes = [(step, step.done, step.total) for step in steps if isinstance(step, progress.Stage) and not step.part]
    assert wholes == [("jsd@words", 0, 2), ("vendi_gap", 1, 2)]
