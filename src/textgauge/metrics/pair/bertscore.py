"""BERTScore: greedy matching of the contextual vectors of two texts' tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints
from textgauge.core.errors import ParameterError
from textgauge.core.sizes import capped, runs
from textgauge.data import Corpus, Pairs
from textgauge.data.view import in_one_pool
from textgauge.encode.token_vectors import CHOSEN, MINILM_LAYER, Encoding, TokenEncoder, token_encoder
from textgauge.metrics.base import VALUE, Part, Range
from textgauge.metrics.numerics.matching import f1, match_all, match_pairs
from textgauge.metrics.pair.embedding import unread_pairs, without_unread
from textgauge.metrics.pair_metric import Columns, PairMetric, distinct_texts, groups
from textgauge.metrics.readable import UNREAD
from textgauge.metrics.registry import register

_HELD_TOKENS = 1 << 17  # token vectors held at once: 200 MB of 384 dimensions

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


@register
@dataclass(frozen=True, kw_only=True)
class BertScore(PairMetric):
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

    name = "bertscore"
    label = "BERTScore"
    source = "Zhang et al. 2020"
    needs = "token vectors"
    default_on = "minilm"
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

    def check(self) -> None:
        """Refuse rescaling where no baseline is known."""
        if self.rescale:
            self._baseline()

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        if self.compat == "bert_score" and self.part is None:
            return float("-inf"), float("inf")
        if not self.rescale:
            return super().bounds
        low = self._baseline()[self.part or VALUE]
        return (-1.0 - low) / (1.0 - low), 1.0

    def input_identity(self) -> list[str]:
        """The token encoder with its revision and layer."""
        return [f"tokens={self._encoder.identity}"]

    def compute(self, pairs: Pairs) -> Columns:
        """Headline and parts, one number per pair."""
        texts, left, right = distinct_texts(pairs.left, pairs.right)
        seen = self._encoder.tokenize(texts)
        table = self._table(pairs.background)
        precision, recall = np.zeros(len(pairs)), np.zeros(len(pairs))
        both = np.flatnonzero((seen.words[left] > 0) & (seen.words[right] > 0))
        for group in groups(left[both], right[both], np.diff(seen.offsets), most=capped(_HELD_TOKENS)):
            chosen = both[group]
            held = self._held(texts, left[chosen], right[chosen], table)
            precision[chosen], recall[chosen] = match_pairs(*held)
        empty = seen.words == 0
        same = (left == right) | (empty[left] & empty[right])
        columns = self._columns(precision, recall, same)
        hidden = unread_pairs(pairs.left, pairs.right, self.on)
        return {name: np.where(hidden, np.nan, column) for name, column in columns.items()}

    def compute_items(self, pairs: Pairs) -> Columns:
        """Headline and parts of every item: each the largest over its references, as bert-score has it."""
        distinct, inverse = pairs.distinct()
        columns = {name: column[inverse] for name, column in self.compute(distinct).items()}
        if not pairs.several:
            return columns
        return {name: np.fmax.reduceat(column, pairs.first_rows) for name, column in columns.items()}

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """The shown value of every row text (left) with every column text (right)."""
        rows, columns = in_one_pool(rows, columns)
        texts, left, right = distinct_texts(rows, columns)
        seen = self._encoder.tokenize(texts)
        table = self._table(rows | columns if background is None else background)
        precision, recall = np.zeros((len(rows), len(columns))), np.zeros((len(rows), len(columns)))
        full_rows, full_columns = (np.flatnonzero(seen.words[side] > 0) for side in (left, right))
        sizes = np.diff(seen.offsets)
        for some in runs(sizes[left[full_rows]], _HELD_TOKENS // 2):
            for others in runs(sizes[right[full_columns]], _HELD_TOKENS // 2):
                block = np.ix_(full_rows[some], full_columns[others])
                held = self._held(texts, left[full_rows[some]], right[full_columns[others]], table)
                precision[block], recall[block] = match_all(*held)
        empty = seen.words == 0
        same = (left[:, None] == right) | (empty[left][:, None] & empty[right])
        values = np.asarray(self.select(self._columns(precision, recall, same)))
        return without_unread(values, rows, columns, self.on)

    @property
    def _encoder(self) -> TokenEncoder:
        return token_encoder(self.on, layer=self.layer)

    def _held(
        self, texts: list[str], left: Ints, right: Ints, table: Frequencies | None
    ) -> tuple[Floats32, Floats, Ints, Ints, Ints]:
        """Vectors, weights and offsets of the texts named by `left` and `right`, and their places among these."""
        here, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        found = self._encoder.encode([texts[row] for row in here])
        return found.vectors, token_weights(found, table), found.offsets, places[: len(left)], places[len(left) :]

    def _table(self, background: Corpus) -> Frequencies | None:
        return background.derive(frequencies, self.on) if self.idf else None

    def _columns(self, precision: Floats, recall: Floats, same: NDArray[np.bool_]) -> Columns:
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
        return {name: (columns[name] - low) / (1.0 - low) for name, low in self._baseline().items()}

    def _baseline(self) -> dict[str, float]:
        known = BASELINES.get(self.on, {})
        layer = MINILM_LAYER if self.layer == CHOSEN else self.layer
        if layer not in known:
            raise ParameterError(
                f"bertscore: no baseline is known for layer {self.layer} of {self.on}; leave out rescale"
            )
        return dict(zip(("precision", "recall", VALUE), known[layer], strict=True))


@dataclass(frozen=True)
class Frequencies:
    """In how many of this many texts each token occurs."""

    texts: int
    of: dict[str, int]


def frequencies(corpus: Corpus, encoder: str) -> Frequencies:
    """Count in how many texts of a corpus each token of an encoder occurs."""
    tokens = token_encoder(encoder).tokenize(corpus.texts).tokens
    owners = np.repeat(np.arange(len(tokens)), tokens.lengths)
    once = np.unique(np.stack([owners, tokens.ids], axis=1), axis=0)
    ids, counts = np.unique(once[:, 1], return_counts=True)
    found = {tokens.vocabulary[token]: count for token, count in zip(ids.tolist(), counts.tolist(), strict=True)}
    return Frequencies(len(tokens), found)


def token_weights(found: Encoding, table: Frequencies | None) -> Floats:
    """The weight of each token: 0 for special ones, else 1, or its inverse document frequency."""
    plain = (~found.special).astype(np.float64)
    if table is None:
        return plain
    ids, inverse = np.unique(found.tokens.ids, return_inverse=True)
    counts = np.array([table.of.get(found.tokens.vocabulary[token], 0) for token in ids.tolist()])
    weights = plain * np.log((table.texts + 1) / (counts + 1))[inverse]
    owners = np.repeat(np.arange(len(found.tokens)), found.tokens.lengths)
    flat = np.bincount(owners, weights, minlength=len(found.tokens)) == 0
    return np.where(flat[owners], plain, weights)
