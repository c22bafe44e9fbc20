"""What checks give back: one line per bound, as a table, JSON, JUnit XML and Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from textgauge.core.result import Result
from textgauge.core.tabular import (
    FlatRow,
    Row,
    count_of,
    format_cell,
    format_interval,
    listed,
    markdown_table,
    plain,
    printable,
)
from textgauge.measure.check import Bound, Check, Measured, Outcome

EXIT_CODES = {Outcome.passed: 0, Outcome.failed: 1, Outcome.undecided: 3}
_SIGNS = {Outcome.passed: "✓", Outcome.failed: "✗", Outcome.undecided: "?"}


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

    @classmethod
    def of(cls, check: Check, bound: Bound, number: Measured, outcome: Outcome, note: str | None) -> CheckResult:
        """The result of a decision."""
        needed = number.texts_needed(bound) if outcome is Outcome.undecided and number.reason is None else None
        return cls(
            check=check.title,
            kind=check.kind,
            measured=number.what,
            outcome=outcome.value,
            value=number.value,
            low=number.low,
            high=number.high,
            bound=bound.key,
            limit=float(bound.limit),
            n=number.n,
            texts_needed=needed,
            note=note,
            evidence=() if outcome is Outcome.passed else tuple(number.worst()),
            signature=number.signature,
        )

    def to_dict(self) -> Row:
        """A flat dictionary; NaN becomes None, the evidence one text a line."""
        return super().to_dict() | {"evidence": "\n".join(self.evidence) or None}

    @property
    def line(self) -> str:
        """The result in one line: outcome, number, limit, and the note."""
        limit = Bound(self.bound, self.limit, upper=self.bound != "min")
        ends = format_interval(plain(self.low), plain(self.high))
        said = f"{self.outcome}: {self.check}: {self.measured} {format_cell(plain(self.value))} ({ends}), {limit}"
        return f"{said}; {self.note}" if self.note else said


@dataclass(frozen=True, repr=False)
class CheckReport(Result):
    """The results of all checks, in order; `outcome` is that of the whole run, `exit_code` what the command gives."""

    command: ClassVar[str] = "check"
    keys: ClassVar[tuple[str, ...]] = ("check", "bound")

    results: tuple[CheckResult, ...]
    level: float = 0.95

    @property
    def rows(self) -> tuple[CheckResult, ...]:
        """The results."""
        return self.results

    @property
    def outcome(self) -> Outcome:
        """Fail if any fails, else undecided if any is, else pass."""
        found = {result.outcome for result in self.results}
        return next((one for one in (Outcome.failed, Outcome.undecided) if one.value in found), Outcome.passed)

    @property
    def exit_code(self) -> int:
        """0 for pass, 1 for fail, 3 for undecided."""
        return EXIT_CODES[self.outcome]

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
        counts = {outcome: sum(result.outcome == outcome for result in self.results) for outcome in words}
        said = [f"{count_of(n, 'check')} {words[outcome][n > 1]}" for outcome, n in counts.items() if n]
        return f"{self.outcome.value.capitalize()}: {listed(said)} {held}."

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary per bound."""
        return [result.to_dict() for result in self.results]

    def readable(self) -> list[Row]:
        """One row per bound."""
        return [
            {
                "": _SIGNS[Outcome(result.outcome)],
                "check": result.check,
                "outcome": result.outcome,
                "measured": result.measured,
                "value": format_cell(plain(result.value)),
                "interval": format_interval(plain(result.low), plain(result.high)),
                "bound": f"{result.bound} {format_cell(result.limit)}",
                "n": result.n,
                "note": result.note or "",
            }
            for result in self.results
        ]

    def evidence_lines(self) -> list[str]:
        """The worst texts of every check that does not pass."""
        return [
            line
            for result in self.results
            if result.evidence
            for line in (f"{result.check}, the texts that speak most against it:", *(f"  {t}" for t in result.evidence))
        ]

    def to_junit(self) -> str:
        """The results as JUnit XML: a failed bound is a failure, an undecided one an error."""
        from xml.etree import ElementTree

        counts = {one: sum(result.outcome == one.value for result in self.results) for one in Outcome}
        suite = ElementTree.Element(
            "testsuite",
            name="textgauge check",
            tests=str(len(self)),
            failures=str(counts[Outcome.failed]),
            errors=str(counts[Outcome.undecided]),
            skipped="0",
        )
        for result in self.results:
            name = f"{result.check}: {result.bound} of {result.measured}"
            case = ElementTree.SubElement(suite, "testcase", classname=f"textgauge.{result.kind}", name=printable(name))
            if result.outcome != Outcome.passed.value:
                tag = "failure" if result.outcome == Outcome.failed.value else "error"
                found = ElementTree.SubElement(case, tag, message=printable(result.line), type=result.outcome)
                found.text = printable("\n".join(result.evidence))
        root = ElementTree.Element("testsuites")
        root.append(suite)
        ElementTree.indent(root)
        return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"

    def to_markdown(self) -> str:
        """Answer, table and evidence, for the summary of a build."""
        rows = self.readable()
        lines = [f"**{self.answer}**", "", markdown_table(rows, list(rows[0]))] if rows else [f"**{self.answer}**"]
        evidence = [f"- {_code(text)}" if text.startswith("  ") else f"\n{text}\n" for text in self.evidence_lines()]
        return "\n".join([*lines, *evidence]) + "\n"


def _code(text: str) -> str:
    """A text as inline code, so that nothing in it acts as Markdown or HTML."""
    cleaned = printable(text.strip())
    fence = "`" * (1 + max(map(len, re.findall("`+", cleaned)), default=0))
    return f"{fence} {cleaned} {fence}"
