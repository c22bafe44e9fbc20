"""A few embeddings of the texts that a metric was trained on, to see how far other texts are from them."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import InputError, ResourceError
from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.numerics.moments import unit
from textgauge.stats.resampling import permuted

EMBEDDER = "minilm"
MAX_TEXTS = 200  # kept in a file: 384 bytes each
_MAX_SCORED = 1_000  # different texts that are compared, of those that are scored
_TRIALS = 200
_FAR = 0.03  # beyond the null range's middle: a test part is at 0.01 from its train part, other domains at 0.07 to 0.28
_METRIC = "energy@given:cosine"


@dataclass(frozen=True, eq=False)
class TextSketch:
    """Unit embeddings of a random choice of texts as bytes, and how far their sources are from each other.

    `spread` is the largest energy distance of one source to the others; 0 where there is one source.
    """

    rows: NDArray[np.int8]
    spread: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """What a model file holds of it."""
        content = base64.b64encode(self.rows.tobytes()).decode()
        return {"embedder": EMBEDDER, "texts": len(self.rows), "spread": self.spread, "rows": content}

    def warning(self, texts: Corpus, seed: int = 0) -> str | None:
        """A sentence where texts are outside the null range, and farther off than 0.03 and than the sources' spread."""
        try:
            rows = _drawn(texts, _MAX_SCORED, seed)
        except ResourceError:  # no encoder on this machine: nothing is known, and nothing is claimed
            return None
        value, low, high = energy_and_null(self.rows, rows, seed)
        if value <= high or value - (low + high) / 2 <= max(_FAR, self.spread):
            return None
        return (
            f"the texts are far from those the metric was trained on: energy distance {value:.3f}, "
            f"{low:.3f} to {high:.3f} if same source"
        )


def sketch_of(texts: Corpus, sources: Ints, seed: int = 0) -> TextSketch | None:
    """A sketch of texts that come from these sources; None where there is no encoder on this machine."""
    try:
        parts = [_drawn(texts.take(np.flatnonzero(sources == label)), MAX_TEXTS, seed) for label in np.unique(sources)]
    except ResourceError:
        return None
    spread = 0.0
    for place, part in enumerate(parts) if len(parts) > 1 else ():
        others = np.concatenate([other for number, other in enumerate(parts) if number != place])
        gap = unit(part.astype(np.float64)).mean(axis=0) - unit(others.astype(np.float64)).mean(axis=0)
        spread = max(spread, float(gap @ gap))
    return TextSketch(_round_robin(parts), spread)


def parse_sketch(content: Any) -> TextSketch | None:
    """The sketch of a model file; None where it has none, or one of another encoder."""
    if content is None or (isinstance(content, dict) and content.get("embedder") != EMBEDDER):
        return None
    cells = content if isinstance(content, dict) else {}
    texts, spread, rows = (cells.get(name) for name in ("texts", "spread", "rows"))
    if type(texts) is not int or not 1 <= texts <= MAX_TEXTS or not isinstance(spread, int | float):
        raise InputError(f"the sketch of the texts needs 1 to {MAX_TEXTS} rows and a spread")
    try:
        content_bytes = base64.b64decode(str(rows), validate=True)
    except (binascii.Error, ValueError):
        raise InputError("the rows of the sketch are no base64") from None
    if not content_bytes or len(content_bytes) % texts:
        raise InputError("the rows of the sketch have different lengths")
    return TextSketch(np.frombuffer(content_bytes, dtype=np.int8).reshape(texts, -1), float(spread))


def energy_and_null(kept: NDArray[Any], rows: NDArray[Any], seed: int) -> tuple[float, float, float]:
    """The energy distance of two lots of vectors, and its 95 % range when they change sides at random."""
    from textgauge.metrics.registry import get_metric

    if kept.shape[1] != rows.shape[1]:
        return 0.0, 0.0, 0.0
    metric: Any = get_metric(_METRIC)
    sides = (unit(side.astype(np.float64)).astype(np.float32) for side in (kept, rows))
    comparison = Comparison(*(Corpus.of(embeddings=side) for side in sides))
    draws = Draws(*permuted(len(kept), len(rows), _TRIALS, seed))
    low, high = np.quantile(metric.compute_many(comparison.joint, draws)["value"], [0.025, 0.975])
    return float(metric.compute(comparison)["value"]), float(low), float(high)


def _drawn(texts: Corpus, most: int, seed: int) -> NDArray[np.int8]:
    """Embeddings of a random choice of the different texts, as bytes."""
    _, first = np.unique(texts.keys, return_index=True)
    chosen = np.random.default_rng([seed, 21]).permutation(first)[:most]
    rows = unit(Corpus.of([texts.pool.texts[row] for row in texts.index[chosen]]).embeddings(EMBEDDER))
    return np.rint(127.0 * rows / max(float(np.abs(rows).max()), 1e-9)).astype(np.int8)


def _round_robin(parts: list[NDArray[np.int8]]) -> NDArray[np.int8]:
    """Rows of all parts by turns, up to MAX_TEXTS."""
    order = sorted((row, place) for place, part in enumerate(parts) for row in range(len(part)))
    return np.stack([parts[place][row] for row, place in order[:MAX_TEXTS]])
