"""What a protocol runs on: its data, with a fingerprint of their content, and batches of the trials made of them.

Data are corpora by role, aligned pairs, or the card of a task. Trials are over sub-corpora of one corpus, or over pairs
of texts; a batch knows how a metric runs on it.
"""

from __future__ import annotations

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import InputError
from textgauge.data import Comparison, Corpus, Draws, Pairs, Pool
from textgauge.metrics import CorpusMetric, Metric, PairMetric
from textgauge.metrics.base import VALUE

Column = NDArray[Any]
Values = dict[str, NDArray[np.float64]]
Data: TypeAlias = "Sources | PairSources | TaskSources"


@dataclass(frozen=True, eq=False)
class Sources:
    """The data of a run: corpora by role, under the name that results carry.

    `planted` is the file of planted copies, if there is one, with its texts and the columns that `column:NAME` reads.
    """

    name: str
    corpora: Mapping[str, Corpus]
    planted: Path | None = None
    texts: Sequence[str] = ()
    scores: Mapping[str, Column] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether two sources that are compared share texts."""
        if not self.corpora.keys() >= {"a", "b"}:
            return ()
        shared = len(np.intersect1d(self.corpora["a"].keys, self.corpora["b"].keys))
        return (f"{self.name}: {shared} different texts are in both sources",) if shared else ()

    @cached_property
    def joint(self) -> Corpus:
        """All corpora, one after the other, in one pool: rows are computed once for all trials."""
        return reduce(or_, self.corpora.values())

    def distinct(self, role: str) -> Ints:
        """Return one row of each different text of a corpus, in an order of their content alone."""
        return np.asarray(np.unique(self.corpora[role].keys, return_index=True)[1])

    @cached_property
    def sides(self) -> tuple[Ints, Ints]:
        """The same for `a` and for `b`, as rows of the joint corpus."""
        return self.distinct("a"), self.distinct("b") + len(self.corpora["a"])

    @property
    def fewest(self) -> int:
        """How many different texts the corpus has that has the fewest."""
        return min(len(self.distinct(role)) for role in self.corpora)

    def check_different(self, needed: Mapping[str, int], who: str) -> None:
        """Refuse a source with fewer different texts than are needed; `who` needs them, verb included."""
        for role, count in needed.items():
            have = len(self.distinct(role))
            if have < count:
                raise InputError(f"source {role} has {have} different texts, but {who} {count}")

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of all content; the order of the texts does not matter."""
        digest = hashlib.blake2b(digest_size=8)
        for role, corpus in sorted(self.corpora.items()):
            digest.update(role.encode() + np.sort(corpus.keys).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class PairSources:
    """The data of a run on pairs: aligned texts, and columns of what is known about each (ratings, set, system).

    With several references, `items` is the left text that each right text belongs to, in rising order. `scores` are
    numbers that `column:NAME` metrics read, one for each left text.
    """

    name: str
    left: Corpus
    right: Corpus
    columns: Mapping[str, Column] = field(default_factory=dict)
    items: NDArray[np.int64] | None = None
    scores: Mapping[str, Column] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs in one pool."""
        places = np.arange(len(self.left)) if self.items is None else self.items
        scores = {name: column[places] for name, column in self.scores.items()}
        return Pairs(self.left.take(places), self.right, items=self.items, columns=scores)

    def draw(self, count: int, seed: int) -> PairSources:
        """Draw this many pairs by the seed alone, in the order of the data; all where there are no more."""
        there = len(self.left)
        if count >= there:
            return self
        pairs = np.sort(np.random.default_rng([seed, 9]).permutation(there)[:count])
        of_pair = np.arange(there) if self.items is None else self.items
        rights = np.flatnonzero(np.isin(of_pair, pairs))
        return replace(
            self,
            left=compact_corpus(self.left.take(pairs), ()),
            right=compact_corpus(self.right.take(rights), ()),
            columns={name: column[pairs] for name, column in self.columns.items()},
            items=None if self.items is None else np.searchsorted(pairs, of_pair[rights]),
            scores={name: column[pairs] for name, column in self.scores.items()},
        )

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of all texts and columns, in order."""
        items = b"" if self.items is None else self.items.tobytes()
        digest = hashlib.blake2b(self.left.keys.tobytes() + self.right.keys.tobytes() + items, digest_size=8)
        for name, column in sorted(self.columns.items()):
            digest.update(f"{name}{column.tolist()}".encode())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class TaskSources:
    """The data of a task: one of the sets of `textgauge.data`, under the name that results carry."""

    name: str
    data: Any

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out on reading."""
        return tuple(f"{self.name}: {note}" for note in self.data.notes)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of all content; the order of the rows does not matter."""
        rows = sorted(hashlib.blake2b(repr(row).encode(), digest_size=16).digest() for row in _list_rows(self.data))
        return hashlib.blake2b(b"".join(rows), digest_size=8).hexdigest()


def sign_metric(metric: Metric, sources: Data) -> str:
    """Return what decides a metric's numbers on these data: its signature, and the content of the column it reads.

    A column is not part of the fingerprint, so that it can be added to a run without computing the rest again.
    """
    scores = {} if isinstance(sources, TaskSources) else sources.scores
    if metric.needs != "column" or metric.on not in scores:
        return metric.signature
    content = np.ascontiguousarray(scores[metric.on], dtype=np.float64).tobytes()
    return f"{metric.signature}|values={hashlib.blake2b(content, digest_size=8).hexdigest()}"


def _list_rows(data: Any) -> Iterator[Any]:
    """Yield the rows of a card: aligned tuples together, everything else by itself; names and notes do not count."""
    columns: dict[int, list[tuple[str, tuple[Any, ...]]]] = {}
    for item in fields(data):
        value = getattr(data, item.name)
        if isinstance(value, Mapping):
            for key, cells in value.items():
                if isinstance(cells, tuple):
                    columns.setdefault(len(cells), []).append((f"{item.name}.{key}", cells))
                else:
                    yield item.name, key, sorted(cells)
        elif isinstance(value, tuple) and item.name != "notes":
            columns.setdefault(len(value), []).append((item.name, value))
    for named in columns.values():
        yield from zip(*(cells for _, cells in sorted(named)), strict=True)


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
        cls, number: int, joint: Corpus, rows: Ints, sides: Iterable[tuple[Ints, Ints]], columns: Mapping[str, Column]
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
        row, column = self.take_pairs(np.array([trial]))
        if self.others is None:
            return replace(self, rows=row | column, columns={})
        return replace(self, rows=row, others=column, columns={})


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
