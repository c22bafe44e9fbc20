"""`check score`: a system's score against references may not fall below a bound or behind a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.tabular import one_line, plain
from textgauge.data import Corpus, Pairs, load_aligned
from textgauge.data.source import Source
from textgauge.measure.checking.check import Bound, Check, Measured, Setting, fingerprint
from textgauge.measure.scoring.report import Bootstrap, Summed, item_counts, item_statistics
from textgauge.measure.scoring.score import References, all_references, checked_pairs, require_texts
from textgauge.measure.scoring.systems import resample_differences
from textgauge.metrics import PairMetric, get_pair_metrics
from textgauge.stats.resampling import percentile_interval

_WORST = 3
_WIDTH = 80


@dataclass(frozen=True, kw_only=True)
class ScoreCheck(Check):
    """The score of candidate texts against references keeps its bounds.

    `max_drop` limits how far it may lie behind that of `baseline`, the texts of another system for the same items, or
    behind the stored baseline where no such texts are given: by paired resampling of the items. `min` and `max` limit
    the score itself. The score is that of the whole set where the metric has one, else the mean over items.
    """

    kind: ClassVar[str] = "score"
    corpora: ClassVar[tuple[str, ...]] = ("candidate", "reference", "baseline")

    candidate: Source
    reference: References
    metric: str | PairMetric = "chrf"
    baseline: Source | None = None
    max_drop: float | None = None
    min: float | None = None
    max: float | None = None

    def bounds(self) -> list[Bound]:
        """The bounds that were given."""
        given = self.given("max_drop", "min", "max")
        behind = Bound("max_drop", given.get("max_drop", 0.0), of="drop")
        if self.baseline is None:
            behind = Bound("max_drop", behind.limit, change="drop")
        made = {"max_drop": behind, "min": Bound("min", given.get("min", 0.0), upper=False)}
        return [made.get(name) or Bound(name, limit) for name, limit in given.items()]

    def measure(self, setting: Setting) -> Mapping[str, Measured]:
        """`value`, the score; `drop`, how far it lies behind that of the baseline texts."""
        references: Any = load_aligned(self.reference, column=self.column)  # type: ignore[arg-type]
        fitted = Corpus.of(all_references(references))
        system = self._scored(self.candidate, references, fitted)
        low, high = system.summed.interval(system.bootstrap(setting))
        value = Measured(
            what=system.metric.key,
            value=system.summed.value,
            low=low,
            high=high,
            n=system.pairs.n_items,
            signature=f"{system.metric.signature}|reference={fingerprint(fitted)}",
            worst=lambda: system.worst(system.metric.orient(system.values)),
            items=system.items,
            paired_drop=lambda stored: _drop(value, system, stored, setting),
        )
        if self.baseline is None:
            return {"value": value}
        other = self._scored(self.baseline, references, fitted)
        return {"value": value, "drop": _drop(value, system, other.items, setting)}

    def _scored(self, texts: Source, references: Any, fitted: Corpus) -> _Scored:
        loaded = load_aligned(texts, column=self.column)
        if len(loaded) != len(references):
            raise InputError(f"{self.label}: {len(loaded)} texts, but {len(references)} references")
        pairs = checked_pairs(loaded, references, fitted)
        found = [metric.on_given(pairs) for metric in get_pair_metrics([self.metric])]
        if len(found) != 1:
            raise InputError(f"{self.label} takes one metric, not {len(found)}: {self.metric}")
        require_texts(pairs, found)
        values = found[0].measure(pairs).values
        statistics = item_statistics(found[0], item_counts(found[0], pairs), values)
        return _Scored(found[0], pairs, values, statistics.whole or statistics.mean)


@dataclass(frozen=True, eq=False)
class _Scored:
    """The texts of one system with their values."""

    metric: PairMetric
    pairs: Pairs
    values: Floats
    summed: Summed

    @property
    def items(self) -> dict[str, Any]:
        """What a baseline keeps: statistics and value of every item."""
        return {"rows": self.summed.rows.tolist(), "values": [plain(value) for value in self.values.tolist()]}

    def bootstrap(self, setting: Setting) -> Bootstrap:
        """How intervals are made."""
        return Bootstrap(level=setting.level, seed=setting.seed)

    def worst(self, loss: Floats) -> list[str]:
        """The items with the largest losses."""
        order = np.argsort(-np.where(np.isfinite(loss), loss, -np.inf), kind="stable")[:_WORST]
        starts = np.flatnonzero(np.diff(self.pairs.items, prepend=-1))[order]
        texts = self.pairs.left.take(starts).texts if self.pairs.left.pool.has_texts else [""] * len(order)
        return [f"item {item + 1}: {one_line(text, _WIDTH)}" for item, text in zip(order, texts, strict=True)]


def _drop(measured: Measured, system: _Scored, stored: Mapping[str, Any], setting: Setting) -> Measured:
    """How much worse the score is than the stored one, with the interval of paired resamples."""
    mine, how, metric = system.summed, system.bootstrap(setting), system.metric
    lacking = InputError("the baseline lacks the numbers of its items; store a new one with --update")
    try:
        rows, values = (np.array(stored[name], dtype=np.float64) for name in ("rows", "values"))
    except (KeyError, TypeError, ValueError):
        raise lacking from None
    if rows.ndim != mine.rows.ndim or rows.shape[1:] != mine.rows.shape[1:] or values.shape != rows.shape[:1]:
        raise lacking
    yours = Summed(rows, mine.score, mine.bounds)
    if len(rows) != len(mine.rows):
        raise InputError(f"the baseline has {len(rows)} items, the candidate {len(mine.rows)}")
    drawn = metric.orient(resample_differences(mine, yours, how))  # farther from the references is larger
    low, high = percentile_interval(drawn, len(mine.rows), how.level)
    lost = metric.orient(system.values - values)
    return replace(
        measured,
        what=f"drop of {measured.what}",
        value=float(metric.orient(mine.value - yours.value)),
        low=low,
        high=high,
        worst=lambda: system.worst(lost),
    )
