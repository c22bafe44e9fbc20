"""Experiments of several sizes: one protocol on more or fewer texts, from all there are down to few."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from textgauge.arrays import Ints
from textgauge.data import Pairs, Pool
from textgauge.errors import InputError
from textgauge.evaluate.protocols import (
    Agreement,
    CorpusBatch,
    Ksc,
    MatrixBatch,
    Observations,
    PairBatch,
    PairSources,
    Protocol,
    Sources,
    TaskSources,
)
from textgauge.evaluate.protocols.batch import Batch
from textgauge.evaluate.sources import Data

_MIXTURES = (100, 70, 50, 30, 20, 12)  # texts of a mixture; always five repetitions, as fewer rarely separate metrics
_PILOT_MIXTURES = (12, 40, 100)
_PILOT_TRIALS = (8, 30, 200)
_ENOUGH_PAIRS, _FEW_PAIRS, _LAST_PAIRS = 200, (140, 100), (70, 50, 35)
_PAIRS_PER_SECOND = 1_000  # of the budget: more cannot be scored and judged in the time
_FEWER_PAIRS, _FEWER_TEXTS = 2**-0.25, np.sqrt(0.5)
# The parameter by which a task becomes smaller, and the least that still separates metrics.
_SMALLEST = {"n": 20, "documents_drawn": 10}
_SMALLEST_OF = {"clustering": 35}  # texts: of fewer, hardly two share a label
_IN_FOLD = {"retrieval": 15}  # documents: among fewer, all are near the top; there are fewer folds instead
_LAST_FOLDS = {"clustering": 3}


@dataclass(frozen=True, eq=False)
class Experiment:
    """A protocol on data, with trials that live in pools of just the texts they use."""

    protocol: Protocol
    sources: Data
    seed: int = 0

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """All trials; each batch has a pool of its own."""
        return tuple(batch.compact(()) for batch in self.protocol.trials(self.sources, self.seed))

    @property
    def trials(self) -> int:
        """How many trials there are."""
        return sum(map(len, self.batches))

    @property
    def amount(self) -> float:
        """The size of a batch on average: the texts of its corpora, or its pairs."""
        return float(np.mean([size_of(batch) for batch in self.batches]))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The different texts of all trials; none where embeddings are all there is."""
        pools = [pool for pool in map(pool_of, self.batches) if pool.has_texts]
        return tuple(dict.fromkeys(text for pool in pools for text in pool.texts))

    def judge_random(self, judge: Callable[[Observations], object]) -> Callable[[], object]:
        """What judges random values of all trials, to see how long that takes."""
        columns = {name: np.concatenate([b.columns[name] for b in self.batches]) for name in self.batches[0].columns}
        numbers = np.concatenate([np.full(len(batch), batch.number) for batch in self.batches])
        values = Observations(np.random.default_rng(0).random(len(numbers)), numbers, columns)
        return lambda: judge(values)


@dataclass(frozen=True, eq=False)
class Ladder:
    """Experiments from the largest to the smallest that is sensible (`steps`).

    Those from the place `enough` on may take as long as the smallest run may. Those of `last_resort` are for
    data of which not even one metric fits the time otherwise. `pilots` are batches of rising size to time metrics on.
    Time grows by a power of the size within `growth`; `judge` is what is done with the values of a metric.
    """

    steps: tuple[Experiment, ...]
    enough: int
    last_resort: tuple[Experiment, ...]
    pilots: tuple[Batch, ...]
    growth: tuple[float, float]
    judge: Callable[[Observations], object]


def size_of(batch: Batch) -> int:
    """What the time of a batch depends on: the texts of its corpora, or its pairs."""
    return len(batch.joint) if isinstance(batch, CorpusBatch) else len(batch)


def pool_of(batch: Batch) -> Pool:
    """The pool that holds the texts of a batch."""
    if isinstance(batch, MatrixBatch):
        return batch.rows.pool
    return batch.pairs.left.pool if isinstance(batch, PairBatch) else batch.joint.pool  # type: ignore[attr-defined]


