"""Distance of the mean contextual token vectors of two texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textgauge.corpus import Corpus, Pairs
from textgauge.corpus.view import in_one_pool
from textgauge.errors import UnknownName
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.pair._distinct import distinct_texts, runs
from textgauge.metrics.pair_metric import Column, Columns, PairMetric
from textgauge.metrics.registry import register
from textgauge.represent.token_vectors import CHOSEN, TokenEncoder, TokenVectors, token_encoder

_HELD_TOKENS = 1 << 16  # token vectors held at once: 100 MB of 384 dimensions


def mean_vectors(found: TokenVectors) -> Column:
    """The mean vector of each text's tokens, special ones left out, in float64; NaN for a text without tokens."""
    words = found.words
    means = np.full((len(words), found.vectors.shape[1]), np.nan)
    full = words > 0
    if full.any():
        starts = (np.cumsum(words) - words)[full]
        kept = found.vectors[~found.special].astype(np.float64)
        means[full] = np.add.reduceat(kept, starts, axis=0) / words[full][:, None]
    return means


@register
@dataclass(frozen=True, kw_only=True)
class ContextualL2(PairMetric):
    """Euclidean distance between the means of two texts' contextual token vectors.

    Special tokens ([CLS], [SEP]) are left out of the means. `layer` counts from 0, the embeddings; −1 is the encoder's
    own choice, for `elmo:FOLDER` the mean of its three layers. Undefined where exactly one text has no tokens; 0 where
    both have none. Texts are cut at the encoder's longest input.

    Source: Yamshchikov et al. 2021 (with ELMo, Peters et al. 2018).
    """

    name = "contextual_l2"
    label = "Contextual L2"
    source = "Yamshchikov et al. 2021"
    needs = "token vectors"
    default_on = "minilm"
    headline = Part(VALUE, closer="smaller", bounds=(0.0, float("inf")))
    best = 0.0
    undefined = "one of the two texts has no tokens"

    layer: int = CHOSEN

    def check(self) -> None:
        """Refuse negative layers."""
        if self.layer < CHOSEN:
            raise UnknownName(f"contextual_l2: layer={self.layer} is not a layer")

    def looked_at(self) -> list[str]:
        """The token encoder with its revision and layer."""
        return [f"tokens={self._encoder.identity}"]

    def compute(self, pairs: Pairs) -> Columns:
        """One number per pair."""
        texts, left, right = distinct_texts(pairs.left, pairs.right)
        means = self._means(texts)
        empty = np.isnan(means[:, 0])
        distances = np.linalg.norm(means[left] - means[right], axis=1)
        distances[empty[left] & empty[right]] = 0.0
        return {VALUE: distances}

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Column:
        """The value of every row text with every column text."""
        from scipy.spatial.distance import cdist

        texts, left, right = distinct_texts(*in_one_pool(rows, columns))
        means = self._means(texts)
        empty = np.isnan(means[:, 0])
        distances = np.asarray(cdist(means[left], means[right]))
        distances[empty[left][:, None] & empty[right]] = 0.0
        return distances

    @property
    def _encoder(self) -> TokenEncoder:
        return token_encoder(self.on, layer=self.layer)

    def _means(self, texts: list[str]) -> Column:
        sizes = np.diff(self._encoder.tokenize(texts).offsets)
        blocks = [
            mean_vectors(self._encoder.encode([texts[row] for row in rows])) for rows in runs(sizes, most=_HELD_TOKENS)
        ]
        return np.concatenate(blocks) if blocks else np.empty((0, 1))
