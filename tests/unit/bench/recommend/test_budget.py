"""Budgets as people write them, what is left of them, and what a larger size will take."""

import pytest

from textgauge.bench.recommend.budget import Embeddings, Line, seconds_of
from textgauge.core.errors import InputError
from textgauge.data import Corpus


@pytest.mark.parametrize(
    ("text", "seconds"), [("2m", 120), ("90s", 90), ("90", 90), ("1h", 3600), ("1h 30m", 5400), ("1.5m", 90), (7, 7)]
)
def test_lengths_of_time(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "2 days", "-2m", "m", "1.2.3s", "0", "4s", float("nan"), float("inf")])
def test_what_is_no_budget_is_refused(text):
    with pytest.raises(InputError, match="a budget is"):
        seconds_of(text)


def test_a_clock_tells_what_is_left(make_clock, hands):
    hands.seconds = 3.0
    clock = make_clock(20.0)
    hands.seconds = 8.0
    assert (clock.spent, clock.left, clock.part(5.0).left) == (5.0, 15.0, 5.0)
    hands.seconds = 80.0
    assert clock.left == 0.0


def test_a_line_has_a_fixed_part_and_a_part_for_each_item():
    line = Line.through([10, 30], [1.2, 1.6])
    assert (line.fixed, line.each) == (pytest.approx(1.0), pytest.approx(0.02))
    assert line(1_000) == pytest.approx(21.0)
    assert Line.through([10], [2.0])(30) == pytest.approx(6.0)
    quicker = Line.through([10, 30], [2.0, 1.0])
    assert (quicker(10), quicker(1_000)) == (2.0, 2.0)


def test_fixed_overhead_is_not_taken_for_time_per_item():
    slow, quick = Line.through([20, 100], [0.5, 0.9]), Line.through([20, 100], [0.03, 0.03])
    assert slow(8_000) == pytest.approx(40.4)
    assert quick(8_000) == pytest.approx(0.03)


@pytest.fixture
def embedder(fake_embedder, hands):
    return fake_embedder(lambda texts: setattr(hands, "seconds", hands.seconds + len(texts)))


def test_texts_are_embedded_once_and_until_the_time_is_up(make_clock, embedder):
    texts = [f"text {i}" for i in range(300)]
    found = Embeddings(make_clock(10_000.0))
    found.time("wordllama", texts)
    assert found.pace == {"wordllama": 1.0}
    embedder.seen.clear()
    assert not found.embed(["wordllama"], texts, 100.0)
    assert not embedder.seen
    assert found.seconds(["wordllama"], texts[:40]) == 40.0
    assert found.embed(["wordllama"], texts[:100], 100.0)
    corpus = Corpus.of(texts[:120])
    found.fill([corpus.pool], ["wordllama"])
    assert corpus.embeddings("wordllama")[:, 0].tolist() == [len(text) for text in corpus.texts]
    assert sorted(embedder.seen) == sorted(texts[:120])


def test_the_cost_of_embedding_is_that_of_texts_that_are_not_cached(make_clock, embedder):
    texts = [f"text {i}" for i in range(50)]
    first, second = Embeddings(make_clock(1_000.0)), Embeddings(make_clock(1_000.0))
    first.time("wordllama", texts)
    assert first.embed(["wordllama"], texts)
    embedder.cached.update(texts)
    second.time("wordllama", texts)
    assert second.pace == {"wordllama": 1.0}
    assert second.cpu["wordllama"] >= 0.0
    assert second.seconds(["wordllama"], [*texts, "new"]) == 1.0
