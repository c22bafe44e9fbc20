"""The contract every metric keeps, as checks anyone can run on a metric of their own.

>>> from textgauge import get_metric
>>> check_metric(get_metric("jsd@words"))
>>> check_metric(get_metric("jaccard"))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textgauge.metrics import CorpusMetric, Metric
from textgauge.testing.corpus_checks import CORPUS_CHECKS, without_models
from textgauge.testing.declared_checks import DECLARED_CHECKS
from textgauge.testing.pair_checks import PAIR_CHECKS

__all__ = ["check_metric", "checks_of", "without_models"]


def checks_of(metric: Metric) -> tuple[Callable[[Any], None], ...]:
    """All checks that apply to a metric: those of any metric, and those of its kind."""
    return (*DECLARED_CHECKS, *(CORPUS_CHECKS if isinstance(metric, CorpusMetric) else PAIR_CHECKS))


def check_metric(metric: Metric) -> None:
    """Run every check on the metric; raises AssertionError with what is wrong."""
    for check in checks_of(metric):
        check(metric)
