import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textgauge import get_metric
from textgauge.core.settings import limit_sizes
from textgauge.data import Corpus, Pairs

TABLE = {
    "a": [1.0, 0.0, 2.0],
    "b": [0.0, 1.0, -1.0],
    "c": [3.0, -2.0, 0.5],
    "d": [-1.0, 4.0, 0.25],
    "nil": [0.0, 0.0, 0.0],
}
WORDS = st.lists(st.sampled_from([*TABLE, "x", "y"]), max_size=7)


@pytest.fixture(autouse=True)
def on(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "tiny.txt"
    path.write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in TABLE.items()))
    return str(path)


def twin(left, right, pool):
    if left == right:
        return 0.0
    vectors = []
    for words in (left, right):
        known = np.array([TABLE[word] for word in words if word in TABLE])
        if not len(known):
            return float("nan")
        mean = known.mean(axis=0)
        vectors.append(mean if pool == "mean" else np.concatenate([known.min(axis=0), known.max(axis=0), mean]))
    lengths = [np.linalg.norm(vector) for vector in vectors]
    return float("nan") if 0 in lengths else 1 - vectors[0] @ vectors[1] / np.prod(lengths)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6), st.sampled_from(["minmaxmean", "mean"]))
def test_values_are_those_of_the_plain_definition(on, pairs, pool):
    metric = get_metric(f"wordvec_cosine(pool={pool})@{on}")
    left, right = ([" ".join(pair[side]) for pair in pairs] for side in (0, 1))
    expected = [twin(*pair, pool) for pair in pairs]
    scores = metric(left=left, right=right)
    np.testing.assert_allclose(scores.values, expected, rtol=0, atol=1e-12)
    assert (scores.reason is not None) == np.isnan(expected).any()
    corpus = Corpus.of([*left, *right])
    matrix = metric.matrix(corpus.take(range(len(left))), corpus.take(range(len(left), len(corpus))))
    np.testing.assert_allclose(np.diag(matrix), expected, rtol=0, atol=1e-12)


def test_a_text_without_known_words_is_undefined_with_a_reason(on):
    scores = get_metric(f"wordvec_cosine@{on}")(left=["x", "a", "", "nil"], right=["y", "x", "a", "a"])
    assert np.isnan(scores.values).all()
    assert "no word with a vector" in scores.reason


def test_a_batch_larger_than_a_block_changes_nothing(on):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list(TABLE)[:4], rng.integers(1, 9))) for _ in range(60)]
    pairs, metric = Pairs(texts[:30], texts[30:]), get_metric(f"wordvec_cosine@{on}")
    whole = metric.measure(pairs).values
    with limit_sizes(4):
        assert metric.measure(Pairs(texts[:30], texts[30:])).values.tolist() == whole.tolist()
