"""What a property of a generated corpus is: a declaration, how it is computed, and the registry that `describe` lists.

A property is added by a function under `@declare(...)` in a file of this folder; elsewhere by `register_property`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.registry import Registry
from textgauge.data import Corpus
from textgauge.metrics.numerics.passages import PASSAGE
from textgauge.metrics.numerics.search import NearestMatches
from textgauge.metrics.uncertainty import compute_normal_reach, wilson
from textgauge.stats.rankings import compute_difference_interval, compute_student_interval

Need: TypeAlias = Literal["tokens", "embeddings", "grammar", "plausibility", "train", "test", "against"]
_T = TypeVar("_T")

NEAR_COPY = 0.9  # SynSim: one word in nine is another
TOKENIZER = "words"
NOT_FOR_TEST = {"test": "not defined for test itself"}
NOT_FOR_TRAIN = {"train": "not defined for train itself"}
_ORDER = ("texts", "repeats", "wording", "meaning")  # of families in the table; others follow
_ROOM = __name__.rpartition(".")[0]
_UNDEFINED = "undefined: too few texts, none with words, or similarities below 0"


@dataclass(frozen=True)
class PropertyValue:
    """A value with its interval; NaN where there is none."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @classmethod
    def of(cls, value: float, error: float, freedom: float, level: float) -> PropertyValue:
        """Return a value with Student's interval; no interval without degrees of freedom."""
        return cls(value, *compute_student_interval(value, error, freedom, level))

    def subtract(self, other: PropertyValue) -> PropertyValue:
        """Return the difference from the value of texts that have nothing in common with these."""
        ends = compute_difference_interval(astuple(self), astuple(other))
        return PropertyValue(self.value - other.value, *ends)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredCorpus:
    """One corpus, generated, test or train, and what was measured on each of its texts.

    `forms` numbers the texts: equal but for case and punctuation, equal number. `train` is None for train itself.
    `grammar` holds errors and words, `surprise` −ln P and tokens. `semantic` leads to the nearest test text and
    `covered` from each test text back; `syntactic` leads to the nearest train text and `echoed` from each train text
    back. `against` are the texts of another file that near duplicates are searched in. What could not be measured is
    None, and `missing` has the reason, by need. `corpus.embeddings(embedder)` are the vectors. A text is a near copy of
    train from the similarity of wording `near_copy` on, and a test text is covered from that of meaning `reach` on. A
    run of words that stands elsewhere too is a copied passage from `passage` words on.
    `groups` number the documents, users, … that texts belong to, if these were named; `ratings` go by question.
    """

    name: str
    corpus: Corpus
    forms: Ints
    train: MeasuredCorpus | None
    test: Corpus | None = None
    embedder: str | None = None
    grammar: Floats | None = None
    surprise: Floats | None = None
    semantic: NearestMatches | None = None
    covered: NearestMatches | None = None
    syntactic: NearestMatches | None = None
    echoed: NearestMatches | None = None
    against: Corpus | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    near_copy: float = NEAR_COPY
    passage: int = PASSAGE
    reach: float = math.nan
    groups: Ints | None = None
    labels: NDArray[Any] | None = None
    ratings: Mapping[str, Floats] = field(default_factory=dict)
    _memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    def derive(self, statistic: Callable[..., _T], *args: Any) -> _T:
        """Return `statistic(self, *args)`, computed once."""
        if (statistic, *args) not in self._memory:
            self._memory[statistic, *args] = statistic(self, *args)
        return self._memory[statistic, *args]  # type: ignore[no-any-return]

    def take(self, rows: Ints, **changes: Any) -> MeasuredCorpus:
        """Return some of the texts, with their forms and nearest texts; what depends on all of them is in `changes`."""
        kept: dict[str, Any] = {"corpus": self.corpus.take(rows), "forms": self.forms[rows], "_memory": {}}
        kept |= {
            name: found and found.take(rows) for name, found in vars(self).items() if name in ("semantic", "syntactic")
        }
        kept["groups"] = None if self.groups is None else self.groups[rows]
        return replace(self, **kept | changes)

    @property
    def others(self) -> Corpus | None:
        """The texts that copies are searched in: those of train, or of the other file."""
        return self.against if self.train is None else self.train.corpus

    @property
    def units(self) -> tuple[Ints, ...]:
        """What errors count in place of texts: groups, where these were named."""
        return () if self.groups is None else (self.groups,)

    def text_values(self) -> dict[str, Floats]:
        """Return the values of each text, by name: those of all properties that are means or ratios over texts."""
        return {
            known.text_name or known.name: known.per_text(self)
            for known in list_properties(alone=self.train is None and "train" in self.missing)
            if known.per_text is not None and known.undefined_reason(self) is None
        }


Parts: TypeAlias = tuple[MeasuredCorpus, ...]
Compute: TypeAlias = Callable[[MeasuredCorpus, float], PropertyValue]


