"""Assertions for tests of texts: each runs one check and raises with its line and evidence where it does not pass."""

from __future__ import annotations

from typing import Any

from textgauge.data.source import Source
from textgauge.measure.checking import Check, CopiesCheck, DriftCheck, Outcome, ScoreCheck, run_checks
from textgauge.measure.scoring.score import References
from textgauge.metrics import CorpusMetric, PairMetric


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
    """The candidate is not much farther from the reference than another sample of its source would be.

    `max_ratio` limits the distance over the mean distance of two corpora of these sizes from one source.

    >>> texts = [f"{colour} {thing}" for colour in "abcdefghij" for thing in "klmnopqrst"]
    >>> assert_same_source(texts[::2], texts[1::2], metric="jsd@words", max_ratio=20)
    """
    _assert(DriftCheck(reference=reference, candidate=candidate, metric=metric, max_ratio=max_ratio), level, seed)


def assert_no_near_copies(
    generated: Source, train: Source, *, max_share: float = 0.05, threshold: float = 0.9, level: float = 0.95
) -> None:
    """At most a share of the generated texts are near copies of train texts."""
    _assert(CopiesCheck(generated=generated, train=train, max=max_share, threshold=threshold), level, 0)


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
    """The candidate's score against the references is at most `max_drop` worse than that of the baseline."""
    check: Any = ScoreCheck(
        candidate=candidate, baseline=baseline, reference=reference, metric=metric, max_drop=max_drop
    )
    _assert(check, level, seed)


def _assert(check: Check, level: float, seed: int) -> None:
    (result,) = run_checks([check], level=level, seed=seed)
    if result.outcome == Outcome.passed.value:
        return
    kind = AssertionError if result.outcome == Outcome.failed.value else Undecided
    raise kind("\n  ".join([result.line, *result.evidence]))
