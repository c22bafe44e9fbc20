import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from textgauge.core.errors import InputError, ParameterError
from textgauge.data import Corpus, Pairs
from textgauge.metrics import get_metric

VECTORS = arrays(np.float32, (6, 3), elements=st.floats(-4, 4, width=32).filter(lambda x: x == 0 or abs(x) > 1e-3))


def plain(x, y):
    x, y = x.astype(float), y.astype(float)
    lengths = np.sqrt(x @ x), np.sqrt(y @ y)
    if 0 in lengths:
        return float(lengths[0] == lengths[1])
    return float(x @ y / lengths[0] / lengths[1])


@settings(deadline=None)
@given(VECTORS, VECTORS)
def test_equals_the_formula(X, Y):
    found = get_metric("cosine")(left=X, right=Y)
    np.testing.assert_allclose(found.values, [plain(x, y) for x, y in zip(X, Y, strict=True)], rtol=0, atol=1e-12)
    assert "embeddings=given" in found.signature


@settings(deadline=None)
@given(VECTORS)
def test_a_vector_with_itself_is_exactly_one(X):
    for scale in ("none", "clip", "unit"):
        assert (get_metric(f"cosine(scale={scale})")(left=X, right=X.copy()).values == 1).all()
    assert (get_metric("cosine@given").matrix(Corpus.of(X), Corpus.of(X)).diagonal() == 1).all()


def test_scales():
    X, Y = np.array([[1.0, 0], [1, 0], [1, 0]]), np.array([[-1.0, 0], [0, 1], [1, 0]])
    values = {
        scale: get_metric(f"cosine(scale={scale})")(left=X, right=Y).values.tolist() for scale in ("clip", "unit")
    }
    assert values == {"clip": [0, 0, 1], "unit": [0, 0.5, 1]}
    assert get_metric("cosine").bounds == (-1, 1)
    assert get_metric("cosine(scale=clip)").bounds == get_metric("cosine(scale=unit)").bounds == (0, 1)


def test_wrong_use():
    with pytest.raises(ParameterError, match="none, clip, unit"):
        get_metric("cosine(scale=half)")
    with pytest.raises(InputError, match="no ready-made embeddings"):
        get_metric("cosine@given").compute(Pairs(["a"], ["b"]))
