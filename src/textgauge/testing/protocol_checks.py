"""What a protocol must keep: trials that seed and texts alone decide, and a verdict within bounds for any values."""

from __future__ import annotations

import json
import math
import pickle
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from textgauge.bench import Batch, CorpusBatch, Observations, Protocol, Sources, Verdict, list_protocols
from textgauge.bench.inputs import DataKind, Paraphrases, RatedPairs, TaskTable, TwoCorpora
from textgauge.bench.sources import Data
from textgauge.core.arrays import Floats
from textgauge.data import Corpus
from textgauge.testing.metric_checks import get_global_state, list_checks

_SEED = 3
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class ProtocolCase:
    """A protocol and data that it runs on; the smaller, the faster are the checks."""

    protocol: Protocol
    data: Data

    @property
    def batches(self) -> list[Batch]:
        """Its trials, drawn anew each time."""
        return list(self.protocol.trials(self.data, _SEED))

    def judged(self, value: Callable[[int], Floats]) -> list[Verdict]:
        """Return the verdicts on a metric that has these values, given the number of trials."""
        metric = "energy" if self.protocol.of == "corpora" else "jaccard"
        batches = self.batches
        others = {key: _make_observations(batches, _draw_spread_out) for key in self.protocol.also([metric])}
        return self.protocol.judge_all({**others, metric: _make_observations(batches, value)})[metric]


def check_declared(case: ProtocolCase) -> None:
    """Check that it has a name of lower-case words, says what it is, and declares its data and measures."""
    kind = type(case.protocol)
    assert re.fullmatch(r"[a-z][a-z0-9_-]*", kind.name), f"{kind.name!r} is no name"
    assert list_protocols().get(kind.name) is kind, f"{kind.name} is not registered: use @register_protocol"
    assert (kind.__doc__ or "").strip(), "a protocol needs a docstring"
    assert isinstance(kind.data, DataKind), "`data` declares no kind of data"
    assert kind.version >= 1, f"version {kind.version}"
    names = [measure.name for measure in kind.measures]
    assert names and len(set(names)) == len(names), f"measures {names}"
    assert all(measure.low != measure.high for measure in kind.measures), "a measure has a range of no width"


def check_value_object(case: ProtocolCase) -> None:
    """Check that it is a value: it pickles to an equal one, its options survive JSON, and its key has its version."""
    protocol = case.protocol
    assert pickle.loads(pickle.dumps(protocol)) == protocol  # noqa: S301, our own bytes
    assert type(protocol)(**json.loads(json.dumps(asdict(protocol)))) == protocol, "its options change in JSON"
    assert hash(replace(protocol)) == hash(protocol)
    assert protocol.key.startswith(protocol.name), f"its key is {protocol.key}"
    assert f"v{protocol.version}" in protocol.key, "its key lacks its version: stored results would be mixed up"


def check_trials(case: ProtocolCase) -> None:
    """Check that it has trials; batches have numbers of their own, and a cell in every column for each trial."""
    batches = case.batches
    assert sum(map(len, batches)), "there are no trials"
    assert len({batch.number for batch in batches}) == len(batches), "two batches have the same number"
    for batch in batches:
        assert set(batch.columns) == set(batches[0].columns), "batches have different columns"
        for name, column in batch.columns.items():
            assert len(column) == len(batch), f"column {name} has {len(column)} cells for {len(batch)} trials"
    numbers = list(case.protocol.batch_numbers(case.data, _SEED))
    assert numbers == [batch.number for batch in case.batches], "`batch_numbers` are not those of its trials"


def check_repeatable(case: ProtocolCase) -> None:
    """Check that the same seed gives the same trials, and numpy's global random state is left alone."""
    before = get_global_state()
    first, second = (list(map(_list_content, case.batches)) for _ in range(2))
    assert first == second, "the same seed gives other trials"
    assert get_global_state() == before, "the global random state was used"


def check_order(case: ProtocolCase) -> None:
    """Check that the order of the texts in the source corpora does not matter."""
    if not isinstance(case.data, Sources) or not case.data.corpora:
        return
    backwards = {role: corpus.take(range(len(corpus))[::-1]) for role, corpus in case.data.corpora.items()}
    turned = replace(case, data=Sources(case.data.name, backwards))
    assert list(map(_list_content, case.batches)) == list(map(_list_content, turned.batches)), (
        "the order of the texts matters"
    )


