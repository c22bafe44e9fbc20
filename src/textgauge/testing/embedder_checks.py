"""What an embedder must keep: one finite vector per text, the same whatever the other texts and their order."""

from __future__ import annotations

import numpy as np

from textgauge.encode.embedders import Embedder
from textgauge.testing.metric_checks import list_checks

_TEXTS = ["A red cat.", "", "two\nlines", "Größe 你好 👍🏽", "lone \ud800", "a much longer text, " * 20, "A red cat."]
_ROUNDING = 1e-5  # models may round by the batch


def check_declared(embedder: Embedder) -> None:
    """Check that it has a name, an identity and a dimension."""
    assert embedder.name and embedder.identity, "an embedder needs a name and an identity"
    assert isinstance(embedder.dimension, int) and embedder.dimension > 0, f"dimension is {embedder.dimension!r}"


def check_shape(embedder: Embedder) -> None:
    """Check that it gives one row per text, also for no text."""
    for texts in (_TEXTS, _TEXTS[:1], []):
        shape = np.shape(embedder.encode(texts))
        assert shape == (len(texts), embedder.dimension), f"{len(texts)} texts give an array of shape {shape}"


def check_finite(embedder: Embedder) -> None:
    """No text, empty ones and lone surrogates included, gives NaN or infinity."""
    finite = np.isfinite(embedder.encode(_TEXTS)).all(axis=1)
    assert finite.all(), f"the vector of {_TEXTS[int(np.argmin(finite))]!r} is not finite"


def check_row_law(embedder: Embedder) -> None:
    """Check that a text has the same vector alone, among others, in another order and a second time."""
    together = np.asarray(embedder.encode(_TEXTS), dtype=np.float64)
    backwards = np.asarray(embedder.encode(_TEXTS[::-1]), dtype=np.float64)[::-1]
    alone = np.vstack([embedder.encode([text]) for text in _TEXTS])
    scale = max(float(np.abs(together).max()), 1e-300)
    for what, other in (("in another order", backwards), ("alone", alone)):
        assert np.abs(together - other).max() <= _ROUNDING * scale, f"texts have other vectors {what}"


def check_different(embedder: Embedder) -> None:
    """Different texts have different vectors."""
    first, second = np.asarray(embedder.encode(["a red cat", "the bank was closed"]))
    assert not np.array_equal(first, second), "two different texts have the same vector"


EMBEDDER_CHECKS = list_checks(globals())
