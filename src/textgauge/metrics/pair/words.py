"""Words that two texts share, as sets, weighted by how rare they are, and in runs: jaccard, tfidf, bm25plus, copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.data import Corpus, Pairs
from textgauge.encode.tokenizers import Tokens
from textgauge.metrics.base import VALUE, Range
from textgauge.metrics.numerics.passages import find_passages
from textgauge.metrics.pair_metric import Columns, Grid, GridMetric, PairMetric
from textgauge.metrics.registry import register

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def with_data(bags: csr_matrix, data: NDArray[Any]) -> csr_matrix:
    """Return the same places with other numbers."""
    return type(bags)((data, bags.indices, bags.indptr), shape=bags.shape)


def sum_rows(bags: csr_matrix) -> Floats:
    """Return the sum of each row, added from the smallest number up.

    Token numbers depend on which texts were read first; this order does not, so that sums agree to the last bit.
    """
    height = bags.shape[0]
    rows = np.repeat(np.arange(height), np.diff(bags.indptr))
    order = np.lexsort((bags.data, rows))
    return np.asarray(np.bincount(rows[order], bags.data[order], minlength=height).astype(np.float64, copy=False))


def compute_share(common: Floats, left: Floats, right: Floats) -> Floats:
    """Return |A ∩ B| / |A ∪ B| from the sizes of the intersection and of both sets; 1 for two empty sets.

    >>> compute_share(np.array([1.0, 0.0]), np.array([2.0, 0.0]), np.array([3.0, 0.0]))
    array([0.25, 1.  ])
    """
    union = left + right - common
    return np.where(union > 0, common / np.maximum(union, 1.0), 1.0)


@register
class Jaccard(GridMetric):
    """The share of the different words of two texts that both have.

    |A ∩ B| / |A ∪ B| of the two sets of tokens. Never undefined: two texts without tokens score 1, a text without
    tokens and another 0.
    Source: Jaccard 1912.

    >>> Jaccard()(left=["A red cat"], right=["a red dog"]).values
    array([0.5])
    """

    name, label, source = "jaccard", "Jaccard", "Jaccard 1912"
    needs, default_on = "tokens", "words"

    def of_grid(self, grid: Grid) -> Columns:
        left, right = _get_sets(grid.left, self.on), _get_sets(grid.right, self.on)
        sizes = grid.spread(_sum_squares(left), _sum_squares(right))
        return {VALUE: compute_share(_multiply_facing(grid, left, right), *sizes)}


@register
class Overlap(Jaccard):
    """The share of the different words of two texts that both have, words as they stand between white space.

    |A ∩ B| / |A ∪ B|; capitals and attached punctuation count. Never undefined: see `jaccard`.
    Source: word overlap of Yamshchikov et al. 2021.

    >>> Overlap()(left=["A red cat"], right=["a red dog"]).values
    array([0.2])
    """

    name, label, source = "overlap", "Word overlap", "Yamshchikov et al. 2021"
    default_on = "whitespace"


def _get_sets(corpus: Corpus, on: str) -> csr_matrix:
    counts = corpus.counts(on)
    return with_data(counts, np.ones(len(counts.data)))


def _multiply_facing(grid: Grid, left: csr_matrix, right: csr_matrix) -> Floats:
    return (left @ right.T).toarray() if grid.crossed else sum_rows(left.multiply(right))


def _sum_squares(weights: csr_matrix) -> Floats:
    return sum_rows(with_data(weights, weights.data**2))


Idf = Literal["smooth", "plain", "none"]
Scale = Literal["self", "corpus"]


class Background(NamedTuple):
    """What weights are made of: the number of texts, how many of them hold each token, and their mean length."""

    texts: int
    holding: NDArray[np.int64]
    mean_length: float


def count_background(corpus: Corpus, on: str) -> Background:
    """Count a background; one without texts counts as one text, one without tokens as of length 1."""
    counts = corpus.counts(on)
    texts = max(len(corpus), 1)
    holding = np.bincount(counts.indices, minlength=counts.shape[1])
    return Background(texts, holding, float(counts.sum()) / texts or 1.0)


def compute_inverse_frequency(background: Background, *, idf: Idf) -> Floats:
    """Return the weight of each token: ln((1 + N) / (1 + n)) + 1, ln(N / n) + 1, or 1, as scikit-learn has them."""
    n, texts = background.holding, background.texts
    if idf == "smooth":
        return np.log((1 + texts) / (1 + n)) + 1.0
    return np.log(texts / np.maximum(n, 1)) + 1.0 if idf == "plain" else np.ones(len(n))


def compute_rarity(background: Background, *, unseen: bool) -> Floats:
    """Return the weight of each token for BM25+, ln((N + 1) / n); an unseen one has n = 1, or no weight."""
    weights = np.log((background.texts + 1) / np.maximum(background.holding, 1))
    return weights if unseen else np.where(background.holding > 0, weights, 0.0)


def compute_cosine(common: Floats, left: Floats, right: Floats) -> Floats:
    """Cosines from products and squared lengths; 1 where both lengths are 0, 0 where one is.

    >>> compute_cosine(np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]), np.array([4.0, 0.0, 1.0]))
    array([0.5, 1. , 0. ])
    """
    # The root of a product, not a product of roots: x / √(x · x) is exactly 1.
    whole = np.sqrt(left * right)
    return np.where(whole > 0, np.minimum(common / np.where(whole > 0, whole, 1.0), 1.0), (left == right) * 1.0)


@register
class Tfidf(GridMetric):
    """Cosine of the two texts' word counts, each word weighted by how rare it is in the background.

    Weight = count × (ln((1 + N) / (1 + n)) + 1) for a word that n of N background texts hold: scikit-learn's
    `TfidfVectorizer` on our words. `sublinear` puts 1 + ln(count) for the count, `idf=plain` ln(N / n) + 1 for the
    factor, `idf=none` 1. The default background is all texts of the pairs. Never undefined: two texts without
    tokens score 1, a text without tokens and another 0.
    Source: Spärck Jones 1972; Salton and Buckley 1988.

    >>> Tfidf()(left=["a red cat", "a dog"], right=["a red dog", "a cow"]).values
    array([0.528, 0.255])
    """

    name, label, source = "tfidf", "TF-IDF cosine", "Salton and Buckley 1988"
    needs, default_on = "tokens", "words"
    fitted = True

    idf: Idf = "smooth"
    sublinear: bool = False

    def of_grid(self, grid: Grid) -> Columns:
        left, right = (self._weigh(side, grid.background) for side in (grid.left, grid.right))
        squares = grid.spread(_sum_squares(left), _sum_squares(right))
        return {VALUE: compute_cosine(_multiply_facing(grid, left, right), *squares)}

    def _weigh(self, corpus: Corpus, background: Corpus) -> csr_matrix:
        counts = corpus.counts(self.on)
        idf = compute_inverse_frequency(background.derive(count_background, self.on), idf=self.idf)
        frequency = 1.0 + np.log(counts.data) if self.sublinear else counts.data
        return with_data(counts, frequency * idf[counts.indices])


@register
class Bm25Plus(GridMetric):
    """How well the right text, as a document, answers the left one as a query, by BM25+.

    Raw (`normalise=false`): Σ over the query's tokens of idf · (δ + f (k1 + 1) / (f + k1 (1 − b + b |d| / mean |d|))),
    where f counts the token in the document and idf = ln((N + 1) / n) for a token that n of N background texts hold.
    Like rank_bm25 and bm25s, it grants δ · idf for tokens that the document lacks too, so that a document without
    any of them is far above 0. Normalised: the same sum over the tokens that the document has, which is how Lv and
    Zhai define it, divided by that of the query as a document, at most 1: 0 means no common token, 1 as good as the
    query itself. `scale=corpus` divides by the largest such sum of any text of the background instead, one constant
    for all pairs: long texts score above short ones, and equal texts 1 only if no text holds more. The background is
    all texts of the pairs unless given. Never undefined: two texts without tokens score 1 (raw 0), a text without
    tokens and another 0.
    Source: Lv and Zhai 2011; idf as in Kamphuis et al. 2020.

    >>> Bm25Plus()(left=["a red cat", "a dog"], right=["a red dog", "a cow"]).values
    array([0.415, 0.196])
    """

    name, label, source = "bm25plus", "BM25+", "Lv and Zhai 2011"
    needs, default_on = "tokens", "words"
    symmetric = False
    fitted = True
    ranges = (Range("k1", 0), Range("b", 0, 1), Range("delta", 0))

    k1: float = 1.5
    b: float = 0.75
    delta: float = 1.0
    normalise: bool = True
    scale: Scale = "self"

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.0, 1.0) if self.normalise else (0.0, float("inf"))

    def of_grid(self, grid: Grid) -> Columns:
        background = grid.background.derive(count_background, self.on)
        queries = grid.left.counts(self.on)
        if grid.crossed:
            scores = (queries @ grid.right.derive(_prepare_documents, grid.background, self)).toarray()
        else:
            scores = sum_rows(queries.multiply(self._weigh(grid.right.counts(self.on), background)))
        if not self.normalise:
            granted = self._score_granted(queries, background)
            return {VALUE: scores + grid.spread(granted, granted)[0]}
        empty = grid.spread(*(_has_no_tokens(side, self.on) for side in (grid.left, grid.right)))
        whole = self._score_whole(queries, grid.background)
        whole = grid.spread(whole, whole)[0]
        shares = np.minimum(scores / np.where(whole > 0, whole, 1.0), 1.0)
        return {VALUE: np.where(empty[0] | (whole <= 0), (empty[0] & empty[1]) * 1.0, shares)}

    def _weigh(self, counts: csr_matrix, background: Background) -> csr_matrix:
        delta = self.delta if self.normalise else 0.0
        lengths = np.asarray(counts.sum(axis=1)).reshape(-1) / background.mean_length
        damping = np.repeat(self.k1 * (1.0 - self.b + self.b * lengths), np.diff(counts.indptr))
        gain = np.asarray(delta + counts.data * (self.k1 + 1.0) / (damping + counts.data))
        return with_data(counts, compute_rarity(background, unseen=self.normalise)[counts.indices] * gain)

    def _score_whole(self, queries: csr_matrix, background: Corpus) -> Floats:
        """Return what counts as 1 for each query."""
        if self.scale == "corpus":
            return np.full(queries.shape[0], background.derive(_find_largest_own, self))
        return self._score_own(queries, background.derive(count_background, self.on))

    def _score_own(self, queries: csr_matrix, background: Background) -> Floats:
        return sum_rows(queries.multiply(self._weigh(queries, background)))

    def _score_granted(self, queries: csr_matrix, background: Background) -> Floats:
        """Return what raw scores hold whatever the document: δ for each token of the query."""
        weights = compute_rarity(background, unseen=False)[queries.indices]
        return self.delta * sum_rows(with_data(queries, queries.data * weights))


def _prepare_documents(documents: Corpus, background: Corpus, metric: Bm25Plus) -> csr_matrix:
    counted = background.derive(count_background, metric.on)
    return metric._weigh(documents.counts(metric.on), counted).T.tocsr()


def _find_largest_own(background: Corpus, metric: Bm25Plus) -> float:
    """Return the largest score of a text of the background for itself."""
    counts = background.counts(metric.on)
    return float(metric._score_own(counts, background.derive(count_background, metric.on)).max(initial=0.0))


def _has_no_tokens(corpus: Corpus, on: str) -> NDArray[np.bool_]:
    return np.asarray(corpus.pool.tokens(on).lengths[corpus.index] == 0)


@register
class Copied(PairMetric):
    """The share of the words of the left text that stand in the right one in runs of `words` words or more.

    Words are runs of letters and digits in lower case. Texts with the same words in the same order score 1, however
    short they are. Never undefined: without words, a text scores 1 with another one without, and 0 otherwise.
    Source: textgauge; scripts that look for leaked texts compare runs of 8 or 13 words.

    >>> Copied()(left=["We saw: the red cat!"], right=["Now the RED cat slept"]).values
    array([0.6])
    """

    name, label, source = "copied", "Copied share", "textgauge"
    needs, default_on = "tokens", "alphanumeric"
    symmetric = False
    ranges = (Range("words", 2),)

    words: int = 3

    def compute(self, pairs: Pairs) -> Columns:
        left, right = pairs.left.tokens(self.on), pairs.right.tokens(self.on)
        rows = (slice(row, row + 1) for row in range(len(pairs)))
        return {VALUE: np.array([self._find_shares(left.take(row), right.take(row))[0] for row in rows])}

    def find_best(self, rows: Corpus, columns: Corpus) -> Floats:
        """Return the share of each row text that stands in any of the column texts."""
        return self._find_shares(rows.tokens(self.on), columns.tokens(self.on))

    def _find_shares(self, texts: Tokens, others: Tokens) -> Floats:
        whole = {others[row].tobytes() for row in range(len(others))}
        is_equal = [texts[row].tobytes() in whole for row in range(len(texts))]
        return np.where(is_equal, 1.0, find_passages(texts, others, words=self.words).shares)
