"""A ledger: what a paper finds, the claims that each finding rests on here, by which criterion they hold, and whether.

Claims are written down with their criterion; an outcome follows from an interval or a test that a run's results give.
A claim whose interval includes 0 does not hold: the data do not show it. Claims on one finding share its name, and the
`way` in which they read it where there are several, such as the text of a paper and its authors' code.

A finding holds in a way where more than half of its claims that can be tested hold and none is the other way round.
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

Holds = Literal["does not hold", "holds", "not testable here"]
OUTCOMES: tuple[Holds, ...] = ("does not hold", "holds", "not testable here")  # in the order of a ledger
Evidence = TypeVar("Evidence")
Key = TypeVar("Key")
Found = TypeVar("Found")
NOT_RUN = "the run has no results for it"


@dataclass(frozen=True)
class Outcome:
    """What was computed for a claim: in words, with the interval that decides; None where it cannot be decided.

    `strict` is whether it holds without the margin that the criterion grants, None where it grants none.
    """

    holds: bool | None
    ours: str = ""
    interval: str = ""
    why: str = ""
    strict: bool | None = None


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
    test: Callable[[Evidence], Outcome] | None = None
    deviation: str = ""
    why: str = ""
    finding: str = ""
    way: str = ""


class NotRun(Exception):
    """A claim cannot be decided, because the run has no results for it."""


def look_up(results: Mapping[Key, Found], *keys: Key, why: str = NOT_RUN) -> list[Found]:
    """Return the results under some keys; raise NotRun where one is missing."""
    if any(key not in results for key in keys):
        raise NotRun(why)
    return [results[key] for key in keys]


def list_claims(finding: str, *claims: Claim[Evidence]) -> list[Claim[Evidence]]:
    """Claims on one finding of the paper."""
    return [replace(claim, finding=finding) for claim in claims]


def judge_claims(claims: Iterable[Claim[Evidence]], evidence: Evidence) -> list[Row]:
    """Return the rows of a ledger: what does not hold first, then what does, then what cannot be tested here."""
    return sort_failures_first(_row(claim, _decide(claim, evidence)) for claim in claims)


def _decide(claim: Claim[Evidence], evidence: Evidence) -> Outcome:
    try:
        return claim.test(evidence) if claim.test else Outcome(None)
    except NotRun as error:
        return Outcome(None, why=str(error))


def sort_failures_first(rows: Iterable[Row]) -> list[Row]:
    """Return rows in the order of a ledger."""
    return sorted(rows, key=lambda row: OUTCOMES.index(row["outcome"]))


def _row(claim: Claim[Evidence], found: Outcome) -> Row:
    outcome: Holds = "not testable here" if found.holds is None else "holds" if found.holds else "does not hold"
    return {
        "outcome": outcome,
        "finding": claim.finding,
        "way": claim.way or None,
        "claim": claim.claim,
        "paper": claim.paper,
        "ours": found.ours or None,
        "interval": found.interval or None,
        "strict": found.strict,
        "criterion": claim.criterion,
        "data": claim.data,
        "deviation": claim.deviation or None,
        "why": found.why or claim.why or None,
    }


def summarise_findings(rows: Iterable[Row]) -> list[Row]:
    """Return one row for each finding, failures first: whether it holds, how many of its claims do, and what was seen.

    >>> held = {"finding": "WMD is first", "outcome": "holds", "way": "as defined", "why": None}
    >>> failed = held | {"outcome": "does not hold", "way": "as coded", "claim": "a", "ours": "-0.04", "interval": None}
    >>> [list(row.values())[:3] for row in summarise_findings([failed, held])]
    [['WMD is first', 'holds only as defined', 'as coded 0 of 1; as defined 1 of 1']]
    >>> summarise_findings([failed])[0]["seen"]
    'a: -0.04'
    """
    by_finding: dict[str, list[Row]] = {}
    for row in rows:
        by_finding.setdefault(row["finding"], []).append(row)
    found = [_summarise(finding, own) for finding, own in by_finding.items()]
    order = {"does not hold": 0, "holds": 2, "not testable here": 3}  # between them, what holds in one way alone
    return sorted(found, key=lambda row: order.get(row["outcome"], 1))


def _summarise(finding: str, rows: Sequence[Row]) -> Row:
    ways: dict[str, list[Row]] = {}
    for row in rows:
        ways.setdefault(row.get("way") or "", []).append(row)
    known = {way: held for way, own in ways.items() if (held := _judge_finding(own)) is not None}
    outcome: str = "not testable here"
    if known:
        outcome = "holds" if all(known.values()) else "does not hold"
        if any(known.values()) and not all(known.values()):
            outcome = f"holds only {' and '.join(way for way, held in known.items() if held)}"
    counted = [f"{way} {_count(own)}".strip() for way, own in ways.items() if way in known]
    failed = [row for row in rows if row["outcome"] == "does not hold"]
    seen = [f"{_rest(row['claim'], finding)}: {row['ours']}" + _ends(row["interval"]) for row in failed]
    reasons = dict.fromkeys(str(row["why"]) for row in rows if not known and row.get("why"))
    shown = [*seen[:1], *([f"{len(seen) - 1} more"] if len(seen) > 1 else [])] if known else list(reasons)
    if known and not failed and len(rows) == 1:
        shown = [f"{rows[0].get('ours')}" + _ends(rows[0].get("interval"))]
    return {
        "finding": finding,
        "outcome": outcome,
        "claims": "; ".join(counted) or None,
        "seen": "; ".join(shown) or None,
    }


def _judge_finding(rows: Sequence[Row]) -> bool | None:
    """Return whether a finding holds by the claims of one way; None where none can be tested."""
    tested = [row for row in rows if row["outcome"] != "not testable here"]
    held = sum(row["outcome"] == "holds" for row in tested)
    return 2 * held > len(tested) and not any(row.get("why") == OPPOSITE for row in tested) if tested else None


def _count(rows: Sequence[Row]) -> str:
    tested = [row for row in rows if row["outcome"] != "not testable here"]
    strict = [row["strict"] for row in tested if row.get("strict") is not None]
    said = f"{sum(row['outcome'] == 'holds' for row in tested)} of {len(tested)}"
    return said + (f" ({sum(strict)} without the margin)" if strict else "")


def count_findings(rows: Sequence[Row]) -> str:
    """Return one line over a ledger: how many findings hold, and on how many claims they rest.

    >>> row = {"finding": "a", "outcome": "holds", "way": None, "why": None, "ours": "1", "interval": None}
    >>> count_findings([row, row | {"finding": "b", "outcome": "not testable here"}])
    '1 of 2 findings holds, 1 is not testable here (2 claims)'
    """
    outcomes = [row["outcome"] for row in summarise_findings(rows)]
    parts = [(outcomes.count("holds"), "holds", "hold")]
    parts += [(sum(one.startswith("holds only") for one in outcomes), "holds only in one way", "hold only in one way")]
    parts += [(outcomes.count("does not hold"), "does not hold", "do not hold")]
    parts += [(outcomes.count("not testable here"), "is not testable here", "are not testable here")]
    said = [f"{count} {one if count == 1 else many}" for count, one, many in parts if count]
    first, *rest = said if outcomes.count("holds") else ["0 hold", *said]
    number, _, verb = first.partition(" ")
    return f"{', '.join([f'{number} of {len(outcomes)} findings {verb}', *rest])} ({len(rows)} claims)"


def _rest(claim: str, finding: str) -> str:
    """Return what a claim says besides its finding.

    >>> _rest("EDA is worst (news)", "EDA is worst")
    'news'
    """
    return (claim.removeprefix(finding).strip(" ()") if claim.startswith(finding) else "") or claim


def _ends(interval: str | None) -> str:
    return f" ({interval})" if interval else ""


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
    if len(first.values) != len(second.values):
        return UNKNOWN  # one of the two is not finished
    return estimate_mean(np.subtract(first.values, second.values))


def subtract_unpaired(first: Floats, second: Floats) -> MeasuredDifference:
    """Return the mean of the first less that of the second, of repetitions that two sides do not share.

    >>> subtract_unpaired(np.array([2.0, 2.0]), np.array([1.0, 1.0])).interval
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


