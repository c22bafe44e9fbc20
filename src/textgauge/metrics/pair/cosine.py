"""Cosine of sentence embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from textgauge.corpus import GIVEN, Corpus, Pairs
from textgauge.corpus.view import in_one_pool
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.pair_metric import Column, Columns, PairMetric
from textgauge.metrics.registry import register
from textgauge.represent.grounds import unit_rows

# Vectors are float32: a smaller angle than this between two of them is rounding.
_SAME_DIRECTION = 1.0 - 1e-14

Scale = Literal["none", "clip", "unit"]


def scaled(cosines: Column, scale: Scale) -> Column:
    """Cosines brought into their bounds, then as they are, with negative ones at 0, or as (1 + cos) / 2.

    >>> scaled(np.array([-0.5, 1.0]), "unit").tolist()
    [0.25, 1.0]
    """
    snapped = np.where(cosines > _SAME_DIRECTION, 1.0, np.maximum(cosines, -1.0))
    if scale == "clip":
        return np.maximum(snapped, 0.0)
    return (1.0 + snapped) / 2.0 if scale == "unit" else snapped


@register
@dataclass(frozen=True, kw_only=True)
class Cosine(PairMetric):
    """Cosine of the angle between the sentence embeddings of two texts.

    `scale` brings it into [0, 1]: `clip` puts negative values at 0, `unit` takes (1 + cos) / 2. The embedder has a
    vector for the empty text as well; a vector of zeros has cosine 0 with any other and 1 with another such.

    Source: Reimers and Gurevych 2019, Sentence-BERT.
    """

    name = "cosine"
    label = "Cosine"
    source = "Reimers and Gurevych 2019"
    needs = "embeddings"
    default_on = "minilm"
    headline = Part(VALUE, closer="larger", bounds=(-1.0, 1.0))

    scale: Scale = "none"

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return (-1.0, 1.0) if self.scale == "none" else (0.0, 1.0)

    def looked_at(self) -> list[str]:
        """The embedder with its revision."""
        if self.on == GIVEN:
            return ["embeddings=given"]
        from textgauge.represent.embedders import embedder

        return [f"embedder={embedder(self.on).identity}"]

    def compute(self, pairs: Pairs) -> Columns:
        """One number per pair."""
        left, right = _units(pairs.left, pairs.right, self.on)
        return {VALUE: scaled(np.einsum("ij,ij->i", left, right), self.scale)}

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Column:
        """The value of every row text (left) with every column text (right), by one product."""
        left, right = _units(*in_one_pool(rows, columns), self.on)
        return scaled(left @ right.T, self.scale)


def _units(left: Corpus, right: Corpus, embedder: str) -> tuple[Column, Column]:
    both = unit_rows(np.concatenate([left.embeddings(embedder), right.embeddings(embedder)]))
    return both[: len(left)], both[len(left) :]
