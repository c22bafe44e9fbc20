"""Run checks on an object; some may be expected to fail, by name and with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Check = Callable[[Any], None]


def run_checks(checks: Iterable[Check], subject: Any, expected_failures: Mapping[str, str] | None = None) -> None:
    """Run every check; one that is expected to fail must fail, and an unknown name is refused.

    >>> def check_even(number): assert number % 2 == 0
    >>> run_checks([check_even], 3, {"check_even": "three is odd"})
    """
    known = {check.__name__: check for check in checks}
    expected = expected_failures or {}
    unknown = sorted(set(expected) - set(known))
    assert not unknown, f"no such check: {', '.join(unknown)}; the checks are {', '.join(known)}"
    for name, check in known.items():
        if name not in expected:
            _run(check, subject)
        elif not _fails(check, subject):
            raise AssertionError(f"{name} was expected to fail ({expected[name]}) and passes")


def _run(check: Check, subject: Any) -> None:
    """Run a check; pytest adds the code of the assertion to a message, which says nothing to the author of a metric."""
    try:
        check(subject)
    except AssertionError as error:
        said = str(error).partition("\nassert ")[0]
        raise AssertionError(said).with_traceback(error.__traceback__) from None


def _fails(check: Check, subject: Any) -> bool:
    try:
        check(subject)
    except AssertionError:
        return True
    return False