@dataclass(frozen=True, kw_only=True)
class CorpusProperty:
    """A property of a generated corpus, as it is declared.

    `needs` are in the order in which a missing one is named as the reason. `undefined_for` says why there is no value
    for test or train themselves. `backend` is what the value depends on, `{embeddings}` and the like standing for the
    signature of what is needed. `per_text` gives the values of the texts, under `text_name` if that is another name,
    `per_other` those of the other corpus's texts, where the property is a mean over them, with the units of its error.
    `alone` marks what is listed where a corpus is described without train and test, and there only. `depends_on_size`
    says that the value of a corpus depends on the number of its texts: it is compared with that of as many texts. The
    interval counts groups if that is said by `by_group`. `version` is raised when a value changes.
    """

    name: str
    about: str
    better: Literal["higher", "lower"] | None = None
    bounds: tuple[float, float] = (0.0, 1.0)
    needs: tuple[Need, ...] = ()
    compute: Compute
    """The value and its interval at a level; called only where all needs are met."""
    backend: str
    undefined_for: Mapping[str, str] = field(default_factory=dict)
    no_interval: str | None = None
    per_text: Callable[[MeasuredCorpus], Floats] | None = None
    text_name: str | None = None
    per_other: Callable[[MeasuredCorpus], tuple[Floats, tuple[Ints, ...]]] | None = None
    alone: bool = False
    depends_on_size: bool = False
    by_group: bool = False
    version: int = 1

    def undefined_reason(self, measured: MeasuredCorpus) -> str | None:
        """Return why a corpus has no such value; None if it can be computed."""
        missing = (measured.missing[need] for need in self.needs if need in measured.missing)
        return next(missing, None) or self.undefined_for.get(measured.name)

    def of(self, measured: MeasuredCorpus, level: float) -> tuple[PropertyValue, str | None]:
        """Return the value, or the reason why there is none."""
        reason = self.undefined_reason(measured)
        value = PropertyValue() if reason else self.compute(measured, level)
        if measured.groups is not None and not self.by_group:
            value = PropertyValue(value.value)
        return value, reason or (_UNDEFINED if math.isnan(value.value) else None)

    def explain_no_interval(self, measured: MeasuredCorpus, value: PropertyValue, *, alone: bool) -> str | None:
        """Return why a value has no interval; of few texts next to train the interval is just missing."""
        if self.no_interval is None and measured.groups is not None and not self.by_group:
            return "no interval: none that counts groups"
        return self.no_interval or ("no interval: too few texts" if alone and math.isnan(value.low) else None)

    def average(self, parts: Parts, level: float) -> tuple[PropertyValue, str | None]:
        """Return the mean over random parts of a corpus; the interval is for a new part, so it holds their spread."""
        found = [self.of(part, level) for part in parts]
        value, low, high = np.array([astuple(one) for one, _ in found]).T
        mean, spread = value.mean(), 0.0 if len(parts) == 1 else value.std(ddof=1) * math.sqrt(1 + 1 / len(parts))
        below, above = (
            np.hypot(gap.mean(), compute_normal_reach(level) * spread) for gap in (value - low, high - value)
        )
        return PropertyValue(*map(float, (mean, mean - below, mean + above))), found[0][1]

    def subtract(self, mine: Parts, theirs: Parts, whole: int, level: float) -> PropertyValue | None:
        """Return the difference of parts of a corpus and of a yardstick of `whole` texts, text by text of another one.

        Both are compared with the same texts, whose own luck cancels. The error of a corpus of one part comes from the
        texts that are nearest to several others, that of random parts from their spread. None where there is no such
        difference.
        """
        if self.per_other is None or any(self.undefined_reason(part) for part in (mine[0], theirs[0])):
            return None
        sides = [[self.per_other(part) for part in parts] for parts in (mine, theirs)]
        if len({len(values) for side in sides for values, _ in side}) > 1:
            return None
        first, second = (np.mean([values for values, _ in side], axis=0) for side in sides)
        single = [units for side in sides for _, units in side if len(side) == 1]
        other = [unit for units in single[1:] for unit in units[-1:]]  # both have the groups of the other texts before
        error, freedom = compute_standard_error(first - second, *(single or [()])[0], *other)
        for side, size in zip(sides, (len(mine[0].corpus), len(theirs[0].corpus)), strict=True):
            if len(side) > 1:
                spread = np.std([values.mean() for values, _ in side], ddof=1)
                error = float(np.hypot(error, spread * math.sqrt(max(1 / len(side), size / whole))))
        return PropertyValue.of(float((first - second).mean()), error, freedom, level)

    def backend_of(self, signatures: Mapping[str, str]) -> str | None:
        """Return what the value depends on, given the signatures of what is needed; None where one was left out."""
        try:
            return self.backend.format_map(signatures)
        except KeyError:
            return None


PROPERTIES: Registry[CorpusProperty] = Registry("property", modules=(_ROOM,))


def register_property(declared: CorpusProperty) -> CorpusProperty:
    """Make a property known: `describe` has a row for it. A taken name is refused."""
    return PROPERTIES.register(declared)


