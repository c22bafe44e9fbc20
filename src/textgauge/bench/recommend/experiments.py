"""Experiments of several sizes: one protocol on more or fewer texts, from all there are down to few."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from textgauge.bench.inputs.sources import Data
from textgauge.bench.protocols import (
    Agreement,
    Ksc,
    MatrixBatch,
    Observations,
    PairBatch,
    PairSources,
    Protocol,
    Sources,
    Task,
    TaskSources,
)
from textgauge.bench.protocols.batch import Batch, CorpusBatch
from textgauge.core.arrays import Ints
from textgauge.core.errors import InputError
from textgauge.data import Pairs
from textgauge.metrics import Metric

_MIXTURES = (100, 70, 50, 30, 20, 12)  # texts of a mixture
_REPETITIONS = (20, 10, 5)  # of the mixtures; fewer only at the smallest size, as they separate fewer metrics
_POOLS = 4  # times the texts of one repetition: statements about new texts need repetitions that share few texts
_PILOT_MIXTURES, _PILOT_PAIRS = (12, 30), (20, 100)
_FEWEST_PAIRS = 50
_PAIRS_PER_SECOND = 1_000  # of the budget: more cannot be scored and judged in the time
_FEWER = np.sqrt(0.5)  # of the pairs or texts, from one step to the next


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

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The different texts of all trials; none where embeddings are all there is."""
        return tuple(dict.fromkeys(text for batch in self.batches for text in texts_of(batch)))

    def random_values(self) -> Observations:
        """Random values of all trials, to see how long judging takes."""
        columns = {name: np.concatenate([b.columns[name] for b in self.batches]) for name in self.batches[0].columns}
        numbers = np.concatenate([np.full(len(batch), batch.number) for batch in self.batches])
        return Observations(np.random.default_rng(0).random(len(numbers)), numbers, columns)


@dataclass(frozen=True, eq=False)
class Ladder:
    """Experiments from the largest to the smallest, two small batches to time metrics on, and how values are judged."""

    steps: tuple[Experiment, ...]
    pilots: tuple[Batch, Batch]
    judge: Callable[[Observations], object]


def items_of(batch: Batch, metric: Metric) -> int:
    """What the time of a metric grows with: pairs, or texts, or pairs of texts where they are the ground distance."""
    if not isinstance(batch, CorpusBatch):
        return len(batch)
    return len(batch.joint) ** (1 if getattr(metric, "pair_ground", None) is None else 2)


def texts_of(batch: Batch) -> tuple[str, ...]:
    """The texts of a batch; none where embeddings are all there is."""
    return batch.pool.texts if batch.pool.has_texts else ()


