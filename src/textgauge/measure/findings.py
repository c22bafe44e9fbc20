"""What a description says: the answer, warnings, what is worse than in real texts, tests between corpora."""

from __future__ import annotations

import csv
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import combinations
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.show import Row, format_cell, format_count, format_percent, join_words
from textgauge.measure.lists import name_rating
from textgauge.metrics.numerics.passages import PASSAGE
from textgauge.metrics.properties.base import (
    MeasuredCorpus,
    PropertyValue,
    list_properties,
)
from textgauge.metrics.properties.repeats import (
    compute_repetition,
    find_duplicates,
    get_passages,
    group_texts,
)
from textgauge.metrics.properties.texts import count_scripts, count_words
from textgauge.metrics.properties.wording import compute_unknown_share
from textgauge.metrics.uncertainty import compute_normal_reach
from textgauge.stats.correlation import estimate_correlation_interval, find_complete_rows, spearman
from textgauge.stats.decisions import ALPHA, format_properties, is_better
from textgauge.stats.resampling import adjust_by_holm

if TYPE_CHECKING:
    import polars as pl

# Properties that the page names, most serious first; the others say the same in other numbers.
_GRAVEST = ("near_copies", "copied_passages", "unique", "distinct", "covered", "grammar", "plausibility")
_PARTS = ("_precision", "_recall", "syntactic_f1")  # what F1 and near_copies say in short
PASSAGES = {"copied_passages": "train", "shared_passages": "the other file", "repeated_passages": "another text"}
_COPIED = 0.1
_REPEATED, _TIMES_TRAIN = 0.01, 5.0  # share of pairs that are alike, and its ratio to that of train
_UNKNOWN, _TIMES_YARDSTICK = 0.4, 2.0
_FAR, _OFF_TOPIC = 0.05, 0.5  # share of train that is as far from test, share of generated texts that are
_FEW_TEXTS = 50
_SHORT = 50  # words; shorter texts are sentences
_SIZE_RATIO = 2.0


def format_answer_alone(measured: MeasuredCorpus, values: Mapping[str, Any]) -> str:
    """Say how many texts of which length there are, how many are duplicates, and how diverse they are."""
    low, middle, high = (f"{value:.0f}" for value in np.quantile(count_words(measured), [0.05, 0.5, 0.95]))
    n = len(measured.corpus)

    def count(number: int) -> str:
        return f"{number:,} ({100 * number / n:.3g} %)"

    equal, near = n - round(values["unique"] * n), round(values["near_duplicates"] * n)
    text = f"{format_count(n, 'text')} of {format_count(int(middle), 'word')} (median; 90 % have {low} to {high}): "
    text += f"{count(equal)} equal another one, {count(near)} are near duplicates."
    if values["vendi"] is not None and n > 1:
        text += f" They are as diverse as {values['vendi']:.3g} texts with nothing in common."
    if measured.against is not None:
        text += f" {count(round(values['shared'] * n))} have a near duplicate in the other file."
    return f"{text} {format_passages(values, n, measured.passage)}"


def format_passages(values: Mapping[str, float | None], size: int, words: int) -> str:
    """Say how many texts contain a passage that stands elsewhere, and how long the longest is.

    >>> format_passages({"copied_passages": 1.0, "longest_passage": 41.0}, 96, 8)
    '96 of 96 contain a passage of 8 or more words of train; the longest has 41.'
    """
    name = next((name for name in PASSAGES if values.get(name) is not None), None)
    if name is None:
        return ""
    number = round((values[name] or 0.0) * size)
    said = f"{number:,} of {size:,} contain" if number else "None contain"
    longest = f"; the longest has {values['longest_passage']:,.0f}" if number else ""
    return f"{said} a passage of {words} or more words of {PASSAGES[name]}{longest}."


def find_recall(measured: MeasuredCorpus) -> dict[str, Any]:
    """Return what the limits of near copies and passages found of planted copies, in texts about as long.

    For limits that were not tried, it is what the next stricter ones found: no more than these would have. They stand
    in a table, the largest last, that `python -m benchmarks.planted_copies --write` makes.
    """
    if measured.others is None:
        return {}
    kind = "sentences" if np.median(count_words(measured)) < _SHORT else "documents"
    tried = (files("textgauge.measure") / "planted_copies.csv").read_text("utf-8").splitlines()
    for row in csv.DictReader(tried):
        near, words = float(row["near_copy"] or 0), int(row["passage"])
        is_strict = words >= measured.passage and (near >= measured.near_copy if measured.train else not near)
        if row["texts"] == kind and is_strict:
            names = ("recall", "least_recall", "alarms")
            return {**row, "near_copy": near or None, "passage": words, **{name: float(row[name]) for name in names}}
    return {}


