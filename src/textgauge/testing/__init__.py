"""The contracts of metrics, protocols and embedders, as checks anyone can run on one of their own.

The `assert_…` functions are for tests of texts, a check of `textgauge.measure.checking` each. A contract takes
`expected_failures`: names of checks with the reason why they fail; such a check must fail.

>>> from textgauge import get_metric
>>> check_metric(get_metric("jsd@words"))
>>> check_metric(get_metric("jaccard"))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from textgauge.bench import Protocol
from textgauge.bench.sources import Data
from textgauge.data.source import Source
from textgauge.encode.embedders import Embedder
from textgauge.measure.check import Check, Outcome
from textgauge.measure.checking import run_checks
from textgauge.measure.scoring import References
from textgauge.metrics import CorpusMetric, Metric, PairMetric
from textgauge.testing.embedder_checks import EMBEDDER_CHECKS
from textgauge.testing.metric_checks import CORPUS_CHECKS, METRIC_CHECKS, PAIR_CHECKS, ContractCheck, drop_models
from textgauge.testing.protocol_checks import PROTOCOL_CHECKS, ProtocolCase, load_example

__all__ = [
    "Undecided",
    "assert_no_near_copies",
    "assert_not_worse",
    "assert_same_source",
    "check_embedder",
    "check_metric",
    "check_protocol",
    "drop_models",
    "get_checks",
]


def get_checks(metric: Metric) -> tuple[ContractCheck, ...]:
    """Return all checks that apply to a metric: those of any metric, and those of its kind."""
    return (*METRIC_CHECKS, *(CORPUS_CHECKS if isinstance(metric, CorpusMetric) else PAIR_CHECKS))


def check_metric(metric: Metric, *, expected_failures: Mapping[str, str] | None = None) -> None:
    """Run every check on the metric; raises AssertionError with what is wrong."""
    _run_checks(get_checks(metric), metric, expected_failures)


def check_protocol(
    protocol: Protocol, data: Data | None = None, *, expected_failures: Mapping[str, str] | None = None
) -> None:
    """Run every check on a protocol, with options for small data; raises AssertionError with what is wrong.

    `data` are what it runs on; made up where its kind is one of textgauge's own.
    """
    case = ProtocolCase(protocol, load_example(protocol.data) if data is None else data)
    _run_checks(PROTOCOL_CHECKS, case, expected_failures)


def check_embedder(embedder: Embedder, *, expected_failures: Mapping[str, str] | None = None) -> None:
    """Run every check on an embedder; raises AssertionError with what is wrong."""
    _run_checks(EMBEDDER_CHECKS, embedder, expected_failures)


def _run_checks(checks: Iterable[ContractCheck], subject: Any, expected_failures: Mapping[str, str] | None) -> None:
    """Run every check; one that is expected to fail must fail, and an unknown name is refused."""
    known = {check.__name__: check for check in checks}
    expected = expected_failures or {}
    unknown = sorted(set(expected) - set(known))
    assert not unknown, f"no such check: {', '.join(unknown)}; the checks are {', '.join(known)}"
    for name, check in known.items():
        try:
            check(subject)
        except AssertionError as error:
            if name not in expected:
                # pytest adds the code of the assertion, which says nothing to the author of a metric.
                message = str(error).partition("\nassert ")[0]
                raise AssertionError(message).with_traceback(error.__traceback__) from None
        else:
            assert name not in expected, f"{name} was expected to fail ({expected[name]}) and passes"


class Undecided(AssertionError):
    """A check that cannot be decided with these numbers of texts; it says how many would do."""


def assert_same_source(
    reference: Source,
    candidate: Source,
    *,
    metric: str | CorpusMetric = "energy",
    max_ratio: float = 3.0,
    level: float = 0.95,
    seed: int = 0,
) -> None:
    """Check that the candidate is not much farther from the reference than another sample of its source would be.

    `max_ratio` limits the distance over the mean distance of two corpora of these sizes from one source.

    >>> texts = [f"{colour} {thing}" for colour in "abcdefghij" for thing in "klmnopqrst"]
    >>> assert_same_source(texts[::2], texts[1::2], metric="jsd@words", max_ratio=20)
    """
    _assert(Check("drift", reference=reference, candidate=candidate, metric=metric, max_ratio=max_ratio), level, seed)


def assert_no_near_copies(
    generated: Source, train: Source, *, max_share: float = 0.05, threshold: float = 0.9, level: float = 0.95
) -> None:
    """Check that at most a share of the generated texts are near copies of train texts."""
    _assert(Check("copies", generated=generated, train=train, max=max_share, threshold=threshold), level, 0)


def assert_not_worse(
    candidate: Source,
    baseline: Source,
    reference: References,
    *,
    metric: str | PairMetric = "chrf",
    max_drop: float = 0.01,
    level: float = 0.95,
    seed: int = 0,
) -> None:
    """Check that the candidate's score against the references is at most `max_drop` worse than that of the baseline."""
    texts: Any = {"candidate": candidate, "baseline": baseline, "reference": reference}
    check = Check("score", **texts, metric=metric, max_drop=max_drop)
    _assert(check, level, seed)


def _assert(check: Check, level: float, seed: int) -> None:
    (result,) = run_checks([check], level=level, seed=seed)
    if result.outcome == Outcome.passed.value:
        return
    kind = AssertionError if result.outcome == Outcome.failed.value else Undecided
    raise kind("\n  ".join([result.line, *result.evidence]))
