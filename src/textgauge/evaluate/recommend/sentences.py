"""A recommendation as sentences, made of its numbers alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from textgauge.evaluate.recommend.power import PairsNeeded
from textgauge.evaluate.recommend.texts_needed import TextsNeeded
from textgauge.tabular import format_about, format_duration, format_percent, listed

if TYPE_CHECKING:
    from textgauge.evaluate.leaderboard import RankedMetric
    from textgauge.evaluate.recommend.answer import LeftOut, Recommendation


def sentences(answer: Recommendation) -> Iterator[str]:
    """Which metric, why, what it needs, what it costs."""
    yield from _choice(answer)
    yield from _evidence(answer)
    if answer.kind == "corpora":
        yield from _texts([row for row in answer.power if isinstance(row, TextsNeeded)], answer)
    else:
        yield from _pairs([row for row in answer.power if isinstance(row, PairsNeeded)], answer)
    yield from _costs(answer)


def _choice(answer: Recommendation) -> Iterator[str]:
    said = _best(answer)
    if answer.left_out:
        within = f"Of the metrics that fit into {format_duration(answer.about['budget'])}, "
        said = f"{within}{said[0].lower()}{said[1:]}; {missing(answer.left_out)}"
    yield f"{said}."
    first, others = answer.choice[:1], answer.choice[1:]
    if others and answer.about.get("named_by"):
        by = listed(answer.about["named_by"])
        how = f"it has the best mean place in {by}" if len(answer.about["named_by"]) > 1 else f"it is best in {by}"
        yield f"Of these {len(answer.choice)}, {first[0]} is named first: {how}."


def _best(answer: Recommendation) -> str:
    if not answer.choice:
        return "No metric has a value on these data" if not answer.left_out else "None has a value on these data"
    first, *others = answer.choice
    behind = len(answer.board) - len(answer.choice)
    if others:
        return f"Use {first}; {listed(others)} {'is' if len(others) == 1 else 'are'} statistically tied with it"
    worse = len(answer.board) - next(row.rank_high for row in answer.board if row.metric == first)
    if behind and worse < behind:
        return f"Use {first}: it comes first, and is surely better than {worse} of the other {behind} metrics"
    if behind:
        return f"Use {first}: it is surely better than {_the_other(behind)}"
    return f"Only {first} was ranked: there is nothing to compare it with"


def _the_other(count: int) -> str:
    return "the other metric" if count == 1 else f"the other {count} metrics"


def _evidence(answer: Recommendation) -> Iterator[str]:
    if not answer.choice:
        return
    row = next(row for row in answer.board if row.metric == answer.choice[0])
    where = f" in {answer.about['experiment']}" if "experiment" in answer.about else ""
    yield f"{row.metric} reaches {row.overall:.3f} of 1 on average{where}: {_measures(row)}."
    after = next((row for row in answer.board if row.metric not in answer.choice), None)
    if after is not None and not np.isnan(after.overall):
        yield f"The best of the rest is {after.metric} with {after.overall:.3f}."


def _measures(row: RankedMetric) -> str:
    known = {name: value for name, value in row.measures.items() if not np.isnan(value)}
    return ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in known.items())


def _texts(rows: Sequence[TextsNeeded], answer: Recommendation) -> Iterator[str]:
    known = sorted((row for row in rows if not np.isnan(row.count)), key=lambda row: row.count)
    beyond = sorted((row for row in rows if np.isnan(row.count)), key=lambda row: row.low)
    said = [f"about {listed(_numbers([(row.count, _spoken(row)) for row in known]))}"] if known else []
    if beyond:
        said.append(f"more than {listed(_numbers([(row.low, row.metric) for row in beyond], first=not known))}")
    if said:
        goal = (
            f"{format_percent(answer.about['effect'])} contamination with {format_percent(answer.about['power'])} power"
        )
        yield f"To detect {goal} you need {', and '.join(said)}."


def _numbers(counts: Sequence[tuple[float, str]], *, first: bool = True) -> list[str]:
    unit = [" texts a side" if first and not place else "" for place in range(len(counts))]
    return [f"{format_about(count)}{of} with {who}" for (count, who), of in zip(counts, unit, strict=True)]


def _spoken(row: TextsNeeded) -> str:
    return f"{row.metric} (extrapolated from {row.largest:,})" if row.extrapolated else row.metric


def _pairs(rows: Sequence[PairsNeeded], answer: Recommendation) -> Iterator[str]:
    for row in rows[:1]:
        power = format_percent(answer.about["power"])
        goal = f"To separate {row.best} from {row.metric} by Spearman's ρ with {power} power"
        if np.isnan(row.count):
            yield f"Spearman's ρ of {row.best} is not above that of {row.metric} on these pairs."
        else:
            yield f"{goal} you need about {format_about(row.count)} rated pairs; there are {answer.about['pairs']:,}."


def _costs(answer: Recommendation) -> Iterator[str]:
    known = [cost for metric in answer.choice if (cost := answer.cost(metric)) is not None]
    if not known:
        return
    size = known[0].size
    what = f"A comparison of {size:,} texts a side" if answer.kind == "corpora" else f"Scoring {size:,} pairs"
    yield f"{what} takes {listed([f'{format_duration(cost.seconds)} with {cost.metric}' for cost in known])}."


def missing(gone: Sequence[LeftOut]) -> str:
    """That metrics were left out, and the budget that has room for them where it is known."""
    known = [item for item in gone if not np.isnan(item.seconds)]
    unknown = [item for item in gone if np.isnan(item.seconds)]
    said = []
    if known:
        most = max(item.seconds for item in known)
        said.append(f"{_left_out(known)}, including {_them(known)} needs about {format_duration(_enough(most))}")
    if unknown:
        said.append(f"{_left_out(unknown)}, as there was no time to try {_them(unknown)}")
    return "; ".join(said)


def _enough(seconds: float) -> float:
    """A budget that is no less: in steps of five seconds, from a hundred on of the second digit."""
    step = 5.0 if seconds < 100.0 else 10.0 ** (int(np.log10(seconds)) - 1)
    return float(np.ceil(seconds / step) * step)


def _left_out(items: Sequence[LeftOut]) -> str:
    return f"{listed([item.metric for item in items])} {'was' if len(items) == 1 else 'were'} left out"


def _them(items: Sequence[LeftOut]) -> str:
    return "it" if len(items) == 1 else "them"
