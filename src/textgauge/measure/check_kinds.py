"""The kinds of checks: drift of a corpus, near copies, properties of generated texts, scores of a system."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError, UnknownName
from textgauge.core.tabular import one_line, plain
from textgauge.data import Corpus, Pairs, load_aligned, load_corpus
from textgauge.data.source import Source
from textgauge.measure.check import Bound, Check, Measured, Setting, fingerprint
from textgauge.measure.comparing import compare
from textgauge.measure.describing import describe
from textgauge.measure.description import Description
from textgauge.measure.explaining import explain
from textgauge.measure.lists import check_threshold
from textgauge.measure.score_report import Bootstrap, Summed, item_counts, item_statistics
from textgauge.measure.scoring import References, all_references, checked_pairs, require_texts
from textgauge.measure.systems import resample_differences
from textgauge.metrics import CorpusMetric, PairMetric, Score, get_corpus_metrics, get_pair_metrics
from textgauge.metrics.properties.base import NEAR_COPY, list_properties
from textgauge.stats.resampling import percentile_interval

_WORST = 3  # texts that are named as evidence
_WIDE, _WIDTH = 100, 80  # characters of one text, and of one beside another


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
            return [one_line(row["text"], _WIDE) for row in found.top(_WORST, "candidate")]

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
