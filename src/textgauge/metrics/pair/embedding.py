"""Similarity by vectors of texts and of tokens in their context: cosine and its kin, cross encoders, bertscore."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import ParameterError
from textgauge.core.settings import split_into_runs
from textgauge.data import Corpus, Pairs
from textgauge.encode.embedders.transformer import get_nli
from textgauge.encode.hugging_face import get_cross_encoder
from textgauge.encode.token_vectors import CHOSEN, MINILM_LAYER, Encoding, TokenEncoder, TokenVectors, get_token_encoder
from textgauge.metrics.base import VALUE, Part, Range, identify_embedder
from textgauge.metrics.cautions import UNREAD, find_unread
from textgauge.metrics.numerics.moments import scale_to_units, to_unit
from textgauge.metrics.pair_metric import Columns, Grid, GridMetric, PairMetric, decide_easy_pairs, find_distinct_texts
from textgauge.metrics.registry import register

# Vectors are float32: a smaller angle than this between two of them is rounding.
_SAME_DIRECTION = 1.0 - 1e-14
Scale = Literal["none", "clip", "unit"]
Rarity = defaultdict[str, float]
_HELD_TOKENS = 1 << 16  # token vectors held at once: 100 MB of 384 dimensions, 200 MB in double precision


def scale_cosines(cosines: Floats, scale: Scale) -> Floats:
    """Cosines brought into their bounds, then as they are, with negative ones at 0, or as (1 + cos) / 2.

    >>> scale_cosines(np.array([-0.5, 1.0]), "unit").tolist()
    [0.25, 1.0]
    """
    snapped = np.where(cosines > _SAME_DIRECTION, 1.0, np.maximum(cosines, -1.0))
    if scale == "clip":
        return np.maximum(snapped, 0.0)
    return (1.0 + snapped) / 2.0 if scale == "unit" else snapped


@register
class Cosine(GridMetric):
    """Cosine of the angle between the sentence embeddings of two texts.

    `scale` brings it into [0, 1]: `clip` puts negative values at 0, `unit` takes (1 + cos) / 2. The embedder has a
    vector for the empty text as well; a vector of zeros has cosine 0 with any other and 1 with another such. Undefined
    (NaN) where a text consists of word pieces that the encoder does not know and the texts differ.

    Source: Reimers and Gurevych 2019, Sentence-BERT.
    """

    name, label, source = "cosine", "Cosine", "Reimers and Gurevych 2019"
    needs, default_on = "embeddings", "minilm"
    headline = Part(VALUE, closer="larger", bounds=(-1.0, 1.0))
    undefined = UNREAD
    version = 2

    scale: Scale = "none"

    @property
    def bounds(self) -> tuple[float, float]:
        return (-1.0, 1.0) if self.scale == "none" else (0.0, 1.0)

    def input_identity(self) -> list[str]:
        return [identify_embedder(self.on)]

    def of_grid(self, grid: Grid) -> Columns:
        both = scale_to_units(np.concatenate([side.embeddings(self.on) for side in (grid.left, grid.right)]))
        cosines = grid.multiply(both[: len(grid.left)], both[len(grid.left) :])
        return _hide_unread({VALUE: scale_cosines(cosines, self.scale)}, grid, self.on)


def _hide_unread(columns: Columns, grid: Grid, encoder: str) -> Columns:
    """Put NaN where the texts differ and the encoder knows no piece of one."""
    left, right = grid.spread(find_unread(grid.left, encoder), find_unread(grid.right, encoder))
    if not (left.any() or right.any()):
        return columns
    return {name: np.where((left | right) & ~grid.same, np.nan, column) for name, column in columns.items()}


def compute_mean_vectors(found: TokenVectors) -> Floats:
    """Return the mean vector of each text's tokens but special ones, in float64; NaN for a text without tokens."""
    words = found.words
    means = np.full((len(words), found.vectors.shape[1]), np.nan)
    full = words > 0
    if full.any():
        starts = (np.cumsum(words) - words)[full]
        kept = found.vectors[~found.special].astype(np.float64)
        means[full] = np.add.reduceat(kept, starts, axis=0) / words[full][:, None]
    return means