def judge_side(what: str, gap: MeasuredDifference, *, below: bool = False) -> Outcome:
    """Decide whether a value is above 0, or below it: its whole interval is."""
    if not gap.known:
        return Outcome(None, why=NOT_RUN)
    ends = (-gap.high, -gap.low) if below else (gap.low, gap.high)
    why = "" if is_ahead(ends[0]) else OPPOSITE if is_ahead(-ends[1]) else INCLUDES_ZERO
    return Outcome(is_ahead(ends[0]), f"{what} = {gap.value:+.3g}", gap.interval, why)


def judge_above(name: str, other: str, gap: MeasuredDifference) -> Outcome:
    """Decide whether the first is above the second: the whole interval of their difference is above 0."""
    return judge_side(f"{name} − {other}", gap)


def judge_above_all(name: str, gaps: Mapping[str, MeasuredDifference], *, margin: float = 0.0) -> Outcome:
    """Decide whether the first is above every other: all intervals of differences are; the closest rival is shown.

    Each must hold, so the level of the whole is no more than that of one. With a `margin`, it may be that much below.
    """
    known = {other: gap for other, gap in gaps.items() if gap.known}
    if not known or len(known) < len(gaps):
        return Outcome(None, why=NOT_RUN)
    rival = min(known, key=lambda other: known[other].low)
    gap = known[rival]
    found = judge_above(name, rival, gap)
    if not margin:
        return found
    moved = judge_side("", MeasuredDifference(gap.value + margin, gap.low + margin, gap.high + margin))
    why = f"the interval includes -{margin:g}" if moved.why == INCLUDES_ZERO else moved.why
    return replace(found, holds=moved.holds, why=why, strict=bool(found.holds))


