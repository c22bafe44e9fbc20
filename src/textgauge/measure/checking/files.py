"""Files of checks: one TOML table `[check.NAME]` per check, with its kind, its corpora and its bounds."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from textgauge.core.errors import InputError, UnknownName
from textgauge.core.limits import stored_bytes
from textgauge.core.tabular import listed, one_line
from textgauge.data.source import load_references, split_column
from textgauge.measure.checking.check import Check
from textgauge.measure.checking.kinds import CopiesCheck, DescribeCheck, DriftCheck, ScoreCheck

KINDS: dict[str, type[Check]] = {kind.kind: kind for kind in (DriftCheck, CopiesCheck, ScoreCheck, DescribeCheck)}
_TOP = ("check", "level", "seed", "baselines")
_NUMBERS = ("max", "min", "max_ratio", "max_rise", "max_drop", "threshold")


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
    content = _parsed(path)
    _known(f"entry of {path}", content, _TOP)
    tables = content.get("check", {})
    if not isinstance(tables, dict) or not tables or not all(isinstance(table, dict) for table in tables.values()):
        raise InputError(f"{path}: give at least one table [check.NAME]")
    checks = tuple(_check(path, name, table) for name, table in tables.items())
    baselines = content.get("baselines", f"{path.stem}.baselines.json")
    level, seed = _number(f"{path}: level", content.get("level", 0.95)), content.get("seed", 0)
    if not isinstance(seed, int) or not isinstance(baselines, str):
        raise InputError(f"{path}: seed is a whole number, baselines the name of a file")
    return CheckFile(checks, level, seed, path.parent / baselines)


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(stored_bytes(path).decode())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no TOML file ({one_line(str(error), 200)})") from None


def _check(path: Path, name: str, table: Mapping[str, Any]) -> Check:
    given = dict(table)
    kind = given.pop("kind", None)
    if kind is None:
        raise InputError(f"{path}: check {name!r} has no kind: {listed(KINDS)}")
    if str(kind) not in KINDS:
        raise UnknownName.among(f"kind of check {name!r}", str(kind), KINDS)
    declared = {field.name: field for field in fields(KINDS[kind]) if field.name != "name"}
    _known(f"entry of check {name!r}", given, declared)
    missing = [one for one, field in declared.items() if field.default is MISSING and one not in given]
    if missing:
        raise InputError(f"{path}: check {name!r} needs {listed(missing)}")
    for field, value in table.items():
        if field in KINDS[kind].corpora:
            given[field] = _source(path.parent, name, field, value)
        elif field in _NUMBERS:
            given[field] = _limit(f"{path}: check {name!r}: {field}", value, kind == DescribeCheck.kind)
        elif not isinstance(value, str):
            raise InputError(f"{path}: check {name!r}: {field} is a text, not {value!r}")
    return KINDS[kind](name=name, **given)


def _known(kind: str, given: Mapping[str, Any], known: Any) -> None:
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise UnknownName.among(kind, unknown, known)


def _source(folder: Path, name: str, field: str, value: Any) -> Any:
    if isinstance(value, list) and field == "reference" and value and all(isinstance(one, str) for one in value):
        return load_references([_source(folder, name, field, one) for one in value])
    if not isinstance(value, str):
        raise InputError(f"check {name!r}: {field} is the name of a file or dataset")
    file = folder / split_column(value)[0]
    return str(folder / value) if file.exists() else value


def _limit(what: str, value: Any, by_property: bool) -> Any:
    if not by_property:
        return _number(what, value)
    if not isinstance(value, dict):
        raise InputError(f"{what} is a table of limits by property, as {{ unique = 0.9 }}")
    return {name: _number(f"{what}.{name}", limit) for name, limit in value.items()}


def _number(what: str, value: Any) -> float:
    if isinstance(value, str):
        return parse_number(value, what)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{what} is a number, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{what} is too large a number") from None


def parse_number(text: str, what: str) -> float:
    """A number, or a share in percent.

    >>> parse_number("5%", "max"), parse_number("0.05", "max")
    (0.05, 0.05)
    """
    try:
        return float(text.strip().removesuffix("%")) / (100.0 if text.strip().endswith("%") else 1.0)
    except ValueError:
        raise InputError(f"{what} is a number or a share in percent, not {text!r}") from None
