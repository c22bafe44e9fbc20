"""Cross-encoder scores: a model reads both texts together."""

from __future__ import annotations

from dataclasses import dataclass

from textgauge.corpus import Pairs
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.pair._decided import decided
from textgauge.metrics.pair_metric import Columns, PairMetric
from textgauge.metrics.registry import register
from textgauge.represent.cross_encoders import cross_encoder


@register
@dataclass(frozen=True, kw_only=True)
class CrossEncoderScore(PairMetric):
    """Similarity of two texts by a transformer that reads them together, from 0 to 1.

    The value is the sigmoid of the model's raw number. Any sentence-transformers cross-encoder with one output can be
    named (extra `st`). The model is not asked about equal texts (1), two blank ones (1) or one blank one (0).

    Source: Reimers and Gurevych 2019, Sentence-BERT.
    """

    name = "cross_encoder"
    label = "Cross-encoder"
    source = "Reimers and Gurevych 2019"
    needs = "model"
    default_on = "cross-encoder/stsb-roberta-base"
    headline = Part(VALUE, closer="larger")
    symmetric = False

    def looked_at(self) -> list[str]:
        """The model with its revision."""
        return [f"model={cross_encoder(self.on).identity}"]

    def compute(self, pairs: Pairs) -> Columns:
        """One number per pair."""
        values, asked = decided(pairs)
        if len(asked):
            left, right = pairs.left.take(asked), pairs.right.take(asked)
            values[asked] = cross_encoder(self.on).score(left.texts, right.texts)
        return {VALUE: values}
