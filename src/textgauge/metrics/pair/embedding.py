"""Similarity by models of whole texts: cosine of embeddings, contextual_l2, cross_encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.core.sizes import runs
from textgauge.data import GIVEN, Corpus, Pairs
from textgauge.data.view import in_one_pool
from textgauge.encode.grounds import unit_rows
from textgauge.encode.hugging_face import cross_encoder
from textgauge.encode.token_vectors import CHOSEN, TokenEncoder, TokenVectors, token_encoder
from textgauge.metrics.base import VALUE, Part, Range
from textgauge.metrics.pair_metric import Columns, PairMetric, decided, distinct_texts
from textgauge.metrics.readable import UNREAD, unread
from textgauge.metrics.registry import register

# Vectors are float32: a smaller angle than this between two of them is rounding.
_SAME_DIRECTION = 1.0 - 1e-14
Scale = Literal["none", "clip", "unit"]
_HELD_TOKENS = 1 << 16  # token vectors held at once: 100 MB of 384 dimensions


def scaled(cosines: Floats, scale: Scale) -> Floats:
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
    vector for the empty text as well; a vector of zeros has cosine 0 with any other and 1 with another such. Undefined
    (NaN) where a text consists of word pieces that the encoder does not know and the texts differ.

    Source: Reimers and Gurevych 2019, Sentence-BERT.
    """

    name = "cosine"
    label = "Cosine"
    source = "Reimers and Gurevych 2019"
    needs = "embeddings"
    default_on = "minilm"
    headline = Part(VALUE, closer="larger", bounds=(-1.0, 1.0))
    undefined = UNREAD
    version = 2

    scale: Scale = "none"

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return (-1.0, 1.0) if self.scale == "none" else (0.0, 1.0)

    def input_identity(self) -> list[str]:
        """The embedder with its revision."""
        if self.on == GIVEN:
            return ["embeddings=given"]
        from textgauge.encode.embedders import embedder

        return [f"embedder={embedder(self.on).identity}"]

    def compute(self, pairs: Pairs) -> Columns:
        """One number per pair."""
        left, right = _units(pairs.left, pairs.right, self.on)
        values = scaled(np.einsum("ij,ij->i", left, right), self.scale)
        return {VALUE: np.where(unread_pairs(pairs.left, pairs.right, self.on), np.nan, values)}

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """The value of every row text (left) with every column text (right), by one product."""
        rows, columns = in_one_pool(rows, columns)
        left, right = _units(rows, columns, self.on)
        return without_unread(scaled(left @ right.T, self.scale), rows, columns, self.on)


def unread_pairs(left: Corpus, right: Corpus, encoder: str) -> NDArray[np.bool_]:
    """Tell the pairs of different texts of which the encoder knows no piece of one."""
    return np.asarray((unread(left, encoder) | unread(right, encoder)) & (left.keys != right.keys))


def without_unread(values: Floats, rows: Corpus, columns: Corpus, encoder: str) -> Floats:
    """A matrix with NaN where such a text meets another text."""
    of_rows, of_columns = unread(rows, encoder), unread(columns, encoder)
    for row in np.flatnonzero(of_rows):
        values[row, columns.keys != rows.keys[row]] = np.nan
    for column in np.flatnonzero(of_columns):
        values[rows.keys != columns.keys[column], column] = np.nan
    return values


def _units(left: Corpus, right: Corpus, embedder: str) -> tuple[Floats, Floats]:
    both = unit_rows(np.concatenate([left.embeddings(embedder), right.embeddings(embedder)]))
    return both[: len(left)], both[len(left) :]


def mean_vectors(found: TokenVectors) -> Floats:
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
    own choice, for `elmo:FOLDER` the mean of its three layers. Undefined where exactly one text has no tokens, or
    consists of word pieces that the encoder does not know and the texts differ; 0 where both have no tokens. Texts are
    cut at the encoder's longest input.

    Source: Yamshchikov et al. 2021 (with ELMo, Peters et al. 2018).
    """

    name = "contextual_l2"
    label = "Contextual L2"
    source = "Yamshchikov et al. 2021"
    needs = "token vectors"
    default_on = "minilm"
    headline = Part(VALUE, closer="smaller", bounds=(0.0, float("inf")))
    value_at_identity = 0.0
    undefined = f"one of the two texts has no tokens, or {UNREAD}"
    version = 2
    ranges = (Range("layer", CHOSEN),)

    layer: int = CHOSEN

    def input_identity(self) -> list[str]:
        """The token encoder with its revision and layer."""
        return [f"tokens={self._encoder.identity}"]

    def compute(self, pairs: Pairs) -> Columns:
        """One number per pair."""
        texts, left, right = distinct_texts(pairs.left, pairs.right)
        means = self._means(texts)
        empty = np.isnan(means[:, 0])
        distances = np.linalg.norm(means[left] - means[right], axis=1)
        distances[empty[left] & empty[right]] = 0.0
        return {VALUE: np.where(unread_pairs(pairs.left, pairs.right, self.on), np.nan, distances)}

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """The value of every row text with every column text."""
        from scipy.spatial.distance import cdist

        rows, columns = in_one_pool(rows, columns)
        texts, left, right = distinct_texts(rows, columns)
        means = self._means(texts)
        empty = np.isnan(means[:, 0])
        distances = np.asarray(cdist(means[left], means[right]))
        distances[empty[left][:, None] & empty[right]] = 0.0
        return without_unread(distances, rows, columns, self.on)

    @property
    def _encoder(self) -> TokenEncoder:
        return token_encoder(self.on, layer=self.layer)

    def _means(self, texts: list[str]) -> Floats:
        sizes = np.diff(self._encoder.tokenize(texts).offsets)
        parts = [mean_vectors(self._encoder.encode(texts[some])) for some in runs(sizes, _HELD_TOKENS)]
        return np.concatenate(parts) if parts else np.empty((0, 1))


@register
@dataclass(frozen=True, kw_only=True)
class CrossEncoderScore(PairMetric):
    """Similarity of two texts by a transformer that reads them together, from 0 to 1.

    The value is the sigmoid of the model's raw number. Any sentence-transformers cross-encoder with one output can be
    named (extra `st`). The model does not see equal texts (1), two blank ones (1) or one blank one (0).

    Source: Reimers and Gurevych 2019, Sentence-BERT.
    """

    name = "cross_encoder"
    label = "Cross-encoder"
    source = "Reimers and Gurevych 2019"
    needs = "model"
    default_on = "cross-encoder/stsb-roberta-base"
    headline = Part(VALUE, closer="larger")
    symmetric = False

    def input_identity(self) -> list[str]:
        """The model with its revision."""
        return [f"model={cross_encoder(self.on).identity}"]

    def compute(self, pairs: Pairs) -> Columns:
        """One number per pair."""
        values, open_rows = decided(pairs)
        if len(open_rows):
            left, right = pairs.left.take(open_rows), pairs.right.take(open_rows)
            values[open_rows] = cross_encoder(self.on).score(left.texts, right.texts)
        return {VALUE: values}
