"""Stored baselines: what a number was, and by which metric, versions and texts; others are not compared with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textgauge.checking.check import Check
from textgauge.checking.decision import Bound, Measured
from textgauge.errors import InputError
from textgauge.files import write_atomically
from textgauge.sealed import seal_json, unsealed_json
from textgauge.tabular import listed

_SCHEMA = 1
_KEPT = ("value", "low", "high", "n", "signature")


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
            content = unsealed_json(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: no file of baselines ({error})") from None
        if content.get("baselines") is None or content.get("schema") != _SCHEMA:
            raise InputError(f"{path}: no file of baselines that this version reads")
        return cls(path, content["baselines"])

    def of(self, check: Check, bound: Bound, measured: Measured) -> Mapping[str, Any]:
        """The stored number; an error where there is none, or one of another signature."""
        stored = self.numbers.get(check.name, {}).get(bound.of)
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
        self.numbers.setdefault(check.name, {})[bound.of] = kept

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
