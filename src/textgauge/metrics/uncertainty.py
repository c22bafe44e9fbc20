"""Uncertainty of corpus metrics: null ranges, p-values and intervals.

Texts are exchanged at random between the corpora. If both come from one source, the observed value is one more draw of
the same kind, so one set of exchanges gives the p-value, the null range and the standardised effect.
The interval is for the expected value of the metric between fresh samples of these sizes from the two populations.
Resampling with replacement makes duplicates, which shift covariance and neighbour metrics; so nothing here draws with
replacement. docs/reliability.md has the measured coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.base import Undefined
from textgauge.metrics.numerics.held_out import SCORES, HeldOut, average_scores
from textgauge.stats import resampling as resample
from textgauge.stats.resampling import adjust_by_holm, adjust_by_max_t

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
    p_value: float = field(init=False)
    """(1 + number at least as far)/(1 + permutations); an undefined value counts as far, so p is never too small.

    NaN where the observed value is undefined.
    """
    p_error: float = field(init=False)
    """Standard error of the p-value from the limited number of permutations."""
    mean: float = field(init=False)
    """Mean of the values after exchanging texts; NaN where none is defined."""
    deviation: float = field(init=False)
    """Standard deviation of the values after exchanging texts; 0 where fewer than two are defined."""
    range: tuple[float, float] = field(init=False)
    """The middle 95 % of the values: the order statistics between which one more value falls with 95 % chance."""
    effect: float = field(init=False)
    """Standard deviations from the null's mean to the value, positive where farther; NaN where all are equal."""
    shares_draws: bool = field(init=False)
    """Whether other metrics of the method have their values from the same exchanges, so that max-T applies."""

    def __post_init__(self) -> None:
        undefined, known = float("nan"), self.permuted[np.isfinite(self.permuted)]
        p, low, high = undefined, undefined, undefined
        if np.isfinite(self.observed):
            far = np.where(np.isfinite(self.permuted), self.farther * self.permuted, np.inf)
            p = resample.compute_permutation_p(self.farther * self.observed, far)
        if len(known):
            low, high = np.quantile(known, [_TAIL, 1.0 - _TAIL], method="weibull").tolist()
        mean = float(known.mean()) if len(known) else undefined
        deviation = float(known.std(ddof=1)) if len(known) > 1 else 0.0
        is_varied = deviation > _ROUNDING * abs(mean)
        vars(self).update(
            p_value=p,
            p_error=float(np.sqrt(p * (1.0 - p) / max(len(self.permuted), 1))),
            mean=mean,
            deviation=deviation,
            range=(low, high),
            effect=self.farther * (self.observed - mean) / deviation if is_varied else undefined,
            shares_draws=self.method in _SHARED and bool(np.isfinite(self.observed)),
        )

    def compute_ranks(self) -> Floats:
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
        far = np.where(np.isfinite(values), values, np.inf)
        ranks = 1.0 + np.searchsorted(np.sort(far), far) + z / (1.0 + np.abs(z)) / 2.0
        return np.where(np.isfinite(ranks), ranks, np.inf)


def order_by_content(comparison: Comparison) -> Corpus:
    """All texts, each side in an order that depends on content alone; shared, so that metrics share what it keeps.

    Texts whose groups were dealt stay in their places: what depends on content are the groups.
    """
    if comparison.dealt:
        return comparison.joint
    sides = zip(comparison.sides, comparison.units.orders, strict=True)
    return Corpus(comparison.joint.pool, np.concatenate([side.index[order] for side, order in sides]))


