"""A ledger of claims: what a paper says, what we compute for it, by which criterion it holds, and whether it does.

Claims are written down with their criterion; a verdict follows from an interval or a test that a run's results give.
A claim whose interval includes 0 is not replicated: the data do not show it. Claims on one finding share a `topic`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import numpy as np

from textgauge.bench import Verdict, summarise_repetitions
from textgauge.core import Floats, Row
from textgauge.stats import ALPHA, compute_percentile_interval, is_ahead, is_different, spearman

if TYPE_CHECKING:
    from textgauge.report import ResultFile

Ruling = Literal["not replicated", "replicated", "not testable here"]
RULINGS: tuple[Ruling, ...] = ("not replicated", "replicated", "not testable here")  # in the order of a ledger
Evidence = TypeVar("Evidence")


@dataclass(frozen=True)
class Finding:
    """What was computed for a claim: in words, with the interval that decides; None where it cannot be decided."""

    holds: bool | None
    ours: str = ""
    interval: str = ""
    why: str = ""


@dataclass(frozen=True)
class Claim(Generic[Evidence]):
    """One claim of a paper, and how it is decided.

    `paper` is what the paper prints, `data` what ours are, `deviation` how ours differ from the paper's, `criterion`
    what must be true for it to hold. `test` is None for a claim that cannot be decided here; then `why` says why.
    """

    claim: str
    paper: str
    data: str
    criterion: str
    test: Callable[[Evidence], Finding] | None = None
    deviation: str = ""
    why: str = ""
    topic: str = ""


def about(topic: str, *claims: Claim[Evidence]) -> list[Claim[Evidence]]:
    """Claims on one finding of the paper."""
    return [replace(claim, topic=topic) for claim in claims]


def ledger(claims: Iterable[Claim[Evidence]], evidence: Evidence) -> list[Row]:
    """Return the rows of a ledger: what was not replicated first, then what was, then what cannot be tested here."""
    return sort_failures_first(_row(claim, claim.test(evidence) if claim.test else Finding(None)) for claim in claims)


def sort_failures_first(rows: Iterable[Row]) -> list[Row]:
    """Return rows in the order of a ledger."""
    return sorted(rows, key=lambda row: RULINGS.index(row["verdict"]))


def _row(claim: Claim[Evidence], found: Finding) -> Row:
    ruling: Ruling = "not testable here" if found.holds is None else "replicated" if found.holds else "not replicated"
    return {
        "verdict": ruling,
        "topic": claim.topic,
        "claim": claim.claim,
        "paper": claim.paper,
        "ours": found.ours or None,
        "interval": found.interval or None,
        "criterion": claim.criterion,
        "data": claim.data,
        "deviation": claim.deviation or None,
        "why": found.why or claim.why or None,
    }


def counts(rows: Sequence[Row]) -> str:
    """Return one line over a ledger; of what was not replicated, how much is the opposite of the claim.

    >>> counts([{"verdict": "replicated"}, {"verdict": "not replicated"}, {"verdict": "replicated"}])
    '1 not replicated, 2 replicated, 0 not testable here (3 claims)'
    >>> counts([{"verdict": "not replicated", "why": OPPOSITE}, {"verdict": "not replicated", "why": INCLUDES_ZERO}])
    '2 not replicated (1 the other way round), 0 replicated, 0 not testable here (2 claims)'
    """
    parts = [f"{sum(row['verdict'] == ruling for row in rows)} {ruling}" for ruling in RULINGS]
    opposite = sum(row.get("why") == OPPOSITE for row in rows)
    parts[0] += f" ({opposite} {OPPOSITE})" if opposite else ""
    return f"{', '.join(parts)} ({len(rows)} claims)"


def summary(rows: Iterable[Row]) -> list[Row]:
    """Count the claims on each finding that hold, failures first; of up to three failures, show what we see.

    >>> held = {"topic": "WMD is first", "verdict": "replicated"}
    >>> failed = held | {"verdict": "not replicated", "claim": "in order", "ours": "-0.04", "interval": "-0.08 to 0.02"}
    >>> summary([failed, held])
    [{'finding': 'WMD is first', 'holds': '1 of 2', 'does not hold': 'in order: -0.04 (-0.08 to 0.02)'}]
    """
    by_topic: dict[str, list[Row]] = {}
    for row in sort_failures_first(rows):
        by_topic.setdefault(row["topic"], []).append(row)
    return [_summary_row(topic, own) for topic, own in by_topic.items()]


def _summary_row(topic: str, rows: Sequence[Row]) -> Row:
    of = {ruling: [row for row in rows if row["verdict"] == ruling] for ruling in RULINGS}
    failed = of["not replicated"]
    shown = [f"{_rest(row['claim'], topic)}: {row['ours']}" + _ends(row["interval"]) for row in failed]
    tested = len(rows) - len(of["not testable here"])
    holds = f"{len(of['replicated'])} of {tested}" if tested else "not testable here"
    return {"finding": topic, "holds": holds, "does not hold": "; ".join(shown if len(shown) <= _NAMED else []) or None}


def _rest(claim: str, topic: str) -> str:
    """Return what a claim says besides its finding.

    >>> _rest("EDA is worst (news)", "EDA is worst")
    'news'
    """
    return (claim.removeprefix(topic).strip(" ()") if claim.startswith(topic) else "") or claim


def _ends(interval: str | None) -> str:
    return f" ({interval})" if interval else ""


_NAMED = 3  # failures of one finding that a summary names
NOT_RUN = "the run has no results for it"
INCLUDES_ZERO, OPPOSITE = "the interval includes 0", "the other way round"


@dataclass(frozen=True)
class MeasuredDifference:
    """A difference and its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def interval(self) -> str:
        """Both ends, in words."""
        return f"{self.low:+.3g} to {self.high:+.3g}"

    @property
    def known(self) -> bool:
        """Whether the interval exists."""
        return bool(np.isfinite([self.value, self.low, self.high]).all())