@register
class ContextualL2(GridMetric):
    """Euclidean distance between the means of two texts' contextual token vectors.

    Special tokens ([CLS], [SEP]) are left out of the means. `layer` counts from 0, the embeddings; −1 is the encoder's
    own choice, for `elmo:FOLDER` the mean of its three layers. Undefined where exactly one text has no tokens, or
    consists of word pieces that the encoder does not know and the texts differ; 0 where both have no tokens. Texts are
    cut at the encoder's longest input.

    Source: Yamshchikov et al. 2021 (with ELMo, Peters et al. 2018).
    """

    name, label, source = "contextual_l2", "Contextual L2", "Yamshchikov et al. 2021"
    needs, default_on = "token vectors", "minilm"
    headline = Part(VALUE, closer="smaller", bounds=(0.0, float("inf")))
    value_at_identity = 0.0
    undefined = f"one of the two texts has no tokens, or {UNREAD}"
    version = 2
    ranges = (Range("layer", CHOSEN),)

    layer: int = CHOSEN

    def input_identity(self) -> list[str]:
        return [f"tokens={self._encoder.identity}"]

    def of_grid(self, grid: Grid) -> Columns:
        texts, left, right = find_distinct_texts(grid.left, grid.right)
        means = self._compute_means(texts)
        empty = np.isnan(means[:, 0])
        if grid.crossed:
            from scipy.spatial.distance import cdist

            distances = np.asarray(cdist(means[left], means[right]))
        else:
            distances = np.linalg.norm(means[left] - means[right], axis=1)
        distances[np.logical_and(*grid.spread(empty[left], empty[right]))] = 0.0
        return _hide_unread({VALUE: distances}, grid, self.on)

    @property
    def _encoder(self) -> TokenEncoder:
        return get_token_encoder(self.on, layer=self.layer)

    def _compute_means(self, texts: list[str]) -> Floats:
        sizes = np.diff(self._encoder.tokenize(texts).offsets)
        parts = [
            compute_mean_vectors(self._encoder.encode(texts[some])) for some in split_into_runs(sizes, _HELD_TOKENS)
        ]
        return np.concatenate(parts) if parts else np.empty((0, 1))


@register
class CrossEncoderScore(PairMetric):
    """Similarity of two texts by a transformer that reads them together, from 0 to 1.

    The value is the sigmoid of the model's raw number. `cross_encoder@ms-marco-int8` is a ranker that textgauge brings
    (how well the right text answers the left one), `cross_encoder@onnx:MODEL` a model exported to ONNX, by folder or
    hub name; neither needs torch. Any sentence-transformers cross-encoder with one output can be named (extra `st`).
    The model does not see equal texts (1), two blank ones (1) or one blank one (0).

    Source: Reimers and Gurevych 2019, Sentence-BERT.
    """

    name, label, source = "cross_encoder", "Cross-encoder", "Reimers and Gurevych 2019"
    needs, default_on = "model", "cross-encoder/stsb-roberta-base"
    symmetric = False

    def input_identity(self) -> list[str]:
        return [f"model={get_cross_encoder(self.on).identity}"]

    def compute(self, pairs: Pairs) -> Columns:
        values, open_rows = decide_easy_pairs(pairs)
        if len(open_rows):
            left, right = pairs.left.take(open_rows), pairs.right.take(open_rows)
            values[open_rows] = get_cross_encoder(self.on).score(left.texts, right.texts)
        return {VALUE: values}


_SENTENCES = re.compile(r"(?<=[.!?…。！？])[ \t]+|(?<=[。！？])|\n+")


@register
class Entailment(PairMetric):
    """How well the right text (the reference) entails the left one (the candidate), from 0 to 1.

    For each sentence of the candidate, the largest chance of a sentence of the reference to entail it; the mean of
    these. `nli@onnx:MODEL` is a model of natural language inference exported to ONNX, by folder or hub name, whose
    config.json names the label `entailment`; it needs no torch. The model does not see equal texts (1), two blank ones
    (1) or one blank one (0).

    Source: Laban et al. 2022, SummaC (zero-shot).
    """

    name, label, source = "nli", "Entailment", "Laban et al. 2022"
    needs, default_on = "model", "onnx:cross-encoder/nli-deberta-v3-xsmall"
    symmetric = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.on.startswith("onnx:"):
            raise ParameterError(f"nli: the model is named as nli@onnx:MODEL, not {self.on}")

    def input_identity(self) -> list[str]:
        return [f"model={get_nli(self.on).identity}"]

    def compute(self, pairs: Pairs) -> Columns:
        values, open_rows = decide_easy_pairs(pairs)
        sides = [[_split_sentences(text) for text in side.take(open_rows).texts] for side in (pairs.left, pairs.right)]
        asked = [(one, two) for left, right in zip(*sides, strict=True) for two in left for one in right]
        chances, at = get_nli(self.on).score(*zip(*asked, strict=True)) if asked else np.empty(0), 0
        for row, left, right in zip(open_rows, *sides, strict=True):
            own = chances[at : at + len(left) * len(right)].reshape(len(left), len(right))
            values[row], at = own.max(axis=1).mean(), at + own.size
        return {VALUE: values}


