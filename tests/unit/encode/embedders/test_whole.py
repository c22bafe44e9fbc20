"""`whole:`: nothing of a text is left out, nothing else changes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from textgauge.core.errors import UnknownName
from textgauge.data.cache import encode_cached
from textgauge.encode.embedders import Embedder, get_embedder
from textgauge.encode.embedders.whole import WholeEmbedder, average_windows, cut_text, group_words
from textgauge.metrics import get_metric

ROOM = 16
rng = np.random.default_rng(0)
VOCABULARY = [f"w{number}" for number in range(400)]
LONG = " ".join(rng.choice(VOCABULARY, 300))
SHORT = "w1 w2 w3"


@dataclass(frozen=True)
class Letters:
    """Reads `window` words; a vector counts the words it read, by their number modulo 7, so sums can be checked."""

    window: int | None = ROOM
    name: str = "letters"
    dimension: int = 7
    seen: list[str] = field(default_factory=list, compare=False)

    @property
    def identity(self):
        return f"letters(window={self.window})"

    def words(self, texts):
        for text in texts:
            ends = np.cumsum([len(word) + 1 for word in text.split(" ")]) - 1
            starts = np.r_[0, ends[:-1] + 1]
            yield group_words(range(len(ends)), list(zip(starts.tolist(), ends.tolist(), strict=True)))

    def encode(self, texts, *, batch_size=64):
        self.seen.extend(texts)
        rows = np.zeros((len(texts), 7), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.split(" ")[: self.window]:
                row[int(word[1:] or 0) % 7] += 1
        return rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)


def spans(text):
    return next(Letters().words([text]))


@pytest.mark.parametrize("room", [1, 2, 3, ROOM])
def test_windows_are_the_text_in_order_and_all_fit(room):
    windows = cut_text(LONG, spans(LONG), room)
    assert " ".join(windows) == LONG
    lengths = [len(window.split(" ")) for window in windows]
    assert max(lengths) <= room
    assert min(lengths[:-1]) >= room / 2 - 0.5


def test_a_passage_has_its_windows_wherever_it_stands():
    plain = set(cut_text(LONG, spans(LONG), ROOM))
    for before in ("w7", "w7 w8 w9 w3 w5", " ".join(VOCABULARY[:29])):
        shifted = f"{before} {LONG}"
        assert len(plain & set(cut_text(shifted, spans(shifted), ROOM))) > 0.6 * len(plain)


def test_a_word_longer_than_a_window_is_cut_inside():
    class Characters(Letters):
        def words(self, texts):
            for text in texts:
                yield group_words([0] * len(text), [(place, place + 1) for place in range(len(text))])

    windows = WholeEmbedder(Characters()).cut_windows(["字" * 100])[0]
    assert "".join(window for window, _ in windows) == "字" * 100
    assert max(tokens for _, tokens in windows) <= ROOM


def test_every_word_counts_alike():
    """With mean pooling, the mean of windows weighted by tokens points where the mean over all words does."""
    everything = Letters(window=None).encode([LONG])[0].astype(np.float64)
    found = WholeEmbedder(Letters()).encode([LONG, SHORT])
    cosine = found[0] @ everything / np.linalg.norm(found[0]) / np.linalg.norm(everything)
    assert cosine == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_array_equal(found[1], Letters().encode([SHORT])[0])
    cut_off = Letters().encode([LONG])[0]
    assert cut_off @ everything / np.linalg.norm(cut_off) / np.linalg.norm(everything) < 0.999


def test_vectors_have_the_mean_length_of_their_windows():
    rows = np.array([[3.0, 4.0], [0.0, 1.0]])
    assert np.linalg.norm(average_windows(rows, [1, 1])) == pytest.approx(3.0)
    assert np.linalg.norm(average_windows(rows, [1, 3])) == pytest.approx(2.0)
    assert np.linalg.norm(average_windows(np.eye(5), [1, 2, 3, 4, 5])) == pytest.approx(1.0)
    assert average_windows(np.array([[1.0], [-1.0]]), [2, 2]).tolist() == [0.0]


def test_texts_that_share_passages_share_their_cost():
    plain = Letters()
    whole = WholeEmbedder(plain)
    whole.encode([LONG])
    windows = len(plain.seen)
    whole.encode([f"w5 {LONG}", LONG])
    assert len(plain.seen) - windows < 0.4 * windows
    assert len(plain.seen) == len(set(plain.seen))


@pytest.mark.parametrize("name", ["whole:api:some-model", "whole:whole:minilm", "whole:nosuch"])
def test_an_embedder_that_does_not_tell_where_it_stops_is_refused(name):
    with pytest.raises(UnknownName, match=name.removeprefix("whole:")):
        get_embedder(name)


@pytest.fixture
def story():
    places, doings = ("harbour", "market", "garden", "school"), ("walked to", "thought of", "left", "painted")
    drawn = np.random.default_rng(3)
    return " ".join(f"On day {day} she {drawn.choice(doings)} the {drawn.choice(places)}." for day in range(150))


@pytest.mark.parametrize("name", ["minilm", "wordllama"])
def test_the_same_text_has_the_same_bits(name, story, need, monkeypatch):
    need(name)
    need("wordpiece")
    whole = get_embedder(f"whole:{name}")
    assert isinstance(whole, Embedder)
    texts = ["a short text", "", story, story[200:], "lone \ud800 surrogate " * 90]
    expected = whole.encode(texts)
    np.testing.assert_array_equal(expected[:2], get_embedder(name).encode(texts[:2]))
    for row, text in enumerate(texts):
        fresh = WholeEmbedder(get_embedder(name))
        np.testing.assert_array_equal(fresh.encode([text], batch_size=1)[0], expected[row])
    assert whole.encode([]).shape == (0, whole.dimension)


def test_the_end_of_a_text_counts(story, need, tmp_path):
    need("minilm")
    need("wordpiece")
    other = story + " Prices of steel fell again, and the central bank kept its rates." * 20
    plain, whole = (get_metric(f"cosine@{name}minilm") for name in ("", "whole:"))
    assert plain(left=[story], right=[other]).values[0] == 1.0
    assert whole(left=[story], right=[other]).values[0] < 0.98
    assert "whole(" in whole.signature
    assert get_metric(whole.key) == whole
    embedders = [get_embedder(name) for name in ("minilm", "whole:minilm", "whole:minilm")]
    vectors = [encode_cached(embedder, [story], cache_dir=tmp_path) for embedder in embedders]
    assert not np.array_equal(*vectors[:2])
    np.testing.assert_array_equal(*vectors[1:])
    metric = get_metric("energy@whole:minilm:cosine")
    assert (metric.embedder, metric.ground) == ("whole:minilm", "cosine")
