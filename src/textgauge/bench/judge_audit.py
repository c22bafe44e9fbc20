"""An audit of a judge: does it agree with people as they do among themselves, may it replace one, is it biased?

A table has a judge's score of every item and the scores of two or more people of some of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from textgauge.core.arrays import Floats, Ints, average_known
from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.result import Column, Result
from textgauge.core.show import FlatRow, format_cell, format_interval
from textgauge.data.formats import read_table
from textgauge.data.tables import TextTable
from textgauge.encode.tokenizers import split_folded_words
from textgauge.stats.annotators import (
    MIN_ITEMS,
    AlternativeAnnotator,
    Closeness,
    Scale,
    estimate_prediction_powered_mean,
    kappa,
    krippendorff_alpha,
    resample_kappa,
    run_alternative_annotator_test,
)
from textgauge.stats.correlation import draw_weights, estimate_correlation_interval, spearman
from textgauge.stats.resampling import compute_percentile_interval

MARGIN = 0.2
HELPED = "people, with the judge's help"
_MOST_KINDS = 10
_RESAMPLES = 1_000
_ALPHA_RESAMPLES = 200


@dataclass(frozen=True, kw_only=True)
class AuditRow(FlatRow):
    """One number of an audit: the measure, what it is of, its interval, the number of items, and a remark."""

    measure: str
    of: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    n: int = 0
    note: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class JudgeAudit(Result):
    """The rows of an audit; `test` is the alternative-annotator test behind the answer."""

    command: ClassVar[str] = "run"
    keys: ClassVar[Sequence[str]] = ("measure", "of")
    columns: ClassVar[Sequence[Column]] = (
        Column("measure"),
        Column("of"),
        Column("value", form=format_cell),
        Column("interval", "low high", lambda low, high: "" if low is None else format_interval(low, high)),
        Column("n"),
        Column("note", form=lambda note: note or ""),
    )

    rows: tuple[AuditRow, ...]
    test: AlternativeAnnotator
    margin: float
    warnings: tuple[str, ...] = ()

    @property
    def answer(self) -> str:
        """Whether the judge may take the place of a person, how it agrees with people, and the mean human score."""
        with_people, among = (self[("kappa", of)] for of in ("judge and people", "people"))
        ours, theirs = _format_row_interval(with_people), _format_row_interval(among)
        agreed = f"Cohen's κ with people {ours}, people among themselves {theirs}."
        mean = self[("mean score", HELPED)]
        return f"{self._verdict} {agreed} Mean human score {_format_row_interval(mean)}."

    @property
    def _verdict(self) -> str:
        tested = self.test.p_values[np.isfinite(self.test.p_values)]
        if not len(tested):
            return f"Whether the judge may take the place of a person is not known: it takes {MIN_ITEMS} items of each."
        may = "may" if self.test.passed else "may not"
        wins = round(self.test.winning_rate * len(tested))
        return (
            f"The judge {may} take the place of a person: it is as good as {wins} of {len(tested)} people "
            f"(alternative-annotator test, margin {self.margin:g})."
        )


def audit_judge(
    table: Any,
    *,
    rating: Sequence[str],
    judge: str,
    repeat: Sequence[str] = (),
    swapped: str | None = None,
    text: str | None = None,
    scale: Scale | None = None,
    margin: float = MARGIN,
    level: float = 0.95,
    seed: int = 0,
) -> JudgeAudit:
    """Audit the column `judge` of a table by two or more columns of people's ratings.

    `table` is a path or columns by name. People's cells may be blank: where all are, the judge's score still helps to
    estimate their mean. `repeat` are columns of the judge's answers to the same question again, `swapped` one with both
    texts exchanged, `text` the column of texts whose length may bias the judge. `scale` is nominal, ordinal or
    interval; by default nominal for two different ratings, ordinal for up to ten. `margin` is what a person's work is
    worth: 0.2 for experts, 0.1 for crowd workers.

    >>> columns = {"ann": [1, 2, 1, 2] * 9, "bob": [1, 2, 1, 1] * 9, "model": [1, 2, 1, 2] * 9}
    >>> audit_judge(columns, rating=["ann", "bob"], judge="model").answer.split(":")[0]
    'The judge may take the place of a person'
    """
    found = _get_table(table)
    if len(set(rating)) < 2:
        raise ArgumentError(
            "an audit of a judge needs the ratings of two people or more: name their columns by {rating}, one at a time"
        )
    people = np.array(list(found.get_scores(dict.fromkeys(rating)).values()))
    own, *again = (np.array(found.get_scores([name])[name]) for name in (judge, *repeat))
    other = None if swapped is None else np.array(found.get_scores([swapped])[swapped])
    _check(found.name, judge, own, people)
    lengths = (
        None
        if text is None
        else np.array([len(split_folded_words(cell)) for cell in found.get_filled(text)], dtype=np.float64)
    )
    used, warned = _move_to_scale(people, own)
    audit = _Audit(people, used, scale or _choose_scale(people), list(dict.fromkeys(rating)), level, seed)
    test = run_alternative_annotator_test(people, used, margin=margin, closeness=audit.closeness)
    rows = [*audit.measure_agreement(), *audit.count_base_rates(own), *audit.list_replacement(test), *audit.means(own)]
    rows += [
        *audit.measure_consistency(own, again),
        *audit.measure_position_bias(own, other),
        *audit.measure_length_bias(lengths),
    ]
    return JudgeAudit(tuple(rows), test, margin, warned)


def _get_table(table: Any) -> TextTable:
    if isinstance(table, str | os.PathLike):
        return read_table(table)
    if isinstance(table, TextTable):
        return table
    if not isinstance(table, Mapping):
        table = {name: table[name] for name in table.columns}
    return TextTable.of("the table", {str(name): list(cells) for name, cells in table.items()})


def _check(name: str, judge: str, own: Floats, people: Floats) -> None:
    known = own[np.isfinite(own)]
    if len(known) and (known == known[0]).all():
        raise InputError(f"{name}: column {judge!r} is {known[0]:g} for every item: such a judge says nothing")
    rated = np.isfinite(people).sum(axis=0)
    if not ((rated > 1) & np.isfinite(own)).any():
        raise InputError(f"{name}: no item has the ratings of two people and a score of {judge!r}")


def _choose_scale(people: Floats) -> Scale:
    kinds = len(np.unique(people[np.isfinite(people)]))
    return "nominal" if kinds <= 2 else "ordinal" if kinds <= _MOST_KINDS else "interval"


def _move_to_scale(people: Floats, judge: Floats) -> tuple[Floats, tuple[str, ...]]:
    """The judge's scores on people's scale: as they are, or moved to people's mean and spread where they leave it."""
    known, own = people[np.isfinite(people)], judge[np.isfinite(judge)]
    if own.min() >= known.min() and own.max() <= known.max():
        return judge, ()
    moved = known.mean() + (judge - own.mean()) * known.std() / own.std()
    ends = (f"{own.min():g} to {own.max():g}", f"{known.min():g} to {known.max():g}")
    said = f"the judge's scores run from {ends[0]}, people's from {ends[1]}: κ, α and the test are of scores moved to "
    return moved, (said + "people's mean and spread, which is in the judge's favour",)


