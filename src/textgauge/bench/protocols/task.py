"""What a task is: a job for pair metrics, scored in [0, 1] from sums over documents, on which ensembles train."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs import TaskTable
from textgauge.bench.protocols.base import RESAMPLES, Observations, Protocol, Verdict, explain_undefined, list_protocols
from textgauge.bench.sources import Column, PairBatch, TaskSources
from textgauge.core.arrays import Floats
from textgauge.core.errors import UnknownName
from textgauge.data import Corpus, Pairs
from textgauge.stats.resampling import resample_sums

Keys = NDArray[np.uint64]
Columns = Mapping[str, Column]
Model = Literal["linear", "forest"]

# Words are those between white space as they stand: to a tokenizer that folds case, random capitals would be no change
# at all. BM25+ as a share of the largest score of any text for itself: how the paper brings it into [0, 1] is
# not stated, and this reading, unlike that of the default, gives its pattern on sensitivity.
WORD_METRICS = "levenshtein,rouge@whitespace,jaccard@whitespace,bm25plus(scale=corpus)@whitespace"


class TaskUnits(NamedTuple):
    """What is resampled (documents, queries, folds), and the statistics of each whose sums give the score.

    A unit in which the metric is undefined has zeros: it does not count.
    """

    labels: NDArray[Any]
    sums: Floats

    @classmethod
    def of_rows(cls, labels: NDArray[Any], rows: Floats) -> TaskUnits:
        """Return the statistics of units as sums over rows, each of the unit of its label.

        >>> TaskUnits.of_rows(np.array([7, 5, 7]), np.array([[1.0], [2.0], [3.0]])).sums.tolist()
        [[2.0], [4.0]]
        """
        units, place = np.unique(labels, return_inverse=True)
        sums = np.zeros((len(units), rows.shape[1]))
        np.add.at(sums, place, rows)
        return cls(units, sums)


class Examples(NamedTuple):
    """What a model learns from: features, targets, and the trial that each example comes from."""

    features: Floats
    targets: Floats
    trials: NDArray[np.int64]

    def take(self, rows: NDArray[Any]) -> Examples:
        """Return some of them."""
        return Examples(self.features[rows], self.targets[rows], self.trials[rows])

    def sample(self, sides: Sequence[tuple[NDArray[Any], int]], seed: Sequence[int]) -> Examples:
        """Draw some of each kind: `sides` are the rows of each, and how many to draw."""
        rng = np.random.default_rng(seed)
        return self.take(np.sort(np.concatenate([rng.permutation(rows)[:count] for rows, count in sides])))


@dataclass(frozen=True, kw_only=True)
class Task(Protocol):
    """Base of the five tasks; the first of its measures is the score that counts for the leaderboard.

    Values are similarities: 1 for equal texts.
    """

    purpose = "Tasks with pairs of texts"
    of = "pairs"
    data: ClassVar[TaskTable]
    default_metrics = f"cosine,{WORD_METRICS}"
    figures: ClassVar[tuple[str, ...]] = ("tasks", "contributions")
    similarities = True
    ensembles = True
    model: ClassVar[Model]
    folded: ClassVar[bool] = False  # whether ensembles leave out whole folds, not documents
    size: ClassVar[str] = ""  # the parameter that says how many texts are drawn

    def batch_numbers(self, sources: Any, seed: int) -> Sequence[int]:
        return range(1)

    def units(self, value: Floats, columns: Columns) -> TaskUnits:
        """Return the statistics of every unit."""
        raise NotImplementedError

    def of_sums(self, sums: Floats) -> Floats:
        """Return the measures, one row per row of summed statistics."""
        raise NotImplementedError

    def judge(self, observations: Observations) -> list[Verdict]:
        """Return all measures, with intervals over units; resamples are the same for all metrics on the same trials."""
        units, reason = self.units(observations.value, observations.columns), explain_undefined(observations)
        value = self.of_sums(units.sums.sum(axis=0, keepdims=True))[0]
        drawn = self.of_sums(resample_sums(units.sums, RESAMPLES, 0))
        counted = int(units.sums.any(axis=1).sum())
        return list(self.with_intervals(value, drawn, counted, reason))

    def with_intervals(self, value: Floats, drawn: Floats, units: int, reason: str | None) -> Iterator[Verdict]:
        """Return a verdict for every measure from its value and its resamples.

        Details that do not exist are left out.
        """
        for measure, number, column in zip(self.measures, value, drawn.T, strict=True):
            if np.isnan(number) and measure.detail:
                continue  # the data do not have what it is about
            why = reason or (f"{measure.name} does not exist for these values" if np.isnan(number) else None)
            ends = measure.low, measure.high
            yield Verdict.of_draws(measure.name, float(number), column, units, bounds=ends, reason=why, n=units)

    def documents(self, columns: Columns) -> Keys:
        """Content keys of the documents of each trial, one column for each."""
        return columns["document"].astype(np.uint64)[:, None]

    def groups(self, columns: Columns) -> NDArray[Any]:
        """Return what is left out of training together: the document of each trial, or its fold."""
        return columns["fold" if self.folded else "document"]

    def examples(self, features: Floats, columns: Columns, seed: int) -> Examples:
        """Return what a model of this task learns from: by default every trial with its target."""
        targets = self.targets(columns)
        trials = np.flatnonzero(np.isfinite(targets) & np.isfinite(features).all(axis=1))
        return Examples(features[trials], targets[trials], trials)

    def pair_examples(self, features: Floats, columns: Columns, seed: int) -> Examples:
        """Return what a model of all tasks learns from: single pairs with the similarity they should have."""
        return self.examples(features, columns, seed)

    def targets(self, columns: Columns) -> Floats:
        """Return the similarity that each trial should have; NaN where nothing is known."""
        raise NotImplementedError

    def inputs(self, features: Floats, columns: Columns) -> Floats:
        """Return the inputs of a model of this task, one row per answer."""
        return features

    def values_of(self, answers: Floats, columns: Columns) -> Floats:
        """Return the answers of a model as a similarity of each trial."""
        return answers


def list_tasks() -> list[type[Task]]:
    """Return all tasks, in the order of their places."""
    return [kind for kind in list_protocols().values() if issubclass(kind, Task)]


def load_task(name: str, data: Any, *others: str) -> tuple[Task, TaskSources]:
    """Return a task by name with its data, which may be there already; `others` are names too."""
    tasks = {kind.name: kind for kind in list_tasks()}
    if forms := [kind.name for kind in tasks.values() if kind.family == name]:
        raise UnknownName(f"the task {name} is {' and '.join(forms)}, with data of their own: name one of them")
    if name not in tasks:
        raise UnknownName.among("task", name, [*tasks, *others])
    protocol = tasks[name]()
    sources = data if isinstance(data, TaskSources) else protocol.data.read(os.fspath(data))
    protocol.check(sources)
    return protocol, sources


def make_pairs(candidates: Iterable[str], references: Iterable[str], **columns: NDArray[Any]) -> PairBatch:
    """Return one batch of pairs of texts, over the different texts; the document of each is its reference."""
    places: dict[str, int] = {}
    left, right = (
        np.array([places.setdefault(text, len(places)) for text in side], dtype=np.int64)
        for side in (candidates, references)
    )
    corpus = Corpus.of(list(places))
    pairs = Pairs(corpus.take(left), corpus.take(right))
    return PairBatch(0, pairs, {"document": pairs.right.keys, **columns})


def divide_known(over: Floats, under: Floats) -> Floats:
    """Return a quotient; NaN where nothing was counted."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(under != 0, over / np.where(under != 0, under, 1.0), np.nan)