def draw_exchanges(comparison: Comparison, permutations: int, seed: int) -> Draws:
    """Return the observed split, then random ones of the same sizes, which depend on sizes and seed alone.

    Units of a block change sides within it. Of groups as many change sides as come nearest to the number of texts. Of
    groups that were dealt both sides get the same share of each corpus: in a free exchange of so few, these shares
    would differ by chance by more than single texts ever do, and the distance would show in the null values.
    """
    units, rng = comparison.units, np.random.default_rng([seed, 128])
    n, m = units.counts
    observed = np.arange(n + m) < n
    if units.blocks is not None:
        left = _exchange_within(rng, units.blocks, observed, permutations)
    elif units.groups is None:
        left = resample.draw_permutations(n, m, permutations, seed)[0]
    elif units.dealt:
        kept = n * n // (n + m)
        left = np.hstack([_mark(rng, n, kept, permutations), _mark(rng, m, n - kept, permutations)])
    else:
        left = _exchange_groups(rng, np.bincount(units.groups), len(comparison.reference), permutations)
    return Draws(np.vstack([observed, left]), np.vstack([~observed, ~left]), units.groups)


def _exchange_within(rng: np.random.Generator, blocks: Ints, observed: Masks, rows: int) -> Masks:
    """Return random sides of units; a block keeps its numbers on both sides."""
    ordered = np.sort(blocks)
    place = np.arange(len(blocks)) - np.searchsorted(ordered, ordered)
    kept = place < np.bincount(blocks, weights=observed)[ordered]
    left = np.zeros((rows, len(blocks)), dtype=bool)
    order = np.argsort(blocks + rng.random(left.shape), axis=1)
    np.put_along_axis(left, order, np.broadcast_to(kept, left.shape), axis=1)
    return left


def _exchange_groups(rng: np.random.Generator, sizes: Ints, wanted: int, rows: int) -> Masks:
    """Return random sets of groups, each with the number of texts that comes nearest to the wanted one."""
    left = np.zeros((rows, len(sizes)), dtype=bool)
    order = rng.permuted(np.tile(np.arange(len(sizes)), (rows, 1)), axis=1)
    last = np.abs(np.cumsum(sizes[order], axis=1)[:, :-1] - wanted).argmin(axis=1)
    np.put_along_axis(left, order, np.arange(len(sizes)) <= last[:, None], axis=1)
    return left


def _mark(rng: np.random.Generator, size: int, count: int, rows: int) -> Masks:
    """Return rows with `count` marks each at random places."""
    return rng.permuted(np.tile(np.arange(size) < count, (rows, 1)), axis=1)


