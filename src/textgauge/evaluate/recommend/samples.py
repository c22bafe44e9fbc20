"""Samples to test metrics on: a reference of one source, and a candidate that holds a share of the other."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Comparison
from textgauge.evaluate.protocols import Sources
from textgauge.metrics import CorpusMetric
from textgauge.metrics.base import Undefined
from textgauge.parallel import one_blas_thread

Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Contaminated:
    """Samples of n texts a side: the reference all of source a, of the candidate a share `effect` of source b.

    No text is on both sides; texts that both sources have are left out. Where the share is no whole number of texts,
    it is right on average. A sample depends on seed, data, n and its number alone.
    """

    sources: Sources
    effect: float
    seed: int = 0

    @cached_property
    def sides(self) -> tuple[Index, Index]:
        """Rows of the different texts of each source, in an order of their content."""
        keys = [self.sources.corpora[role].keys for role in ("a", "b")]
        first = [np.unique(own, return_index=True) for own in keys]
        own = [rows[~np.isin(found, keys[1 - side])] for side, (found, rows) in enumerate(first)]
        return own[0], own[1] + len(keys[0])

    @property
    def most(self) -> int:
        """The largest n that the sources allow."""
        a, b = (len(rows) for rows in self.sides)
        return min(int(a / (2.0 - self.effect)), int(b / self.effect)) - 1

    def sample(self, n: int, number: int) -> Comparison:
        """One sample of n texts a side."""
        words = np.frombuffer(hashlib.blake2b(self.sources.fingerprint.encode(), digest_size=8).digest(), np.uint32)
        rng = np.random.default_rng([self.seed, n, number, *words.tolist()])
        foreign = int(n * self.effect + rng.random())
        a, b = (rng.permutation(rows) for rows in self.sides)
        joint = self.sources.joint
        return Comparison(joint.take(a[:n]), joint.take(np.concatenate([a[n : 2 * n - foreign], b[:foreign]])))


def rejects(
    metric: CorpusMetric, comparison: Comparison, *, permutations: int, seed: int = 0, level: float = 0.05
) -> bool:
    """Whether the metric's own test finds the corpora different; no where the metric is undefined."""
    with one_blas_thread():
        try:
            p_value, _ = metric.p_value(comparison, permutations=permutations, seed=seed)
        except Undefined:
            return False
    return bool(p_value <= level + 1e-9)