def _split_sentences(text: str) -> list[str]:
    return [piece.strip() for piece in _SENTENCES.split(text) if piece.strip()]


# Mean precision, recall and F1 of unrelated sentences, by encoder and layer. Made by
#   python -m benchmarks.pair_bertscore baselines
# from the 5,749 pairs of the training part of STS-B: first sentences with the second ones in random order.
BASELINES: dict[str, dict[int, tuple[float, float, float]]] = {
    "minilm": {
        0: (0.266121, 0.266226, 0.259958),
        1: (0.350996, 0.351194, 0.347259),
        2: (0.36411, 0.364193, 0.360827),
        3: (0.352468, 0.352304, 0.350002),
        4: (0.369858, 0.369537, 0.367746),
        5: (0.443802, 0.443938, 0.439464),
        6: (0.113167, 0.112849, 0.110323),
    },
}


class HeldTexts(NamedTuple):
    """Unit vectors and weights of tokens, text after text; those of text i are at `offsets[i]` to `offsets[i + 1]`."""

    vectors: Floats
    weights: Floats
    offsets: Ints

    def take(self, texts: Ints) -> HeldTexts:
        """Return some of the texts."""
        lengths = np.diff(self.offsets)[texts]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[texts] - offsets[:-1], lengths)
        return HeldTexts(self.vectors[places], self.weights[places], offsets)


def match_greedily(one: HeldTexts, others: HeldTexts) -> tuple[Floats, Floats]:
    """Return precision and recall of one text with each of the others, all of which have tokens.

    Precision is the weighted mean over tokens of the one of their largest cosine with a token of the other; recall the
    same from the other.
    """
    cosines, starts = one.vectors @ others.vectors.T, others.offsets[:-1]
    nearest = np.maximum.reduceat(cosines, starts, axis=1) * one.weights[:, None]
    back = np.add.reduceat(cosines.max(axis=0) * others.weights, starts)
    return nearest.sum(axis=0) / one.weights.sum(), back / np.add.reduceat(others.weights, starts)


def f1(precision: Floats, recall: Floats, *, any_sign: bool = False) -> Floats:
    """Harmonic mean of precision and recall; 0 where their sum is, and where signs differ unless `any_sign`."""
    sane = (precision + recall != 0) if any_sign else precision * recall > 0
    return np.divide(2 * precision * recall, precision + recall, out=np.zeros_like(precision), where=sane)


