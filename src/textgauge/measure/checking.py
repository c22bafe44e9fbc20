"""Gates for builds: read checks from files, run them, store the numbers that later runs are compared with, report.

A bound is decided on the ends of an interval, or left undecided.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.files import check_folder, find_shape_error, seal_json, unseal_json, write_atomically
from textgauge.core.progress import begin_step
from textgauge.core.result import Column, Result
from textgauge.core.settings import read_stored_bytes
from textgauge.core.show import (
    FlatRow,
    Row,
    drop_nonfinite,
    format_cell,
    format_count,
    format_interval,
    join_words,
    make_printable,
    shorten_line,
)
from textgauge.data.source import load_references, split_column
from textgauge.measure.check import KINDS, Bound, Check, Measured, Outcome, require_known
from textgauge.measure.comparing import parse_share
from textgauge.measure.score_report import Bootstrap

_TOP = ("check", "level", "looks", "seed", "baselines")
_SCHEMA = 1
_MOST_RESAMPLES = 100_000
_KEPT = ("value", "low", "high", "n", "signature")
_SHAPE = {"value": (int, float), "low": (int, float), "high": (int, float), "signature": str}
EXIT_CODES = {Outcome.passed: 0, Outcome.failed: 1, Outcome.undecided: 3}
_SIGNS = {Outcome.passed.value: "✓", Outcome.failed.value: "✗", Outcome.undecided.value: "?"}


@dataclass(frozen=True)
class CheckFile:
    """What a file of checks says."""

    checks: tuple[Check, ...]
    level: float
    seed: int
    baselines: Path
    looks: int = 1


def read_checks(path: Path | str) -> CheckFile:
    """Read a file of checks; paths in it are relative to its folder.

    Baselines stand in `baselines`, by default a file of the same name that ends in `.baselines.json`.
    """
    path = Path(path)
    try:
        content = tomllib.loads(read_stored_bytes(path).decode())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no TOML file ({shorten_line(str(error), 200)})") from None
    require_known(f"entry of {path}", content, _TOP)
    tables = content.get("check", {})
    if not isinstance(tables, dict) or not tables or not all(isinstance(table, dict) for table in tables.values()):
        raise InputError(f"{path}: give at least one table [check.NAME]")
    try:
        checks = tuple(_parse_check(path.parent, name, table) for name, table in tables.items())
    except ArgumentError as error:  # options are named as entries of the file
        raise InputError(f"{path}: {error.format_message(str)}") from None
    baselines = content.get("baselines", f"{path.stem}.baselines.json")
    level, seed = parse_share(content.get("level", 0.95), f"{path}: level"), content.get("seed", 0)
    looks = content.get("looks", 1)
    if not isinstance(seed, int) or not isinstance(looks, int) or not isinstance(baselines, str):
        raise InputError(f"{path}: seed is a whole number, as looks is, baselines the name of a file")
    return CheckFile(checks, level, seed, path.parent / baselines, looks)


def _parse_check(folder: Path, name: str, table: Mapping[str, Any]) -> Check:
    given = dict(table)
    kind = str(given.pop("kind", ""))
    if not kind:
        raise InputError(f"check {name!r} has no kind: {join_words(KINDS)}")
    require_known(f"kind of check {name!r}", [kind], KINDS)
    declared = KINDS[kind]
    require_known(f"entry of check {name!r}", given, [one for one in declared.takes if one != "name"])
    for key, value in given.items():
        if key in (*declared.corpora, "foreign"):
            given[key] = _parse_source(folder, name, key, value)
        elif key in ("threshold", "passage"):
            given[key] = parse_share(value, f"check {name!r}: {key}")
        elif key not in declared.bounds and not isinstance(value, bool if key == "paired" else str):
            wanted = "true or false" if key == "paired" else "a text"
            raise InputError(f"check {name!r}: {key} is {wanted}, not {value!r}")
    return Check(kind, name=name, **given)


def _parse_source(folder: Path, name: str, field: str, value: Any) -> Any:
    if isinstance(value, list) and field == "reference" and value and all(isinstance(one, str) for one in value):
        return load_references([_parse_source(folder, name, field, one) for one in value])
    if not isinstance(value, str):
        raise InputError(f"check {name!r}: {field} is the name of a file or dataset")
    file = folder / split_column(value)[0]
    return str(folder / value) if file.exists() else value


@dataclass(frozen=True, kw_only=True)
class CheckResult(FlatRow):
    """One bound of one check: the measured number with its interval, the limit, the outcome and the evidence.

    `note` says why it is undecided and how many texts would decide, and what to beware of; `texts_needed` is that
    number. `evidence` are the texts that speak most against a check that does not pass.
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
        ends, side = format_interval(self.low, self.high), "at least" if self.bound == "min" else "at most"
        number = f"{self.measured} {format_cell(drop_nonfinite(self.value))} ({ends})"
        said = f"{self.outcome}: {self.check}: {number}, {side} {self.limit:g}"
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
        Column("bound", "bound limit", lambda key, limit: f"{key} {limit:g}"),
        Column("n"),
        Column("note", "note", lambda note: note or ""),
    )

    rows: tuple[CheckResult, ...]
    level: float = 0.95
    looks: int = 1

    @property
    def details(self) -> Row:
        """Level and number of looks, where there are several."""
        return {"level": self.level, "looks": self.looks} if self.looks > 1 else {}

    @property
    def outcome(self) -> Outcome:
        """Fail if any fails, else undecided if any is, else pass."""
        found = {result.outcome for result in self.rows}
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
        over = f" over {self.looks:,} looks" if self.looks > 1 else ""
        held = f"({100 * self.level:g} %{' confidence' if len(self) > 1 else ''}{over})"
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