def judge_below_all(name: str, gaps: Mapping[str, MeasuredDifference]) -> Outcome:
    """Decide whether the first is below every other, of differences first less other; the closest rival is shown."""
    if not gaps or not all(gap.known for gap in gaps.values()):
        return Outcome(None, why=NOT_RUN)
    rival = max(gaps, key=lambda other: gaps[other].high)
    gap = gaps[rival]
    return judge_above(rival, name, MeasuredDifference(-gap.value, -gap.high, -gap.low))


def judge_order(said: Sequence[float], own: Sequence[float]) -> Outcome:
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
    return Outcome(is_different(p), f"Spearman's ρ = {value:.2f} of {len(own)}", f"p = {p:.3f}", why)


def judge_all(findings: Mapping[str, Outcome]) -> Outcome:
    """Decide whether every one of several findings holds; those that do not are named."""
    if not findings or any(found.holds is None for found in findings.values()):
        return Outcome(None, why=NOT_RUN)
    failed = [name for name, found in findings.items() if not found.holds]
    worst = findings[failed[0]] if failed else next(iter(findings.values()))
    ours = f"{len(findings) - len(failed)} of {len(findings)}"
    return Outcome(not failed, ours, worst.interval, f"not for {', '.join(failed)}" if failed else "")


_OF_A_CLAIM = frozenset({"claim", "outcome", "criterion", "finding"})
_ON_A_PAGE = ("outcome", "claim", "paper", "ours", "interval", "why", "criterion", "deviation", "data")


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
        tables.append(make_table(f"What holds of {paper}", summarise_findings(own)))
        tables.append(make_table(f"Claims of {paper}", [{name: row.get(name) for name in _ON_A_PAGE} for row in own]))
    counted = tuple(f"`{paper}`: {count_findings(own)}." for paper, own in by_paper.items())
    return ResultFile(name, f"Claims of papers ({name})", tuple(tables), counted)
