"""Run checks: measure, decide on the ends of intervals, gather the outcomes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from textgauge.checking.baselines import Baselines
from textgauge.checking.check import Check, Setting, change
from textgauge.checking.decision import Bound, Measured, Outcome, needed_sentence
from textgauge.checking.report import CheckReport, CheckResult
from textgauge.errors import InputError


def run_checks(
    checks: Sequence[Check],
    *,
    level: float = 0.95,
    seed: int = 0,
    baselines: Path | str | None = None,
    update: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> CheckReport:
    """Run checks and decide each bound: pass, fail, or undecided with these numbers of texts.

    The intervals of all bounds hold together at `level`, so that texts that keep their bounds fail with a chance of at
    most 1 − `level` for the whole run. Bounds on a change read their baseline from the file `baselines`; `update`
    stores the present numbers there instead.
    """
    if not 0.5 <= level < 1:
        raise InputError(f"the level of the intervals lies between 0.5 and 1, not {level}")
    bounds = [check.bounds() for check in checks]
    count = sum(map(len, bounds))
    if not count:
        raise InputError("there is nothing to check")
    names = [check.name for check in checks]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two checks are called {twice!r}")
    stored = None if baselines is None else Baselines.read(Path(baselines))
    if stored is None and (update or any(bound.change for those in bounds for bound in those)):
        raise InputError("a bound on a change, and --update, need a file of baselines")
    setting = Setting(1 - (1 - level) / count, seed)
    found = []
    for check, those in zip(checks, bounds, strict=True):
        on_step(check.name or check.kind)
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