def corpora_ladder(sources: Sources, seed: int) -> Ladder:
    """Mixtures of fewer texts each time, of the whole sources or of just the texts that one repetition needs."""
    whole = largest_ksc(sources)
    steps = []
    for n in [whole.n, *(n for n in _MIXTURES if n < whole.n)]:
        protocol = replace(whole, n=n)
        few = _just_enough(sources, protocol)
        steps += [Experiment(protocol, data, seed) for data in ([sources] if few is sources else [sources, few])]
    small = Ksc(k=4, n=10)
    last = [small] if whole.k > small.k and whole.n > small.n else []
    pilots = [Ksc(k=3, n=4, repetitions=1)]
    pilots += [replace(whole, n=n, repetitions=1) for n in _PILOT_MIXTURES if n <= whole.n] or [
        replace(whole, repetitions=1)
    ]
    return Ladder(
        tuple(steps),
        max(len(steps) - 3, 0),
        tuple(Experiment(protocol, _just_enough(sources, protocol), seed) for protocol in last),
        tuple(Experiment(protocol, _just_enough(sources, protocol)).batches[0] for protocol in pilots),
        (0.0, 2.5),
        whole.judge,
    )


def largest_ksc(sources: Sources) -> Ksc:
    """The protocol, smaller only where the sources hold too few different texts for it."""
    have = min(len(np.unique(corpus.keys)) for corpus in sources.corpora.values())
    for k, least in ((7, 10), (5, 10), (4, 10), (3, 4)):
        for n in range(min(Ksc.n, 2 * have // k), least - 1, -1):
            try:
                Ksc(k=k, n=n).check(sources)
            except InputError:
                continue
            return Ksc(k=k, n=n)
    raise InputError(f"{sources.name}: too few different texts to rank metrics; give at least 20 of each")


def _just_enough(sources: Sources, protocol: Ksc) -> Sources:
    """The first texts of both sources, as many as one repetition needs; the sources themselves if these are all."""
    rows = {role: np.unique(corpus.keys, return_index=True)[1] for role, corpus in sources.corpora.items()}
    count = -(-protocol.k * protocol.n // 2) + protocol.k
    if all(len(own) <= count for own in rows.values()):
        return sources
    return Sources(sources.name, {role: sources.corpora[role].take(own[:count]) for role, own in rows.items()})


def in_turns(sources: Sources) -> Ints:
    """Rows of all different texts of the joint corpus, both sources in turn.

    The order is that of a hash of their content, which is as good as random.
    """
    sides = [np.unique(sources.corpora[role].keys, return_index=True)[1] for role in ("a", "b")]
    place = np.concatenate([np.arange(len(side)) for side in sides])
    return np.concatenate([sides[0], sides[1] + len(sources.corpora["a"])])[np.argsort(place, kind="stable")]


def pairs_ladder(sources: PairSources, seed: int, seconds: float, judge: Callable[[Observations], object]) -> Ladder:
    """Agreement with ratings on fewer pairs each time; a smaller number are the first ones of a larger."""
    there = sources.pairs.n_items
    counts = [min(there, int(_PAIRS_PER_SECOND * seconds))]
    while (fewer := int(counts[-1] * _FEWER_PAIRS)) > _ENOUGH_PAIRS:
        counts.append(fewer)
    few = [count for count in (_ENOUGH_PAIRS, *_FEW_PAIRS) if count < there]
    steps = [Experiment(Agreement(), first_pairs(sources, count, seed), seed) for count in [*counts, *few]]
    last = [Experiment(Agreement(), first_pairs(sources, n, seed), seed) for n in _LAST_PAIRS if n < there]
    some = Experiment(Agreement(), first_pairs(sources, _PILOT_TRIALS[-1], seed), seed)
    return _of_pairs(steps, len(steps) - max(len(few), 1), last, (some.batches[0], steps[-1].batches[0]), judge)


def first_pairs(sources: PairSources, count: int, seed: int) -> PairSources:
    """The first pairs of a random order that depends on the seed alone, in the order of the data."""
    there = sources.pairs.n_items
    if count >= there:
        return sources
    pairs = np.sort(np.random.default_rng([seed, 9]).permutation(there)[:count])
    of_pair = np.arange(there) if sources.items is None else sources.items
    rights = np.flatnonzero(np.isin(of_pair, pairs))
    items = None if sources.items is None else np.searchsorted(pairs, of_pair[rights])
    columns = {name: column[pairs] for name, column in sources.columns.items()}
    return PairSources(sources.name, sources.left.take(pairs), sources.right.take(rights), columns, items)


def task_ladder(protocol: Protocol, sources: TaskSources | PairSources, seed: int) -> Ladder:
    """A task with fewer texts each time."""
    protocol.check(sources)
    steps = [Experiment(smaller, sources, seed) for smaller in smaller_tasks(protocol)]
    smallest = steps[-1].batches[0]
    return _of_pairs(steps, len(steps) - 1, [], (smallest, smallest), protocol.judge)


def smaller_tasks(protocol: Protocol) -> Iterator[Protocol]:
    """The protocol, then with fewer texts each time, as long as that separates metrics.

    >>> from textgauge.evaluate.protocols import Clustering, Retrieval
    >>> [(smaller.n, smaller.folds) for smaller in smaller_tasks(Clustering())]
    [(150, 5), (106, 5), (75, 5), (53, 5), (37, 5), (37, 3)]
    >>> [(smaller.n, smaller.folds) for smaller in smaller_tasks(Retrieval())]
    [(250, 5), (176, 5), (125, 5), (88, 5), (62, 4), (44, 2), (31, 2), (22, 1)]
    """
    yield protocol
    task, folds, smaller = protocol.name, getattr(protocol, "folds", 1), protocol
    parameter = next((item.name for item in fields(protocol) if item.name in _SMALLEST), "")
    amount, least = getattr(protocol, parameter, 0), _SMALLEST_OF.get(task, _SMALLEST.get(parameter, 1))
    while (amount := amount * _FEWER_TEXTS) >= least:
        count = int(amount + 1e-9)
        changed = {parameter: count}
        if task in _IN_FOLD:
            changed["folds"] = max(1, min(folds, count // _IN_FOLD[task]))
        smaller = replace(protocol, **changed)
        yield smaller
    if folds > _LAST_FOLDS.get(task, np.inf):
        yield replace(smaller, **{"folds": _LAST_FOLDS[task]})


def _of_pairs(
    steps: list[Experiment],
    enough: int,
    last: list[Experiment],
    some: tuple[Batch, Batch],
    judge: Callable[[Observations], object],
) -> Ladder:
    """A ladder of pair metrics, whose time grows with the number of pairs; pilots are parts of `some` batches."""
    *small, large = _PILOT_TRIALS
    pilots = (*(part_of(some[1], count) for count in small), part_of(some[0], large))
    return Ladder(tuple(steps), enough, tuple(last), pilots, (1.0, 1.0), judge)


def part_of(batch: Batch, count: int) -> Batch:
    """About this many trials of a batch of pairs, chosen at random; weights of fitted metrics are those of the part."""
    rng = np.random.default_rng(count)
    if not isinstance(batch, MatrixBatch):
        some = batch.pairs.take(np.sort(rng.permutation(len(batch))[:count]))  # type: ignore[attr-defined]
        return PairBatch(batch.number, Pairs(some.left, some.right, items=some.items), {}).compact(())
    side = 1 + int(np.ceil(np.sqrt(count if batch.others is not None else 2 * count)))
    rows = batch.rows.take(rng.permutation(len(batch.rows))[:side])
    others = None if batch.others is None else batch.others.take(rng.permutation(len(batch.others))[:side])
    background = rows if others is None else rows | others
    return MatrixBatch(batch.number, rows, others, {}, background).compact(())
