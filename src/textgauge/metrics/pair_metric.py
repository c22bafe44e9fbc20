"""What a pair metric is: a metric of two texts, computed for many pairs at once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import ParameterError
from textgauge.core.sizes import split_into_blocks
from textgauge.data import GIVEN, Corpus, Pairs
from textgauge.data.pool import Pool
from textgauge.data.view import TextsLike, join_pools
from textgauge.encode.tokenizers import Tokens, get_tokenizer
from textgauge.metrics.base import VALUE, Metric, Part
from textgauge.metrics.numerics.ngram_counts import (
    count_ngrams,
    count_shared_ngrams,
    count_shared_ngrams_of_all,
    find_best_rows,
)
from textgauge.metrics.score import PairScores, Score

Columns = dict[str, Floats]
Needs = Literal["texts", "tokens", "embeddings", "word vectors", "token vectors", "model", "service", "column"]

BROUGHT = ("model", "service", "column")  # needs that only the user can meet

_BLOCK_PAIRS = 200_000  # pairs of a block of a matrix: what is held of them stays in the tens of megabytes


@dataclass(frozen=True, kw_only=True)
class PairMetric(Metric):
    """Base of all pair metrics: subclasses declare the class variables and implement `compute`.

    `left` is the candidate (or query), `right` the reference (or document). `value_at_identity` is the value of two
    equal texts. `undefined` says in words when a value is NaN. A `fitted` metric takes weights from
    `pairs.background`.
    """

    scope = "pair"
    undefined: ClassVar[str] = ""
    fitted: ClassVar[bool] = False
    value_at_identity: ClassVar[float] = 1.0
    headline: ClassVar[Part] = Part(VALUE, closer="larger")

    def compute(self, pairs: Pairs) -> Columns:
        """Headline and parts, one number per pair; NaN where undefined. A row depends on its own pair alone."""
        raise NotImplementedError

    def compute_items(self, pairs: Pairs) -> Columns:
        """Return the same for candidates with several references: by default those of the closest reference."""
        distinct, inverse = pairs.distinct()
        columns = {name: column[inverse] for name, column in self.compute(distinct).items()}
        if not pairs.several:
            return columns
        distance = self.orient_headline(columns[VALUE])
        chosen = find_best_rows(
            -np.where(np.isnan(distance), np.inf, distance), pairs.items
        )  # undefined only if all are
        return {name: column[chosen] for name, column in columns.items()}

    def statistics(self, pairs: Pairs) -> Floats | None:
        """Counts whose sums over items give the score of the whole set, one row per item; None where there is none."""
        return None

    def of_statistics(self, sums: Floats) -> Floats:
        """Return the score of a whole set from its summed statistics, one per row of sums."""
        raise NotImplementedError

    def as_sacrebleu(self, sums: Floats) -> tuple[str, Any] | None:
        """The name and metric of sacrebleu that give this score of a whole set with these sums, if there is one."""
        return None

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """The shown value of every row text (left) with every column text (right); the default background is both."""
        background = background if background is not None or not self.fitted else rows | columns
        found = np.empty((len(rows), len(columns)))
        for block in split_into_blocks(len(rows), _BLOCK_PAIRS, len(columns)):
            some = np.arange(block.start, block.stop)
            left = rows.take(np.repeat(some, len(columns)))
            right = columns.take(np.tile(np.arange(len(columns)), len(some)))
            pairs = Pairs(left, right, background=background)
            found[block] = self.select(self.compute(pairs)).reshape(len(some), len(columns))
        return found

    def orient_headline(self, value: Any) -> Any:
        """Headline values turned so that farther is larger, whatever part is shown."""
        return replace(self, part=None).orient(value)

    def measure(self, pairs: Pairs) -> PairScores:
        """Return the scores of all pairs; equal pairs are computed once."""
        start = time.perf_counter()
        columns = self.compute_items(pairs)
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
        """What speaks against trusting the metric on these pairs, each one sentence: a script that is not read."""
        from textgauge.metrics.cautions import list_script_warnings

        return tuple(list_script_warnings(self, pairs.left | pairs.right)) if pairs.left.pool.has_texts else ()

    def on_given(self, pairs: Pairs) -> PairMetric:
        """Return this metric, moved to the ready-made embeddings if the pairs bring them and no embedder was named."""
        moves = self.needs == "embeddings" and self.on == self.default_on and pairs.left.pool.has_given
        return self.with_input(GIVEN) if moves else self

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


def find_distinct_texts(left: Corpus, right: Corpus) -> tuple[list[str], Ints, Ints]:
    """Return the different texts of both sides, and for each left and right text its place among them."""
    rows = np.concatenate([left.index, right.index])
    _, first, inverse = np.unique(left.pool.keys[rows], return_index=True, return_inverse=True)
    texts = left.pool.texts
    return [texts[row] for row in rows[first]], inverse[: len(left)], inverse[len(left) :]


def group_pairs(left: Ints, right: Ints, sizes: Ints, *, most: int) -> Iterator[Ints]:
    """Runs of pairs whose distinct texts have at most `most` tokens together, or one pair.

    >>> groups = group_pairs(np.array([0, 0, 1]), np.array([1, 2, 3]), np.array([2, 2, 2, 2]), most=6)
    >>> [group.tolist() for group in groups]
    [[0, 1], [2]]
    """
    start, held, total = 0, set[int](), 0
    for place, pair in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        more = sum(int(sizes[text]) for text in set(pair) - held)
        if held and total + more > most:
            yield np.arange(start, place)
            start, held, more = place, set(), sum(int(sizes[text]) for text in set(pair))
            total = 0
        held.update(pair)
        total += more
    if held:
        yield np.arange(start, len(left))


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


_BLOCK_VALUES = 1 << 22  # numbers of a block of a matrix, over all orders


@dataclass(frozen=True, kw_only=True)
class NgramMetric(PairMetric):
    """A pair metric that is a function of counts: n-grams in both texts, in the left one, in the right one."""

    def streams(self, pool: Pool) -> Sequence[tuple[Tokens, int]]:
        """Token sequences of the pool's texts, each with the largest n that counts."""
        raise NotImplementedError

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        """Return the values; the last axis of all three is n = 1, 2, …, one stream after the other."""
        raise NotImplementedError

    def counts(self, pairs: Pairs) -> tuple[Floats, Floats, Floats]:
        """Shared, left and right n-grams of every pair."""
        a, b = pairs.left.index, pairs.right.index
        found = [
            (
                count_shared_ngrams(tokens, a, b, n),
                count_ngrams(tokens.lengths[a], n),
                count_ngrams(tokens.lengths[b], n),
            )
            for tokens, n in self.streams(pairs.left.pool)
        ]
        shared, left, right = (np.concatenate(columns, axis=1) for columns in zip(*found, strict=True))
        return shared, left, right

    def compute(self, pairs: Pairs) -> Columns:
        """Return values from the counts of every pair."""
        return self.of_counts(*self.counts(pairs))

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """Return all pairs at once, by products of sparse counts."""
        rows, columns = join_pools(rows, columns)
        streams = self.streams(rows.pool)
        orders = sum(n for _, n in streams)
        parts = (rows.index[some] for some in split_into_blocks(len(rows), _BLOCK_VALUES, orders * len(columns)))
        found = [self._block(streams, part, columns.index) for part in parts]
        return np.concatenate(found or [_make_empty(columns)])

    def _block(self, streams: Sequence[tuple[Tokens, int]], rows: NDArray[Any], columns: NDArray[Any]) -> Floats:
        shared: list[Floats] = []
        for tokens, n in streams:
            shared.extend(count_shared_ngrams_of_all(tokens.take(np.concatenate([rows, columns])), len(rows), n))
        left, right = (
            np.concatenate([count_ngrams(tokens.lengths[side], n) for tokens, n in streams], axis=1)
            for side in (rows, columns)
        )
        return np.asarray(self.select(self.of_counts(np.stack(shared, axis=-1), left[:, None], right[None])))


def get_tokens(pool: Pool, name: str, *, lowercase: bool = False) -> Tokens:
    """Return the pool's tokens, of lower-cased texts if `lowercase`."""
    if not lowercase:
        return pool.tokens(name)
    return pool.get_or_compute("lower-case tokens", name, lambda given: _lower(pool, given))  # type: ignore[no-any-return]


def divide(a: Floats, b: Floats) -> Floats:
    """a / b, and 0 where there is nothing to divide by."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b))), where=np.asarray(b) > 0)


def _make_empty(columns: Corpus) -> Floats:
    return np.empty((0, len(columns)))


def _lower(pool: Pool, name: str) -> Tokens:
    return get_tokenizer(name).encode([text.lower() for text in pool.texts])
