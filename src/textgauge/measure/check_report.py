"""What checks give back: numbers decided by their bounds, one line per bound, as a table, JSON, JUnit XML and Markdown.

A bound is decided on the ends of an interval, or left undecided.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar

from textgauge.core.result import Column, Result
from textgauge.core.show import (
    FlatRow,
    Row,
    drop_nonfinite,
    format_about,
    format_cell,
    format_count,
    format_interval,
    join_words,
    make_printable,
)
from textgauge.stats.rankings import compute_difference_interval

_STEP = 1.05  # between numbers of texts that are tried
_MOST = 1_000.0  # times the texts; farther than that no extrapolation is meant to reach


class Outcome(StrEnum):
    """What a check says."""

    passed = "pass"
    failed = "fail"
    undecided = "undecided"


_EXIT_CODES = {Outcome.passed: 0, Outcome.failed: 1, Outcome.undecided: 3}
_SIGNS = {Outcome.passed.value: "✓", Outcome.failed.value: "✗", Outcome.undecided.value: "?"}


@dataclass(frozen=True)
class Bound:
    """A limit that a number may not exceed, or with `upper=False` not fall below.

    `key` is what the user calls it, `of` the number it is for. A `change` is its `rise` or `drop` since a stored
    baseline.
    """

    key: str
    limit: float
    upper: bool = True
    of: str = "value"
    change: str | None = None

    def decide(self, low: float, high: float) -> Outcome:
        """Pass where the whole interval keeps the bound, fail where all of it breaks it.

        >>> [Bound("max", 3.0).decide(low, low + 1.0).value for low in (1.0, 2.5, 3.5)]
        ['pass', 'undecided', 'fail']
        """
        if self.upper:
            return Outcome.passed if high <= self.limit else Outcome.failed if low > self.limit else Outcome.undecided
        return Outcome.passed if low >= self.limit else Outcome.failed if high < self.limit else Outcome.undecided

    def __str__(self) -> str:
        return f"{'at most' if self.upper else 'at least'} {format_cell(float(self.limit))}"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a check measured: a number with its interval, the number of texts behind it, and where it comes from.

    `reason` says why there is no value or no interval. `worst` gives the texts that speak against it, when asked.
    `null` is what the number is divided by, if it is a ratio to the value of corpora from one source. A number that can
    be paired with a stored one item by item keeps its `items` in the baseline; `paired_drop` then gives the drop.
    """

    what: str
    value: float
    low: float
    high: float
    n: int
    signature: str = ""
    reason: str | None = None
    worst: Callable[[], list[str]] = list
    null: float | None = None
    items: Mapping[str, Any] | None = None
    paired_drop: Callable[[Mapping[str, Any]], Measured] | None = None

    def extrapolate(self, times: float) -> tuple[float, float]:
        """Return the interval to expect with this many times the texts.

        Half-widths shrink with the root of the number of texts. The value of corpora from one source shrinks with the
        number itself: a ratio to it grows where there is a distance beyond it, and stays as it is where there is none.
        """
        below, above = (self.value - self.low) / math.sqrt(times), (self.high - self.value) / math.sqrt(times)
        if self.null is None:
            return self.value - below, self.value + above
        if self.low <= 1.0:
            return self.low, self.high
        return 1.0 + (self.value - 1.0 - below) * times, 1.0 + (self.value - 1.0 + above) * times

    def count_needed(self, bound: Bound) -> int | None:
        """Return how many texts would decide, if they showed what these do; None if a thousand times as many do not.

        >>> Measured(what="share", value=0.04, low=0.01, high=0.07, n=100).count_needed(Bound("max", 0.05))
        944
        """
        times = 1.0
        while times <= _MOST:
            if bound.decide(*self.extrapolate(times)) is not Outcome.undecided:
                return math.ceil(self.n * times)
            times *= _STEP
        return None

    def __str__(self) -> str:
        ends = "" if math.isnan(self.low) else f" ({format_interval(self.low, self.high)})"
        return f"{self.what} {format_cell(self.value)}{ends}"


def format_undecided(measured: Measured, bound: Bound) -> str:
    """Say why a check is undecided, and how many texts would decide it.

    >>> format_undecided(Measured(what="share", value=0.04, low=0.01, high=0.07, n=100), Bound("max", 0.05))
    'the interval holds the limit; about 940 texts would decide'
    """
    if measured.reason is not None:
        return measured.reason
    needed = measured.count_needed(bound)
    if needed is None:
        passing = format_cell(measured.high if bound.upper else measured.low)
        return f"the interval holds the limit, and more texts like these would not decide; a limit of {passing} passes"
    return f"the interval holds the limit; about {format_about(needed)} texts would decide"


def compute_change(measured: Measured, stored: Mapping[str, Any], *, rise: bool) -> Measured:
    """Return the rise, or drop, of a number since it was stored.

    Paired where it can be; else of two samples that have nothing in common.

    >>> now = Measured(what="share", value=0.5, low=0.4, high=0.6, n=100)
    >>> rise = compute_change(now, {"value": 0.3, "low": 0.2, "high": 0.4}, rise=True)
    >>> round(rise.value, 3), round(rise.low, 3), round(rise.high, 3)
    (0.2, 0.059, 0.341)
    """
    if measured.paired_drop is not None and not rise:
        return measured.paired_drop(stored)
    old = [float(stored[name]) for name in ("value", "low", "high")]
    difference = measured.value - old[0]
    low, high = compute_difference_interval((measured.value, measured.low, measured.high), old)
    value, low, high = (difference, low, high) if rise else (-difference, -high, -low)
    what = f"{'rise' if rise else 'drop'} of {measured.what}"
    return replace(measured, what=what, value=value, low=low, high=high, null=None)


