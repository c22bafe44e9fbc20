"""Steps and counts are told to whoever listens."""

import pytest

import textgauge
from textgauge.core import progress
from textgauge.core.parallel import map_threads
from textgauge.core.progress import advance, begin_step, listen


@pytest.fixture
def every_count(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0.0)


def test_threads_count_every_trial(monkeypatch, every_count):
    for threads in ("1", "2"):
        monkeypatch.setenv("TEXTGAUGE_THREADS", threads)
        stages = []
        with listen(stages.append):
            map_threads(float, 5)
        assert [(stage.done, stage.total) for stage in stages] == [(number, 5) for number in range(1, 6)]


def test_counts_are_parts_of_a_step_and_seldom(monkeypatch):
    stages = []
    with listen(stages.append):
        begin_step("energy", 0, 2, "measuring")
        for done in range(1_000):
            advance(done, 1_000, "draws")
    assert [(stage, stage.total, stage.kind, stage.part) for stage in stages[:1]] == [("energy", 2, "measuring", False)]
    assert len(stages) < 10
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0.0)
    with listen(stages.append):
        advance(3, 12, "draws")
    assert (stages[-1], stages[-1].part, stages[-1].share) == ("draws", True, 0.25)
    advance(4, 12)
    assert stages[-1].done == 3


def test_a_comparison_counts_permutations_parts_of_intervals_and_texts(every_count):
    steps = []
    texts = [f"{letter} {number} cat" for letter in "abc" for number in range(20)]
    options = {"metrics": "jsd@words,vendi_gap@minilm", "ci": True, "permutations": 39}
    with listen(steps.append):
        textgauge.compare(texts[:30], texts[30:], **options)
    parts = {str(step): step.total for step in steps if isinstance(step, progress.Stage) and step.part}
    assert parts["vendi_gap: permutations"] == 40  # 39 and the observed split
    assert not {"jsd@words: parts for the interval", "texts embedded with minilm"} - set(parts)
    wholes = [(step, step.done, step.total) for step in steps if isinstance(step, progress.Stage) and not step.part]
    assert wholes == [("embedding with minilm", 0, 0), ("jsd@words", 0, 2), ("vendi_gap", 1, 2)]