@dataclass(frozen=True, eq=False)
class _Audit:
    """Ratings of people (a row each), the judge's scores on their scale, and how they are compared."""

    people: Floats
    judge: Floats
    scale: Scale
    names: list[str]
    level: float
    seed: int

    @property
    def closeness(self) -> Closeness:
        return "accuracy" if self.scale == "nominal" else "rmse"

    def measure_agreement(self) -> Iterator[AuditRow]:
        """κ and α of people among themselves, and with the judge."""
        squared = self.scale != "nominal"
        note = "mean over pairs, squared differences" if squared else "mean over pairs"
        everyone = np.vstack([self.people, self.judge])
        pairs = {
            "people": list(combinations(range(len(self.people)), 2)),
            "judge and people": [(person, len(self.people)) for person in range(len(self.people))],
        }
        values = {
            of: float(np.mean([kappa(everyone[a], everyone[b], squared=squared) for a, b in chosen]))
            for of, chosen in pairs.items()
        }
        drawn = {of: self._resample_kappa(everyone, chosen, squared) for of, chosen in pairs.items()}
        values["difference"] = values["judge and people"] - values["people"]
        drawn["difference"] = drawn["judge and people"] - drawn["people"]
        items = int((np.isfinite(self.people).sum(axis=0) > 1).sum())
        for of, value in values.items():
            low, high = compute_percentile_interval(drawn[of], items, self.level)
            yield AuditRow(measure="kappa", of=of, value=value, low=low, high=high, n=items, note=note)
        yield self._measure_alpha("alpha", "people", self.people)
        yield self._measure_alpha("alpha", "people and judge", everyone)

    def count_base_rates(self, judge: Floats) -> Iterator[AuditRow]:
        """Yield how often people and the judge give each rating; where there are many, mean and deviation."""
        sides = {"people": self.people[np.isfinite(self.people)], "judge": judge[np.isfinite(judge)]}
        kinds = np.unique(np.concatenate(list(sides.values())))
        for of, ratings in sides.items():
            if len(kinds) <= _MOST_KINDS:
                for kind in kinds:
                    share = float((ratings == kind).mean())
                    yield AuditRow(measure="base rate", of=f"{of}: {kind:g}", value=share, n=len(ratings))
            else:
                yield AuditRow(measure="mean", of=of, value=float(ratings.mean()), n=len(ratings))
                yield AuditRow(measure="deviation", of=of, value=float(ratings.std(ddof=1)), n=len(ratings))

    def list_replacement(self, test: AlternativeAnnotator) -> Iterator[AuditRow]:
        """Yield the alternative-annotator test: all people, then one after the other."""
        rated = np.isfinite(self.people) & np.isfinite(self.judge)
        counts = (rated & (rated.sum(axis=0) > 1)).sum(axis=1)
        how = f"by {self.closeness}"
        total = int(counts.sum())
        yield AuditRow(measure="winning rate", of="judge", value=test.winning_rate, n=total, note=how)
        yield AuditRow(measure="advantage", of="judge", value=test.advantage, n=total, note="as close as a person")
        for name, p, share, count in zip(self.names, test.p_adjusted, test.advantages, counts, strict=True):
            note = f"adjusted p {format_cell(float(p))}" if np.isfinite(p) else f"fewer than {MIN_ITEMS} items"
            yield AuditRow(measure="advantage", of=f"over {name}", value=float(share), n=int(count), note=note)

    @cached_property
    def human(self) -> Floats:
        """The mean of people's ratings of each item; NaN where there is none."""
        return average_known(self.people, axis=0)

    def means(self, judge: Floats) -> Iterator[AuditRow]:
        """Yield the mean human score by people alone, and with the judge's help."""
        rated = self.human[np.isfinite(self.human)]
        alone = estimate_prediction_powered_mean(rated, np.zeros(len(rated)), level=self.level)
        helped = estimate_prediction_powered_mean(self.human, judge, level=self.level)
        added = f"{helped.unrated} more items by the judge, weight {helped.weight:.2g}"
        for of, found, note in (("people alone", alone, None), (HELPED, helped, added)):
            ends = {"low": found.low, "high": found.high}
            yield AuditRow(measure="mean score", of=of, value=found.value, n=found.rated, note=note, **ends)

    def measure_consistency(self, judge: Floats, again: Sequence[Floats]) -> Iterator[AuditRow]:
        """Yield how far the judge agrees with itself when asked again."""
        if again:
            yield self._measure_alpha("self-consistency", "judge", np.vstack([judge, *again]))

    def measure_position_bias(self, judge: Floats, swapped: Floats | None) -> Iterator[AuditRow]:
        """Yield what exchanging both texts changes: the mean difference, and how often the score is another one."""
        if swapped is not None:
            gaps = (judge - swapped)[np.isfinite(judge - swapped)]
            for measure, values in (("position bias", gaps), ("changed by position", (gaps != 0).astype(np.float64))):
                low, high = self._estimate_interval(lambda rows, of=values: float(of[rows].mean()), len(gaps))  # type: ignore[misc]
                value = float(values.mean()) if len(values) else float("nan")
                yield AuditRow(measure=measure, of="judge", value=value, low=low, high=high, n=len(gaps))

    def measure_length_bias(self, lengths: Floats | None) -> Iterator[AuditRow]:
        """Yield whether the judge prefers long texts more than people do: ρ of its excess over people and the words."""
        if lengths is not None:
            rows = np.isfinite(self.human - self.judge)
            excess, words = (self.judge - self.human)[rows], lengths[rows]
            low, high = estimate_correlation_interval(spearman, excess, words, level=self.level, seed=self.seed)
            value, note = spearman(excess, words), "Spearman's ρ of judge less people with words"
            yield AuditRow(measure="length bias", of="judge", value=value, low=low, high=high, n=len(words), note=note)

    def _measure_alpha(self, measure: str, of: str, ratings: Floats) -> AuditRow:
        """Krippendorff's α of the items with two ratings or more."""
        shared = ratings[:, np.isfinite(ratings).sum(axis=0) > 1]
        low, high = self._estimate_interval(
            lambda rows: krippendorff_alpha(shared[:, rows], scale=self.scale), shared.shape[1]
        )
        value, note = krippendorff_alpha(shared, scale=self.scale), f"Krippendorff's α, {self.scale}"
        return AuditRow(measure=measure, of=of, value=value, low=low, high=high, n=shared.shape[1], note=note)

    def _resample_kappa(self, ratings: Floats, pairs: Sequence[tuple[int, int]], squared: bool) -> Floats:
        """Return the mean of κ over pairs of raters on each resample of the items."""
        parts = []
        for weights in draw_weights(ratings.shape[1], _RESAMPLES, self.seed):
            found = []
            for a, b in pairs:
                both = np.isfinite(ratings[a]) & np.isfinite(ratings[b])
                found.append(resample_kappa(ratings[a, both], ratings[b, both], weights[:, both], squared=squared))
            parts.append(np.mean(found, axis=0))
        return np.concatenate(parts)

    def _estimate_interval(self, of: Callable[[Ints], float], n: int) -> tuple[float, float]:
        """Return the interval of a statistic of items drawn again."""
        rng = np.random.default_rng([self.seed, 22])
        found = [of(rng.integers(n, size=n)) for _ in range(_ALPHA_RESAMPLES)] if n > 1 else []
        return compute_percentile_interval(np.array(found, dtype=np.float64), n, self.level)


def _format_row_interval(row: AuditRow) -> str:
    return f"{format_cell(row.value)} ({format_interval(row.low, row.high)})"