def exchange_labels(outcome: HeldOut, name: str, *, permutations: int, seed: int) -> NullValues:
    """Return scores of a classifier's predictions after exchanging the labels of its held-out texts.

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


def adjust_p_values(nulls: Sequence[NullValues]) -> tuple[Floats, str | None]:
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
            p[members] = adjust_by_max_t(np.column_stack([nulls[place].compute_ranks() for place in members]))
    names = [("max-T", any(len(members) > 1 for members in alike)), ("Holm", len(set(groups)) > 1)]
    return adjust_by_holm(p, groups), " and ".join(name for name, used in names if used) or None


_PAIRINGS = ((0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2))  # quarters that make halves; two by two disjoint
_RATIOS = (1 / 8, 4.0)  # variance per doubling: n⁻³ at the fastest, n² for a statistic that grows with the corpora
# Measured on pairs of samples of 200 and 500 texts (docs/reliability.md). Other training texts add to the variance of
# the score about a fifth of what other held-out texts do, where both are as many (none under equal distributions,
# which widens the interval there). Scores of two splits of the same texts correlate by 0.1 to 0.25 with a fifth held
# out, by 0.1 to 0.36 with a half.
_TRAINING = 0.2
_ALIKE = 0.35

EXCHANGES = 60  # of texts between the corpora, for the variance under "same source"
FEWEST_FOR_U_STATISTIC = 4  # texts of a corpus from which the variance of a U-statistic can be estimated
DISJOINT = "disjoint parts"
DISJOINT_GROUPS = "disjoint groups of texts"
GROUP_TRIALS = 12  # cuts of groups into quarters


@dataclass(frozen=True, eq=False)
class DisjointSplits:
    """Both corpora cut at random into quarters, `trials` times, and the halves that the quarters make.

    Texts that belong to groups are cut by groups. Values on disjoint parts are independent, so their variance at half
    and at a quarter of the size is seen without bias, also where leaving texts out overstates it:
    V(n) ≈ V(n/2) · V(n/2)/V(n/4).
    """

    joint: Corpus
    draws: Draws
    trials: int

    @classmethod
    def of(cls, comparison: Comparison, *, trials: int, seed: int) -> DisjointSplits:
        """Cut by content, not by the order of texts; metrics of one comparison share the cuts."""
        draws = comparison.derive(_draw_quarters_and_halves, trials, seed)
        return cls(comparison.derive(order_by_content), draws, trials)

    @classmethod
    def of_rows(cls, comparison: Comparison, *, trials: int, seed: int) -> DisjointSplits:
        """Cut by the place of a text: candidates of as many texts are cut alike, and so is a reference."""
        draws = comparison.derive(_draw_quarters_and_halves, trials, seed)
        n = len(comparison.reference)
        if n == len(comparison.candidate):
            draws = Draws(np.roll(draws.right, n, axis=1), draws.right)
        return cls(comparison.joint, draws, trials)

    def half_differences(self, values: Floats) -> Floats:
        """Differences of a statistic on disjoint halves, which vary as its error does; the last axis is one of them."""
        halves = values.reshape(*values.shape[:-1], 4 + len(_PAIRINGS), self.trials)[..., 4:, :]
        return np.asarray(halves[..., ::2, :] - halves[..., 1::2, :]).reshape(*values.shape[:-1], -1)

    def variances(self, values: Floats) -> tuple[float, float]:
        """Return the variance of a statistic on quarters and on halves; `Undefined` where most have no value."""
        values = values.reshape(4 + len(_PAIRINGS), self.trials)
        values = values[:, np.isfinite(values).all(axis=0)]
        if values.shape[1] < self.trials / 2:
            raise Undefined("an interval needs values on quarters of the corpora, which are undefined here")
        return float(values[:4].var(axis=0, ddof=1).mean()), float(((values[4::2] - values[5::2]) ** 2).mean() / 2)

    def error(self, values: Floats) -> float:
        """Return the standard error of a statistic with these values on the parts; `Undefined` where most have none."""
        by_quarter, by_half = self.variances(values)
        return float(np.sqrt(by_half * np.clip(by_half / by_quarter, *_RATIOS))) if by_quarter > 0 else 0.0


def _draw_quarters_and_halves(comparison: Comparison, trials: int, seed: int) -> Draws:
    """Quarters 1 to 4 of every trial, then the halves they make; a block is cut as a whole, with both its sides."""
    units = comparison.units
    n, m = units.counts
    rng = np.random.default_rng([seed, 4])
    sizes = (n, m) if units.blocks is None else (units.fewest,)
    part = np.hstack([rng.permuted(np.tile(np.arange(size) % 4, (trials, 1)), axis=1) for size in sizes])
    part = part if units.blocks is None else part[:, units.blocks]
    quarters = [part == number for number in range(4)]
    members = np.vstack([*quarters, *(quarters[a] | quarters[b] for a, b in _PAIRINGS)])
    reference = np.arange(n + m) < n
    return Draws(members & reference, members & ~reference, units.groups)


def bound_interval(value: float, reach: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Value ± reach, kept within the metric's bounds."""
    return max(value - reach, bounds[0]), min(value + reach, bounds[1])


