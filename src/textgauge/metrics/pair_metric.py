"""What a pair metric is: a metric of two texts, computed for many pairs at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import ParameterError
from textgauge.core.settings import split_into_blocks
from textgauge.data import GIVEN, Corpus, Pairs
from textgauge.data.pool import Pool
from textgauge.data.view import TextsLike, join_pools
from textgauge.encode.tokenizers import Tokens, get_tokenizer
from textgauge.metrics.base import VALUE, Metric, Part
from textgauge.metrics.cautions import list_script_warnings
from textgauge.metrics.numerics.ngram_counts import count_ngrams, count_shared_ngrams, find_best_rows
from textgauge.metrics.score import PairScores, Score

Columns = dict[str, Floats]
Needs = Literal[
    "texts", "tokens", "embeddings", "word vectors", "token vectors", "encoders", "model", "service", "column"
]

BROUGHT = ("model", "service", "column")  # needs that only the user can meet

_BLOCK_PAIRS = 200_000  # pairs of a block of a matrix: what is held of them stays in the tens of megabytes
_BLOCK_CELLS = 1 << 22  # the same where a pair is a number or some


class PairMetric(Metric):
    """Base of all pair metrics: subclasses declare the class variables and implement `compute`.

    `left` is the candidate (or query), `right` the reference (or document). `value_at_identity` is the value of two
    equal texts. `undefined` says in words when a value is NaN. A `fitted` metric takes weights from
    `pairs.background`. Scores, of pairs and of whole sets, are `factor` times what is computed, which lies between the
    bounds: 100 for metrics that others print as percentages.
    """

    scope = "pair"
    undefined: ClassVar[str] = ""
    fitted: ClassVar[bool] = False
    factor: ClassVar[float] = 1.0
    value_at_identity: ClassVar[float] = 1.0
    headline: ClassVar[Part] = Part(VALUE, closer="larger")

    def compute(self, pairs: Pairs) -> Columns:
        """Headline and parts, one number per pair; NaN where undefined. A row depends on its own pair alone."""
        raise NotImplementedError

    def compute_items(self, pairs: Pairs) -> Columns:
        """Return the same for candidates with several references: by default those of the closest reference."""
        distinct, inverse = pairs.distinct()
        columns = {name: column[inverse] for name, column in self.compute(distinct).items()}
        return self.choose_references(columns, pairs) if pairs.several else columns

    def choose_references(self, columns: Columns, pairs: Pairs) -> Columns:
        """Return the numbers of each candidate, given those of all pairs; undefined only if all are."""
        distance = replace(self, part=None).orient(columns[VALUE])  # whatever part is shown
        chosen = find_best_rows(-np.where(np.isnan(distance), np.inf, distance), pairs.items)
        return {name: column[chosen] for name, column in columns.items()}

    def statistics(self, pairs: Pairs) -> Floats | None:
        """Return the counts of each item whose sums give the score of the whole set; None where there is none."""
        return None

    def of_statistics(self, sums: Floats) -> Floats:
        """Return the score of a whole set from its summed statistics, one per row of sums."""
        raise NotImplementedError

    def as_sacrebleu(self, sums: Floats) -> tuple[str, Any] | None:
        """Return the name and metric of sacrebleu that score a whole set with these sums, if there is one."""
        return None

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """Return the shown value of row texts (left) with column texts (right); the background is both by default."""
        background = background if background is not None or not self.fitted else rows | columns
        found = np.empty((len(rows), len(columns)))
        for block in split_into_blocks(len(rows), _BLOCK_PAIRS, len(columns)):
            some = np.arange(block.start, block.stop)
            left = rows.take(np.repeat(some, len(columns)))
            right = columns.take(np.tile(np.arange(len(columns)), len(some)))
            pairs = Pairs(left, right, background=background)
            found[block] = self.select(self.compute(pairs)).reshape(len(some), len(columns))
        return found

    def find_best(self, rows: Corpus, columns: Corpus) -> Floats:
        """Return the value of each row text with the column text nearest to it; NaN where none is defined."""
        found = np.where(self.closer == "larger", 1.0, -1.0) * self.matrix(rows, columns, background=columns)
        best = np.where(np.isnan(found), -np.inf, found).max(axis=1, initial=-np.inf)
        return np.where(np.isneginf(best), np.nan, best if self.closer == "larger" else -best)

    def measure(self, pairs: Pairs) -> PairScores:
        """Return the scores of all pairs; equal pairs are computed once."""
        start = time.perf_counter()
        columns = {name: self.factor * column for name, column in self.compute_items(pairs).items()}
        return PairScores(
            metric=self.key,
            values=self.select(columns),
            parts={part.name: columns[part.name] for part in self.parts},
            reason=self.undefined if np.isnan(self.select(columns)).any() else None,
            seconds=time.perf_counter() - start,
            signature=self.signature,
            warnings=self.warnings(pairs),
        )

    def warnings(self, pairs: Pairs) -> tuple[str, ...]:
        """Say what speaks against trusting the metric on these pairs: a script that is not read."""
        return tuple(list_script_warnings(self, pairs.left | pairs.right)) if pairs.left.pool.has_texts else ()

    def on_given(self, pairs: Pairs) -> PairMetric:
        """Return this metric, moved to the ready-made embeddings if the pairs bring them and no embedder was named."""
        return self.on_embeddings() if pairs.left.pool.has_given else self

    def on_embeddings(self, name: str = GIVEN) -> PairMetric:
        """Return this metric, moved to ready-made embeddings or to another embedder if none was named."""
        return self.with_input(name) if self.needs == "embeddings" and self.on == self.default_on else self

    @overload
    def __call__(self, left: str, right: str | Sequence[str]) -> Score: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, left: TextsLike, right: TextsLike | Sequence[Sequence[str]]) -> PairScores: ...
    def __call__(self, left: Any, right: Any) -> Score | PairScores:
        """Score aligned texts, or one text with its reference; `right` may hold several references for each."""
        if isinstance(left, str):
            return self(left=[left], right=[right]).single()
        pairs = Pairs.of(left, right)
        return self.on_given(pairs).measure(pairs)


def to_distance(metric: PairMetric, value: Any) -> Any:
    """Return a metric's values as a distance: itself, or what a bounded similarity lacks of its upper bound."""
    if metric.closer == "smaller":
        return value
    if not np.isfinite(metric.bounds[1]):
        raise ParameterError(f"{metric.key} is a similarity without an upper bound and gives no distance")
    return metric.bounds[1] - value