def check_measures(case: ProtocolCase) -> None:
    """Random, constant and widely spread values get declared measures, none beyond its best end, or a reason."""
    for values in _VALUES:
        _check_verdicts(case.protocol, case.judged(values))


def check_undefined(case: ProtocolCase) -> None:
    """Where a metric has no values, so have its measures, with a reason; one missing value is no crash."""
    verdicts = case.judged(lambda n: np.full(n, np.nan))
    _check_verdicts(case.protocol, verdicts)
    assert all(math.isnan(verdict.value) for verdict in verdicts), "a metric without any value gets a measure"
    _check_verdicts(case.protocol, case.judged(lambda n: np.where(np.arange(n) == 0, np.nan, _draw_random(n))))


def check_pure(case: ProtocolCase) -> None:
    """Judging twice gives the same verdicts, and leaves the observations as they were."""
    kept = _draw_random(sum(map(len, case.batches)))
    before = kept.copy()
    first, second = (case.judged(lambda _: kept) for _ in range(2))
    assert np.array_equal(kept, before), "judging changes the observations"
    assert repr(first) == repr(second), "judging twice gives other verdicts"


PROTOCOL_CHECKS = list_checks(globals())


def _check_verdicts(protocol: Protocol, verdicts: list[Verdict]) -> None:
    declared = {measure.name: measure for measure in protocol.measures}
    unknown = sorted({verdict.measure for verdict in verdicts} - set(declared))
    assert verdicts and not unknown, f"measures that are not declared: {unknown}" if unknown else "there is no verdict"
    for verdict in verdicts:
        measure = declared[verdict.measure]
        assert verdict.reason or not math.isnan(verdict.value), f"{measure.name} is NaN without a reason"
        if not math.isnan(verdict.value) and math.isfinite(measure.high - measure.low):
            share = (verdict.value - measure.low) / (measure.high - measure.low)
            beyond = share < -_ROUNDING if measure.best == "smaller" else share > 1.0 + _ROUNDING
            assert not beyond, f"{measure.name}={verdict.value} is better than its best, {measure.low}…{measure.high}"


def _draw_random(n: int) -> Floats:
    return np.random.default_rng(_SEED).random(n)


def _draw_spread_out(n: int) -> Floats:
    return 10.0 ** np.random.default_rng(_SEED).uniform(-30, 30, n)


_VALUES: tuple[Callable[[int], Floats], ...] = (_draw_random, _draw_spread_out, lambda n: np.full(n, 0.5))


def _make_observations(batches: list[Batch], value: Callable[[int], Floats]) -> Observations:
    numbers = np.concatenate([np.full(len(batch), batch.number) for batch in batches])
    columns = {name: np.concatenate([batch.columns[name] for batch in batches]) for name in batches[0].columns}
    return Observations(value(len(numbers)), numbers, {**columns, "reason": np.full(len(numbers), None)})


def _list_content(batch: Batch) -> tuple[Any, ...]:
    """Everything that a metric and the judge can see of a batch, whatever the places of texts in their pool."""
    columns = {name: column.tolist() for name, column in batch.columns.items()}
    return batch.number, repr(columns), list(_iterate_texts(batch))


def _iterate_texts(batch: Batch) -> Iterator[bytes]:
    if isinstance(batch, CorpusBatch):
        for side in (batch.draws.left, batch.draws.right):
            yield from (np.sort(batch.joint.keys[mask]).tobytes() for mask in side)
        return
    for value in vars(batch).values():
        if isinstance(value, Corpus):
            yield value.keys.tobytes()
    if pairs := getattr(batch, "pairs", None):
        yield from (side.keys.tobytes() for side in (pairs.left, pairs.right))


def load_example(kind: DataKind) -> Data:
    """Return small data of a kind: the built-in sample of a task, texts made up here, or what the kind has itself."""
    if isinstance(kind, TaskTable) and kind.samples:
        return kind.read(kind.samples[0])
    left, right = ([f"{first} {word} {n}" for n in range(30) for word in words] for first, words in _WORDS)
    pairs = {"left": left, "right": [" ".join(reversed(text.split())) for text in left]}
    given: dict[type[DataKind], dict[str, Any]] = {
        TwoCorpora: {"source_a": left, "source_b": right},
        RatedPairs: {**pairs, "rating": [float(row % 6) for row in range(len(left))]},
        Paraphrases: pairs,
    }
    return kind.load(given.get(type(kind), {}), 0)


_WORDS = (("the", ("red cat", "old dog", "new train", "far tree")), ("please", ("send money", "pay", "call", "wait")))