def format_recall(found: Mapping[str, Any]) -> str:
    """Say what limits find of planted copies.

    >>> limits = {"texts": "sentences", "near_copy": 0.9, "passage": 8, "planted": "80"}
    >>> format_recall(limits | {"recall": 0.725, "least": "embedded", "least_recall": 0.09, "alarms": 0.0})[39:]
    'find 72.5 % of 80 planted copies of sentences (embedded 9 %) and flag 0 % of other texts'
    """
    near = "near duplicates" if found["near_copy"] is None else f"similarity {found['near_copy']:g}"
    recall, least, alarms = (f"{100 * found[name]:.3g} %" for name in ("recall", "least_recall", "alarms"))
    planted = f"{found['planted']} planted copies of {found['texts']} ({found['least']} {least})"
    limits = f"{near} and passages of {found['passage']} words"
    return f"{limits} find {recall} of {planted} and flag {alarms} of other texts"


def format_answer(rows: Sequence[Row], size: int, words: int = PASSAGE) -> str:
    """Return the answer of `describe` next to train, from the rows of a corpus of so many texts.

    >>> row = dict.fromkeys(("low", "high", "test", "train")) | {"property": "near_copies"}
    >>> row |= {"value": 0.55, "low": 0.48, "high": 0.62, "test": 0.115}
    >>> format_answer([row], 200).partition(" No other property is found to be worse")[0]
    '110 of 200 texts are near copies of train texts (55 %; test 11.5 %).'
    """
    said, values = list[str](), {row["property"]: row["value"] for row in rows}
    copies = next((row for row in rows if row["property"] == "near_copies" and row["value"] is not None), None)
    if copies is not None:
        number, usual = round(copies["value"] * size), copies["test"]
        of_test = "" if usual is None else f"; test {format_percent(usual)}"
        one, of_train = ("is a near copy", "a train text") if number == 1 else ("are near copies", "train texts")
        are = f"{number or 'None'} of {format_count(size, 'text')} {one} of {of_train}"
        said.append(f"{are} ({format_percent(copies['value'])}{of_test}).")
    said.append(format_passages(values, size, words))
    worse = [text for row in rows if row is not copies and (text := _format_worse(row))]
    if worse or any(row["low"] is not None for row in rows):
        said.append(format_properties(worse, copies_said=copies is not None))
    return " ".join(filter(None, said))


def _format_worse(row: Row) -> str | None:
    against = None if row["property"].endswith(_PARTS) else row.get("worse_than")
    if against is None:
        return None
    value = format_cell(row["value"])
    if row.get("compared") is not None:
        value = f"{format_cell(row['compared'])} in parts of equal size"
    return f"{row['property']} {value} ({against} {format_cell(row[against])})"


def find_worse(gaps: Mapping[str, PropertyValue], level: float, corpora: int = 1) -> list[str]:
    """Find the properties that are worse than in real texts, by their differences from these.

    A property is worse where the interval of its difference lies on the worse side of 0; the intervals, given at
    `level`, are widened so that those of all properties of all `corpora` hold together at 95 %.
    """
    wanted = {known.name: known.better for known in list_properties()}
    times = compute_normal_reach(1.0 - ALPHA / max(len(gaps) * corpora, 1)) / compute_normal_reach(level)
    worse = []
    for name, gap in gaps.items():
        low, high = gap.value - times * (gap.value - gap.low), gap.value + times * (gap.high - gap.value)
        if is_better((low, high) if wanted[name] == "lower" else (-high, -low)):
            worse.append(name)
    return worse


def sort_by_gravity(rows: Sequence[Row]) -> list[Row]:
    """Return rows of `describe`, those that are worse than in real texts first, of these the gravest."""
    order = {name: place for place, name in enumerate(_GRAVEST)}

    def place(row: Row) -> int:
        return len(order) + 1 if row.get("worse_than") is None else order.get(row.get("property", ""), len(order))

    return sorted(rows, key=place)


def name_gravest(rows: Sequence[Row]) -> str:
    """Say in a few letters what is the gravest that is worse than in real texts; empty where nothing is."""
    row = next((row for row in sort_by_gravity(rows) if row.get("property") in _GRAVEST), {})
    if row.get("worse_than") is None:
        return ""
    known = next(one for one in list_properties() if one.name == row["property"])
    value = format_percent(round(row["value"], 2)) if known.bounds == (0.0, 1.0) else format_cell(row["value"])
    return f"{value} {known.name.replace('_', ' ')}"


