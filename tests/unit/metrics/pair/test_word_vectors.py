from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial import KDTree

from textgauge import get_metric
from textgauge.core.settings import limit_sizes
from textgauge.data import Pairs
from textgauge.metrics.pair.word_vectors import MOST_CELLS

RNG = np.random.default_rng(3)
TABLE = {f"w{place}": row for place, row in enumerate(RNG.normal(size=(40, 6)).astype(np.float32))}
TABLE |= {"twin": TABLE["w0"], "nil": np.zeros(6, np.float32)}
WORDS = st.lists(st.sampled_from([*list(TABLE)[:6], "twin", "nil", "unknown"]), max_size=8)


@pytest.fixture(autouse=True)
def on(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "tiny.txt"
    path.write_text("".join(f"{word} {' '.join(map(repr, row.tolist()))}\n" for word, row in TABLE.items()))
    return str(path)


def problem(left, right):
    """Shares of both sides and the distances between their words."""
    a, b = (Counter(word for word in side if word in TABLE) for side in (left, right))
    X, Y = (np.array([TABLE[word] for word in side], dtype=np.float64).reshape(-1, 6) for side in (a, b))
    shares = [np.array(list(side.values()), dtype=np.float64) / max(side.total(), 1) for side in (a, b)]
    return *shares, np.sqrt(((X[:, None] - Y[None]) ** 2).sum(axis=2))


def plain_wmd(left, right):
    """The linear programme, as it stands in the definition."""
    return programme(*problem(left, right))


def programme(a, b, distances):
    m, n = distances.shape
    flow_out, flow_in = np.kron(np.eye(m), np.ones(n)), np.kron(np.ones(m), np.eye(n))
    return linprog(distances.ravel(), A_eq=np.vstack([flow_out, flow_in]), b_eq=np.concatenate([a, b])).fun


def plain_rwmd(left, right):
    a, b, distances = problem(left, right)
    return a @ distances.min(axis=1), b @ distances.min(axis=0)


def defined(left, right):
    return all(any(word in TABLE for word in side) for side in (left, right))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
def test_values_are_those_of_the_plain_definitions(on, pairs):
    left, right = ([" ".join(pair[side]) for pair in pairs] for side in (0, 1))
    wmd, rwmd = (get_metric(f"{name}@{on}")(left=left, right=right) for name in ("wmd", "rwmd"))
    for row, pair in enumerate(pairs):
        if left[row] == right[row]:
            assert wmd.values[row] == rwmd.values[row] == 0
        elif not defined(*pair):
            assert np.isnan([wmd.values[row], rwmd.values[row], rwmd.parts["forward"][row]]).all()
            assert "no word with a vector" in wmd.reason
        else:
            assert wmd.values[row] == pytest.approx(plain_wmd(*pair), abs=1e-9)
            forward, backward = plain_rwmd(*pair)
            assert rwmd.parts["forward"][row] == pytest.approx(forward, abs=1e-12)
            assert rwmd.parts["backward"][row] == pytest.approx(backward, abs=1e-12)
            assert rwmd.values[row] == pytest.approx(max(forward, backward), abs=1e-12)
            assert rwmd.values[row] <= wmd.values[row] + 1e-12


def texts(n, longest, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(list(TABLE), rng.integers(1, longest))) for _ in range(n)]


@pytest.mark.parametrize("name", ["wmd", "rwmd", "wordvec_cosine"])
def test_blocks_change_no_bit(on, name):
    pairs = Pairs(texts(20, 30), texts(20, 30, seed=1))
    metric = get_metric(f"{name}@{on}")
    whole = metric.measure(pairs).values
    with limit_sizes(1):
        assert metric.measure(pairs).values.tolist() == whole.tolist()


def test_very_long_texts_are_bounded_by_rwmd_and_undefined_for_wmd(tmp_path):
    size = int(MOST_CELLS**0.5) + 1
    rows = np.random.default_rng(5).normal(size=(2 * size, 2)).round(3)
    path = tmp_path / "large.txt"
    path.write_text("".join(f"w{place} {x} {y}\n" for place, (x, y) in enumerate(rows.tolist())))
    sides = [" ".join(f"w{place}" for place in side) for side in np.split(np.arange(2 * size), 2)]
    pairs = Pairs([sides[0], "w0"], [sides[1], "w1"])
    exact, relaxed = (get_metric(f"{name}@{path}").measure(pairs) for name in ("wmd", "rwmd"))
    assert np.isnan(exact.values[0])
    assert "pairs of different words" in exact.reason
    assert exact.values[1] == pytest.approx(np.linalg.norm(rows[0] - rows[1]), rel=1e-6)
    near = [KDTree(rows[size:]).query(rows[:size])[0].mean(), KDTree(rows[:size]).query(rows[size:])[0].mean()]
    assert relaxed.values[0] == pytest.approx(max(near), rel=1e-6)


def test_a_text_without_known_words_is_undefined_with_a_reason(on):
    scores = get_metric(f"wordvec_cosine@{on}")(left=["x", "w0", "", "nil"], right=["y", "x", "w0", "w0"])
    assert np.isnan(scores.values).all()
    assert "no word with a vector" in scores.reason


def test_words_with_one_vector_are_at_distance_zero(on):
    scores = get_metric(f"wmd@{on}")(left=["w0 w1", "W0"], right=["twin w1", "w0 w0"])
    assert scores.values.tolist() == [0.0, 0.0]


def test_unit_scales_vectors_and_leaves_zeros(on):
    scores = get_metric(f"wmd(unit=true)@{on}")(left=["w1", "w1"], right=["w2", "nil"])
    units = [TABLE[word] / np.linalg.norm(TABLE[word]) for word in ("w1", "w2")]
    assert scores.values == pytest.approx([np.linalg.norm(units[0] - units[1]), 1.0], abs=1e-6)


def test_stop_words_and_signs_can_be_dropped(tmp_path):
    (tmp_path / "some.txt").write_text("the 1 0\ncat 0 1\ndog 2 2\n! 5 5\n")
    on = tmp_path / "some.txt"
    left, right = ["the cat !", "cat", "the", "the"], ["dog", "the dog", "cat", "the"]
    values = get_metric(f"wmd(stopwords=drop)@{on}")(left=left, right=right).values
    assert values == pytest.approx([5**0.5, 5**0.5, np.nan, 0.0], nan_ok=True)
    assert get_metric(f"wmd@{on}")(left=["cat"], right=["the"]).values == pytest.approx([2**0.5])
