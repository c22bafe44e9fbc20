"""A corpus metric: how far apart the mean embeddings are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textgauge.data import Comparison
from textgauge.metrics import EmbeddingMetric, Part


@dataclass(frozen=True, kw_only=True)
class MeanGap(EmbeddingMetric):
    """Length of the difference of the mean embeddings.

    ‖mean P − mean Q‖. Source: this package.
    """

    name, label, source = "mean_gap", "Mean gap", "this package"
    headline = Part("value", bounds=(0.0, float("inf")))

    def compute(self, comparison: Comparison) -> dict[str, float]:
        """Give the value by its name."""
        sides = comparison.reference, comparison.candidate
        first, second = (side.embeddings(self.embedder).mean(axis=0, dtype=float) for side in sides)
        return {"value": float(np.linalg.norm(first - second))}
