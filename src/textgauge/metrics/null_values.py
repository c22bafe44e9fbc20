"""What a corpus metric gives when both corpora come from one source, at the actual sizes.

Texts are exchanged at random between the corpora. If both come from one source, the observed value is one more draw of
the same kind, so one set of exchanges gives the p-value, the null range and the standardised effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from textgauge.core.arrays import Floats, Masks
from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.numerics.held_out import SCORES, HeldOut
from textgauge.stats import resampling as resample
from textgauge.stats.simultaneous import holm, max_t

if TYPE_CHECKING:
    from textgauge.metrics.corpus_metric import CorpusMetric

PERMUTATION = "permutation"
GROUPS = "permutation of groups of texts"
HELD_OUT = "held-out permutation"
_SHARED = (PERMUTATION, GROUPS)  # methods by which all metrics of a comparison see the same exchanges
_TAIL = 0.025
_ROUNDING = 1e-12  # share of a value by which two computations of it may differ


@dataclass(frozen=True, eq=False)
class NullValues:
    """The value of a metric between two corpora (`observed`), and its values after exchanging texts (`permuted`).

    `farther` is 1 for a metric whose larger values are farther, −1 for one whose smaller values are.

    >>> null = NullValues(3.0, np.array([1.0, 2.0, 3.0]), "permutation")
    >>> null.p_value, null.mean, null.effect
    (0.5, 2.0, 1.0)
    """

    observed: float
    permuted: Floats
    method: str
    farther: int = 1

    @property
    def p_value(self) -> float:
        """(1 + number at least as far)/(1 + permutations); an undefined value counts as far, so p is never too small.

        NaN where the observed value is undefined.
        """
        if not np.isfinite(self.observed):
            return float("nan")
        return resample.permutation_p(self.farther * self.observed, _undefined_is_far(self.farther * self.permuted))

    @property
    def shares_draws(self) -> bool:
        """Whether other metrics of the method have their values from the same exchanges, so that max-T applies."""
        return self.method in _SHARED and bool(np.isfinite(self.observed))

    @property
    def p_error(self) -> float:
        """Standard error of the p-value from the limited number of permutations."""
        return float(np.sqrt(self.p_value * (1.0 - self.p_value) / len(self.permuted)))

    @property
    def mean(self) -> float:
        """Mean of the values after exchanging texts; NaN where none is defined."""
        return float(self._defined.mean()) if len(self._defined) else float("nan")

    @property
    def deviation(self) -> float:
        """Standard deviation of the values after exchanging texts; 0 where fewer than two are defined."""
        return float(self._defined.std(ddof=1)) if len(self._defined) > 1 else 0.0

    @property
    def range(self) -> tuple[float, float]:
        """The middle 95 % of the values after exchanging texts.

        The ends are the order statistics between which one more value falls with 95 % chance.
        """
        if not len(self._defined):
            return float("nan"), float("nan")
        low, high = np.quantile(self._defined, [_TAIL, 1.0 - _TAIL], method="weibull")
        return float(low), float(high)

    @property
    def effect(self) -> float:
        """Standard deviations from the null's mean to the value, positive where farther; NaN where all are equal."""
        if self.deviation <= _ROUNDING * abs(self.mean):
            return float("nan")
        return float(self.farther * (self.observed - self.mean) / self.deviation)

    def ranked(self) -> Floats:
        """Observed and permuted values on a scale that metrics have in common: their rank, farther is larger.

        Equal ranks of two metrics are ordered by standard deviations from the mean, so that a value far beyond all
        permuted ones counts as such. Values that differ from the observed one by rounding alone are set equal to it.
        """
        same = np.abs(self.permuted - self.observed) <= _ROUNDING * abs(self.observed)
        values = self.farther * np.append(self.observed, np.where(same, self.observed, self.permuted))
        known = values[np.isfinite(values)]
        spread = known.std()
        if spread <= _ROUNDING * abs(known.mean()):
            return np.where(np.isfinite(values), 1.0, np.inf)
        z = (values - known.mean()) / spread
        far = _undefined_is_far(values)
        ranks = 1.0 + np.searchsorted(np.sort(far), far)
        return _undefined_is_far(ranks + z / (1.0 + np.abs(z)) / 2.0)

    @property
    def _defined(self) -> Floats:
        return self.permuted[np.isfinite(self.permuted)]