def find_warnings(
    generated: Sequence[MeasuredCorpus], test: MeasuredCorpus | None, train: MeasuredCorpus | None
) -> Iterator[str]:
    """Find all warnings, each one sentence."""
    for measured in generated:
        if not get_passages(measured)[0].complete:
            yield f"{measured.name}: some passages stand in so many places that the longest may be longer than said"
    if train is None:
        for measured in generated:
            yield from _check_samples(measured, "of the {:,} texts, drawn at random")
            yield from _check_scripts(measured)
            if not measured.derive(find_duplicates, None).complete:
                yield f"{measured.name}: too many texts are alike to list all near duplicates"
        return
    yield from _check_samples(train, "of its {} texts, enough for a yardstick")
    if test is not None:
        yield from _check_copies(test, train)
    for measured in generated:
        if (n := len(measured.corpus)) < _FEW_TEXTS:
            yield f"{measured.name}: few texts ({n}); look at the intervals"
        yield from _check_copies(measured, train)
        yield from _check_collapse(measured, train)
        yield from _check_language(measured, test, train)
        yield from _check_topic(measured, train)
        yield from _check_sizes(measured, test, train)


def _check_samples(measured: MeasuredCorpus, among: str) -> Iterator[str]:
    n = len(measured.corpus)
    for name, columns in {"grammar": measured.grammar, "plausibility": measured.surprise}.items():
        known = n if columns is None else int(np.isfinite(columns[1]).sum())
        if known < n:
            yield f"{measured.name}: {name} is that of {known:,} {among.format(n)}"


def _check_scripts(measured: MeasuredCorpus) -> Iterator[str]:
    n, scripts = len(measured.corpus), count_scripts(measured)
    foreign = sum(count for script, count in scripts.items() if script != "Latin")
    if foreign > n / 10:
        yield (
            f"{measured.name}: {foreign:,} of {n:,} texts are not in Latin script ({join_words(list(scripts)[:3])}): "
            "grammar, plausibility and the built-in embedders are for English"
        )


def _check_copies(measured: MeasuredCorpus, train: MeasuredCorpus) -> Iterator[str]:
    copied = int(np.isin(measured.forms, train.forms).sum())
    if copied >= _COPIED * len(measured.corpus):
        among = f"{copied} of {len(measured.corpus)} texts"
        yield f"{measured.name}: {among} equal train texts, except for case and punctuation"


def _check_collapse(measured: MeasuredCorpus, train: MeasuredCorpus) -> Iterator[str]:
    (_, sizes), (_, usual_sizes) = measured.derive(group_texts), train.derive(group_texts)
    share, usual = compute_repetition(sizes), compute_repetition(usual_sizes)
    if share >= _REPEATED and not share < _TIMES_TRAIN * usual:
        largest = sizes.max() / len(measured.corpus)
        yield (
            f"{measured.name}: collapsed: two of its texts are alike in {share:.2g} of all pairs, as if it had "
            f"{1 / share:.0f} different ones; the largest mode holds {largest:.0%} of them"
        )


def _check_language(measured: MeasuredCorpus, test: MeasuredCorpus | None, train: MeasuredCorpus) -> Iterator[str]:
    """Yield many words that train does not have: twice the share of test, or of one half of train given the other."""
    unknown = compute_unknown_share(measured.corpus, train.corpus)
    if not unknown > _UNKNOWN:
        return
    order = train.corpus.canonical()
    halves = order.take(np.arange(0, len(order), 2)), order.take(np.arange(1, len(order), 2))
    usual = compute_unknown_share(*halves) if test is None else compute_unknown_share(test.corpus, train.corpus)
    if not unknown < _TIMES_YARDSTICK * usual:
        yield f"{measured.name}: train does not have {unknown:.0%} of its words: another language or another subject?"


def _check_topic(measured: MeasuredCorpus, train: MeasuredCorpus) -> Iterator[str]:
    """Test texts are covered by whatever is nearest, so that `covered` says little of texts about something else."""
    if measured.semantic is None or train.semantic is None:
        return
    usual = np.quantile(train.semantic.similarity, _FAR)
    far = float(np.mean(measured.semantic.similarity < usual))
    if far >= _OFF_TOPIC:
        yield (
            f"{measured.name}: off topic: {far:.0%} of its texts are farther from every test text than {1 - _FAR:.0%} "
            "of the train texts are; covered says little then"
        )


