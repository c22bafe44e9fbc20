"""Gates for builds: read checks from files, run them, and store the numbers that later runs are compared with."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textgauge.core.errors import InputError, UnknownName
from textgauge.core.files import find_shape_error, seal_json, unseal_json, write_atomically
from textgauge.core.progress import begin_step
from textgauge.core.settings import read_stored_bytes
from textgauge.core.show import join_words, shorten_line
from textgauge.data.source import load_references, split_column
from textgauge.measure.check import KINDS, Check, Setting
from textgauge.measure.check_report import (
    Bound,
    CheckReport,
    CheckResult,
    Measured,
    Outcome,
    compute_change,
    format_undecided,
)

_TOP = ("check", "level", "seed", "baselines")


@dataclass(frozen=True)
class CheckFile:
    """What a file of checks says."""

    checks: tuple[Check, ...]
    level: float
    seed: int
    baselines: Path


def read_checks(path: Path | str) -> CheckFile:
    """Read a file of checks; paths in it are relative to its folder.

    Baselines stand in `baselines`, by default a file of the same name that ends in `.baselines.json`.
    """
    path = Path(path)
    content = _parse_file(path)
    _require_known(f"entry of {path}", content, _TOP)
    tables = content.get("check", {})
    if not isinstance(tables, dict) or not tables or not all(isinstance(table, dict) for table in tables.values()):
        raise InputError(f"{path}: give at least one table [check.NAME]")
    checks = tuple(_parse_check(path, name, table) for name, table in tables.items())
    baselines = content.get("baselines", f"{path.stem}.baselines.json")
    level, seed = _parse_limit_number(f"{path}: level", content.get("level", 0.95)), content.get("seed", 0)
    if not isinstance(seed, int) or not isinstance(baselines, str):
        raise InputError(f"{path}: seed is a whole number, baselines the name of a file")
    return CheckFile(checks, level, seed, path.parent / baselines)


def _parse_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_stored_bytes(path).decode())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no TOML file ({shorten_line(str(error), 200)})") from None


def _parse_check(path: Path, name: str, table: Mapping[str, Any]) -> Check:
    given = dict(table)
    kind = given.pop("kind", None)
    if kind is None:
        raise InputError(f"{path}: check {name!r} has no kind: {join_words(KINDS)}")
    if str(kind) not in KINDS:
        raise UnknownName.among(f"kind of check {name!r}", str(kind), KINDS)
    declared = KINDS[kind]
    _require_known(f"entry of check {name!r}", given, [one for one in declared.takes if one != "name"])
    for key, value in given.items():
        if key in declared.corpora:
            given[key] = _parse_source(path.parent, name, key, value)
        elif key in (*declared.bounds, "threshold"):
            given[key] = _parse_limit(f"{path}: check {name!r}: {key}", value, declared.by_property)
        elif not isinstance(value, str):
            raise InputError(f"{path}: check {name!r}: {key} is a text, not {value!r}")
    return Check(kind, name=name, **given)


def _require_known(kind: str, given: Mapping[str, Any], known: Any) -> None:
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise UnknownName.among(kind, unknown, known)


def _parse_source(folder: Path, name: str, field: str, value: Any) -> Any:
    if isinstance(value, list) and field == "reference" and value and all(isinstance(one, str) for one in value):
        return load_references([_parse_source(folder, name, field, one) for one in value])
    if not isinstance(value, str):
        raise InputError(f"check {name!r}: {field} is the name of a file or dataset")
    file = folder / split_column(value)[0]
    return str(folder / value) if file.exists() else value


def _parse_limit(what: str, value: Any, by_property: bool) -> Any:
    if not by_property:
        return _parse_limit_number(what, value)
    if not isinstance(value, dict):
        raise InputError(f"{what} is a table of limits by property, as {{ unique = 0.9 }}")
    return {name: _parse_limit_number(f"{what}.{name}", limit) for name, limit in value.items()}


def _parse_limit_number(what: str, value: Any) -> float:
    if isinstance(value, str):
        return parse_number(value, what)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{what} is a number, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{what} is too large a number") from None


def parse_number(text: str, what: str) -> float:
    """Return a number, or a share in percent.

    >>> parse_number("5%", "max"), parse_number("0.05", "max")
    (0.05, 0.05)
    """
    try:
        return float(text.strip().removesuffix("%")) / (100.0 if text.strip().endswith("%") else 1.0)
    except ValueError:
        raise InputError(f"{what} is a number or a share in percent, not {text!r}") from None


_SCHEMA = 1
_KEPT = ("value", "low", "high", "n", "signature")
_SHAPE = {"value": (int, float), "low": (int, float), "high": (int, float), "signature": str}


def run_checks(
    checks: Sequence[Check],
    *,
    level: float = 0.95,
    seed: int = 0,
    baselines: Path | str | None = None,
    update: bool = False,
) -> CheckReport:
    """Run checks and decide each bound: pass, fail, or undecided with these numbers of texts.

    The intervals of all bounds hold together at `level`, so that texts that keep their bounds fail with a chance of at
    most 1 − `level` for the whole run.

    Parameters
    ----------
    checks
        What to check, each under a name of its own.
    level
        Confidence level of the intervals.
    seed
        Random seed.
    baselines
        The file of stored baselines, for limits on a change.
    update
        Store the present numbers as baselines instead of comparing with them.
    """
    if not 0.5 <= level < 1:
        raise InputError(f"the level of the intervals lies between 0.5 and 1, not {level}")
    if seed < 0:
        raise InputError(f"the random seed is 0 or more, not {seed}")
    bounds = [check.bounds() for check in checks]
    endless = next((bound for those in bounds for bound in those if not math.isfinite(bound.limit)), None)
    if endless is not None:
        raise InputError(f"{endless.key} must be a finite number, not {endless.limit}")
    count = sum(map(len, bounds))
    if not count:
        raise InputError("there is nothing to check")
    names = [check.title for check in checks]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two checks are called {twice!r}: give each a name")
    stored = None if baselines is None else Baselines.read(Path(baselines))
    if stored is None and (update or any(bound.change for those in bounds for bound in those)):
        raise InputError("a bound on a change, and --update, need a file of baselines")
    setting = Setting(1 - (1 - level) / count, seed)
    rows = []
    for number, (check, those) in enumerate(zip(checks, bounds, strict=True)):
        begin_step(check.title, number, len(checks), "checking")
        measured = check.measure(setting)
        rows += [_decide_bound(check, bound, measured[bound.of], stored, update) for bound in those]
    if update and stored is not None:
        stored.write()
    return CheckReport(tuple(rows), level)


def _decide_bound(check: Check, bound: Bound, number: Measured, stored: Baselines | None, update: bool) -> CheckResult:
    known = not (math.isnan(number.value) or math.isnan(number.low))
    outcome, note, needed = Outcome.undecided, None, None
    if bound.change and stored is not None and known and update:
        stored.store(check, bound, number)
        outcome, note = Outcome.passed, f"stored as the baseline in {stored.path}"
    elif known:
        if bound.change and stored is not None:
            number = compute_change(number, stored.of(check, bound, number), rise=bound.change == "rise")
        outcome = bound.decide(number.low, number.high)
    if outcome is Outcome.undecided:
        note = format_undecided(number, bound)
        needed = number.count_needed(bound) if number.reason is None else None
    return CheckResult(
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


@dataclass(frozen=True)
class Baselines:
    """What a file of baselines holds, by check and number."""

    path: Path
    numbers: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Baselines:
        """Read a file; one that does not exist holds nothing yet."""
        if not path.exists():
            return cls(path)
        try:
            content = unseal_json(read_stored_bytes(path).decode())
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: no file of baselines ({error})") from None
        if content.get("schema") != _SCHEMA or find_shape_error(content, {"baselines": dict}):
            raise InputError(f"{path}: no file of baselines that this version reads")
        for check, numbers in content["baselines"].items():
            for amiss in (
                find_shape_error(one, _SHAPE) for one in (numbers.values() if isinstance(numbers, dict) else [0])
            ):
                if amiss is not None:
                    raise InputError(
                        f"{path}: damaged ({shorten_line(check, 40)}: {amiss}); store new ones with --update"
                    )
        return cls(path, content["baselines"])

    def of(self, check: Check, bound: Bound, measured: Measured) -> Mapping[str, Any]:
        """Return the stored number; an error where there is none, or one of another signature."""
        stored = self.numbers.get(check.title, {}).get(bound.of)
        if stored is None:
            raise InputError(f"{check.label} has no baseline in {self.path}: store one with --update")
        if stored["signature"] != measured.signature:
            raise InputError(
                f"{check.label}: the baseline in {self.path} cannot be compared, because it was made with "
                f"{_format_difference(stored['signature'], measured.signature)}; store a new one with --update"
            )
        return dict(stored)

    def store(self, check: Check, bound: Bound, measured: Measured) -> None:
        """Keep a number; `write` puts it into the file."""
        kept = {name: getattr(measured, name) for name in _KEPT} | dict(measured.items or {})
        self.numbers.setdefault(check.title, {})[bound.of] = kept

    def write(self) -> None:
        """Write the file whole."""
        sealed = seal_json({"schema": _SCHEMA, "baselines": self.numbers})
        write_atomically(self.path, json.dumps(sealed, ensure_ascii=False, allow_nan=False))


def _format_difference(old: str, new: str) -> str:
    """Return what differs between two signatures, in words.

    >>> _format_difference("chrf|v1|numpy=1", "chrf|v1|numpy=2")
    'numpy=1, not numpy=2'
    """
    before, now = ([part for part in one.split("|") if part not in other] for one, other in ((old, new), (new, old)))
    return f"{join_words(before)}, not {join_words(now)}"