def to_similarity(metric: PairMetric, value: Any) -> Any:
    """Return a metric's values as a similarity that is 1 for equal texts.

    A bounded distance is taken from its upper bound as a share of its range, one without an upper bound d becomes
    1/(1 + d), a similarity is divided by its upper bound where it has one.
    """
    low, high = metric.bounds
    if metric.closer == "larger":
        return value / high if np.isfinite(high) else value
    return (high - value) / (high - low) if np.isfinite(high) else 1.0 / (1.0 + value)


@dataclass(frozen=True)
class Grid:
    """Texts of one pool that face each other: row by row, or (`crossed`) every left one every right one."""

    left: Corpus
    right: Corpus
    background: Corpus
    crossed: bool = False

    @classmethod
    def of(cls, pairs: Pairs) -> Grid:
        """Return the texts of pairs, row by row."""
        return cls(pairs.left, pairs.right, pairs.background)

    def spread(self, left: NDArray[Any], right: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return what the left and the right texts have, one row each, in shapes that meet."""
        return (left[:, None], right[None]) if self.crossed else (left, right)

    @property
    def same(self) -> NDArray[np.bool_]:
        """Where both texts are equal."""
        left, right = self.spread(self.left.keys, self.right.keys)
        return np.asarray(left == right)

    def multiply(self, left: Floats, right: Floats) -> Floats:
        """Return the product of the vectors of the texts that face each other."""
        return left @ right.T if self.crossed else np.einsum("ij,ij->i", left, right)


class GridMetric(PairMetric):
    """A pair metric that computes all pairs of two corpora together, by the same formula."""

    def of_grid(self, grid: Grid) -> Columns:
        """Headline and parts of texts that face each other, in the shape of the grid."""
        raise NotImplementedError

    def compute(self, pairs: Pairs) -> Columns:
        """Return the values of texts row by row."""
        return self.of_grid(Grid.of(pairs))

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """Return all pairs, some rows at a time; columns remember their part if a background of their pool is given."""
        rows, columns = join_pools(rows, columns)
        if background is None or not self.fitted:
            columns = Corpus(columns.pool, columns.index)
            background = rows | columns
        elif background.pool is not rows.pool:
            joined, background = join_pools(rows, background)
            rows, columns = joined, Corpus(joined.pool, columns.index)
        found = np.empty((len(rows), len(columns)))
        for some in split_into_blocks(len(rows), _BLOCK_CELLS, len(columns)):
            grid = Grid(rows.take(np.arange(len(rows))[some]), columns, background, crossed=True)
            found[some] = self.select(self.of_grid(grid))
        return found


def find_distinct_texts(left: Corpus, right: Corpus) -> tuple[list[str], Ints, Ints]:
    """Return the different texts of both sides, and for each left and right text its place among them."""
    rows = np.concatenate([left.index, right.index])
    _, first, inverse = np.unique(left.pool.keys[rows], return_index=True, return_inverse=True)
    texts = left.pool.texts
    return [texts[row] for row in rows[first]], inverse[: len(left)], inverse[len(left) :]


def decide_easy_pairs(pairs: Pairs) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Similarities of pairs with 1 for equal or two blank texts and 0 for one blank text, and where to ask (NaN).

    >>> decide_easy_pairs(Pairs(["a", "", "", "a"], ["a", " ", "b", "b"]))
    (array([ 1.,  1.,  0., nan]), array([3]))
    """
    blank_left, blank_right = (
        np.array([not text.strip() for text in side.texts], dtype=bool) for side in (pairs.left, pairs.right)
    )
    values = np.full(len(pairs), np.nan)
    values[blank_left | blank_right] = 0.0
    values[(blank_left & blank_right) | (pairs.left.keys == pairs.right.keys)] = 1.0
    return values, np.flatnonzero(np.isnan(values))


class NgramMetric(GridMetric):
    """A pair metric that is a function of counts: n-grams in both texts, in the left one, in the right one."""

    def streams(self, pool: Pool) -> Sequence[tuple[Tokens, int]]:
        """Token sequences of the pool's texts, each with the largest n that counts."""
        raise NotImplementedError

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        """Return the values; the last axis of all three is n = 1, 2, …, one stream after the other."""
        raise NotImplementedError

    def counts(self, grid: Grid) -> tuple[Floats, Floats, Floats]:
        """Shared, left and right n-grams."""
        left, right = grid.left.index, grid.right.index
        found = [
            (
                count_shared_ngrams(tokens, left, right, n, crossed=grid.crossed),
                *grid.spread(count_ngrams(tokens.lengths[left], n), count_ngrams(tokens.lengths[right], n)),
            )
            for tokens, n in self.streams(grid.left.pool)
        ]
        shared, of_left, of_right = (np.concatenate(columns, axis=-1) for columns in zip(*found, strict=True))
        return shared, of_left, of_right

    def of_grid(self, grid: Grid) -> Columns:
        """Return values from the counts."""
        return self.of_counts(*self.counts(grid))


def get_tokens(pool: Pool, name: str, *, lowercase: bool = False) -> Tokens:
    """Return the pool's tokens, of lower-cased texts if `lowercase`."""
    if not lowercase:
        return pool.tokens(name)
    encode = get_tokenizer(name).encode
    return pool.get_or_compute("lower-case tokens", name, lambda _: encode([text.lower() for text in pool.texts]))


def divide(a: Floats, b: Floats) -> Floats:
    """Return a / b, and 0 where there is nothing to divide by."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b))), where=np.asarray(b) > 0)