def corpora_ladder(sources: Sources, seed: int) -> Ladder:
    """Mixtures of fewer texts each time, of the whole sources or of four times the texts that one repetition needs."""
    most = largest_ksc(sources)
    n = max(min(sources.fewest * 2 // most.k // _POOLS, most.n), min(_MIXTURES[-1], most.n))
    whole, steps = replace(most, n=n, repetitions=_REPETITIONS[0]), list[Experiment]()
    protocol, few = whole, sources
    for n in [whole.n, *(n for n in _MIXTURES if n < whole.n)]:
        protocol = replace(whole, n=n)
        few = _just_enough(sources, protocol)
        steps += [Experiment(protocol, data, seed) for data in ([sources] if few is sources else [sources, few])]
    steps += [Experiment(replace(protocol, repetitions=r), few, seed) for r in _REPETITIONS[1:]]
    small, large = (replace(whole, n=min(n, whole.n), repetitions=1) for n in _PILOT_MIXTURES)
    pilots = (Experiment(one, _just_enough(sources, one)).batches[0] for one in (small, large))
    return Ladder(tuple(steps), (next(pilots), next(pilots)), whole.judge)


def largest_ksc(sources: Sources) -> Ksc:
    """The protocol, smaller only where the sources hold too few different texts for it."""
    have = sources.fewest
    for k, least in ((7, 10), (5, 10), (4, 10), (3, 4)):
        for n in range(min(Ksc.n, 2 * have // k), least - 1, -1):
            try:
                Ksc(k=k, n=n).check(sources)
            except InputError:
                continue
            return Ksc(k=k, n=n)
    raise InputError(f"{sources.name}: too few different texts to rank metrics; give at least 20 of each")


def _just_enough(sources: Sources, protocol: Ksc) -> Sources:
    """The first texts of both sources, for a few repetitions; the sources themselves if these are all."""
    rows = {role: sources.distinct(role) for role in sources.corpora}
    count = _POOLS * (-(-protocol.k * protocol.n // 2) + protocol.k)
    if all(len(own) <= count for own in rows.values()):
        return sources
    return Sources(sources.name, {role: sources.corpora[role].take(own[:count]) for role, own in rows.items()})


def in_turns(sources: Sources) -> Ints:
    """Rows of all different texts of the joint corpus, both sources in turn.

    The order is that of a hash of their content, which is as good as random.
    """
    sides = sources.sides
    place = np.concatenate([np.arange(len(side)) for side in sides])
    return np.concatenate(sides)[np.argsort(place, kind="stable")]


def pairs_ladder(sources: PairSources, seed: int, seconds: float, judge: Callable[[Observations], object]) -> Ladder:
    """Agreement with ratings on fewer pairs each time; a smaller number are the first ones of a larger."""
    counts = [min(sources.pairs.n_items, int(_PAIRS_PER_SECOND * seconds))]
    while (fewer := int(counts[-1] * _FEWER)) >= _FEWEST_PAIRS:
        counts.append(fewer)
    steps = tuple(Experiment(Agreement(), first_pairs(sources, count, seed), seed) for count in counts)
    some = Experiment(Agreement(), first_pairs(sources, _PILOT_PAIRS[-1], seed), seed).batches[0]
    return Ladder(steps, _parts(some), judge)


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
    scores = {name: column[pairs] for name, column in sources.scores.items()}
    return PairSources(sources.name, sources.left.take(pairs), sources.right.take(rights), columns, items, scores)


def task_ladder(protocol: Task, sources: TaskSources | PairSources, seed: int) -> Ladder:
    """A task with fewer texts each time."""
    protocol.check(sources)
    steps = tuple(Experiment(smaller, sources, seed) for smaller in smaller_tasks(protocol))
    return Ladder(steps, _parts(steps[-1].batches[0]), protocol.judge)


def smaller_tasks(protocol: Task) -> Iterator[Task]:
    """The protocol, then with fewer texts each time, as long as that separates metrics.

    >>> from textgauge.bench.protocols import Clustering, Retrieval
    >>> [(smaller.n, smaller.folds) for smaller in smaller_tasks(Clustering())]
    [(150, 5), (106, 5), (75, 5), (53, 5), (37, 5)]
    >>> [(smaller.n, smaller.folds) for smaller in smaller_tasks(Retrieval())]
    [(250, 5), (176, 5), (125, 5), (88, 5), (62, 4), (44, 2), (31, 2), (22, 1)]
    """
    yield protocol
    amount: float = getattr(protocol, protocol.size, 0)
    while (amount := amount * _FEWER) >= protocol.smallest:
        changed = {protocol.size: int(amount + 1e-9)}
        if protocol.in_fold:
            changed["folds"] = max(1, min(getattr(protocol, "folds", 1), changed[protocol.size] // protocol.in_fold))
        yield replace(protocol, **changed)


def _parts(batch: Batch) -> tuple[Batch, Batch]:
    small, large = _PILOT_PAIRS
    return part_of(batch, small), part_of(batch, large)


def part_of(batch: Batch, count: int) -> Batch:
    """About this many trials of a batch of pairs, chosen at random; weights of fitted metrics are those of the part."""
    rng = np.random.default_rng(count)
    if not isinstance(batch, MatrixBatch):
        some = batch.pairs.take(np.sort(rng.permutation(len(batch))[:count]))  # type: ignore[attr-defined]
        return PairBatch(
            batch.number, Pairs(some.left, some.right, items=some.items, columns=some.columns), {}
        ).compact(())
    side = 1 + int(np.ceil(np.sqrt(count if batch.others is not None else 2 * count)))
    rows = batch.rows.take(rng.permutation(len(batch.rows))[:side])
    others = None if batch.others is None else batch.others.take(rng.permutation(len(batch.others))[:side])
    background = rows if others is None else rows | others
    return MatrixBatch(batch.number, rows, others, {}, background).compact(())
