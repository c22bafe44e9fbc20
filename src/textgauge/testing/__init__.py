"""The contracts of metrics, properties, protocols and embedders, as checks anyone can run on one of their own.

The `assert_…` functions are for tests of texts, a check of `textgauge.measure.checking` each. A contract takes
`expected_failures`: names of checks with the reason why they fail; such a check must fail.

>>> from textgauge import get_metric
>>> check_metric(get_metric("jsd@words"))
>>> check_metric(get_metric("jaccard"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from textgauge.bench.inputs.sources import Data
from textgauge.bench.protocols import Protocol
from textgauge.encode.embedders import Embedder
from textgauge.metrics import CorpusMetric, Metric
from textgauge.metrics.properties import CorpusProperty
from textgauge.testing.asserts import Undecided, assert_no_near_copies, assert_not_worse, assert_same_source
from textgauge.testing.corpus_checks import CORPUS_CHECKS, without_models
from textgauge.testing.declared_checks import DECLARED_CHECKS
from textgauge.testing.embedder_checks import EMBEDDER_CHECKS
from textgauge.testing.pair_checks import PAIR_CHECKS
from textgauge.testing.property_checks import PROPERTY_CHECKS
from textgauge.testing.protocol_checks import PROTOCOL_CHECKS, ProtocolCase

__all__ = [
    "Undecided",
    "assert_no_near_copies",
    "assert_not_worse",
    "assert_same_source",
    "check_embedder",
    "check_metric",
    "check_property",
    "check_protocol",
    "checks_of",
    "without_models",
]


Check = Callable[[Any], None]


def checks_of(metric: Metric) -> tuple[Check, ...]:
    """All checks that apply to a metric: those of any metric, and those of its kind."""
    return (*DECLARED_CHECKS, *(CORPUS_CHECKS if isinstance(metric, CorpusMetric) else PAIR_CHECKS))


def check_metric(metric: Metric, *, expected_failures: Mapping[str, str] | None = None) -> None:
    """Run every check on the metric; raises AssertionError with what is wrong."""
    _run_checks(checks_of(metric), metric, expected_failures)


def check_property(known: CorpusProperty, *, expected_failures: Mapping[str, str] | None = None) -> None:
    """Run every check on a property of generated corpora; raises AssertionError with what is wrong."""
    _run_checks(PROPERTY_CHECKS, known, expected_failures)


def check_protocol(
    protocol: Protocol, data: Data | None = None, *, expected_failures: Mapping[str, str] | None = None
) -> None:
    """Run every check on a protocol, with options for small data; raises AssertionError with what is wrong.

    `data` are what it runs on; made up where its kind is one of textgauge's own.
    """
    _run_checks(PROTOCOL_CHECKS, ProtocolCase.of(protocol, data), expected_failures)


def check_embedder(embedder: Embedder, *, expected_failures: Mapping[str, str] | None = None) -> None:
    """Run every check on an embedder; raises AssertionError with what is wrong."""
    _run_checks(EMBEDDER_CHECKS, embedder, expected_failures)


def _run_checks(checks: Iterable[Check], subject: Any, expected_failures: Mapping[str, str] | None) -> None:
    """Run every check; one that is expected to fail must fail, and an unknown name is refused."""
    known = {check.__name__: check for check in checks}
    expected = expected_failures or {}
    unknown = sorted(set(expected) - set(known))
    assert not unknown, f"no such check: {', '.join(unknown)}; the checks are {', '.join(known)}"
    for name, check in known.items():
        if name not in expected:
            _run(check, subject)
        elif not _fails(check, subject):
            raise AssertionError(f"{name} was expected to fail ({expected[name]}) and passes")


def _run(check: Check, subject: Any) -> None:
    """Run a check; pytest adds the code of the assertion to a message, which says nothing to the author of a metric."""
    try:
        check(subject)
    except AssertionError as error:
        said = str(error).partition("\nassert ")[0]
        raise AssertionError(said).with_traceback(error.__traceback__) from None


def _fails(check: Check, subject: Any) -> bool:
    try:
        check(subject)
    except AssertionError:
        return True
    return False
