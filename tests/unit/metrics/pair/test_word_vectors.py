import numpy as np
import pytest

from textgauge import get_metric
from textgauge.core.settings import limit_sizes
from textgauge.data import Pairs

TABLE = {
    "a": [1.0, 0.0, 2.0],
    "b": [0.0, 1.0, -1.0],
    "c": [3.0, -2.0, 0.5],
    "d": [-1.0, 4.0, 0.25],
    "nil": [0.0, 0.0, 0.0],
}


@pytest.fixture(autouse=True)
def on(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "tiny.txt"
    path.write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in TABLE.items()))
    return str(path)


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
