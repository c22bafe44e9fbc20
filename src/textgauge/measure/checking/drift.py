"""`check drift`: new texts may not be farther from a reference than a bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textgauge.core.errors import InputError
from textgauge.core.tabular import one_line
from textgauge.data import load_corpus
from textgauge.data.source import Source
from textgauge.measure.checking.check import Bound, Check, Measured, Setting, fingerprint
from textgauge.measure.comparing import compare, explain
from textgauge.metrics import CorpusMetric, Score, get_corpus_metrics

_WORST = 3
_WIDTH = 100


@dataclass(frozen=True, kw_only=True)
class DriftCheck(Check):
    """The distance of a candidate corpus to a reference keeps its bounds.

    `max_ratio` limits the distance over the mean distance of two corpora of these sizes from one source, `max` the
    distance itself (`min` a closeness, for metrics whose larger values are closer), `max_rise` how much it may have
    risen since the baseline was stored.
    """

    kind: ClassVar[str] = "drift"
    corpora: ClassVar[tuple[str, ...]] = ("reference", "candidate")

    reference: Source
    candidate: Source
    metric: str | CorpusMetric = "energy"
    max_ratio: float | None = None
    max: float | None = None
    min: float | None = None
    max_rise: float | None = None

    def bounds(self) -> list[Bound]:
        """The bounds that were given."""
        made = {
            "max_ratio": lambda limit: Bound("max_ratio", limit, of="ratio"),
            "max": lambda limit: Bound("max", limit),
            "min": lambda limit: Bound("min", limit, upper=False),
            "max_rise": lambda limit: Bound("max_rise", limit, change="rise"),
        }
        return [made[name](limit) for name, limit in self.given(*made).items()]

    def measure(self, setting: Setting) -> Mapping[str, Measured]:
        """`value`, the distance; `ratio`, the distance over its mean between corpora from one source."""
        (metric,) = self._metrics()
        reference = load_corpus(self.reference, role="reference", column=self.column)
        candidate = load_corpus(self.candidate, role="candidate", column=self.column)
        report = compare(
            reference, candidate, metrics=[metric], ci=True, test=False, level=setting.level, seed=setting.seed
        )
        score = report[metric.key]

        def worst() -> list[str]:
            if not (metric.explains and reference.pool.has_texts) or score.reason:
                return []
            found = explain(reference, candidate, metric=metric, seed=setting.seed)
            return [one_line(row["text"], _WIDTH) for row in found.top(_WORST, "candidate")]

        value = Measured(
            what=metric.key,
            value=score.value,
            low=score.low,
            high=score.high,
            n=min(score.n_reference, score.n_candidate),
            signature=f"{score.signature}|reference={fingerprint(reference)}",
            reason=score.reason or score.no_interval,
            worst=worst,
        )
        return {"value": value} | ({"ratio": _ratio(value, score)} if metric.has_ratio_to_null else {})

    def _metrics(self) -> list[CorpusMetric]:
        found = get_corpus_metrics([self.metric])
        if len(found) != 1:
            raise InputError(f"{self.label} takes one metric, not {len(found)}: {self.metric}")
        if self.max_ratio is not None and not found[0].has_ratio_to_null:
            raise InputError(f"{self.label}: {found[0].key} is not 0 between equal corpora; give max")
        return found


def _ratio(value: Measured, score: Score) -> Measured:
    """The distance in units of what corpora from one source have at these sizes.

    Values of corpora from one source are skewed, so that the low end of an interval can lie above their mean by luck. A
    value inside the null range therefore never excludes 1.
    """
    low = score.low / score.null
    return Measured(
        what=f"{value.what} over its mean if same source",
        value=score.value / score.null,
        low=min(low, 1.0) if score.value <= score.null_high else low,
        high=score.high / score.null,
        n=value.n,
        signature=value.signature,
        reason=value.reason,
        worst=value.worst,
        null=score.null,
    )
