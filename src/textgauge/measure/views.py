"""Which texts each metric sees: all of them, or a sample where corpora are large."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from textgauge.core.parallel import use_one_blas_thread
from textgauge.core.show import join_words
from textgauge.data import Comparison
from textgauge.data.large import sample_comparison
from textgauge.measure.compare_report import IN_PARTS
from textgauge.metrics import CorpusMetric, Score

SAMPLE = 10_000  # texts of each corpus that fitted metrics see
_LOPSIDED = "no interval and no null range: one corpus has over seven times the texts of the other; take a part of it"
_ALL_PAIRS = "no interval and no null range: these take all pairs of texts again; a sample has them (approx)"


@dataclass(frozen=True)
class Views:
    """What metrics see of a comparison; `approx` is the size of samples that metrics of pairs see, None for all texts.

    Of corpora in memory all metrics see everything. Of large ones, fitted metrics see a sample.
    """

    comparison: Comparison
    approx: int | None = None
    seed: int = 0

    @property
    def is_large(self) -> bool:
        """Whether texts and vectors are on disk."""
        return self.comparison.joint.pool.is_stored

    def is_sampled(self, metric: CorpusMetric) -> bool:
        """Return whether a metric sees a sample."""
        return self.is_large and (metric.grows == "fitted" or (metric.grows == "blocks" and self.approx is not None))

    @cached_property
    def sample(self) -> Comparison:
        """Some texts of each corpus, chosen by content and seed."""
        return sample_comparison(self.comparison, self.approx or SAMPLE, seed=self.seed)

    def of(self, metric: CorpusMetric) -> Comparison:
        """Return the comparison that a metric sees."""
        return self.sample if self.is_sampled(metric) else self.comparison

    def sign(self, score: Score, metric: CorpusMetric) -> Score:
        """Add the size of the sample to the signature of a score."""
        if not self.is_sampled(metric):
            return score
        return replace(score, signature=f"{score.signature}|sample={self.approx or SAMPLE},seed={self.seed}")

    def find_obstacle(self, metric: CorpusMetric) -> str | None:
        """Return why a metric has no interval and no null range on the texts it sees; None where it has."""
        if not self.is_large or self.is_sampled(metric):
            return None
        return _ALL_PAIRS if not metric.is_sum else _LOPSIDED if self.comparison.groups is None else None

    def limit_threads(self, metric: CorpusMetric) -> AbstractContextManager[Any]:
        """Return a context in which sums over many texts have the same bits on every machine."""
        return use_one_blas_thread() if self.is_large and metric.is_sum else nullcontext()

    def drop_slow(self, metrics: Iterable[CorpusMetric]) -> tuple[list[CorpusMetric], list[str]]:
        """Leave out metrics of all pairs of many texts, and say so: for metrics that nobody chose."""
        metrics = list(metrics)
        slow = [m for m in metrics if self.is_large and m.grows == "blocks" and not self.is_sampled(m)]
        names = join_words([metric.key for metric in slow])
        note = (
            f"left out, because they take all pairs of texts: {names}; name them, or measure them on a sample (approx)"
        )
        return [metric for metric in metrics if metric not in slow], [note] if slow else []

    def describe(self, metrics: Sequence[CorpusMetric]) -> list[str]:
        """Return what was read, and which metrics saw all texts and which a sample."""
        if not self.is_large:
            return []
        sizes = len(self.comparison.reference), len(self.comparison.candidate)
        notes = [f"{IN_PARTS}: {sizes[0]:,} and {sizes[1]:,} texts"]
        if whole := [metric.key for metric in metrics if not self.is_sampled(metric)]:
            notes.append(f"{join_words(whole)}: from all texts")
        if sampled := [metric.key for metric in metrics if self.is_sampled(metric)]:
            seen = " and ".join(f"{min(self.approx or SAMPLE, size):,}" for size in sizes)
            notes.append(f"{join_words(sampled)}: from a sample of {seen} texts, drawn with seed {self.seed}")
        return notes