@dataclass(frozen=True, kw_only=True)
class CheckResult(FlatRow):
    """One bound of one check: the measured number with its interval, the limit, the outcome and the evidence.

    `note` says why it is undecided and how many texts would decide; `texts_needed` is that number. `evidence` are the
    texts that speak most against a check that does not pass.
    """

    check: str
    kind: str
    measured: str
    outcome: str
    value: float
    low: float
    high: float
    bound: str
    limit: float
    n: int
    texts_needed: int | None
    note: str | None
    evidence: tuple[str, ...]
    signature: str

    def to_dict(self) -> Row:
        """Return a flat dictionary; NaN becomes None, the evidence one text a line."""
        return super().to_dict() | {"evidence": "\n".join(self.evidence) or None}

    @property
    def line(self) -> str:
        """The result in one line: outcome, number, limit, and the note."""
        limit = Bound(self.bound, self.limit, upper=self.bound != "min")
        ends = format_interval(drop_nonfinite(self.low), drop_nonfinite(self.high))
        said = (
            f"{self.outcome}: {self.check}: {self.measured} {format_cell(drop_nonfinite(self.value))} ({ends}), {limit}"
        )
        return f"{said}; {self.note}" if self.note else said


@dataclass(frozen=True, repr=False)
class CheckReport(Result):
    """The results of all checks, in order; `outcome` is that of the whole run, `exit_code` what the command gives."""

    command: ClassVar[str] = "check"
    keys: ClassVar[tuple[str, ...]] = ("check", "bound")
    columns: ClassVar[tuple[Column, ...]] = (
        Column("", "outcome", _SIGNS.get),
        Column("check"),
        Column("outcome"),
        Column("measured"),
        Column("value", "value", format_cell),
        Column("interval", "low high", format_interval),
        Column("bound", "bound limit", lambda key, limit: f"{key} {format_cell(limit)}"),
        Column("n"),
        Column("note", "note", lambda note: note or ""),
    )

    rows: tuple[CheckResult, ...]
    level: float = 0.95

    @property
    def outcome(self) -> Outcome:
        """Fail if any fails, else undecided if any is, else pass."""
        found = {result.outcome for result in self.rows}
        return next((one for one in (Outcome.failed, Outcome.undecided) if one.value in found), Outcome.passed)

    @property
    def exit_code(self) -> int:
        """0 for pass, 1 for fail, 3 for undecided."""
        return _EXIT_CODES[self.outcome]

    @property
    def answer(self) -> str:
        """How many checks fail, are undecided, pass.

        >>> CheckReport(()).answer
        'Pass: all 0 checks pass (95 %).'
        """
        held = f"({100 * self.level:g} %{' joint confidence' if len(self) > 1 else ''})"
        if self.outcome is Outcome.passed:
            every = "the check passes" if len(self) == 1 else f"all {len(self)} checks pass"
            return f"Pass: {every} {held}."
        words = {"fail": ("fails", "fail"), "undecided": ("cannot be decided",) * 2, "pass": ("passes", "pass")}
        counts = {outcome: sum(result.outcome == outcome for result in self.rows) for outcome in words}
        said = [f"{format_count(n, 'check')} {words[outcome][n > 1]}" for outcome, n in counts.items() if n]
        return f"{self.outcome.value.capitalize()}: {join_words(said)} {held}."

    def to_junit(self) -> str:
        """Return the results as JUnit XML: a failed bound is a failure, an undecided one an error."""
        from xml.etree import ElementTree

        tags = {Outcome.failed.value: "failure", Outcome.undecided.value: "error"}
        counts = {f"{tag}s": str(sum(row.outcome == one for row in self.rows)) for one, tag in tags.items()}
        root = ElementTree.Element("testsuites")
        suite = ElementTree.SubElement(
            root, "testsuite", {"name": "textgauge check", "tests": str(len(self)), **counts, "skipped": "0"}
        )
        for row in self.rows:
            name = make_printable(f"{row.check}: {row.bound} of {row.measured}")
            case = ElementTree.SubElement(suite, "testcase", classname=f"textgauge.{row.kind}", name=name)
            if row.outcome in tags:
                failure = ElementTree.SubElement(
                    case, tags[row.outcome], message=make_printable(row.line), type=row.outcome
                )
                failure.text = make_printable("\n".join(row.evidence))
        ElementTree.indent(root)
        return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"

    def to_markdown(self) -> str:
        """Return answer, table and evidence, for the summary of a build."""
        lines = [f"**{self.answer}**", *(["", super().to_markdown()] if self.rows else [])]
        for row in self.rows:
            if row.evidence:
                lines.append(f"\n{row.check}, the texts that speak most against it:\n")
                lines += [f"- {_format_code(text)}" for text in row.evidence]
        return "\n".join(lines) + "\n"


def _format_code(text: str) -> str:
    """Return a text as inline code, so that nothing in it acts as Markdown or HTML."""
    cleaned = make_printable(text.strip())
    fence = "`" * (1 + max(map(len, re.findall("`+", cleaned)), default=0))
    return f"{fence} {cleaned} {fence}"
