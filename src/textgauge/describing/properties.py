"""The table: every property of a generated corpus with its interval, and of test and train as yardsticks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.describing.measured import Measured
from textgauge.metrics.properties.counting import Interval, share_interval
from textgauge.metrics.properties.coverage import Estimate, f1, mean, perplexity
from textgauge.metrics.properties.nearest import Nearest
from textgauge.metrics.properties.repetition import repetition
from textgauge.metrics.properties.uniqueness import distinct_interval, unique_interval
from textgauge.metrics.properties.vocabulary import vocab_interval
from textgauge.tabular import plain_row

NEAR_COPY = 0.9  # SynSim: one word in nine is another
COVERED = 0.05  # train is as near or nearer to all but this share of the test texts
_NO_INTERVAL = "no interval: none that was tried holds its level"


@dataclass(frozen=True, kw_only=True)
class Property:
    """One property of one corpus; `test` and `train` are the same property of the yardsticks.

    `reason` tells why the value, or its interval, is missing; `test_reason` and `train_reason` why a yardstick is.
    """

    corpus: str
    property: str
    value: float
    low: float = math.nan
    high: float = math.nan
    test: float = math.nan
    train: float = math.nan
    backend: str | None = None
    reason: str | None = None
    test_reason: str | None = None
    train_reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """A flat dictionary; NaN becomes None."""
        return plain_row(asdict(self))


@dataclass(frozen=True)
class Asked:
    """What the estimates depend on besides the corpus."""

    level: float
    ci: bool
    reach: float
    """The similarity to generated texts from which a test text is covered; NaN where there is none."""


def table(
    generated: tuple[Measured, ...],
    test: Measured | None,
    train: Measured,
    *,
    backends: Mapping[str, str],
    asked: Asked,
) -> Iterator[Property]:
    """All properties of all generated corpora."""
    for measured in generated:
        for name, estimate in ESTIMATES.items():
            mine = estimate(measured, asked)
            found = Property(corpus=measured.name, property=name, value=mine.value, backend=backends.get(_part(name)))
            if asked.ci:
                found = replace(found, low=mine.low, high=mine.high)
            yield _with_reasons(found, measured, _yardstick(name, test, asked), _yardstick(name, train, asked))


def reach_of_train(train: Measured) -> float:
    """The similarity that train has to all but 5 % of the test texts."""
    return math.nan if train.covered is None else float(np.quantile(train.covered.similarity, COVERED))


def _yardstick(name: str, measured: Measured | None, asked: Asked) -> tuple[float, str | None]:
    if measured is None:
        return math.nan, "no test texts were given"
    value = ESTIMATES[name](measured, asked).value
    return value, (measured.reasons.get(_part(name)) or "undefined") if math.isnan(value) else None


def _with_reasons(
    found: Property, measured: Measured, test: tuple[float, str | None], train: tuple[float, str | None]
) -> Property:
    reason = None
    if math.isnan(found.value):
        reason = measured.reasons.get(_part(found.property)) or "undefined: too few texts, or none with words"
    elif found.property == "repetition":
        reason = _NO_INTERVAL
    return replace(found, reason=reason, test=test[0], test_reason=test[1], train=train[0], train_reason=train[1])


def _part(name: str) -> str:
    """What a property is made of: its backend and its reason are named after that."""
    return {"distinct": "unique", "repetition": "unique", "covered": "semantic", "near_copies": "syntactic"}.get(
        name, name.partition("_")[0]
    )


def _unique(measured: Measured, asked: Asked) -> Estimate:
    return Estimate(measured.counts.unique, *unique_interval(measured.counts, level=asked.level))


def _distinct(measured: Measured, asked: Asked) -> Estimate:
    return Estimate(measured.counts.distinct, *distinct_interval(measured.counts, level=asked.level))


def _repetition(measured: Measured, _: Asked) -> Estimate:
    return Estimate(repetition(measured.modes.sizes))


def _vocab(measured: Measured, asked: Asked) -> Estimate:
    return Estimate(float(len(measured.terms.terms)), *vocab_interval(measured.terms, level=asked.level))


def _grammar(measured: Measured, asked: Asked) -> Estimate:
    found = mean(measured.per_text().get("grammar", np.empty(0)), level=asked.level)
    return replace(found, low=max(found.low, 0.0))


def _plausibility(measured: Measured, asked: Asked) -> Estimate:
    return Estimate() if measured.surprise is None else perplexity(*measured.surprise, level=asked.level)


def _shares(values: NDArray[np.bool_], asked: Asked) -> Estimate:
    share, n = float(values.mean()), len(values)
    ends: Interval = share_interval(share, share * (1 - share) / n, n=n, level=asked.level)
    return Estimate(share, *ends)


def _covered(measured: Measured, asked: Asked) -> Estimate:
    return Estimate() if measured.covered is None else _shares(measured.covered.similarity >= asked.reach, asked)


def _near_copies(measured: Measured, asked: Asked) -> Estimate:
    return Estimate() if measured.syntactic is None else _shares(measured.syntactic.similarity >= NEAR_COPY, asked)


def _best(found: Nearest | None, asked: Asked) -> Estimate:
    if found is None:
        return Estimate()
    value = mean(found.similarity, level=asked.level)
    return replace(value, high=min(value.high, 1.0))


def _f1(one: Nearest | None, other: Nearest | None, asked: Asked) -> Estimate:
    return Estimate() if one is None or other is None else f1(one.similarity, other.similarity, level=asked.level)


ESTIMATES: dict[str, Callable[[Measured, Asked], Estimate]] = {
    "unique": _unique,
    "distinct": _distinct,
    "repetition": _repetition,
    "vocab": _vocab,
    "grammar": _grammar,
    "plausibility": _plausibility,
    "semantic_precision": lambda measured, asked: _best(measured.semantic, asked),
    "semantic_recall": lambda measured, asked: _best(measured.covered, asked),
    "semantic_f1": lambda measured, asked: _f1(measured.semantic, measured.covered, asked),
    "covered": _covered,
    "syntactic_precision": lambda measured, asked: _best(measured.syntactic, asked),
    "syntactic_recall": lambda measured, asked: _best(measured.echoed, asked),
    "syntactic_f1": lambda measured, asked: _f1(measured.syntactic, measured.echoed, asked),
    "near_copies": _near_copies,
}
