"""`check copies` and `check describe`: properties of a generated corpus keep their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textgauge.core.errors import UnknownName
from textgauge.core.tabular import one_line
from textgauge.data import load_corpus
from textgauge.data.source import Source
from textgauge.measure.checking.check import Bound, Check, Measured, Setting, fingerprint
from textgauge.measure.describing import Description, describe
from textgauge.measure.describing.lists import check_threshold
from textgauge.metrics.properties.base import NEAR_COPY, list_properties

_WORST = 3
_WIDTH = 80


@dataclass(frozen=True, kw_only=True)
class CopiesCheck(Check):
    """At most a share `max` of the generated texts are near copies of train texts.

    A near copy has a similarity by wording (SynSim) of `threshold` or more to a train text.
    """

    kind: ClassVar[str] = "copies"
    corpora: ClassVar[tuple[str, ...]] = ("generated", "train")

    generated: Source
    train: Source
    max: float | None = None
    max_rise: float | None = None
    threshold: float = NEAR_COPY

    def bounds(self) -> list[Bound]:
        """The share that may be copied."""
        check_threshold(self.threshold)
        return [
            Bound(key, limit, change="rise" if key == "max_rise" else None)
            for key, limit in self.given("max", "max_rise").items()
        ]

    def measure(self, setting: Setting) -> Mapping[str, Measured]:
        """`value`, the share of near copies."""
        found = _described(self, setting, near_copy=self.threshold)
        number = _property(found, "near_copies")
        signature = f"{number.signature}|threshold={self.threshold:g}"
        return {"value": replace(number, what="share of near copies", signature=signature)}


@dataclass(frozen=True, kw_only=True)
class DescribeCheck(Check):
    """Properties of a generated corpus, as `describe` measures them, keep their bounds.

    `min` and `max` give a limit by the name of a property; `max_drop` and `max_rise` how much one may have changed
    since the baseline was stored.
    """

    kind: ClassVar[str] = "describe"
    corpora: ClassVar[tuple[str, ...]] = ("generated", "train", "test")

    generated: Source
    train: Source
    test: Source | None = None
    min: Mapping[str, float] | None = None
    max: Mapping[str, float] | None = None
    max_drop: Mapping[str, float] | None = None
    max_rise: Mapping[str, float] | None = None
    embedder: str = "minilm"
    grammar: str = "harper"
    plausibility: str = "kneser-ney"

    def bounds(self) -> list[Bound]:
        """One bound for each property that was named."""
        names = [known.name for known in list_properties()]
        found = []
        for key, limits in self.given("min", "max", "max_drop", "max_rise").items():
            for of, limit in limits.items():
                if of not in names:
                    raise UnknownName.among("property", of, names)
                change = {"max_drop": "drop", "max_rise": "rise"}.get(key)
                found.append(Bound(key, limit, upper=key != "min", of=of, change=change))  # type: ignore[arg-type]
        return found

    def measure(self, setting: Setting) -> Mapping[str, Measured]:
        """The properties that have a bound, by name; what no bound needs is not computed."""
        names = {bound.of for bound in self.bounds()}
        needs = {need for known in list_properties() if known.name in names for need in known.needs}
        backends = {
            "embedder": self.embedder if "embeddings" in needs else None,
            "grammar": self.grammar if "grammar" in needs else None,
            "plausibility": self.plausibility if "plausibility" in needs else None,
        }
        found = _described(self, setting, **backends)
        return {name: _property(found, name) for name in names}


def _described(check: CopiesCheck | DescribeCheck, setting: Setting, **options: Any) -> Description:
    test = getattr(check, "test", None)
    how: dict[str, Any] = {"embedder": None, "grammar": None, "plausibility": None} | options
    return describe(
        load_corpus(check.generated, column=check.column),
        train=load_corpus(check.train, column=check.column),
        held_out=None if test is None else load_corpus(test, column=check.column),
        level=setting.level,
        seed=setting.seed,
        **how,
    )


def _property(found: Description, name: str) -> Measured:
    row = found[name]
    missing = row.reason if math.isnan(row.value) or math.isnan(row.low) else None
    worst: Callable[[], list[str]] = {
        "near_copies": lambda: _copied(found),
        "semantic_recall": lambda: _uncovered(found),
        "covered": lambda: _uncovered(found),
        "unique": lambda: _repeated(found),
        "distinct": lambda: _repeated(found),
    }.get(name, list)
    return Measured(
        what=name,
        value=row.value,
        low=row.low,
        high=row.high,
        n=len(found.generated[0].corpus),
        signature=_signature(found, name),
        reason=missing,
        worst=worst,
    )


def _signature(found: Description, name: str) -> str:
    """What the value depends on besides the generated texts."""
    fixed = [f"{one.name}={fingerprint(one.corpus)}" for one in (found.train, found.held_out) if one is not None]
    return "|".join([found[name].backend or name, *fixed])


def _copied(found: Description) -> list[str]:
    rows = found.near_copies().head(_WORST).to_dicts()
    return [f"{one_line(row['text'], _WIDTH)} ← {one_line(row['train'], _WIDTH)}" for row in rows]


def _uncovered(found: Description) -> list[str]:
    return [one_line(row["test"], _WIDTH) for row in found.uncovered().head(_WORST).to_dicts()]


def _repeated(found: Description) -> list[str]:
    return [f"{row['texts']} × {one_line(row['example'], _WIDTH)}" for row in found.modes().head(_WORST).to_dicts()]