def invert_interval(
    value: float, error: float, null: NullValues, reach: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return the expected values from which a distance of this value is at most `reach` standard errors away.

    The variance of a distance grows with the distance, and its estimate with the value: around a value that is low by
    chance an interval of the error alone would be too short. V(E) = error² + c·(E − value), where c = 2·V₀/E₀ is that
    of a squared length whose directions vary alike, with mean E₀ and variance V₀ of exchanged texts.

    >>> null = NullValues(1.0, np.array([0.9, 1.0, 1.1]), "permutation")
    >>> [round(end, 3) for end in invert_interval(1.0, 0.1, null, 2.0, (0.0, np.inf))]
    [0.836, 1.244]
    """
    shift = reach**2 * null.deviation**2 / null.mean if null.mean > 0 else 0.0
    half = float(np.hypot(shift, reach * error))
    return max(value + shift - half, bounds[0]), min(value + shift + half, bounds[1])


def cut_mean(centre: float, error: float, cut: float) -> float:
    """E max(N(centre, error²), cut).

    >>> cut_mean(2.0, 0.0, 1.0), round(cut_mean(0.0, 1.0, 0.0), 4)
    (2.0, 0.3989)
    """
    from scipy.special import ndtr

    if error == 0:
        return max(centre, cut)
    z = (centre - cut) / error
    return float(cut + error * (np.exp(-z * z / 2) / np.sqrt(2 * np.pi) + z * ndtr(z)))


def compute_folded_interval(difference: float, error: float, reach: float) -> tuple[float, float]:
    """Interval for the expected absolute value of a normal difference, `reach` standard errors to either side.

    E|N(δ, s²)| grows with |δ|, so the ends for |δ| are carried through it. Where δ may be 0 the low end is 0: noise
    alone makes a gap of 0.8·s, and an end just there would miss half the time because s is itself an estimate.
    """
    low, high = (abs(difference) + side * error for side in (-reach, reach))
    return compute_folded_mean(low, error) if low > 0 else 0.0, compute_folded_mean(high, error)


def compute_folded_mean(centre: float, error: float) -> float:
    """E|N(centre, error²)|.

    >>> compute_folded_mean(0.0, 1.0), compute_folded_mean(2.0, 0.0)
    (0.7978845608028654, 2.0)
    """
    return cut_mean(centre, error, 0.0) + cut_mean(-centre, error, 0.0)


def compute_student_reach(level: float, comparison: Comparison) -> float:
    """Return how many standard errors of disjoint parts Student's interval of this level reaches.

    The corpus of fewer texts, or groups, decides; extrapolating from halves and quarters about doubles the relative
    variance of a variance estimate, which halves its degrees of freedom.
    """
    from scipy.special import stdtrit

    return float(stdtrit((comparison.units.fewest - 1) / 2, 0.5 + level / 2))


def compute_normal_reach(level: float) -> float:
    """Return how many standard errors a two-sided normal interval of this level reaches."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2))


def estimate_likely_range(outcomes: Sequence[HeldOut], name: str, *, share: float, reach: float) -> tuple[float, float]:
    """Wilson's interval for the expected score at these sizes, `reach` standard errors to either side.

    Its number of trials is the one that gives the score's variance: from the two corpora's shares classified right,
    more by what another training set would change, less by averaging over splits, which share texts (Nadeau and
    Bengio 2003). Next to 0 and 1, where a normal interval shrinks to a point, it keeps its level.
    """
    score, sizes = SCORES[name], outcomes[0].sizes
    rates = (np.mean([outcome.rates for outcome in outcomes], axis=0) * sizes + 0.5) / (sizes + 1.0)
    slopes = [(score(rates + step, sizes) - score(rates - step, sizes)) / 2e-6 for step in 1e-6 * np.eye(2)]
    variance = float((np.square(slopes) * rates * (1.0 - rates) / sizes).sum())
    variance *= 1.0 + _TRAINING * share / (1.0 - share)
    alike = min(share, _ALIKE)
    variance *= alike + (1.0 - alike) / len(outcomes)
    level = score(rates, sizes)
    return wilson(average_scores(outcomes)[name], level * (1.0 - level) / variance, reach)


def wilson(value: float, trials: float, reach: float) -> tuple[float, float]:
    """Return the levels at most `reach` standard errors from a share of this many trials (Wilson 1927)."""
    spread = reach * reach / trials
    centre, half = value + spread / 2.0, np.sqrt(spread * (value * (1.0 - value) + spread / 4.0))
    return max(0.0, float(centre - half) / (1.0 + spread)), min(1.0, float(centre + half) / (1.0 + spread))
