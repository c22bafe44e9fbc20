from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from textgauge.core.errors import InputError, ParameterError
from textgauge.data import Corpus, Pairs
from textgauge.metrics import get_metric

VECTORS = arrays(np.float32, (6, 3), elements=st.floats(-4, 4, width=32).filter(lambda x: x == 0 or abs(x) > 1e-3))


def plain(x: np.ndarray, y: np.ndarray) -> float:
    x, y = x.astype(float), y.astype(float)
    lengths = np.sqrt(x @ x), np.sqrt(y @ y)
    if 0 in lengths:
        return float(lengths[0] == lengths[1])
    return float(x @ y / lengths[0] / lengths[1])


@settings(deadline=None)
@given(VECTORS, VECTORS)
def test_equals_the_formula(X: np.ndarray, Y: np.ndarray) -> None:
    found = get_metric("cosine")(left=X, right=Y)
    np.testing.assert_allclose(found.values, [plain(x, y) for x, y in zip(X, Y, strict=True)], rtol=0, atol=1e-12)
    assert "embeddings=given" in found.signature


@settings(deadline=None)
@given(VECTORS, VECTORS, st.sampled_from(["none", "clip", "unit"]))
def test_the_matrix_holds_the_pairs(X: np.ndarray, Y: np.ndarray, scale: str) -> None:
    metric = get_metric(f"cosine(scale={scale})@given")
    rows, columns = Corpus.of(X), Corpus.of(Y)
    every = Pairs(rows.take(np.repeat(range(6), 6)), columns.take(np.tile(range(6), 6)))
    values = metric.compute(every)["value"].reshape(6, 6)
    np.testing.assert_allclose(metric.matrix(rows, columns), values, rtol=0, atol=1e-12)
    assert (values >= metric.bounds[0]).all()
    assert (values <= metric.bounds[1]).all()


@settings(deadline=None)
@given(VECTORS)
def test_a_vector_with_itself_is_exactly_one(X: np.ndarray) -> None:
    for scale in ("none", "clip", "unit"):
        assert (get_metric(f"cosine(scale={scale})")(left=X, right=X.copy()).values == 1).all()
    assert (get_metric("cosine@given").matrix(Corpus.of(X), Corpus.of(X)).diagonal() == 1).all()


def test_scales() -> None:
    X, Y = np.array([[1.0, 0], [1, 0], [1, 0]]), np.array([[-1.0, 0], [0, 1], [1, 0]])
    values = {
        scale: get_metric(f"cosine(scale={scale})")(left=X, right=Y).values.tolist() for scale in ("clip", "unit")
    }
    assert values == {"clip": [0, 0, 1], "unit": [0, 0.5, 1]}
    assert get_metric("cosine").bounds == (-1, 1)
    assert get_metric("cosine(scale=clip)").bounds == get_metric("cosine(scale=unit)").bounds == (0, 1)


def test_wrong_use() -> None:
    with pytest.raises(ParameterError, match="none, clip, unit"):
        get_metric("cosine(scale=half)")
    with pytest.raises(InputError, match="no ready-made embeddings"):
        get_metric("cosine@given").compute(Pairs(["a"], ["b"]))