UNKNOWN = MeasuredDifference(np.nan, np.nan, np.nan)


def estimate_mean(values: Sequence[float] | Floats) -> MeasuredDifference:
    """Return the mean of differences that are repetitions, with Student's interval.

    >>> estimate_mean([1.0, 2.0, 3.0]).interval
    '-0.484 to +4.48'
    """
    found = summarise_repetitions("difference", [float(value) for value in values])
    return MeasuredDifference(found.value, found.low, found.high)


def estimate_from_draws(value: float, draws: Floats, units: int) -> MeasuredDifference:
    """Return a difference with the interval of its resamples."""
    return MeasuredDifference(value, *compute_percentile_interval(np.asarray(draws, dtype=np.float64), units, 0.95))


def subtract_paired(first: Verdict, second: Verdict) -> MeasuredDifference:
    """Return first less second of two metrics on the same trials, over repetitions or over resamples."""
    if first.draws and second.draws:
        draws = np.subtract(first.draws, second.draws)
        return estimate_from_draws(first.value - second.value, draws, min(first.units, second.units))
    return estimate_mean(np.subtract(first.values, second.values))


def welch(first: Floats, second: Floats) -> MeasuredDifference:
    """Return the mean of the first less that of the second, of repetitions that two sides do not share.

    >>> welch(np.array([2.0, 2.0]), np.array([1.0, 1.0])).interval
    '+1 to +1'
    """
    from scipy.special import stdtrit

    value = float(np.mean(first) - np.mean(second))
    parts = np.array([np.var(values, ddof=1) / len(values) for values in (first, second)])
    if not parts.any():
        return MeasuredDifference(value, value, value)
    free = parts.sum() ** 2 / (parts**2 / [len(first) - 1, len(second) - 1]).sum()
    reach = float(stdtrit(free, 0.975) * np.sqrt(parts.sum()))
    return MeasuredDifference(value, value - reach, value + reach)


