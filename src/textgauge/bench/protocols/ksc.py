"""Known-similarity corpora: mixtures of two sources, whose distances should grow with how far their shares differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import comb
from typing import Literal

import numpy as np

from textgauge.bench.inputs import TwoCorpora
from textgauge.bench.protocols.base import (
    Measure,
    Observations,
    Protocol,
    Verdict,
    explain_undefined,
    make_generator,
    merge_rounding_ties,
    register_protocol,
)
from textgauge.bench.sources import CorpusBatch, Sources
from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.metrics import Range
from textgauge.stats.correlation import omega_squared, pearson, r_squared, spearman

Ties = Literal["half", "right", "wrong"]
Which = Literal["distinct", "paper"]


def compute_shares(k: int, n: int) -> Ints:
    """Return how many texts of the first source each corpus takes: all of c_1, none of c_k.

    >>> compute_shares(5, 10).tolist()
    [10, 8, 5, 2, 0]
    """
    return np.rint(n * np.arange(k - 1, -1, -1) / (k - 1)).astype(np.int64)


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Ksc(Protocol):
    """Known-similarity corpora of two sources, and how well a distance follows them.

    k corpora of n texts, from all A to all B. `draw=spread` uses no text twice in a set, and in no other repetition
    before too few are left for one; `draw=disjoint` draws every repetition from all texts (Kour et al. 2022);
    `draw=lottery` draws every corpus again, so that corpora may share texts (Ackerman et al. 2023). Measures: accuracy
    and weighted accuracy of judgements, Spearman's ρ of distance and step ℓ (monotonicity), ω² of an analysis of
    variance by ℓ (separability), R² of the line over ℓ (linearity; `linearity=r` gives r, as the paper's table).
    Every different text is drawn from once; `distinct=false` draws from all rows, repeated texts as often as they stand
    there, as the authors' code does. `order=paper` lists the same corpora from all B to all A, as the authors' code
    does: metrics that are not symmetric see their roles exchanged.
    `judgements=paper` counts judgements as often as the authors' code; `ties` is how equal distances count;
    `sample` takes that many judgements at random (0: all). Distances that differ by rounding alone are equal.
    """

    name = "ksc"
    heading = "Known mixtures"
    question = "Two sources are mixed in known shares: do distances grow with the difference of the shares?"
    data = TwoCorpora()
    common = "the measures of ksc are functions of one matrix of distances, so they are not independent evidence"
    figures = ("distance", "tree", "radar", "box")
    judging = ("judgements", "ties", "linearity", "sample")
    tacit = ("order", "distinct")
    ranges = (Range("k", 3), Range("repetitions", 1), Range("sample", 0))
    measures = (
        Measure(
            "accuracy", chance=0.5, about="share of judgements in which the nearer mixtures have the smaller distance"
        ),
        Measure(
            "weighted_accuracy", chance=0.5, about="the same, hard judgements (mixtures nearly as near) weighing more"
        ),
        Measure(
            "monotonicity", low=-1.0, chance=0.0, about="Spearman's ρ of the steps between mixtures and their distance"
        ),
        Measure("separability", chance=0.0, about="ω² of distances grouped by the steps between mixtures"),
        Measure("linearity", about="R² of the line of distance over steps"),
    )

    k: int = 5
    n: int = 30
    repetitions: int = 20
    draw: Literal["spread", "disjoint", "lottery"] = "spread"
    order: Literal["definition", "paper"] = "definition"
    distinct: bool = True
    judgements: Which = "distinct"
    ties: Ties = "half"
    linearity: Literal["r2", "r"] = "r2"
    sample: int = 0

    @property
    def title(self) -> str:
        return f"k{self.k}"

    @property
    def summary(self) -> str:
        order = ", in the order of the authors' code" if self.order == "paper" else ""
        return f"{self.k} corpora of {self.n} texts, {self.repetitions} repetitions{order}"

    def check(self, sources: Sources) -> None:
        if self.n < self.k - 1:
            raise InputError(
                f"{self.k} corpora differ from each other only with at least {self.k - 1} texts each, not {self.n}"
            )
        for role, count in self._count_needed().items():
            have, what = len(self._list_rows(sources, role)), "different texts" if self.distinct else "texts"
            if have < count:
                raise InputError(f"source {role} has {have} {what}, but k={self.k} corpora of n={self.n} need {count}")

    def pool_share(self, sources: Sources) -> float:
        """Return the larger share of both sources; of a lottery, the share that at least one corpus draws.

        Where repetitions are spread over the texts, two of one round share none: the mean over every two of them.
        """
        first = compute_shares(self.k, self.n)
        counts = {role: len(self._list_rows(sources, role)) for role in ("a", "b")}
        if self.draw != "lottery":
            share = max(needed / counts[role] for role, needed in self._count_needed().items())
            whole, rest = divmod(self.repetitions, self._count_sets(sources))
            apart = whole * comb(self._count_sets(sources), 2) + comb(rest, 2)
            return share * (1.0 - apart / max(comb(self.repetitions, 2), 1))
        taken = {"a": first, "b": self.n - first}
        return max(1.0 - float(np.prod(1.0 - taken[role] / counts[role])) for role in taken)

    def trials(self, sources: Sources, seed: int) -> Iterator[CorpusBatch]:
        """Yield one batch per repetition: all pairs of the k corpora."""
        same = replace(self, order="definition")  # the texts drawn do not depend on the order
        sets, start = self._count_sets(sources), len(sources.corpora["a"])
        both = self._list_rows(sources, "a"), self._list_rows(sources, "b") + start
        for number in range(self.repetitions):
            turn, place = divmod(number, sets)
            members = self._draw_members(both, make_generator(same, sources, seed, turn), place)
            members = members[::-1] if self.order == "paper" else members
            i, j = list_corpus_pairs(self.k)
            sides = [(members[a], members[b]) for a, b in zip(i, j, strict=True)]
            rows = np.unique(np.concatenate(members))
            yield CorpusBatch.of_rows(number, sources.joint, rows, sides, {"i": i, "j": j})

    def judge(self, observations: Observations) -> list[Verdict]:
        verdicts = super().judge(observations)
        batches = [batch for batch in observations.batches() if explain_undefined(batch) is None]
        if not self.sample or not batches:
            return verdicts
        # Repetitions share the sample of judgements: their mean is no surer than one.
        distances, judged = [merge_rounding_ties(batch.value) for batch in batches], self._get_judgements()
        errors = {
            name: float(np.mean([estimate_sampling_error(d, judged, weighted=w, ties=self.ties) for d in distances]))
            for name, w in (("accuracy", False), ("weighted_accuracy", True))
        }
        return [replace(verdict, error=errors.get(verdict.measure, 0.0)) for verdict in verdicts]

    def judge_repetition(self, batch: Observations) -> dict[str, float | str] | str:
        why = explain_undefined(batch)
        if why is not None:
            return why
        d, step = merge_rounding_ties(batch.value), (batch.columns["j"] - batch.columns["i"]).astype(float)
        judged = self._get_judgements()
        values = {
            "accuracy": compute_accuracy(d, judged, ties=self.ties),
            "weighted_accuracy": compute_accuracy(d, judged, weighted=True, ties=self.ties),
            "monotonicity": spearman(step, d),
            "separability": omega_squared(d, step),
            "linearity": (r_squared if self.linearity == "r2" else pearson)(step, d),
        }
        unrelated = "a distance is infinite" if np.isinf(d).any() else "all distances are equal"
        return {name: unrelated if np.isnan(value) else value for name, value in values.items()}

    def _get_judgements(self) -> Judgements:
        if self.sample:
            return sample_judgements(self.k, self.judgements, self.sample, seed=0)
        return list_judgements(self.k, self.judgements)

    def _count_needed(self) -> dict[str, int]:
        first = compute_shares(self.k, self.n)
        if self.draw == "lottery":
            return {"a": self.n, "b": self.n}
        return {"a": int(first.sum()), "b": int((self.n - first).sum())}

    def _list_rows(self, sources: Sources, role: str) -> Ints:
        """Return the rows that texts are drawn from, in an order of their content alone."""
        return sources.distinct(role) if self.distinct else np.argsort(sources.corpora[role].keys, kind="stable")

    def _count_sets(self, sources: Sources) -> int:
        """Return how many repetitions are made of one shuffle of the texts."""
        if self.draw != "spread":
            return 1
        return min(len(self._list_rows(sources, role)) // n for role, n in self._count_needed().items())

    def _draw_members(self, sides: tuple[Ints, Ints], rng: np.random.Generator, place: int) -> list[Ints]:
        """Return the rows of each corpus, from this place of the shuffled texts on."""
        first = compute_shares(self.k, self.n)
        if self.draw == "lottery":
            return [
                np.concatenate([rng.choice(sides[0], a, False), rng.choice(sides[1], self.n - a, False)]) for a in first
            ]
        shuffled = [rng.permutation(side) for side in sides]
        ends = [np.cumsum(counts) for counts in (first, self.n - first)]
        parts = [
            np.split(side[place * end[-1] : (place + 1) * end[-1]], end[:-1])
            for side, end in zip(shuffled, ends, strict=True)
        ]
        return [np.concatenate(both) for both in zip(*parts, strict=True)]


@dataclass(frozen=True, eq=False)
class Judgements:
    """Pairs (inner, outer) of corpus pairs, by their place among all pairs i < j, with how often each counts.

    `gap` is how much longer the outer pair is.
    """

    inner: Ints
    outer: Ints
    count: Floats
    gap: Ints

    def __len__(self) -> int:
        return int(self.count.sum())


@cache
def list_corpus_pairs(k: int) -> tuple[Ints, Ints]:
    """Return all i < j of k corpora, in order."""
    i, j = np.triu_indices(k, 1)
    return i.astype(np.int64), j.astype(np.int64)


@cache
def list_judgements(k: int, which: Which = "distinct") -> Judgements:
    """Return every pair properly inside another one, once; or as often as the recursion of the authors' code lists it.

    >>> [len(list_judgements(k, way)) for way in ("distinct", "paper") for k in (7, 12)]
    [105, 935, 156, 6053]
    """
    i, j = list_corpus_pairs(k)
    inside = (i[:, None] >= i) & (j[:, None] <= j)
    np.fill_diagonal(inside, False)
    inner, outer = np.nonzero(inside)
    length = j - i
    count = np.ones(len(inner))
    if which == "paper":
        count = _count_paths(i, length, k)[outer]
    return Judgements(inner, outer, count, length[outer] - length[inner])


def sample_judgements(k: int, which: Which, size: int, seed: int) -> Judgements:
    """Return a random sample of judgements, drawn by their counts with replacement, without listing them all."""
    rng = np.random.default_rng([seed, 6])
    i, j = list_corpus_pairs(k)
    length = j - i
    weight = (length + 1) * length / 2 - 1.0  # pairs properly inside each pair
    if which == "paper":
        weight *= _count_paths(i, length, k)
    outer = rng.choice(len(i), size=size, p=weight / weight.sum())
    row = rng.integers(1, ((length + 1) * length // 2)[outer])  # 0 would be the outer pair itself
    # The row-th pair among those of 0 … length: the longest first, then by start.
    shorter = ((np.sqrt(8 * row + 1) - 1) // 2).astype(np.int64)
    start = i[outer] + row - shorter * (shorter + 1) // 2
    end = start + length[outer] - shorter
    inner = start * k - start * (start + 1) // 2 + end - start - 1
    return Judgements(inner, outer, np.ones(size), length[outer] - (end - start))


def _count_paths(start: Ints, length: Ints, k: int) -> Floats:
    """How often the recursion of the authors' code, which shortens a pair by one end at a time, meets each pair."""
    return np.array([float(comb(k - 1 - int(size), int(i))) for i, size in zip(start, length, strict=True)])


def compute_accuracy(distances: Floats, of: Judgements, *, weighted: bool = False, ties: Ties = "half") -> float:
    """Share of judgements in which the inner distance is not the larger; `weighted` by 1/(ℓ_outer − ℓ_inner).

    >>> compute_accuracy(np.array([1.0, 2.0, 1.0]), list_judgements(3))
    1.0
    """
    if np.isnan(distances).any():
        return float("nan")
    right, weight = _count_right(distances, of, weighted, ties)
    return float((weight * right).sum() / weight.sum())


def estimate_sampling_error(distances: Floats, of: Judgements, *, weighted: bool = False, ties: Ties = "half") -> float:
    """Estimate the standard error of the accuracy on a random sample of judgements.

    √(p(1 − p)/m) without ties and weights.

    >>> drawn = Judgements(*np.array([[0, 2], [1, 1], [1, 1], [1, 1]]))
    >>> round(estimate_sampling_error(np.array([1.0, 2.0, 3.0]), drawn), 4)
    0.3536
    """
    right, weight = _count_right(distances, of, weighted, ties)
    mean = (weight * right).sum() / weight.sum()
    return float(np.sqrt(((weight * (right - mean)) ** 2).sum()) / weight.sum())


def _count_right(distances: Floats, of: Judgements, weighted: bool, ties: Ties) -> tuple[Floats, Floats]:
    outer, inner = distances[of.outer], distances[of.inner]  # compared, not subtracted: two may be infinite
    right = (outer > inner) + {"half": 0.5, "right": 1.0, "wrong": 0.0}[ties] * (outer == inner)
    return right, of.count / of.gap if weighted else of.count
