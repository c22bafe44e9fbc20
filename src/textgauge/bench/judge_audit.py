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
from textgauge.stats.decisions import is_ahead
from textgauge.stats.resampling import compute_percentile_interval

MARGIN = 0.2
# Below the first κ of people among themselves, or with the second one inside its interval, a coin may pass the test.
_LEAST_AGREEMENT, _NO_AGREEMENT = 0.4, 0.2
HELPED = "people, with the judge's help"
_MOST_KINDS = 10
_RESAMPLES = 1_000
_ALPHA_RESAMPLES = 200


@dataclass(frozen=True)
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
    """The rows of an audit; `test` is the alternative-annotator test behind the answer, `scale` that of the ratings."""

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
    scale: Scale
    warnings: tuple[str, ...] = ()

    @property
    def outcome(self) -> bool | None:
        """Whether the judge may take the place of a person; None where that cannot be decided.

        It may where it passes the alternative-annotator test and agrees with people beyond chance. Where people hardly
        agree, everyone is as close to them as they are to each other, and the test says nothing.
        """
        people, judge = self["kappa", "people"], self["kappa", "judge and people"]
        is_tested = bool(np.isfinite(self.test.p_values).any())
        if not is_tested or not (people.value >= _LEAST_AGREEMENT and people.low > _NO_AGREEMENT):
            return None
        return self.test.passed and bool(is_ahead(judge.low))

    @property
    def answer(self) -> str:
        """Whether the judge may take the place of a person, how it agrees with people, and the mean human score."""
        tested = self.test.p_values[np.isfinite(self.test.p_values)]
        if not len(tested):
            verdict = (
                f"Whether the judge may take the place of a person is not known: it takes {MIN_ITEMS} items of each."
            )
        elif self.outcome is None:
            verdict = (
                "Whether the judge may take the place of a person cannot be decided: people agree too little among "
                "themselves."
            )
        else:
            wins = round(self.test.winning_rate * len(tested))
            verdict = (
                f"The judge {'may' if self.outcome else 'may not'} take the place of a person: it is as good as {wins} "
                f"of {len(tested)} people (alternative-annotator test, margin {self.margin:g})"
            )
            verdict += "." if self.outcome or not self.test.passed else ", but agrees with them as a coin may."
        rows = {(row.measure, row.of): row for row in self.rows}
        ours, theirs, mean = (
            f"{format_cell(row.value)} ({format_interval(row.low, row.high)})" if row else ""
            for row in map(rows.get, [("kappa", "judge and people"), ("kappa", "people"), ("mean score", HELPED)])
        )
        agreed = f"Cohen's κ with people {ours}, people among themselves {theirs} ({self.scale} scale)."
        return f"{verdict} {agreed}{f' Mean human score {mean}.' if mean else ''}"


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
    interval; by default nominal for two different ratings, ordinal for up to ten, and asked for where three to five
    whole numbers with a 0 may be kinds, such as 0 tie, 1 first, 2 second. `margin` is what a person's work is worth:
    0.2 for experts, 0.1 for crowd workers.

    >>> columns = {"ann": [1, 2, 1, 2] * 9, "bob": [1, 2, 1, 1] * 9, "model": [1, 2, 1, 2] * 9}
    >>> audit_judge(columns, rating=["ann", "bob"], judge="model").answer.split(":")[0]
    'The judge may take the place of a person'
    """
    if not isinstance(table, TextTable):
        names = table if isinstance(table, Mapping) else getattr(table, "columns", ())
        is_file = isinstance(table, str | os.PathLike)
        table = read_table(table) if is_file else TextTable.of("the table", {str(n): list(table[n]) for n in names})
    if len(set(rating)) < 2:
        raise ArgumentError(
            "an audit of a judge needs the ratings of two people or more: name their columns by {rating}, one at a time"
        )
    people = np.array(list(table.get_scores(dict.fromkeys(rating)).values()))
    own, *again = (np.array(table.get_scores([name])[name]) for name in (judge, *repeat))
    other = None if swapped is None else np.array(table.get_scores([swapped])[swapped])
    known, given = people[np.isfinite(people)], own[np.isfinite(own)]
    if len(given) and (given == given[0]).all():
        raise InputError(f"{table.name}: column {judge!r} is {given[0]:g} for every item: such a judge says nothing")
    if not ((np.isfinite(people).sum(axis=0) > 1) & np.isfinite(own)).any():
        raise InputError(f"{table.name}: no item has the ratings of two people and a score of {judge!r}")
    moved, warned = own, tuple[str, ...]()
    if given.min() < known.min() or given.max() > known.max():
        moved = known.mean() + (own - given.mean()) * known.std() / given.std()
        ends = [f"{side.min():g} to {side.max():g}" for side in (given, known)]
        apart = f"the judge's scores run from {ends[0]}, people's from {ends[1]}"
        favour = "κ, α and the test are of scores moved to people's mean and spread, which is in the judge's favour"
        warned = (f"{apart}: {favour}",)
    kinds = len(np.unique(known))
    if scale is None and 3 <= kinds <= 5 and 0 in known and (known == known.round()).all():
        listed = ", ".join(f"{kind:g}" for kind in np.unique(known))
        raise InputError(f"the ratings {listed} may be kinds or a scale: say which, by a scale of nominal or ordinal")
    chosen = scale or ("nominal" if kinds <= 2 else "ordinal" if kinds <= _MOST_KINDS else "interval")
    closeness: Closeness = "accuracy" if chosen == "nominal" else "rmse"
    test = run_alternative_annotator_test(people, moved, margin=margin, closeness=closeness)
    audit = _Audit(people, own, moved, chosen, level, seed)
    rows = [*audit.measure_agreement(), *audit.count_base_rates()]
    rows += audit.list_replacement(test, list(dict.fromkeys(rating)), closeness)
    if chosen != "nominal" or kinds <= 2:  # the mean of codes of three kinds means nothing
        rows += audit.estimate_means()
    if again:
        rows.append(audit.measure_alpha("self-consistency", "judge", np.vstack([own, *again])))
    if other is not None:
        rows += audit.measure_position_bias(other)
    if text is not None:
        lengths = [len(split_folded_words(cell)) for cell in table.get_filled(text)]
        rows.append(audit.measure_length_bias(np.array(lengths, dtype=np.float64)))
    return JudgeAudit(tuple(rows), test, margin, chosen, warned)


@dataclass(frozen=True, eq=False)
class _Audit:
    """Ratings of people (a row each), the judge's scores as they are and on people's scale, and how both compare."""

    people: Floats
    own: Floats
    judge: Floats
    scale: Scale
    level: float
    seed: int

    def measure_agreement(self) -> Iterator[AuditRow]:
        """κ and α of people among themselves, and with the judge."""
        squared = self.scale != "nominal"
        note = "mean over pairs, squared differences" if squared else "mean over pairs"
        everyone, count = np.vstack([self.people, self.judge]), len(self.people)
        pairs = {
            "people": list(combinations(range(count), 2)),
            "judge and people": [(person, count) for person in range(count)],
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
            yield AuditRow("kappa", of, value, low, high, items, note)
        yield self.measure_alpha("alpha", "people", self.people)
        yield self.measure_alpha("alpha", "people and judge", everyone)

    def count_base_rates(self) -> Iterator[AuditRow]:
        """Yield how often people and the judge give each rating; where there are many, mean and deviation."""
        sides = {"people": self.people[np.isfinite(self.people)], "judge": self.own[np.isfinite(self.own)]}
        kinds = np.unique(np.concatenate(list(sides.values())))
        for of, ratings in sides.items():
            n = len(ratings)
            if len(kinds) <= _MOST_KINDS:
                rates = ((kind, float((ratings == kind).mean())) for kind in kinds)
                yield from (AuditRow("base rate", f"{of}: {kind:g}", rate, n=n) for kind, rate in rates)
            else:
                yield AuditRow("mean", of, float(ratings.mean()), n=n)
                yield AuditRow("deviation", of, float(ratings.std(ddof=1)), n=n)

    def list_replacement(self, test: AlternativeAnnotator, names: list[str], closeness: str) -> Iterator[AuditRow]:
        """Yield the alternative-annotator test: all people, then one after the other."""
        rated = np.isfinite(self.people) & np.isfinite(self.judge)
        counts = (rated & (rated.sum(axis=0) > 1)).sum(axis=1)
        total = int(counts.sum())
        yield AuditRow("winning rate", "judge", test.winning_rate, n=total, note=f"by {closeness}")
        yield AuditRow("advantage", "judge", test.advantage, n=total, note="as close as a person")
        for name, p, share, count in zip(names, test.p_adjusted, test.advantages, counts, strict=True):
            note = f"adjusted p {format_cell(float(p))}" if np.isfinite(p) else f"fewer than {MIN_ITEMS} items"
            yield AuditRow("advantage", f"over {name}", float(share), n=int(count), note=note)

    @cached_property
    def human(self) -> Floats:
        """The mean of people's ratings of each item; NaN where there is none."""
        return average_known(self.people, axis=0)

    def estimate_means(self) -> Iterator[AuditRow]:
        """Yield the mean human score by people alone, and with the judge's help."""
        rated = self.human[np.isfinite(self.human)]
        alone = estimate_prediction_powered_mean(rated, np.zeros(len(rated)), level=self.level)
        helped = estimate_prediction_powered_mean(self.human, self.own, level=self.level)
        added = f"{helped.unrated} more items by the judge, weight {helped.weight:.2g}"
        for of, found, note in (("people alone", alone, None), (HELPED, helped, added)):
            yield AuditRow("mean score", of, found.value, found.low, found.high, found.rated, note)

    def measure_position_bias(self, swapped: Floats) -> Iterator[AuditRow]:
        """Yield what exchanging both texts changes: the mean difference, and how often the score is another one."""
        gaps = (self.own - swapped)[np.isfinite(self.own - swapped)]
        for measure, values in (("position bias", gaps), ("changed by position", (gaps != 0).astype(np.float64))):
            low, high = self._estimate_interval(lambda rows, of=values: float(of[rows].mean()), len(gaps))  # type: ignore[misc]
            yield AuditRow(
                measure, "judge", float(values.mean()) if len(values) else float("nan"), low, high, len(gaps)
            )

    def measure_length_bias(self, lengths: Floats) -> AuditRow:
        """Return whether the judge prefers long texts more than people do: ρ of its excess over people with words."""
        rows = np.isfinite(self.human - self.judge)
        excess, words = (self.judge - self.human)[rows], lengths[rows]
        ends = estimate_correlation_interval(spearman, excess, words, level=self.level, seed=self.seed)
        note = "Spearman's ρ of judge less people with words"
        return AuditRow("length bias", "judge", spearman(excess, words), *ends, len(words), note)

    def measure_alpha(self, measure: str, of: str, ratings: Floats) -> AuditRow:
        """Krippendorff's α of the items with two ratings or more."""
        shared = ratings[:, np.isfinite(ratings).sum(axis=0) > 1]
        n = shared.shape[1]
        ends = self._estimate_interval(lambda rows: krippendorff_alpha(shared[:, rows], scale=self.scale), n)
        value = krippendorff_alpha(shared, scale=self.scale)
        return AuditRow(measure, of, value, *ends, n, f"Krippendorff's α, {self.scale}")

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
