"""An audit of a judge: does it agree with people as they do among themselves, may it replace one, is it biased?

A table has a judge's score or label of every item and those of one or more people of some of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from textgauge.core.arrays import Floats, Ints, average_known
from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.result import Column, Result
from textgauge.core.show import FlatRow, Row, format_cell, format_interval, format_percent, join_words
from textgauge.data.source import load_table
from textgauge.data.tables import TextTable, parse_number
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
JUDGE_LESS_PEOPLE = "judge less people"
_MOST_KINDS = 10
_MOST_LABELS = 50
_WORDS_OF_TEXT = 3  # on average, from which a column is one of texts
_LISTED = 1_000  # disagreements that are kept
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
    """The rows of an audit, and behind them:

    `test` is the alternative-annotator test, None with one person; `scale` that of the ratings. `confusion` has a row
    for each rating of people with the judge's ratings of the same items; `disagreements` are the items that the judge
    and people see differently, the largest difference first, with their texts.
    """

    command: ClassVar[str] = "judge"
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
    test: AlternativeAnnotator | None
    margin: float
    scale: Scale
    confusion: tuple[Row, ...] = ()
    disagreements: tuple[Row, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def details(self) -> Row:
        """`confusion` and `disagreements`."""
        return {"confusion": list(self.confusion), "disagreements": list(self.disagreements)}

    @property
    def outcome(self) -> bool | None:
        """Whether the judge may take the place of a person; None where that cannot be decided.

        It may where it passes the alternative-annotator test and agrees with people beyond chance. Where people hardly
        agree, everyone is as close to them as they are to each other, and the test says nothing.
        """
        if self.test is None or not np.isfinite(self.test.p_values).any():
            return None
        people, judge = self["kappa", "people"], self["kappa", "judge and people"]
        if not (people.value >= _LEAST_AGREEMENT and people.low > _NO_AGREEMENT):
            return None
        return self.test.passed and bool(is_ahead(judge.low))

    @property
    def answer(self) -> str:
        """Whether the judge may take the place of a person, how it agrees with people, and the mean human score."""
        rows = {(row.measure, row.of): row for row in self.rows}
        whose = HELPED if ("mean score", HELPED) in rows else "people alone"
        ours, theirs, mean = (
            f"{format_cell(row.value)} ({format_interval(row.low, row.high)})" if row else ""
            for row in map(rows.get, [("kappa", "judge and people"), ("kappa", "people"), ("mean score", whose)])
        )
        among = f", people among themselves {theirs}" if theirs else ""
        said = [f"Cohen's κ with people {ours}{among} ({self.scale} scale)."]
        if equal := rows.get(("agreement", "judge and people")):
            ends = f"{format_percent(round(equal.low, 3))} to {format_percent(round(equal.high, 3))}"
            share = f"{format_percent(round(equal.value, 3))} of {equal.n:,} ratings ({ends})"
            said.insert(0, f"The judge agrees with people in {share}.")
        bias = rows.get(("bias", JUDGE_LESS_PEOPLE))
        if bias and (is_ahead(bias.low) or is_ahead(-bias.high)):
            said.append(f"It scores {abs(bias.value):.2g} {'higher' if bias.value > 0 else 'lower'} than people.")
        if mean:
            said.append(f"Mean human score {mean}.")
        return " ".join([*([] if self.test is None else [self._format_verdict(self.test)]), *said])

    def _format_verdict(self, test: AlternativeAnnotator) -> str:
        tested = test.p_values[np.isfinite(test.p_values)]
        if not len(tested):
            return f"Whether the judge may take the place of a person is not known: it takes {MIN_ITEMS} items of each."
        if self.outcome is None:
            return (
                "Whether the judge may take the place of a person cannot be decided: people agree too little among "
                "themselves."
            )
        wins = round(test.winning_rate * len(tested))
        verdict = (
            f"The judge {'may' if self.outcome else 'may not'} take the place of a person: it is as good as {wins} "
            f"of {len(tested)} people (alternative-annotator test, margin {self.margin:g})"
        )
        return verdict + ("." if self.outcome or not test.passed else ", but agrees with them as a coin may.")


def audit_judge(
    table: Any,
    *,
    judge: str,
    rating: str | Sequence[str],
    text: str | Sequence[str] | None = None,
    repeat: str | Sequence[str] | None = None,
    swapped: str | None = None,
    scale: Scale | None = None,
    margin: float = MARGIN,
    level: float = 0.95,
    seed: int = 0,
) -> JudgeAudit:
    """Say how well a judge, such as a language model, agrees with people, where it is biased, and where it differs.

    With the ratings of two people or more: whether it may take the place of a person.

    Parameters
    ----------
    table
        A file with a row for each item, or a frame, columns by name or a list of records.
    judge
        The column of the judge's scores or labels.
    rating
        The column of people's ratings, or several, one for each person. Cells may be blank: where all are, the judge's
        score still helps to estimate the mean of people.
    text
        Columns of texts: shown where judge and people differ, and whether their length biases the judge is measured. By
        default all columns of texts.
    repeat
        Columns of the judge's answers to the same question again.
    swapped
        The column of the judge's scores with both texts exchanged.
    scale
        How ratings are read: as kinds (nominal), by their order (ordinal), or as numbers (interval). By default nominal
        for labels and for two different ratings, ordinal for up to ten; asked for where three to five whole numbers
        with a 0 may be kinds, such as 0 tie, 1 first, 2 second.
    margin
        What a person's work is worth in the test: 0.2 for experts, 0.1 for crowd workers.
    level
        Confidence level of the intervals.
    seed
        Random seed.

    Examples
    --------
    >>> columns = {"ann": [1, 2, 1, 2] * 9, "bob": [1, 2, 1, 1] * 9, "model": [1, 2, 1, 2] * 9}
    >>> audit_judge(columns, rating=["ann", "bob"], judge="model").answer.split(":")[0]
    'The judge may take the place of a person'
    >>> audit_judge(columns, rating="bob", judge="model").answer[:42]
    'The judge agrees with people in 75 % of 36'
    """
    if not isinstance(table, TextTable):
        table = load_table(table)
    names, again, shown = (
        list(dict.fromkeys([given] if isinstance(given, str) else given or ())) for given in (rating, repeat, text)
    )
    if not names:
        raise ArgumentError("an audit of a judge needs people's ratings: name their column by `rating`")
    if judge in names:
        raise ArgumentError(f"`judge` and `rating` are both {judge!r}")
    others = [*again, *([swapped] if swapped else [])]
    ratings, labels = _read_ratings(table, [*names, judge, *others])
    if labels and scale not in (None, "nominal"):
        raise ArgumentError(f"ratings such as {labels[0]!r} are labels, whose `scale` is nominal, not {scale}")
    people, own, more = ratings[: len(names)], ratings[len(names)], ratings[len(names) + 1 :]
    known, given = people[np.isfinite(people)], own[np.isfinite(own)]
    if not (np.isfinite(people).any(axis=0) & np.isfinite(own)).any():
        raise InputError(f"{table.name}: no item has a rating of {join_words(names)} and a score of {judge!r}")
    if (given == given[0]).all():
        always = labels[int(given[0])] if labels else f"{given[0]:g}"
        raise InputError(f"{table.name}: column {judge!r} is {always} for every item: such a judge says nothing")
    moved, warned = own, tuple[str, ...]()
    if not labels and (given.min() < known.min() or given.max() > known.max()):
        moved = known.mean() + (own - given.mean()) * known.std() / given.std()
        ends = [f"{side.min():g} to {side.max():g}" for side in (given, known)]
        apart = f"the judge's scores run from {ends[0]}, people's from {ends[1]}"
        favour = "κ, α and the test are of scores moved to people's mean and spread, which is in the judge's favour"
        warned = (f"{apart}: {favour}",)
    chosen = scale or _choose_scale(known, labels)
    closeness: Closeness = "accuracy" if chosen == "nominal" else "rmse"
    audit = _Audit(people, own, moved, chosen, level, seed, labels)
    rows = [*audit.measure_agreement(), *audit.count_base_rates()]
    test = None
    if len(names) > 1 and (np.isfinite(people) & np.isfinite(own)).sum(axis=0).max() > 1:
        test = run_alternative_annotator_test(people, moved, margin=margin, closeness=closeness)
        rows += audit.list_replacement(test, names, closeness)
    rows += audit.estimate_means()
    if again:
        rows.append(audit.measure_alpha("self-consistency", "judge", np.vstack([own, *more[: len(again)]])))
    if swapped is not None:
        rows += audit.measure_position_bias(more[-1])
    shown = shown or _find_texts(table, {*names, judge, *others})
    for name in () if audit.are_codes else shown:
        lengths = np.array([len(split_folded_words(cell or "")) for cell in table.get_texts(name)], dtype=np.float64)
        if len(np.unique(lengths)) > 1:
            rows.append(audit.measure_length_bias(lengths, f"judge, by {name}" if len(shown) > 1 else "judge"))
    return JudgeAudit(
        tuple(rows),
        test,
        margin,
        chosen,
        tuple(audit.count_confusion()),
        tuple(audit.list_disagreements(table, names, judge, shown)),
        warned,
    )


def _choose_scale(known: Floats, labels: Sequence[str]) -> Scale:
    """Return the scale that ratings have by themselves; whole numbers that may be codes are refused."""
    kinds = np.unique(known)
    if not labels and 3 <= len(kinds) <= 5 and 0 in kinds and (kinds == kinds.round()).all():
        listed = ", ".join(f"{kind:g}" for kind in kinds)
        raise ArgumentError(f"the ratings {listed} may be kinds or a scale: say which by `scale` nominal or ordinal")
    return "nominal" if labels or len(kinds) <= 2 else "ordinal" if len(kinds) <= _MOST_KINDS else "interval"


def _read_ratings(table: TextTable, names: Sequence[str]) -> tuple[Floats, list[str]]:
    """Return columns of ratings, a row each; labels as their places in the list of all labels, which comes second."""
    cells = [cell for name in names for cell in table.columns[table.find_column(name)]]
    filled = [cell for cell in cells if parse_number(cell) is None or not np.isnan(parse_number(cell))]  # type: ignore[arg-type]
    labels = sorted({str(cell).strip() for cell in filled})
    if sum(parse_number(cell) is None for cell in filled) <= len(filled) / 2 or len(labels) > _MOST_LABELS:
        return np.array([table.get_scores([name])[name] for name in names]), []
    place = {label: float(number) for number, label in enumerate(labels)}
    numbers = [place.get("" if cell is None else str(cell).strip(), np.nan) for cell in cells]
    return np.array(numbers).reshape(len(names), -1), labels


def _find_texts(table: TextTable, used: set[str]) -> list[str]:
    """Return the columns that hold texts of some words."""
    found = []
    for name, cells in table.columns.items():
        texts = [cell for cell in cells if isinstance(cell, str)]
        if name not in used and texts and sum(len(cell.split()) for cell in texts) >= _WORDS_OF_TEXT * len(texts):
            found.append(name)
    return found


@dataclass(frozen=True, eq=False)
class _Audit:
    """Ratings of people (a row each), the judge's scores as they are and on people's scale, and how both compare."""

    people: Floats
    own: Floats
    judge: Floats
    scale: Scale
    level: float
    seed: int
    labels: Sequence[str]

    def _name(self, rating: float) -> str:
        return self.labels[int(rating)] if self.labels else f"{rating:g}"

    @cached_property
    def kinds(self) -> Floats:
        """All ratings that people or the judge give."""
        return np.unique(np.concatenate([side[np.isfinite(side)] for side in (self.people.ravel(), self.own)]))

    @property
    def are_codes(self) -> bool:
        """Whether ratings are codes of three kinds or more, whose differences say nothing."""
        kinds = self.kinds if self.labels else np.unique(self.people[np.isfinite(self.people)])
        return self.scale == "nominal" and len(kinds) > 2

    def measure_agreement(self) -> Iterator[AuditRow]:
        """How often judge and people agree, and κ and α of people among themselves, and with the judge."""
        both = np.isfinite(self.people) & np.isfinite(self.own)
        if len(self.kinds) <= _MOST_KINDS:
            equal, count = ((self.people == self.own) & both).sum(axis=0), both.sum(axis=0)
            rated = np.flatnonzero(count)
            ends = self._estimate_interval(lambda rows: equal[rated[rows]].sum() / count[rated[rows]].sum(), len(rated))
            yield AuditRow("agreement", "judge and people", float(equal.sum() / both.sum()), *ends, int(both.sum()))
        squared = self.scale != "nominal"
        note = "mean over pairs, squared differences" if squared else "mean over pairs"
        everyone, count = np.vstack([self.people, self.judge]), len(self.people)
        pairs = {"judge and people": [(person, count) for person in range(count)]}
        if count > 1:
            pairs = {"people": list(combinations(range(count), 2))} | pairs
        values = {
            of: float(np.mean([kappa(everyone[a], everyone[b], squared=squared) for a, b in chosen]))
            for of, chosen in pairs.items()
        }
        drawn = {of: self._resample_kappa(everyone, chosen, squared) for of, chosen in pairs.items()}
        if count > 1:
            values["difference"] = values["judge and people"] - values["people"]
            drawn["difference"] = drawn["judge and people"] - drawn["people"]
        items = int((np.isfinite(everyone if count < 2 else self.people).sum(axis=0) > 1).sum())
        note = note if count > 1 else "squared differences" if squared else ""
        for of, value in values.items():
            low, high = compute_percentile_interval(drawn[of], items, self.level)
            yield AuditRow("kappa", of, value, low, high, items, note or None)
        if count > 1:
            yield self.measure_alpha("alpha", "people", self.people)
        yield self.measure_alpha("alpha", "people and judge", everyone)
        if squared:
            rows = np.isfinite(self.human - self.own)
            human, own = self.human[rows], self.own[rows]
            ends = estimate_correlation_interval(spearman, human, own, level=self.level, seed=self.seed)
            yield AuditRow("spearman", "judge and people", spearman(human, own), *ends, len(own))
            if self.judge is self.own:
                gaps = own - human
                ends = self._estimate_interval(lambda rows: float(gaps[rows].mean()), len(gaps))
                yield AuditRow("bias", JUDGE_LESS_PEOPLE, float(gaps.mean()), *ends, len(gaps))

    def count_confusion(self) -> Iterator[Row]:
        """Yield how often the judge gives each rating to the items that a person gave a rating."""
        if len(self.kinds) > _MOST_KINDS:
            return
        pairs = Counter((mine, own) for row in self.people for mine, own in zip(row, self.own, strict=True))
        for kind in self.kinds:
            counts = {f"judge {self._name(other)}": pairs[kind, other] for other in self.kinds}
            yield {"people": self._name(kind), **counts}

    def list_disagreements(
        self, table: TextTable, names: Sequence[str], judge: str, texts: Sequence[str]
    ) -> Iterator[Row]:
        """Yield the items that judge and people see differently, the largest difference first."""
        gaps = np.abs(self.people - self.judge)
        gap = average_known((gaps > 0).astype(np.float64) if self.scale == "nominal" else gaps, axis=0)
        gap = np.where(np.isfinite(gaps).any(axis=0), gap, 0.0)
        for item in [row for row in np.argsort(-gap, kind="stable").tolist() if gap[row] > 0][:_LISTED]:
            found = {table.unit: table.rows[item]}
            found |= {name: table.columns[table.find_column(name)][item] for name in (judge, *names)}
            yield found | {name: table.columns[name][item] for name in texts}

    def count_base_rates(self) -> Iterator[AuditRow]:
        """Yield how often people and the judge give each rating; where there are many, mean and deviation."""
        sides = {"people": self.people[np.isfinite(self.people)], "judge": self.own[np.isfinite(self.own)]}
        for of, ratings in sides.items():
            n = len(ratings)
            if len(self.kinds) <= _MOST_KINDS:
                rates = ((self._name(kind), float((ratings == kind).mean())) for kind in self.kinds)
                yield from (AuditRow("base rate", f"{of}: {kind}", rate, n=n) for kind, rate in rates)
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
        """Yield the mean human score, or the share of each kind, by people alone and with the judge's help."""
        scored = not self.labels and (self.scale != "nominal" or len(self.kinds) <= 2)  # codes of kinds have no mean
        sides = {"mean score": (self.human, self.own)} if scored else {}
        kinds = self.kinds[1:] if len(self.kinds) == 2 else self.kinds  # the other share of two follows
        for kind in () if scored or len(kinds) > _MOST_KINDS else kinds:
            own = np.where(np.isfinite(self.own), self.own == kind, np.nan)
            share = average_known(np.where(np.isfinite(self.people), self.people == kind, np.nan), axis=0)
            sides[f"share of {self._name(kind)}"] = share, own
        for measure, (human, own) in sides.items():
            rated = human[np.isfinite(human)]
            alone = estimate_prediction_powered_mean(rated, np.zeros(len(rated)), level=self.level)
            helped = estimate_prediction_powered_mean(human, own, level=self.level)
            added = f"{helped.unrated} more items by the judge, weight {helped.weight:.2g}"
            for of, found, note in (("people alone", alone, None), (HELPED, helped, added)):
                if found.unrated or of != HELPED:  # without more items it is the same
                    yield AuditRow(measure, of, found.value, found.low, found.high, found.rated, note)

    def measure_position_bias(self, swapped: Floats) -> Iterator[AuditRow]:
        """Yield what exchanging both texts changes: the mean difference, and how often the score is another one."""
        gaps = (self.own - swapped)[np.isfinite(self.own - swapped)]
        measured = {"position bias": gaps, "changed by position": (gaps != 0).astype(np.float64)}
        for measure, values in list(measured.items())[self.are_codes :]:
            low, high = self._estimate_interval(lambda rows, of=values: float(of[rows].mean()), len(gaps))  # type: ignore[misc]
            yield AuditRow(
                measure, "judge", float(values.mean()) if len(values) else float("nan"), low, high, len(gaps)
            )

    def measure_length_bias(self, lengths: Floats, of: str) -> AuditRow:
        """Return whether the judge prefers long texts more than people do: ρ of its excess over people with words."""
        rows = np.isfinite(self.human - self.judge)
        excess, words = (self.judge - self.human)[rows], lengths[rows]
        ends = estimate_correlation_interval(spearman, excess, words, level=self.level, seed=self.seed)
        note = "Spearman's ρ of judge less people with words"
        return AuditRow("length bias", of, spearman(excess, words), *ends, len(words), note)

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