def run_checks(
    checks: Sequence[Check],
    *,
    level: float = 0.95,
    looks: int = 1,
    seed: int = 0,
    baselines: Path | str | None = None,
    update: bool = False,
) -> CheckReport:
    """Run checks and decide each bound: pass, fail, or undecided with these numbers of texts.

    The intervals of all bounds hold together at `level`, so that texts that keep their bounds fail with a chance of at
    most 1 − `level` for the whole run, or for all `looks`.

    Parameters
    ----------
    checks
        What to check, each under a name of its own.
    level
        Confidence level of the intervals.
    looks
        How often these checks will be run, on new texts or more: 1 − `level` is divided by it, and holds for all looks.
    seed
        Random seed.
    baselines
        The file of stored baselines, for limits on a change.
    update
        Store the present numbers as baselines instead of comparing with them.
    """
    how = Bootstrap(level=level, seed=seed)
    bounds = [(check, bound) for check in checks for bound in check.bounds()]
    endless = next((bound for _, bound in bounds if not math.isfinite(bound.limit)), None)
    if endless is not None:
        raise InputError(f"{endless.key} must be a finite number, not {endless.limit}")
    if not bounds:
        raise InputError("there is nothing to check")
    names = [check.title for check in checks]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two checks are called {twice!r}: give each a name")
    if looks < 1:
        raise ArgumentError(f"`looks` is at least 1, not {looks}")
    path = None if baselines is None else Path(baselines)
    if path is None and (update or any(bound.change for _, bound in bounds)):
        raise InputError("a bound on a change, and --update, need a file of baselines")
    stored = {} if path is None else read_baselines(check_folder(path) if update else path)
    share = (1 - level) / (len(bounds) * looks)
    resamples = min(max(how.resamples, math.ceil(10 / share)), _MOST_RESAMPLES)
    how, rows = replace(how, level=1 - share, resamples=resamples), []
    for number, check in enumerate(checks):
        begin_step(check.title, number, len(checks), "checking")
        measured = check.measure(how)
        for bound in (bound for one, bound in bounds if one is check):
            value = measured[bound.of]
            outcome, note, needed = Outcome.undecided, None, None
            is_known = not (math.isnan(value.value) or math.isnan(value.low))
            if is_known and bound.change and update:
                kept = {name: getattr(value, name) for name in _KEPT} | dict(value.items or {})
                stored.setdefault(check.title, {})[bound.of] = kept
                outcome, note = Outcome.passed, f"stored as the baseline in {path}"
            elif is_known:
                if bound.change:
                    old = _get_baseline(stored, path, check, bound, value)
                    value = value.compute_change(old, rise=bound.change == "rise")
                outcome = bound.decide(value.low, value.high)
            if outcome is Outcome.undecided:
                note, needed = value.explain_undecided(bound)
            note = "; ".join(filter(None, [note, value.caution])) or None
            rows.append(
                CheckResult(
                    check=check.title,
                    kind=check.kind,
                    measured=value.what,
                    outcome=outcome.value,
                    bound=bound.key,
                    limit=bound.limit,
                    texts_needed=needed,
                    note=note,
                    evidence=() if outcome is Outcome.passed else tuple(value.worst()),
                    **{name: getattr(value, name) for name in _KEPT},
                )
            )
    if update and path is not None:
        sealed = seal_json({"schema": _SCHEMA, "baselines": stored})
        write_atomically(path, json.dumps(sealed, ensure_ascii=False, allow_nan=False))
    return CheckReport(tuple(rows), level, looks)


def read_baselines(path: Path) -> dict[str, dict[str, Any]]:
    """Read stored numbers by check and number; a file that does not exist holds nothing yet."""
    if not path.exists():
        return {}
    try:
        content = unseal_json(read_stored_bytes(path).decode())
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: no file of baselines ({error})") from None
    if content.get("schema") != _SCHEMA or find_shape_error(content, {"baselines": dict}):
        raise InputError(f"{path}: no file of baselines that this version reads")
    found: dict[str, dict[str, Any]] = content["baselines"]
    for check, numbers in found.items():
        shapes = dict.fromkeys(numbers, _SHAPE) if isinstance(numbers, dict) else {}
        if amiss := find_shape_error(numbers, shapes):
            raise InputError(f"{path}: damaged ({shorten_line(check, 40)}: {amiss}); store new ones with --update")
    return found


def _get_baseline(
    stored: Mapping[str, Mapping[str, Any]], path: Path | None, check: Check, bound: Bound, measured: Measured
) -> Mapping[str, Any]:
    found: Mapping[str, Any] | None = stored.get(check.title, {}).get(bound.of)
    if found is None:
        raise InputError(f"{check.label} has no baseline in {path}: store one with --update")
    if found["signature"] != measured.signature:
        raise InputError(
            f"{check.label}: the baseline in {path} cannot be compared, because it was made with "
            f"{_format_difference(found['signature'], measured.signature)}; store a new one with --update"
        )
    return found


def _format_difference(old: str, new: str) -> str:
    """Return what differs between two signatures, in words.

    >>> _format_difference("chrf|v1|numpy=1", "chrf|v1|numpy=2")
    'numpy=1, not numpy=2'
    """
    before, now = ([part for part in one.split("|") if part not in other] for one, other in ((old, new), (new, old)))
    return f"{join_words(before)}, not {join_words(now)}"