@register
class BertScore(GridMetric):
    """How well each token of one text is matched by its most similar token of the other, in context.

    Precision is the mean over the left text's tokens of the largest cosine with a token of the right text, recall the
    same from the right text's tokens, the value their harmonic mean F1. As in bert-score, [CLS] and [SEP] can be
    matched but are not averaged over. `idf` weighs tokens by log((N + 1) / (df + 1)) over the N texts of the background
    (equally where all weights of a text are 0). `rescale` maps x to (x − b) / (1 − b) with b the mean of unrelated
    sentences, for built-in encoders. `layer` counts from 0, the embeddings; −1 is the encoder's own choice. Each of
    several references is tried and the largest of each number taken.

    Undefined (NaN) where a text consists of word pieces that the encoder does not know and the texts differ. A text
    without tokens scores 0 with any other and 1 with another such; F1 is 0 where precision and recall are of
    opposite signs, unless `compat=bert_score` asks for the bare formula, which has no bounds there. Texts are cut at
    the encoder's longest input.

    Source: Zhang et al. 2020, BERTScore: Evaluating Text Generation with BERT.
    """

    name, label, source = "bertscore", "BERTScore", "Zhang et al. 2020"
    needs, default_on = "token vectors", "minilm"
    headline = Part(VALUE, closer="larger", bounds=(-1.0, 1.0))
    parts = (
        Part("precision", closer="larger", bounds=(-1.0, 1.0)),
        Part("recall", closer="larger", bounds=(-1.0, 1.0)),
    )
    fitted = True
    undefined = UNREAD
    version = 2
    ranges = (Range("layer", CHOSEN),)

    idf: bool = False
    rescale: bool = False
    layer: int = CHOSEN
    compat: Literal["none", "bert_score"] = "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rescale:
            self._get_baseline()

    @property
    def bounds(self) -> tuple[float, float]:
        if self.compat == "bert_score" and self.part is None:
            return float("-inf"), float("inf")
        if not self.rescale:
            return super().bounds
        low = self._get_baseline()[self.part or VALUE]
        return (-1.0 - low) / (1.0 - low), 1.0

    def input_identity(self) -> list[str]:
        return [f"tokens={self._encoder.identity}"]

    def of_grid(self, grid: Grid) -> Columns:
        texts, left, right = find_distinct_texts(grid.left, grid.right)
        seen = self._encoder.tokenize(texts)
        empty, sizes = seen.words == 0, np.diff(seen.offsets)
        rarity = grid.background.derive(compute_rarity, self.on) if self.idf else None
        of_left, of_right = grid.spread(left, right)
        precision, recall = (np.zeros(np.broadcast_shapes(of_left.shape, of_right.shape)) for _ in range(2))
        if grid.crossed:
            rows, columns = (np.flatnonzero(~empty[side]) for side in (left, right))
            for some in split_into_runs(sizes[left[rows]], _HELD_TOKENS // 2):
                for others in split_into_runs(sizes[right[columns]], _HELD_TOKENS // 2):
                    held, mine, yours = self._hold(texts, left[rows[some]], right[columns[others]], rarity)
                    together, there = held.take(yours), columns[others]
                    for row, one in zip(rows[some], mine[:, None], strict=True):
                        precision[row, there], recall[row, there] = match_greedily(held.take(one), together)
        else:
            full = np.flatnonzero(~(empty[left] | empty[right]))
            for some in split_into_runs(sizes[left[full]] + sizes[right[full]], _HELD_TOKENS):
                group = full[some]
                held, mine, yours = self._hold(texts, left[group], right[group], rarity)
                for pair, one, other in zip(group, mine[:, None], yours[:, None], strict=True):
                    (precision[pair],), (recall[pair],) = match_greedily(held.take(one), held.take(other))
        same = (of_left == of_right) | (empty[of_left] & empty[of_right])
        return _hide_unread(self._make_columns(precision, recall, same), grid, self.on)

    def choose_references(self, columns: Columns, pairs: Pairs) -> Columns:
        """Return of each number the largest over the references, as bert-score has it."""
        return {name: np.fmax.reduceat(column, pairs.first_rows) for name, column in columns.items()}

    @property
    def _encoder(self) -> TokenEncoder:
        return get_token_encoder(self.on, layer=self.layer)

    def _hold(self, texts: list[str], left: Ints, right: Ints, rarity: Rarity | None) -> tuple[HeldTexts, Ints, Ints]:
        """Return the texts named by `left` and `right`, encoded, and their places among these."""
        here, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        found = self._encoder.encode([texts[row] for row in here])
        held = HeldTexts(to_unit(found.vectors), compute_token_weights(found, rarity), found.offsets)
        return held, places[: len(left)], places[len(left) :]

    def _make_columns(self, precision: Floats, recall: Floats, same: NDArray[np.bool_]) -> Columns:
        for column in (precision, recall):
            np.clip(column, -1.0, 1.0, out=column)
            column[same] = 1.0
        columns = {
            VALUE: f1(precision, recall, any_sign=self.compat == "bert_score"),
            "precision": precision,
            "recall": recall,
        }
        if not self.rescale:
            return columns
        return {name: (columns[name] - low) / (1.0 - low) for name, low in self._get_baseline().items()}

    def _get_baseline(self) -> dict[str, float]:
        known = BASELINES.get(self.on, {})
        layer = MINILM_LAYER if self.layer == CHOSEN else self.layer
        if layer not in known:
            raise ParameterError(
                f"bertscore: no baseline is known for layer {self.layer} of {self.on}; leave out rescale"
            )
        return dict(zip(("precision", "recall", VALUE), known[layer], strict=True))


def compute_rarity(corpus: Corpus, encoder: str) -> Rarity:
    """Return the weight of each token of an encoder by how many texts of a corpus hold it."""
    tokens = get_token_encoder(encoder).tokenize(corpus.texts).tokens
    owners = np.repeat(np.arange(len(tokens)), tokens.lengths)
    ids, counts = np.unique(np.unique(np.stack([owners, tokens.ids], axis=1), axis=0)[:, 1], return_counts=True)
    found = zip((tokens.vocabulary[token] for token in ids.tolist()), counts.tolist(), strict=True)
    texts = len(tokens)
    weights = {token: math.log((texts + 1) / (count + 1)) for token, count in found}
    return defaultdict(lambda: math.log(texts + 1), weights)


def compute_token_weights(found: Encoding, rarity: Rarity | None) -> Floats:
    """Return the weight of each token: 0 for special ones, else 1, or its inverse document frequency."""
    plain = (~found.special).astype(np.float64)
    if rarity is None:
        return plain
    ids, inverse = np.unique(found.tokens.ids, return_inverse=True)
    weights = plain * np.array([rarity[found.tokens.vocabulary[token]] for token in ids.tolist()])[inverse]
    owners = np.repeat(np.arange(len(found.tokens)), found.tokens.lengths)
    flat = np.bincount(owners, weights, minlength=len(found.tokens)) == 0
    return np.where(flat[owners], plain, weights)
