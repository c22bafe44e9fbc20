"""A recommendation as sentences, made of its numbers alone: first an answer for each purpose, then the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from textgauge.bench.recommend.detection import TextsNeeded
from textgauge.bench.recommend.power import PairsNeeded
from textgauge.core.tabular import count_of, format_about, format_duration, format_percent, listed
from textgauge.stats.decisions import standing

if TYPE_CHECKING:
    from textgauge.bench.boards.leaderboard import RankedMetric
    from textgauge.bench.recommend.answer import Answer, LeftOut, MetricCost, Recommendation

_NAMED = 5  # tied metrics in a sentence; the table has all


def sentences(answer: Recommendation) -> Iterator[str]:
    """Which metric for which purpose, why, what it needs, what it costs."""
    first, *others = answer.answers
    yield _first(first, answer)
    texts = {row.metric: row for row in answer.power if isinstance(row, TextsNeeded)}
    for detect in others:
        yield from _detection(detect, texts, answer)
    if not first.choice:
        return
    yield from _evidence(first, answer)
    yield from _pairs([row for row in answer.power if isinstance(row, PairsNeeded)], answer)
    yield from _costs(answer)


def _first(answer: Answer, whole: Recommendation) -> str:
    if not whole.left_out:
        return f"{_best(answer)}."
    return f"{_best(answer)}. Within {format_duration(whole.about['budget'])}, {missing(whole.left_out)}."


def _best(answer: Answer) -> str:
    if not answer.choice:
        return "No metric has a value on these data"
    first, *others = answer.choice
    ranked = [row for row in answer.board if row.rank is not None]
    if len(ranked) == 1:
        return f"Only {first} was ranked: there is nothing to compare it with"
    return f"To {answer.purpose}, use {first}{';' if others else ':'} {standing(others, len(ranked) - 1)}"


def _detection(answer: Answer, rows: dict[str, TextsNeeded], whole: Recommendation) -> Iterator[str]:
    goal = f"To {answer.purpose} with {format_percent(whole.about['power'])} power"
    if not answer.choice:
        least = min(row.low for row in rows.values())
        yield f"{goal}, more than {format_about(least)} texts a side are needed with every metric tried."
        return
    first, *others = answer.choice
    best = rows[first]
    said = f"{goal}, use {first}: it needs {_texts(best)}"
    yield f"{said}; {standing(others, len(others))}." if others else f"{said}."
    unclear = [row.metric for row in rows.values() if not row.known and row.low < best.count]
    if unclear:
        named = [*unclear[:_NAMED], *([count_of(len(unclear) - _NAMED, "other")] if len(unclear) > _NAMED else [])]
        yield f"Too few tests were simulated to rule out fewer texts for {listed(named)}: a larger budget decides."
    ranked = [rows[metric] for metric in whole.choice if metric in rows and metric not in answer.choice]
    if ranked:
        others = [f"{row.metric} needs {_texts(row)}" for row in ranked[:_NAMED]]
        yield f"For this, {listed(others)}."
    tested = len(whole.recommended)
    if tested > 1:
        said = f"Tested together with the other recommended metrics, {count_of(tested, 'metric')} in all,"
        yield f"{said} {first} needs at most about {format_about(best.together)}: p-values are adjusted then."


def _texts(row: TextsNeeded) -> str:
    if np.isnan(row.count):
        return f"more than {format_about(row.low)} texts a side"
    beyond = f" (extrapolated from {row.largest:,})" if row.extrapolated else ""
    return f"about {format_about(row.count)} texts a side{beyond}"


def _evidence(answer: Answer, whole: Recommendation) -> Iterator[str]:
    row = next(row for row in answer.board if row.metric == answer.choice[0])
    where = f" in {whole.about['experiment']}" if "experiment" in whole.about else ""
    yield f"{row.metric} reaches {row.overall:.3f} overall{where}: {_measures(row)}."
    after = next((row for row in answer.board if row.metric not in answer.choice), None)
    if after is not None and not np.isnan(after.overall):
        yield f"Next comes {after.metric} with {after.overall:.3f}."


def _measures(row: RankedMetric) -> str:
    known = {name: value for name, value in row.measures.items() if not np.isnan(value)}
    said = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in known.items())
    return f"{said} (overall is their mean, each rescaled to 0 to 1)" if len(known) > 1 else said


def _pairs(rows: Sequence[PairsNeeded], answer: Recommendation) -> Iterator[str]:
    for row in rows[:1]:
        power = format_percent(answer.about["power"])
        goal = f"To separate {row.best} from {row.metric}, tested alone, by Spearman's ρ with {power} power"
        if np.isnan(row.count):
            yield f"Spearman's ρ of {row.best} is not above that of {row.metric} on these pairs."
        else:
            used = f"{answer.about['pairs']:,} were used here"
            yield f"{goal} you need about {format_about(row.count)} rated pairs; {used}."


def _costs(answer: Recommendation) -> Iterator[str]:
    wanted = dict.fromkeys(metric for one in answer.answers for metric in one.choice[:1])
    known = [cost for metric in wanted if (cost := answer.cost(metric)) is not None]
    if not known:
        return
    size = known[0].size
    what = f"A comparison of {size:,} texts a side" if answer.kind == "corpora" else f"Scoring {size:,} pairs"
    yield f"{what} takes {listed(map(_cost, known))}."
    tied = [cost for metric in answer.choice if (cost := answer.cost(metric)) is not None]
    quickest = min(tied, key=lambda cost: cost.seconds + cost.embedding_seconds, default=known[0])
    if quickest.metric not in wanted:
        yield f"Of the recommended metrics, {quickest.metric} is the fastest: {_seconds(quickest)}."


def _cost(cost: MetricCost) -> str:
    return f"{_seconds(cost)} with {cost.metric}"


def _seconds(cost: MetricCost) -> str:
    if not cost.embedding_seconds:
        return format_duration(cost.seconds)
    embedding = f"{format_duration(cost.embedding_seconds)} to embed the texts with {cost.embedder} the first time"
    return f"{format_duration(cost.seconds)} (plus {embedding})"


def missing(gone: Sequence[LeftOut]) -> str:
    """That metrics were left out, and the budget that has room for them where it is known."""
    known = [item for item in gone if not np.isnan(item.seconds)]
    unknown = [item for item in gone if np.isnan(item.seconds)]
    said = []
    if known:
        most = max(item.seconds for item in known)
        need = "it needs" if len(known) == 1 else "they need"
        said.append(f"{_left_out(known)}: {need} about {format_duration(_enough(most))}")
    if unknown:
        said.append(f"{_left_out(unknown)}: there was no time to try {_them(unknown)}")
    return "; ".join(said)


def _enough(seconds: float) -> float:
    """A budget that is no less: in steps of five seconds, from a hundred on of the second digit."""
    step = 5.0 if seconds < 100.0 else 10.0 ** (int(np.log10(seconds)) - 1)
    return float(np.ceil(seconds / step) * step)


def _left_out(items: Sequence[LeftOut]) -> str:
    return f"{listed([item.metric for item in items])} {'was' if len(items) == 1 else 'were'} left out"


def _them(items: Sequence[LeftOut]) -> str:
    return "it" if len(items) == 1 else "them"