def on_side(what: str, gap: MeasuredDifference, *, below: bool = False) -> Finding:
    """Decide whether a value is above 0, or below it: its whole interval is."""
    if not gap.known:
        return Finding(None, why=NOT_RUN)
    ends = (-gap.high, -gap.low) if below else (gap.low, gap.high)
    why = "" if is_ahead(ends[0]) else OPPOSITE if is_ahead(-ends[1]) else INCLUDES_ZERO
    return Finding(is_ahead(ends[0]), f"{what} = {gap.value:+.3g}", gap.interval, why)


def above(name: str, other: str, gap: MeasuredDifference) -> Finding:
    """Decide whether the first is above the second: the whole interval of their difference is above 0."""
    return on_side(f"{name} − {other}", gap)


def above_all(name: str, gaps: Mapping[str, MeasuredDifference]) -> Finding:
    """Decide whether the first is above every other: all intervals of differences are; the closest rival is shown.

    Each must hold, so the level of the whole is no more than that of one.
    """
    known = {other: gap for other, gap in gaps.items() if gap.known}
    if not known or len(known) < len(gaps):
        return Finding(None, why=NOT_RUN)
    rival = min(known, key=lambda other: known[other].low)
    return above(name, rival, known[rival])


def below_all(name: str, gaps: Mapping[str, MeasuredDifference]) -> Finding:
    """Decide whether the first is below every other, of differences first less other; the closest rival is shown."""
    if not gaps or not all(gap.known for gap in gaps.values()):
        return Finding(None, why=NOT_RUN)
    rival = max(gaps, key=lambda other: gaps[other].high)
    gap = gaps[rival]
    return above(rival, name, MeasuredDifference(-gap.value, -gap.high, -gap.low))


def judge_order(said: Sequence[float], own: Sequence[float]) -> Finding:
    """Decide whether two orders of a few things agree: exact one-sided permutation test of Spearman's ρ.

    >>> judge_order([1, 2, 3, 4], [10, 20, 30, 40]).interval
    'p = 0.042'
    """
    from scipy.stats import rankdata

    theirs, ours = rankdata(said) - (len(said) + 1) / 2, rankdata(own) - (len(own) + 1) / 2
    every = ours[np.array(list(permutations(range(len(ours)))))] @ theirs
    p = float(np.mean(every >= ours @ theirs - 1e-9))
    value = spearman(np.array(said), np.array(own))
    why = "" if is_different(p) else f"p above {ALPHA:g}"
    return Finding(is_different(p), f"Spearman's ρ = {value:.2f} of {len(own)}", f"p = {p:.3f}", why)


def all_hold(findings: Mapping[str, Finding]) -> Finding:
    """Decide whether every one of several findings holds; those that do not are named."""
    if not findings or any(found.holds is None for found in findings.values()):
        return Finding(None, why=NOT_RUN)
    failed = [name for name, found in findings.items() if not found.holds]
    worst = findings[failed[0]] if failed else next(iter(findings.values()))
    ours = f"{len(findings) - len(failed)} of {len(findings)}"
    return Finding(not failed, ours, worst.interval, f"not for {', '.join(failed)}" if failed else "")


_OF_A_CLAIM = frozenset({"claim", "verdict", "criterion", "topic"})
_ON_A_PAGE = ("verdict", "claim", "paper", "ours", "interval", "why", "criterion", "deviation", "data")


def make_page(name: str, rows: Sequence[Row]) -> ResultFile | None:
    """Return the page of a saved ledger, None for other rows: what holds of each finding, then every claim."""
    from textgauge.report import ResultFile, make_table

    if not rows or not all(row.keys() >= _OF_A_CLAIM for row in rows):
        return None
    by_paper: dict[str, list[Row]] = {}
    for row in rows:
        by_paper.setdefault(str(row.get("source", "claims")), []).append(row)
    tables = []
    for paper, own in by_paper.items():
        tables.append(make_table(f"What holds of {paper}", summary(own)))
        tables.append(make_table(f"Claims of {paper}", [{name: row.get(name) for name in _ON_A_PAGE} for row in own]))
    counted = tuple(f"`{paper}`: {counts(own)}." for paper, own in by_paper.items())
    return ResultFile(name, f"Claims of papers ({name})", tuple(tables), counted, section="Claims")