def _check_sizes(measured: MeasuredCorpus, *yardsticks: MeasuredCorpus | None) -> Iterator[str]:
    sizes = {one.name: len(one.corpus) for one in yardsticks if one is not None}
    n, (role, m) = len(measured.corpus), min(sizes.items(), key=itemgetter(1))
    if n > _SIZE_RATIO * m:
        what = f"{measured.name}: {n} texts and {m} of {role}"
        yield f"{what}: values that depend on the number of texts are called worse or not by parts of equal size"


def compute_differences(corpora: Sequence[MeasuredCorpus]) -> pl.DataFrame:
    """Test all pairs of corpora under every property and rating that both have, text by text: means and p-values.

    Welch's unpaired t-test and the Mann-Whitney test, each corrected over all its tests by Holm's method. Plausibility
    is the surprise per token, the logarithm of perplexity. What does not exist is null; texts of named groups, which
    are not independent, are not tested.
    """
    import polars as pl

    columns = {
        measured.name: measured.text_values()
        | {name_rating(question): values for question, values in measured.ratings.items()}
        for measured in corpora
        if measured.groups is None
    }
    rows = [
        (name, first, second, *_compute_p_values(columns[first][name], columns[second][name]))
        for first, second in combinations(columns, 2)
        for name in columns[first]
        if name in columns[second]
    ]
    kinds: dict[str, Any] = dict.fromkeys(("property", "first", "second"), pl.String)
    kinds |= dict.fromkeys(("mean_first", "mean_second", *(tests := ("p_t", "p_mann_whitney"))), pl.Float64)
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    adjusted = [pl.Series(f"{name}_holm", adjust_by_holm(frame[name].to_numpy())) for name in tests]
    return frame.with_columns(adjusted).fill_nan(None)


def correlate_ratings(corpora: Sequence[MeasuredCorpus], *, level: float, seed: int) -> pl.DataFrame:
    """Correlate each per-text property with the ratings of the same texts, for every corpus and question.

    Spearman's ρ with its bootstrap interval; null where it does not exist.
    """
    import polars as pl

    rows = []
    asked = [(one, *of) for one in corpora for of in one.ratings.items()]
    for measured, question, given in asked:
        order = np.argsort(measured.corpus.keys, kind="stable")  # draws do not depend on the order of the texts
        for name, values in measured.text_values().items():
            known = order[find_complete_rows(values, given)[order]]
            cluster = None if measured.groups is None else measured.groups[known]
            ends = estimate_correlation_interval(
                spearman, given[known], values[known], level=level, seed=seed, cluster=cluster
            )
            rows.append((measured.name, question, name, spearman(given[known], values[known]), *ends, len(known)))
    kinds = dict.fromkeys(("corpus", "question", "property"), pl.String) | dict.fromkeys(
        ("rho", "low", "high"), pl.Float64
    )
    return pl.DataFrame(rows, schema=kinds | {"n": pl.Int64}, orient="row").fill_nan(None)


def summarise_ratings(corpora: Sequence[MeasuredCorpus]) -> pl.DataFrame:
    """Return one row for each corpus and question: how many were rated, the mean, the share of high ones.

    High are 4 and 5 where all ratings of a question are whole numbers from 1 to 5; on other scales the share is null.
    """
    import polars as pl

    rows = []
    for question in dict.fromkeys(question for one in corpora for question in one.ratings):
        given = {one.name: one.ratings[question] for one in corpora if question in one.ratings}
        known = {name: marks[np.isfinite(marks)] for name, marks in given.items()}
        five = all(np.isin(marks, np.arange(1.0, 6.0)).all() for marks in known.values())
        for name, marks in known.items():
            share = float((marks >= 4).mean()) if five and len(marks) else None
            rows.append((name, question, len(marks), float(marks.mean()) if len(marks) else None, share))
    kinds = {"corpus": pl.String, "question": pl.String, "n": pl.Int64, "mean": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _compute_p_values(first: Floats, second: Floats) -> tuple[float, float, float, float]:
    """Return both means and both p-values; NaN where a side has less than two values, or none of them differ."""
    from scipy.stats import mannwhitneyu, ttest_ind

    a, b = first[np.isfinite(first)], second[np.isfinite(second)]
    mine, yours = (float(side.mean()) if len(side) else math.nan for side in (a, b))
    if min(len(a), len(b)) < 2 or np.ptp(np.concatenate([a, b])) == 0:
        return mine, yours, math.nan, math.nan
    p_t = math.nan
    if np.ptp(a) > 0 or np.ptp(b) > 0:
        with warnings.catch_warnings(category=RuntimeWarning, action="ignore"):  # one side is as good as constant
            p_t = float(ttest_ind(a, b, equal_var=False).pvalue)
    return mine, yours, p_t, float(mannwhitneyu(a, b, method="asymptotic").pvalue)
