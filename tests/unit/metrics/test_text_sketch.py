"""Texts far from those of a training are told, texts of the same source are not."""

import json

import numpy as np
import pytest

from textgauge import Corpus
from textgauge.metrics import cautions
from textgauge.metrics.cautions import TextSketch, compute_energy_and_null, make_sketch, parse_sketch


def rows(n, shift=0.0, seed=0):
    wide = np.random.default_rng(seed).normal(size=(n, 8)) + shift
    return np.rint(40 * wide).clip(-127, 127).astype(np.int8)


def test_the_distance_and_its_null_range():
    a, b = rows(100), rows(60, shift=0.5, seed=1)
    value, low, high = compute_energy_and_null(a, b, 0)
    means = [(side / np.linalg.norm(side.astype(float), axis=1, keepdims=True)).mean(axis=0) for side in (a, b)]
    assert value == pytest.approx(((means[0] - means[1]) ** 2).sum(), abs=1e-6)
    assert 0 <= low < high < value


def test_the_null_range_holds_for_equal_sources_of_unequal_sizes():
    inside = 0
    for seed in range(100):
        value, low, high = compute_energy_and_null(rows(100, seed=2 * seed), rows(15, seed=2 * seed + 1), seed)
        inside += low <= value <= high
    assert inside >= 88


def test_a_warning_names_distance_and_null_range(monkeypatch):
    monkeypatch.setattr(cautions, "_draw_rows", lambda *_: rows(60, shift=1.0, seed=1))
    texts = Corpus.of(["a"])
    found = TextSketch(rows(100)).warning(texts)
    value, low, high = compute_energy_and_null(rows(100), rows(60, shift=1.0, seed=1), 0)
    assert f"energy distance {value:.3f}, {low:.3f} to {high:.3f} if same source" in found
    assert TextSketch(rows(100), spread=value + 0.01).warning(texts) is None


def test_a_sketch_survives_the_file():
    sketch = TextSketch(rows(5), 0.25)
    again = parse_sketch(json.loads(json.dumps(sketch.to_dict())))
    np.testing.assert_array_equal(again.rows, sketch.rows)
    assert again.spread == 0.25
    assert parse_sketch(None) is None
    assert parse_sketch({**sketch.to_dict(), "embedder": "another"}) is None


def test_texts_of_all_sources_are_kept_by_turns():
    texts = [f"the cat number {i} sleeps" for i in range(12)] + [f"stocks fell by {i} percent" for i in range(3)]
    sketch = make_sketch(Corpus.of(texts), np.repeat([0, 1], [12, 3]))
    assert sketch.rows.shape == (15, 384)
    assert sketch.spread > 0.3
    assert make_sketch(Corpus.of(texts[:12]), np.zeros(12, dtype=np.int64)).spread == 0.0