def _undefined_is_far(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.inf)


def exchanged(metric: CorpusMetric, comparison: Comparison, *, permutations: int, seed: int) -> NullValues:
    """Values of the metric after exchanging texts, or groups of them, between the corpora.

    The draws depend on sizes and seed alone, so that all metrics see the same ones. The observed split is computed by
    the same path as the permuted ones, so that they round alike.
    """
    joint, draws = comparison.derive(in_content_order), comparison.derive(_exchanges, permutations, seed)
    values = np.asarray(metric.select(metric.compute_draws(joint, draws)), dtype=np.float64)
    method = PERMUTATION if comparison.groups is None else GROUPS
    return NullValues(float(values[0]), values[1:], method, int(metric.orient(1)))


def in_content_order(comparison: Comparison) -> Corpus:
    """All texts, each side in an order that depends on content alone; shared, so that metrics share what it keeps.

    Texts that belong to groups stay in their places: what depends on content are the groups.
    """
    if comparison.groups is not None:
        return comparison.joint
    return comparison.reference.canonical() | comparison.candidate.canonical()


def _exchanges(comparison: Comparison, permutations: int, seed: int) -> Draws:
    """The observed split, then random ones of the same sizes.

    Of groups both sides get the same share of each corpus. Groups are few: in a free exchange these shares would differ
    by chance by more than single texts ever do, and the distance of the corpora would show in their null values.
    """
    n, m = comparison.units
    observed = np.arange(n + m) < n
    if comparison.groups is None:
        left, right = resample.permuted(n, m, permutations, seed)
    else:
        rng = np.random.default_rng([seed, 128])
        kept = n * n // (n + m)
        left = np.hstack([_mark(rng, n, kept, permutations), _mark(rng, m, n - kept, permutations)])
        right = ~left
    return Draws(np.vstack([observed, left]), np.vstack([~observed, right]), comparison.joint_groups)


def _mark(rng: np.random.Generator, size: int, count: int, rows: int) -> Masks:
    """Return rows with `count` marks each at random places."""
    return rng.permuted(np.tile(np.arange(size) < count, (rows, 1)), axis=1)


def relabelled(outcome: HeldOut, name: str, *, permutations: int, seed: int) -> NullValues:
    """Scores of a classifier's predictions after exchanging the labels of its held-out texts.

    The classifier never saw these texts, so that under "same source" their labels are exchangeable. With the sizes
    fixed, every score depends on one number alone: how many candidate texts were predicted as such.
    """
    kinds = [int((outcome.predicted == kind).sum()) for kind in (0.0, 0.5, 1.0)]
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(kinds, int(outcome.truth.sum()), permutations)
    hits = np.append(outcome.predicted @ outcome.truth, drawn @ np.array([0.0, 0.5, 1.0]))
    different, place = np.unique(hits, return_inverse=True)
    reference, candidate = outcome.sizes
    rates = [np.array([1.0 - (outcome.predicted.sum() - hit) / reference, hit / candidate]) for hit in different]
    values = np.array([SCORES[name](rate, outcome.sizes) for rate in rates])[place]
    return NullValues(float(values[0]), values[1:], HELD_OUT)


def adjusted(nulls: Sequence[NullValues]) -> tuple[Floats, str | None]:
    """p-values adjusted for all these tests together, and the method's name; None for a single one.

    Metrics that were permuted alike share their draws: step-down max-T of their ranks. Such groups, and the metrics
    that share no draws, are adjusted for each other by Holm's correction.
    """
    groups = [
        _SHARED.index(null.method) if null.shares_draws else len(_SHARED) + number for number, null in enumerate(nulls)
    ]
    p = np.array([null.p_value for null in nulls])
    alike = [[place for place, own in enumerate(groups) if own == group] for group in range(len(_SHARED))]
    for members in alike:
        if len(members):
            p[members] = max_t(np.column_stack([nulls[place].ranked() for place in members]))
    names = [("max-T", any(len(members) > 1 for members in alike)), ("Holm", len(set(groups)) > 1)]
    return holm(p, groups), " and ".join(name for name, used in names if used) or None
