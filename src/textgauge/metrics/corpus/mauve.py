"""MAUVE: the area under the divergence curve of two corpora whose embeddings were put into common buckets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np

from textgauge.core.arrays import Embeddings, Floats, Ints, Masks
from textgauge.core.errors import ParameterError
from textgauge.core.parallel import use_one_blas_thread
from textgauge.core.settings import split_into_blocks
from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.base import DEFAULT_SEED, POSITIVE, VALUE, Part, Range
from textgauge.metrics.corpus_metric import EmbeddingMetric, Interval, ManyValues
from textgauge.metrics.numerics.moments import compute_components, to_unit
from textgauge.metrics.registry import register
from textgauge.metrics.score import Score
from textgauge.metrics.uncertainty import bound_interval, compute_student_reach

_ENDS = 1e-6  # the mixtures run from this share of P to this share of Q, so that no divergence is infinite
_CLUSTERINGS = 8  # for the standard error
_UNSHARED = 1 / 3  # how much of a clustering's own jackknife variance is due to samples, at distance 1
_STEPS = 500  # of k-means
_CELLS = 1 << 20  # numbers held at a time while many curves are drawn


def compute_divergence_curve(p: Floats, q: Floats, *, scaling: float = 5.0, points: int = 25) -> Floats:
    """Points (exp(−c·KL(Q‖R)), exp(−c·KL(P‖R))) for mixtures R = λP + (1−λ)Q, from (1, 0) to (0, 1).

    Histograms along the last axis; the result has two more axes, `points + 2` by 2. Source: Pillutla et al. 2021.

    >>> compute_divergence_curve(np.array([0.5, 0.5]), np.array([0.5, 0.5]), points=2)
    array([[1., 0.],
           [1., 1.],
           [1., 1.],
           [0., 1.]])
    """
    share = np.linspace(_ENDS, 1.0 - _ENDS, points)[:, None]
    log_mixture = _log(share * p[..., None, :] + (1.0 - share) * q[..., None, :])
    curve = np.empty((*p.shape[:-1], points + 2, 2))
    for axis, side in enumerate((q, p)):
        divergence = (side * _log(side)).sum(axis=-1)[..., None] - np.matmul(log_mixture, side[..., None])[..., 0]
        curve[..., 1:-1, axis] = np.exp(-scaling * np.maximum(divergence, 0.0))
    curve[..., 0, :] = 1.0, 0.0
    curve[..., -1, :] = 0.0, 1.0
    return curve


def compute_area(curve: Floats) -> Floats:
    """Return the area under a divergence curve, by trapezia.

    >>> float(compute_area(compute_divergence_curve(np.array([0.9, 0.1]), np.array([0.1, 0.9]))))
    0.0826
    """
    x, y = curve[..., 0], curve[..., 1]
    area = 0.5 * ((x[..., :-1] - x[..., 1:]) * (y[..., :-1] + y[..., 1:])).sum(axis=-1)
    return np.asarray(np.clip(area, 0.0, 1.0))


def compute_frontier_integral(p: Floats, q: Floats) -> Floats:
    """2∫₀¹ λKL(P‖R) + (1−λ)KL(Q‖R) dλ in closed form: 0 for equal histograms, 1 for disjoint ones.

    Source: Liu et al. 2021; Pillutla et al. 2023.

    >>> float(compute_frontier_integral(np.array([1.0, 0.0]), np.array([0.0, 1.0])))
    1.0
    """
    both = (p > 0) & (q > 0)
    excess = np.divide(p - q, q, out=np.zeros_like(p), where=both)
    rate = np.divide(np.log1p(excess), excess, out=np.ones_like(p), where=excess != 0)
    return np.asarray(np.clip((0.5 * (p + q) - np.where(both, p * rate, 0.0)).sum(axis=-1), 0.0, 1.0))


def smooth(counts: Floats) -> Floats:
    """Histograms with half a text added to every bucket (Krichevsky and Trofimov 1981)."""
    return np.asarray((counts + 0.5) / (counts.sum(axis=-1, keepdims=True) + 0.5 * counts.shape[-1]))


def cluster(X: Floats, weights: Floats, buckets: int, *, restarts: int, seed: tuple[int, ...]) -> Ints:
    """Return the bucket of each row by Lloyd's k-means to its fixed point: the best of some restarts.

    Each restart begins at rows drawn by their weights. With at most `buckets` different rows, each has its own.

    >>> cluster(np.array([[0.0], [0.1], [5.0], [5.1]]), np.ones(4), 2, restarts=3, seed=(0,))
    array([1, 1, 0, 0])
    """
    narrow = X.astype(np.float32)
    if len(np.unique(narrow[:, :1])) <= buckets:  # with more values in one column there are more different rows
        different, labels = np.unique(narrow, axis=0, return_inverse=True)
        if len(different) <= buckets:
            return labels.astype(np.int64)
    chance = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(seed)))
    narrow, shares = narrow - narrow.mean(axis=0), weights / weights.sum()
    starts = np.array([chance.choice(len(X), buckets, replace=False, p=shares) for _ in range(restarts)])
    groups = split_into_blocks(restarts, _CELLS, len(X) * buckets)
    runs = [run for some in groups for run in _run_lloyd(narrow, weights, narrow[starts[some]])]
    return min(runs, key=lambda run: run[0])[1]


def _run_lloyd(X: Embeddings, weights: Floats, centres: Embeddings) -> Iterator[tuple[float, Ints]]:
    """Yield the sum of squares, short of what does not depend on the buckets, and the buckets of each restart.

    Distances to centres that stay are kept. A bucket without rows gets the one that is farthest from its own.
    """
    from scipy.sparse import csc_matrix

    (restarts, buckets, _), n = centres.shape, len(X)
    first, moved = np.arange(restarts) * buckets, np.arange(restarts * buckets)
    rows, centres = np.column_stack([X, np.ones(n, X.dtype)]), np.concatenate(centres)
    labels: Ints = np.zeros((n, restarts), np.int64)
    shares, ends = np.repeat(weights.astype(X.dtype), restarts), np.arange(0, n * restarts + 1, restarts)
    members = csc_matrix((shares, labels.ravel(), ends), (len(centres), n))
    for step in range(_STEPS):
        here = centres[moved]
        fresh = rows @ np.column_stack([-2.0 * here, (here * here).sum(axis=1)]).T
        if len(moved) == len(centres):
            distances = fresh
        else:
            distances[:, moved] = fresh
        before, labels = labels, distances.reshape(n, restarts, buckets).argmin(axis=2) + first
        if step and np.array_equal(labels, before):
            break
        empty = np.flatnonzero(np.bincount(labels.ravel(), minlength=len(centres)) == 0)
        for run in set((empty // buckets).tolist()):
            mine = empty[empty // buckets == run]
            gaps = (X * X).sum(axis=1) + distances[np.arange(n), labels[:, run]]
            labels[np.argsort(gaps)[-len(mine) :], run] = mine
        members.indices = labels.ravel().astype(members.indices.dtype)
        sums = members @ rows
        before_moving, centres = centres, sums[:, :-1] / np.maximum(sums[:, -1:], np.finfo(X.dtype).tiny)
        moved = np.flatnonzero((centres != before_moving).any(axis=1))
    squares = weights @ np.take_along_axis(distances, labels, axis=1)
    yield from zip(squares.tolist(), (labels - first).T, strict=True)


@register
class Mauve(EmbeddingMetric):
    """How much of one corpus's probability mass lies where the other has none, both ways, over common buckets.

    Rows of both corpora are scaled to length one, reduced to the principal components that hold `pca` of the variance
    and put into `buckets` by k-means (0: a tenth of the smaller corpus, at least 2; the best of `restarts`). With p, q
    the histograms, the value is 1 − the area under the curve (exp(−c·KL(q‖r)), exp(−c·KL(p‖r))) over `points`
    mixtures r of p and q, c = `scaling`: 0 for equal histograms, 1 for disjoint ones. `mauve_star` is the area with
    smoothed histograms, `frontier_integral` a summary of the curve without c. `seeds` clusterings are averaged.
    The clustering sees the union of the corpora in the order of content keys: it depends on neither order nor labels.

    Undefined with fewer than two texts on a side.
    Source: Pillutla et al. 2021, 2023; Liu et al. 2021. Equals mauve-text on equal histograms.
    """

    fitted = True
    name, label, source = "mauve", "1 − MAUVE", "Pillutla et al. 2021"
    version: ClassVar[int] = 2
    min_texts_interval: ClassVar[int] = 300
    parts: ClassVar[tuple[Part, ...]] = (Part("frontier_integral"), Part("mauve_star", closer="larger"))
    ranges = (
        Range("scaling", POSITIVE),
        Range("pca", POSITIVE, 1.0),
        Range("restarts", 1, 10_000),
        Range("points", 1, 10_000),
        Range("seeds", 1, 10_000),
    )

    buckets: int = 0
    scaling: float = 5.0
    restarts: int = 5
    points: int = 25
    seed: int = DEFAULT_SEED
    seeds: int = 1
    pca: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.buckets < 0 or self.buckets == 1:
            raise ParameterError(f"mauve: buckets={self.buckets}; give 0 for automatic, or at least 2")

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """`compute` for many draws; those of the same texts in union share one clustering."""
        many = {name: np.full(len(draws), np.nan) for name in self.value_names}
        with use_one_blas_thread():  # sums of several threads differ in their last bits
            for members in _group_by_union(draws, self.min_texts):
                union = self._collect_union(joint, draws.left[members[0]], draws.right[members[0]])
                for values in many.values():
                    values[members] = 0.0
                for labels in self._cluster_texts(union):
                    for block in split_into_blocks(len(members), _CELLS, max(len(joint), self.points * union.buckets)):
                        some = members[block]
                        left, right = (
                            _count_buckets(sides[some], labels, union.buckets) for sides in (draws.left, draws.right)
                        )
                        for name, values in many.items():
                            values[some] += self._compute_value(name, left, right) / self.seeds
        return many

    def _collect_union(self, joint: Corpus, left: Masks, right: Masks) -> _Union:
        """Return the texts of a draw, as different rows to be clustered."""
        vectors, order, content = joint.derive(_order_rows, self.embedder)
        texts = left.astype(np.int64) + right
        present = order[texts[order] > 0]
        _, first, same = np.unique(content[present], return_index=True, return_inverse=True)
        rows = np.sort(first)
        place = np.searchsorted(rows, first)[same.reshape(-1)]
        weights = np.bincount(place, weights=texts[present]).astype(np.float64)
        scores = compute_components(to_unit(vectors[present[rows]]), weights, self.pca)
        buckets = self.buckets or max(2, round(min(int(left.sum()), int(right.sum())) / 10))
        return _Union(len(joint), present, place, weights, scores, buckets)

    def _cluster_texts(self, union: _Union) -> Iterator[Ints]:
        """Yield the bucket of each text of the joint corpus, for one seed after the other; 0 outside the union."""
        for index in range(self.seeds):
            seed = self.seed, index
            labels = cluster(union.scores, union.weights, union.buckets, restarts=self.restarts, seed=seed)
            buckets = np.zeros(union.texts, dtype=np.int64)
            buckets[union.present] = labels[union.place]
            yield buckets

    def interval_ends(self, comparison: Comparison, score: Score, *, level: float, seed: int) -> Interval:
        reach = compute_student_reach(level, comparison) * self.standard_error(comparison, seed=seed)
        return (*bound_interval(score.value, reach, self.bounds), "jackknife over clusterings")

    def standard_error(self, comparison: Comparison, *, seed: int) -> float:
        """Return the standard deviation of the shown value over fresh samples and seeds, by the law of total variance.

        Re-clustering without a text changes every bucket, so a plain jackknife would measure the clustering. Instead
        a few clusterings are made, and their variance is added to what samples contribute: the delete-one jackknife
        within fixed buckets, of which the covariance between clusterings is taken, as the rest belongs to them.
        Far from 0 some of that rest comes from samples too, which move the buckets and fill empty ones: simulations
        (docs) ask for a third of it. The error is widened by Student's factor for the few clusterings.
        """
        from scipy.special import stdtrit

        sides = np.arange(len(comparison.joint)) < len(comparison.reference)
        several = replace(self, seed=seed, seeds=max(self.seeds, _CLUSTERINGS))
        shown, distances, influences = [], [], []
        union = several._collect_union(comparison.joint, sides, ~sides)
        with use_one_blas_thread():
            clusterings = list(several._cluster_texts(union))
        for labels in clusterings:
            left, right = (_count_buckets(side[None], labels, union.buckets)[0] for side in (sides, ~sides))
            shown.append(self._compute_shown(left[None], right[None])[0])
            distances.append(self._compute_value(VALUE, left[None], right[None])[0])
            removed = [self._compute_influence(left, right, n)[labels[own]] for n, own in enumerate((sides, ~sides))]
            influences.append(np.concatenate(removed))
        shared, whole = _compute_shared_variance(np.stack(influences))
        clustering = np.var(shown, ddof=1) / self.seeds
        variance = shared + clustering + _UNSHARED * np.mean(distances) * (whole - shared) / self.seeds
        if clustering == 0:
            return float(np.sqrt(variance))
        degrees = (len(shown) - 1) * (variance / clustering) ** 2
        return float(np.sqrt(variance) * stdtrit(degrees, 0.975) / stdtrit(1e9, 0.975))

    def _compute_influence(self, left: Floats, right: Floats, side: int) -> Floats:
        """How a text less in each bucket of a side changes the shown value, scaled to sum to the jackknife variance."""
        counts = (left, right)[side]
        filled = np.flatnonzero(counts)
        without = np.zeros(len(counts))
        for block in split_into_blocks(len(filled), _CELLS, self.points * len(counts)):
            some = filled[block]
            sides = [np.repeat(one[None], len(some), axis=0) for one in (left, right)]
            sides[side][np.arange(len(some)), some] -= 1.0
            without[some] = self._compute_shown(*sides)
        texts = counts.sum()
        return np.asarray(np.sqrt((texts - 1.0) / texts) * (without - counts @ without / texts))

    def _compute_shown(self, left: Floats, right: Floats) -> Floats:
        return self._compute_value(self.part or VALUE, left, right)

    def _compute_value(self, name: str, left: Floats, right: Floats) -> Floats:
        """Headline or part of pairs of bucket counts."""
        if name == "mauve_star":
            return self._compute_area(smooth(left), smooth(right))
        p, q = left / left.sum(axis=-1, keepdims=True), right / right.sum(axis=-1, keepdims=True)
        return compute_frontier_integral(p, q) if name == "frontier_integral" else 1.0 - self._compute_area(p, q)

    def _compute_area(self, p: Floats, q: Floats) -> Floats:
        return compute_area(compute_divergence_curve(p, q, scaling=self.scaling, points=self.points))


class _Union(NamedTuple):
    """The texts of a draw among those of a corpus: which, the different row of each, and what is known about rows."""

    texts: int
    present: Ints
    place: Ints
    weights: Floats
    scores: Floats
    buckets: int


def _order_rows(corpus: Corpus, embedder: str) -> tuple[Embeddings, Ints, Ints]:
    """Return the embeddings, an order of their rows by content, and a number for each row, equal for equal rows."""
    vectors = np.ascontiguousarray(corpus.embeddings(embedder))
    whole = vectors.view(np.dtype((np.void, vectors.shape[1] * vectors.itemsize))).ravel()
    content = np.unique(whole, return_inverse=True)[1].reshape(-1)
    # Embeddings alone are their own content: no need to hash them.
    order = np.lexsort((content, corpus.keys)) if corpus.pool.has_texts else np.argsort(content)
    return vectors, order, content


def _compute_shared_variance(influences: Floats) -> tuple[float, float]:
    """Return the mean product of influences between different clusterings, at least 0, and within one."""
    products = influences @ influences.T
    own = np.eye(len(products), dtype=bool)
    whole = float(products[own].mean())
    return min(max(float(products[~own].mean()), 0.0), whole), whole


def _group_by_union(draws: Draws, fewest: int) -> list[Ints]:
    """Draws that put the same texts on sides of the same sizes, together; draws with too few texts are left out."""
    groups: dict[tuple[int, bytes, bytes], list[int]] = defaultdict(list)
    smaller = draws.smaller
    union, overlap = np.packbits(draws.left | draws.right, axis=1), np.packbits(draws.left & draws.right, axis=1)
    for draw in np.flatnonzero(smaller >= fewest).tolist():
        groups[int(smaller[draw]), union[draw].tobytes(), overlap[draw].tobytes()].append(draw)
    return [np.array(group) for group in groups.values()]


def _count_buckets(sides: Masks, labels: Ints, buckets: int) -> Floats:
    draw, text = np.nonzero(sides)
    cells = np.bincount(draw * buckets + labels[text], minlength=len(sides) * buckets)
    return cells.reshape(len(sides), buckets).astype(np.float64)


def _log(p: Floats) -> Floats:
    return np.log(np.where(p > 0, p, 1.0))
