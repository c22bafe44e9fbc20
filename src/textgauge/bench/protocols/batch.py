"""Batches of trials: over sub-corpora of one corpus, or over pairs of texts; each knows how a metric runs on it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.sources import Column
from textgauge.core.arrays import Ints
from textgauge.data import Comparison, Corpus, Draws, Pairs, Pool
from textgauge.metrics import CorpusMetric, PairMetric
from textgauge.metrics.base import VALUE

Values = dict[str, NDArray[np.float64]]


class Batch(ABC):
    """Base of all batches: `number` is its place in a plan, `columns` are what is known about each trial."""

    number: int
    columns: Mapping[str, Column]

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def pool(self) -> Pool:
        """The pool of all its texts."""

    @abstractmethod
    def compact(self, metrics: Sequence[Any]) -> Batch:
        """Return the batch as a pool of its own, with the rows the metrics need: small enough to send."""

    @abstractmethod
    def prepare(self, metric: Any) -> None:
        """Run the model a metric needs, if any, on all texts, so that it runs once and in one process."""

    @abstractmethod
    def compute(self, metric: Any) -> Values:
        """Values and parts of all trials; NaN where undefined."""

    @abstractmethod
    def one(self, metric: Any, trial: int) -> tuple[dict[str, float], str | None]:
        """Values and parts of one trial, and the reason where there is none."""

    def seconds(self, metric: Any, trial: int) -> float:
        """CPU seconds of one trial with nothing prepared but rows."""
        start = time.process_time()
        self.one(metric, trial)
        return time.process_time() - start


@dataclass(frozen=True, eq=False)
class CorpusBatch(Batch):
    """Trials over one corpus: which texts are on which side."""

    number: int
    joint: Corpus
    draws: Draws
    columns: Mapping[str, Column]

    @classmethod
    def of_rows(
        cls,
        number: int,
        joint: Corpus,
        rows: Ints,
        sides: Iterable[tuple[Ints, Ints]],
        columns: Mapping[str, Column],
    ) -> CorpusBatch:
        """Return trials over some rows of a corpus; `sides` are those of each trial, reference and candidate."""
        place = np.full(len(joint), -1)
        place[rows] = np.arange(len(rows))
        trials = list(sides)
        left, right = np.zeros((2, len(trials), len(rows)), dtype=bool)
        for trial, (reference, candidate) in enumerate(trials):
            left[trial, place[reference]], right[trial, place[candidate]] = True, True
        return cls(number, joint.take(rows), Draws(left, right), columns)

    def __len__(self) -> int:
        return len(self.draws)

    @property
    def pool(self) -> Pool:
        return self.joint.pool

    def prepare(self, metric: CorpusMetric) -> None:
        if not metric.reads_texts:
            self.pool.embeddings(metric.embedder)

    def compact(self, metrics: Sequence[CorpusMetric]) -> CorpusBatch:
        return CorpusBatch(self.number, compact_corpus(self.joint, metrics), self.draws, self.columns)

    def compute(self, metric: CorpusMetric) -> Values:
        return metric.compute_many(self.joint, self.draws)

    def one(self, metric: CorpusMetric, trial: int) -> tuple[dict[str, float], str | None]:
        score = metric.measure(self._comparison(trial))
        return {**score.parts, metric.part or VALUE: score.value}, score.reason

    def seconds(self, metric: CorpusMetric, trial: int) -> float:
        """Return the time of a fresh comparison that has its rows and nothing else."""
        fresh = Comparison(*(compact_corpus(side, [metric]) for side in self._comparison(trial).sides))
        if not metric.reads_texts:
            fresh.joint.pool.embeddings(metric.embedder)
        elif metric.needs == "tokens":
            fresh.joint.pool.counts(metric.token_rows)
        start = time.process_time()
        metric.measure(fresh)
        return time.process_time() - start

    def _comparison(self, trial: int) -> Comparison:
        one = Draws(self.draws.left[trial : trial + 1], self.draws.right[trial : trial + 1])
        return next(one.comparisons(self.joint))


class _PairsBatch(Batch):
    """Trials that are pairs of texts: aligned, or all of a matrix."""

    @property
    def pool(self) -> Pool:
        return self._views()[0].pool

    def prepare(self, metric: PairMetric) -> None:
        if metric.needs == "embeddings":
            self.pool.embeddings(metric.on)

    def one(self, metric: PairMetric, trial: int) -> tuple[dict[str, float], str | None]:
        values = {name: float(column[0]) for name, column in self._take(trial).compute(metric).items()}
        return values, metric.undefined if np.isnan(metric.select(values)) else None

    @abstractmethod
    def _take(self, trial: int) -> Batch: ...

    @abstractmethod
    def _views(self) -> list[Corpus]: ...

    def _compact_views(self, metrics: Sequence[PairMetric]) -> list[Corpus]:
        """Return views of one pool as views of a pool of just their rows, each row once."""
        views = self._views()
        rows = np.unique(np.concatenate([view.index for view in views]))
        embedders = [metric.on for metric in metrics if metric.needs == "embeddings"]
        small = compact_pool(Corpus(views[0].pool, rows), embedders=embedders)
        return [Corpus(small, np.searchsorted(rows, view.index)) for view in views]


@dataclass(frozen=True, eq=False)
class PairBatch(_PairsBatch):
    """Trials over pairs of texts: each candidate, with its reference or references, is one."""

    number: int
    pairs: Pairs
    columns: Mapping[str, Column]

    def __len__(self) -> int:
        return self.pairs.n_items

    def _views(self) -> list[Corpus]:
        return [self.pairs.left, self.pairs.right, *([self.pairs.background] if self.pairs.fitted_elsewhere else [])]

    def compact(self, metrics: Sequence[PairMetric]) -> PairBatch:
        left, right, *others = self._compact_views(metrics)
        items, columns = self.pairs.items, self.pairs.columns
        pairs = Pairs(left, right, items=items, background=others[0] if others else None, columns=columns)
        return replace(self, pairs=pairs)

    def compute(self, metric: PairMetric) -> Values:
        return metric.compute_items(self.pairs)

    def take_pairs(self, trials: NDArray[Any]) -> tuple[Corpus, Corpus]:
        """Return the left and the right texts of some trials."""
        return self.pairs.left.take(trials), self.pairs.right.take(trials)

    def _take(self, trial: int) -> PairBatch:
        return replace(self, pairs=self.pairs.take([trial]), columns={})


@dataclass(frozen=True, eq=False)
class MatrixBatch(_PairsBatch):
    """Trials over every row text with every column text, or over the pairs of one corpus where no columns are given.

    Trials run through the matrix row by row; of one corpus, over the places right of the diagonal. A metric whose two
    directions differ counts as their mean there.
    """

    number: int
    rows: Corpus
    others: Corpus | None
    columns: Mapping[str, Column]
    background: Corpus

    def __len__(self) -> int:
        n = len(self.rows)
        return n * (n - 1) // 2 if self.others is None else n * len(self.others)

    def _views(self) -> list[Corpus]:
        return [self.rows, self.background, *([] if self.others is None else [self.others])]

    def compact(self, metrics: Sequence[PairMetric]) -> MatrixBatch:
        rows, background, *others = self._compact_views(metrics)
        return replace(self, rows=rows, others=others[0] if others else None, background=background)

    def compute(self, metric: PairMetric) -> Values:
        others = self.rows if self.others is None else self.others
        found = metric.matrix(self.rows, others, background=self.background)
        if self.others is None:
            found = found if metric.symmetric else (found + found.T) / 2.0
            found = found[np.triu_indices(len(self.rows), 1)]
        return {metric.part or VALUE: found.reshape(-1)}

    def take_pairs(self, trials: NDArray[Any]) -> tuple[Corpus, Corpus]:
        """Return the left and the right texts of some trials."""
        others = self.rows if self.others is None else self.others
        every = np.triu_indices(len(others), 1) if self.others is None else np.divmod(np.arange(len(self)), len(others))
        return self.rows.take(every[0][trials]), others.take(every[1][trials])

    def _take(self, trial: int) -> MatrixBatch:
        if self.others is None:
            pair = [int(side[trial]) for side in np.triu_indices(len(self.rows), 1)]
            return replace(self, rows=self.rows.take(pair), columns={})
        row, column = divmod(trial, len(self.others))
        return replace(self, rows=self.rows.take([row]), others=self.others.take([column]), columns={})


def compact_corpus(corpus: Corpus, metrics: Sequence[CorpusMetric]) -> Corpus:
    """Return the corpus as a pool of its own, with the rows the metrics need."""
    embedders = [metric.embedder for metric in metrics if not metric.reads_texts]
    small = compact_pool(corpus, embedders=embedders)
    for metric in metrics:
        if metric.needs == "tokens":
            small.set_rows("tokens", metric.token_rows, corpus.tokens(metric.token_rows))
    return Corpus(small, np.arange(small.size))


def compact_pool(corpus: Corpus, *, embedders: Sequence[str]) -> Pool:
    """Return a pool of a corpus's texts with their embeddings."""
    pool = corpus.pool
    texts = list(corpus.texts) if pool.has_texts else None
    small = Pool(texts, embeddings=corpus.embeddings("given") if pool.has_given else None)
    for embedder in dict.fromkeys(embedders):
        small.set_rows("embeddings", embedder, corpus.embeddings(embedder))
    return small
