"""How large a task may be: its sizes, what each takes, and the largest one that fits the time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from textgauge.data import Corpus, Pool
from textgauge.evaluate.protocols import MatrixBatch, PairSources, Protocol, TaskSources
from textgauge.evaluate.protocols.batch import Batch
from textgauge.evaluate.recommend.budget import Clock
from textgauge.evaluate.recommend.texts import Embedded
from textgauge.metrics import PairMetric

# Parameters by which a task becomes smaller, and the least that still tells metrics apart.
_SMALLER = {"n": 20, "documents_drawn": 10}
_FEWEST_IN_FOLD = {"retrieval": 15}  # documents: among fewer, all are near the top; folds become fewer instead
_FEWEST_FOLDS = {"clustering": 3}  # where each fold has `n` texts: fewer folds are the last step
_LEAST = {"clustering": 35}  # texts: among fewer, hardly two share a label
_STEP = np.sqrt(0.5)
_MARGIN = 1.6  # times that embedding may take longer than a few texts say: texts of a size given up are lost


@dataclass(frozen=True, eq=False)
class Sized:
    """A task of some size, with its trials."""

    protocol: Protocol
    sources: TaskSources | PairSources
    seed: int

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """All trials; drawing them takes time."""
        return tuple(self.protocol.trials(self.sources, self.seed))

    @property
    def trials(self) -> int:
        """How many there are."""
        return sum(map(len, self.batches))

    @cached_property
    def corpus(self) -> Corpus:
        """The different texts of all trials."""
        return Corpus.of(sorted({text for pool in pools(self.batches) for text in pool.texts}))

    def like(self, other: Sized) -> tuple[float, float]:
        """About how many trials and texts another size has, from those of this one; nothing is drawn for it."""
        sides = 2 if isinstance(self.batches[0], MatrixBatch) else 1
        larger, folds = _amount(other.protocol) / _amount(self.protocol), _folds(other.protocol) / _folds(self.protocol)
        if self.protocol.name in _FEWEST_IN_FOLD:
            return self.trials * larger**sides / folds, len(self.corpus) * larger
        return self.trials * larger**sides * folds, len(self.corpus) * larger * folds


def smaller_ones(protocol: Protocol) -> Iterator[Protocol]:
    """The protocol, then with fewer texts each time, as long as that tells metrics apart.

    >>> from textgauge.evaluate.protocols import Clustering, Retrieval
    >>> [(smaller.n, smaller.folds) for smaller in smaller_ones(Clustering())]
    [(150, 5), (106, 5), (75, 5), (53, 5), (37, 5), (37, 3)]
    >>> [(smaller.n, smaller.folds) for smaller in smaller_ones(Retrieval())]
    [(250, 5), (176, 5), (125, 5), (88, 5), (62, 4), (44, 2), (31, 2), (22, 1)]
    """
    yield protocol
    name, whole, steps = _name(protocol), protocol, 1
    least = _LEAST.get(whole.name, _SMALLER.get(name or "", 0))
    while name is not None and (fewer := int(getattr(whole, name) * _STEP**steps + 1e-9)) >= least:
        changed, steps = {name: fewer}, steps + 1
        if whole.name in _FEWEST_IN_FOLD:
            changed["folds"] = max(1, min(_folds(whole), fewer // _FEWEST_IN_FOLD[whole.name]))
        protocol = replace(whole, **changed)
        yield protocol
    if _folds(protocol) > _FEWEST_FOLDS.get(protocol.name, np.inf):
        changed = {"folds": _FEWEST_FOLDS[protocol.name]}
        yield replace(protocol, **changed)


def _name(protocol: Protocol) -> str | None:
    return next((item.name for item in fields(protocol) if item.name in _SMALLER), None)


def _amount(protocol: Protocol) -> float:
    return float(getattr(protocol, _name(protocol) or "", 1))


def _folds(protocol: Protocol) -> int:
    return int(getattr(protocol, "folds", 1))


@dataclass(frozen=True)
class Costs:
    """Seconds of one trial by metric, of one text by embedder, of judging one trial; and on what each metric stands."""

    trial: Mapping[str, float]
    on: Mapping[str, str | None]
    text: Mapping[str, float]
    judging: float

    def embedding(self, texts: float) -> float:
        """The seconds that embedding so many texts takes."""
        used = {self.on.get(metric) for metric in self.trial}
        return texts * sum(each for name, each in self.text.items() if name in used)

    def scoring(self, trials: float) -> float:
        """The seconds that metrics and judging take for so many trials."""
        return trials * (sum(self.trial.values()) + self.judging * len(self.trial))

    def total(self, trials: float, texts: float) -> float:
        """The seconds of all."""
        return self.embedding(texts) + self.scoring(trials)

    def with_margin(self, trials: float, texts: float) -> float:
        """The seconds that should be there before a size is begun that is not the smallest."""
        return _MARGIN * self.embedding(texts) + self.scoring(trials)

    def without(self, metric: str) -> Costs:
        """Those of the other metrics."""
        return replace(self, trial={name: each for name, each in self.trial.items() if name != metric})

    def slower(self, pace: float) -> Costs:
        """With encoders that take so many seconds a text together, where that is more than was thought."""
        factor = max(pace / max(self.embedding(1), 1e-9), 1.0)
        return replace(self, text={name: each * factor for name, each in self.text.items()})


def largest(sizes: Sequence[Sized], costs: Costs, seconds: float) -> int:
    """The place of the largest size that seems to fit, judged by the smallest one; the last place if none does."""
    fitting = (place for place, size in enumerate(sizes) if costs.with_margin(*sizes[-1].like(size)) <= seconds)
    return next(fitting, len(sizes) - 1)


def without_slowest(costs: Costs, trials: float, texts: float, seconds: float) -> tuple[Costs, list[tuple[str, float]]]:
    """Costs of the metrics that fit the time, one at least; and those that must go, with what all so far would take.

    The metric goes that saves most.

    >>> costs = Costs({"a": 1.0, "b": 2.0, "c": 0.1}, {"c": "slow encoder"}, {"slow encoder": 9.0}, 0.0)
    >>> left, gone = without_slowest(costs, trials=1, texts=1, seconds=4.0)
    >>> list(left.trial), gone
    (['a', 'b'], [('c', 12.1)])
    """
    gone = []
    while len(costs.trial) > 1 and (together := costs.total(trials, texts)) > seconds:
        slowest = min(costs.trial, key=lambda name: costs.without(name).total(trials, texts))
        gone.append((slowest, together))
        costs = costs.without(slowest)
    return costs, gone


def embedded(batches: Sequence[Batch], metrics: Sequence[PairMetric], clock: Clock, *, seconds: float) -> float | None:
    """Give all texts of these batches the rows that metrics need; None once done.

    Gives the seconds that one text takes as soon as it is clear that not all will be done in so many seconds.
    """
    share = (clock.spent + seconds) / clock.budget
    for pool in pools(batches):
        found = Embedded(Corpus(pool, np.arange(pool.size)), metrics)
        if not found.reach(range(pool.size), clock, share=share, whole=True):
            return found.pace
        found.hand_over()
    return None


def pools(batches: Sequence[Batch]) -> list[Pool]:
    """The pools of these batches, each once."""
    found = [batch.pairs.left.pool if hasattr(batch, "pairs") else batch.rows.pool for batch in batches]  # type: ignore[attr-defined]
    return list({id(pool): pool for pool in found}.values())
