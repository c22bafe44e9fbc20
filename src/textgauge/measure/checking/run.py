"""Run checks: measure, compare with baselines, decide on the ends of intervals, gather the outcomes.

A baseline is what a number was, and by which metric, versions and texts; others are not compared with it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textgauge.core.errors import InputError
from textgauge.core.files import write_atomically
from textgauge.core.limits import stored_bytes
from textgauge.core.progress import begin_step
from textgauge.core.sealed import seal_json, shape_error, unsealed_json
from textgauge.core.tabular import listed, one_line
from textgauge.measure.checking.check import Bound, Check, Measured, Outcome, Setting, change, needed_sentence
from textgauge.measure.checking.report import CheckReport, CheckResult

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
    most 1 − `level` for the whole run. Bounds on a change read their baseline from the file `baselines`; `update`
    stores the present numbers there instead.
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
    found = []
    for number, (check, those) in enumerate(zip(checks, bounds, strict=True)):
        begin_step(check.title, number, len(checks), "checking")
        measured = check.measure(setting)
        found += [_decided(check, bound, measured[bound.of], stored, update) for bound in those]
    if update and stored is not None:
        stored.write()
    return CheckReport(tuple(found), level)


def _decided(check: Check, bound: Bound, number: Measured, stored: Baselines | None, update: bool) -> CheckResult:
    known = not (math.isnan(number.value) or math.isnan(number.low))
    if bound.change and stored is not None and known:
        if update:
            stored.store(check, bound, number)
            return CheckResult.of(check, bound, number, Outcome.passed, f"stored as the baseline in {stored.path}")
        number = change(number, stored.of(check, bound, number), rise=bound.change == "rise")
    outcome = bound.decide(number.low, number.high) if known else Outcome.undecided
    note = needed_sentence(number, bound) if outcome is Outcome.undecided else None
    return CheckResult.of(check, bound, number, outcome, note)


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
            content = unsealed_json(stored_bytes(path).decode())
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: no file of baselines ({error})") from None
        if content.get("schema") != _SCHEMA or shape_error(content, {"baselines": dict}):
            raise InputError(f"{path}: no file of baselines that this version reads")
        for check, numbers in content["baselines"].items():
            for amiss in (shape_error(one, _SHAPE) for one in (numbers.values() if isinstance(numbers, dict) else [0])):
                if amiss is not None:
                    raise InputError(f"{path}: damaged ({one_line(check, 40)}: {amiss}); store new ones with --update")
        return cls(path, content["baselines"])

    def of(self, check: Check, bound: Bound, measured: Measured) -> Mapping[str, Any]:
        """The stored number; an error where there is none, or one of another signature."""
        stored = self.numbers.get(check.title, {}).get(bound.of)
        if stored is None:
            raise InputError(f"{check.label} has no baseline in {self.path}: store one with --update")
        if stored["signature"] != measured.signature:
            raise InputError(
                f"{check.label}: the baseline in {self.path} cannot be compared, because it was made with "
                f"{_differing(stored['signature'], measured.signature)}; store a new one with --update"
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


def _differing(old: str, new: str) -> str:
    """What differs between two signatures, in words.

    >>> _differing("chrf|v1|numpy=1", "chrf|v1|numpy=2")
    'numpy=1, not numpy=2'
    """
    before, now = ([part for part in one.split("|") if part not in other] for one, other in ((old, new), (new, old)))
    return f"{listed(before)}, not {listed(now)}"