def declare(name: str, about: str, **others: Any) -> Callable[[Compute], Compute]:
    """Declare the property that a function computes; `others` are fields of `CorpusProperty`."""

    def register(compute: Compute) -> Compute:
        return register_property(CorpusProperty(name=name, about=about, compute=compute, **others)).compute

    return register


def list_properties(*, alone: bool | None = None) -> list[CorpusProperty]:
    """All properties, in the order of the table; `alone`: those of a corpus by itself, or next to train and test.

    >>> [known.name for known in list_properties() if "grammar" in known.needs]
    ['grammar']
    """
    beside = {"train", "test"}
    chosen = (
        known
        for known in PROPERTIES.values()
        if alone is None or (not beside & set(known.needs) if alone else not known.alone)
    )
    return sorted(chosen, key=_place)


def _place(declared: CorpusProperty) -> int:
    family = getattr(declared.compute, "__module__", "").removeprefix(f"{_ROOM}.")
    return _ORDER.index(family) if family in _ORDER else len(_ORDER)


Interval = tuple[float, float]


def average_values(values: Floats, *units: Ints, level: float = 0.95) -> PropertyValue:
    """Return the mean of the values that exist, with Student's interval; see `compute_standard_error` for `units`.

    >>> average_values(np.array([1.0, 2.0, 3.0, np.nan]))
    PropertyValue(value=2.0, low=-0.4841, high=4.4841)
    """
    known = np.isfinite(values)
    if not known.any():
        return PropertyValue()
    found = compute_standard_error(values[known], *(unit[known] for unit in units))
    return PropertyValue.of(float(values[known].mean()), *found, level)


def compute_standard_error(values: Floats, *units: Ints) -> tuple[float, int]:
    """Return the standard error of a mean and its degrees of freedom; NaN for a single value.

    `units` are labels of values that are not independent. The variances of the sums of several kinds of units are
    added, less what single values would give, as in errors clustered in two ways (Cameron, Gelbach and Miller 2011).

    >>> values, units = np.array([1.0, 1.0, 2.0, 2.0, 4.0, 4.0]), np.array([0, 0, 1, 1, 2, 2])
    >>> [round(compute_standard_error(values, *of)[0], 3) for of in ((), (units,))]
    [0.558, 0.882]
    """
    n = len(values)
    if n < 2:
        return math.nan, 0
    error, freedom = float(values.std(ddof=1)) / math.sqrt(n), n - 1
    if not units:
        return error, freedom
    rest, variances = values - values.mean(), []
    for unit in units:
        sums = np.bincount(np.unique(unit, return_inverse=True)[1], rest)
        variances.append(float(sums @ sums) / n**2 * len(sums) / max(len(sums) - 1, 1))
        freedom = min(freedom, len(sums) - 1)
    joint = sum(variances) - (len(units) - 1) * error**2
    return math.sqrt(max(error**2, *variances, joint)), freedom


def share(hits: NDArray[np.bool_], *units: Ints, level: float = 0.95) -> PropertyValue:
    """Return the share of the texts that have something, with Wilson's interval; `units` as for an average."""
    value, n = float(hits.mean()), len(hits)
    variance = value * (1 - value) / n
    if units:
        error, freedom = compute_standard_error(hits.astype(np.float64), *units)
        variance, n = error**2, freedom + 1
    return PropertyValue(value, *share_interval(value, variance, n=n, level=level))


def share_interval(share: float, variance: float, *, n: int, lone: float = 1.0, level: float = 0.95) -> Interval:
    """Wilson's interval of a share, for as many independent texts as its variance amounts to.

    That number is share·(1 − share)/variance; n/`lone` where the share is 0 or 1 or the variance is not positive:
    `lone` is how many texts one chance event changes.

    >>> low, high = share_interval(0.9, 0.9 * 0.1 / 100, n=100)
    >>> round(low, 4), round(high, 4)
    (0.8256, 0.9448)
    >>> share_interval(1.0, 0.0, n=96)[1]
    1.0
    """
    spread = share * (1.0 - share)
    size = spread / variance if spread > 0 and variance > 0 else n / lone
    low, high = wilson(share, size, compute_normal_reach(level))
    return min(low, share), max(high, share)  # ends of 0 and 1 are exact


def count_interval(count: float, variance: float, *, n: int, level: float = 0.95) -> Interval:
    """Return the means μ for which a count over n texts is within t standard deviations, the variance growing as μ.

    (count − μ)² = t²·φ·μ, t Student's with n − 1 degrees of freedom, φ = variance/count, or 1 where either is 0.
    NaN for a single text.

    >>> low, high = count_interval(100, 100, n=10_000)
    >>> round(low, 2), round(high, 2)
    (82.23, 121.62)
    >>> round(count_interval(0, 0, n=10_000)[1], 2)
    3.84
    """
    from scipy.special import stdtrit

    if n < 2:
        return math.nan, math.nan
    dispersion = variance / count if count > 0 and variance > 0 else 1.0
    half = float(stdtrit(n - 1, (1.0 + level) / 2.0)) ** 2 * dispersion / 2
    reach = math.sqrt(half * half + 2 * half * count)
    return max(count + half - reach, 0.0), count + half + reach
