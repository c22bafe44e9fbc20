"""`score` with several systems: their scores against the same references, ranked by paired resampling of items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError, MissingExtra, ResourceError
from textgauge.core.progress import Stage
from textgauge.core.result import Result
from textgauge.core.tabular import ARROWS, FlatRow, Row, format_cell, format_interval, format_ranks, plain
from textgauge.data import Pairs, load_aligned
from textgauge.data.source import Source
from textgauge.measure.scoring.report import Bootstrap, Summed, canonical_order, shared_statistics
from textgauge.measure.scoring.score import DEFAULT_METRICS, References, all_references, checked_pairs, require_texts
from textgauge.metrics import Metric, PairMetric, PairScores, get_pair_metrics
from textgauge.stats.rankings import Ranking, ranking, ranking_answer, ranking_differences
from textgauge.stats.resampling import resampled_sums


@dataclass(frozen=True, kw_only=True)
class SystemScore(FlatRow):
    """One system by one metric; `of` says whether it is the score of the whole set or the mean over items."""

    metric: str
    system: str
    of: str
    value: float
    closer: str
    low: float
    high: float
    n: int
    signature: str


@dataclass(frozen=True, eq=False, repr=False)
class SystemsReport(Result):
    """Several systems on the same items: `scores`, and `rankings` by metric, whose places are those of `names`.

    `segments` has the values of single items, by metric and system; `missing` the reason for each metric that could not
    be computed.
    """

    command: ClassVar[str] = "score"
    keys: ClassVar[tuple[str, ...]] = ("metric", "system")

    names: tuple[str, ...]
    scores: tuple[SystemScore, ...]
    rankings: Mapping[str, Ranking]
    segments: Mapping[str, Sequence[PairScores]]
    missing: Mapping[str, str]
    level: float = 0.95

    @property
    def answer(self) -> str:
        """Which system is best, by which metrics."""
        return ranking_answer("system", self.names, self.rankings, self.level)

    @property
    def details(self) -> Row:
        """`differences`: one row per metric and pair."""
        return {"differences": self.differences()}

    def differences(self) -> list[Row]:
        """Return one flat dictionary per metric and pair of systems: how far `first` is ahead of `second`."""
        return ranking_differences(self.names, self.rankings)

    @property
    def rows(self) -> list[Row]:
        """The rows as dictionaries."""
        return self.to_dicts()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against a metric on these texts, and why one is missing."""
        found = [text for scores in self.segments.values() for one in scores for text in one.warnings]
        found += [f"{metric}: {reason}" for metric, reason in self.missing.items()]
        for metric, scores in self.segments.items():
            counts = {name: len(one) - len(one.defined) for name, one in zip(self.names, scores, strict=True)}
            if any(counts.values()):
                said = ", ".join(f"{count} of {name}" for name, count in counts.items() if count)
                found.append(f"{metric} is undefined for items ({said}), which are left out for all systems")
        return tuple(dict.fromkeys(found))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary per metric and system, best first: value, interval, ranks, tier."""
        rows = {(score.metric, score.system): score.to_dict() for score in self.scores}
        return [
            rows[metric, self.names[place["place"]]] | {name: place[name] for name in place if name != "place"}
            for metric, found in self.rankings.items()
            for place in found.placings()
        ]

    def items(self) -> list[Row]:
        """One flat dictionary per system and item, with a field per metric."""
        columns = {metric: [one.values.tolist() for one in scores] for metric, scores in self.segments.items()}
        return [
            {"system": name, "index": item} | {metric: plain(values[at][item]) for metric, values in columns.items()}
            for at, name in enumerate(self.names)
            for item in range(len(next(iter(columns.values()))[at]))
        ]

    def readable(self) -> list[Row]:
        """One row per metric and system, best first."""
        return [
            {
                "metric": row["metric"],
                "system": row["system"],
                "value": f"{format_cell(row['value'])} {ARROWS[row['closer']]}",
                "interval": format_interval(row["low"], row["high"]),
                "rank": format_ranks(row["rank_low"], row["rank_high"]),
                "tier": row["tier"],
                "of": row["of"],
            }
            for row in self.to_dicts()
        ]


def score_systems(
    systems: Mapping[str, Source],
    right: References,
    *,
    metrics: str | Iterable[str | Metric] = DEFAULT_METRICS,
    column: str | None = None,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
    on_step: Callable[[str], None] = lambda _: None,
) -> SystemsReport:
    """Score the texts of several systems, given by name, against the same references, and rank the systems.

    By each metric: the score of the whole set where the metric has one, else the mean over the items that have a value
    for every system; its interval; the differences between systems with intervals that hold together at `level` for all
    pairs and metrics; the rank ranges and tiers that follow. Items are resampled for all systems and metrics alike.
    `right` may hold several references for each item. Fitted weights come from the references.

    >>> systems = {"a": ["a red cat", "one dog", "no"] * 9, "b": ["a cat", "two cows", "yes"] * 9}
    >>> score_systems(systems, ["a red cat", "one dog", "no"] * 9, metrics="jaccard").rankings["jaccard"].unbeaten()
    [0]
    """
    how = Bootstrap(level=level, resamples=resamples, seed=seed)
    pairs = _all_pairs(systems, right, column)
    first = next(iter(pairs.values()))
    chosen = [metric.on_given(first) for metric in get_pair_metrics(metrics)]
    require_texts(first, chosen)
    order = canonical_order(*pairs.values())
    found: list[SystemScore] = []
    rankings: dict[str, Ranking] = {}
    segments: dict[str, Sequence[PairScores]] = {}
    missing: dict[str, ResourceError | MissingExtra] = {}
    for number, metric in enumerate(chosen):
        on_step(Stage(metric.key, number, len(chosen), "scoring"))
        try:
            segments[metric.key] = [metric.measure(one) for one in pairs.values()]
        except (ResourceError, MissingExtra) as error:
            missing[metric.key] = error
            continue
        values = [scores.values for scores in segments[metric.key]]
        of, ordered = shared_statistics(metric, list(pairs.values()), values, order)
        found += _scores(metric, of, dict(zip(systems, ordered, strict=True)), how)
        rankings[metric.key] = _ranked(metric, ordered, how, 1 - (1 - level) / len(chosen))
    if len(missing) == len(chosen):
        raise next(iter(missing.values()))
    return SystemsReport(
        tuple(systems), tuple(found), rankings, segments, {key: str(error) for key, error in missing.items()}, level
    )


def _all_pairs(systems: Mapping[str, Source], right: References, column: str | None) -> dict[str, Pairs]:
    if not systems:
        raise InputError("there is no system to score")
    references: Any = load_aligned(right, column=column)  # type: ignore[arg-type]
    fitted = all_references(references)
    found = {}
    for name, source in systems.items():
        texts = load_aligned(source, column=column)
        if len(texts) != len(references):
            raise InputError(f"{name} has {len(texts)} texts, but the references have {len(references)} items")
        found[name] = checked_pairs(texts, references, fitted)
    return found


def _scores(metric: PairMetric, of: str, statistics: Mapping[str, Summed], how: Bootstrap) -> list[SystemScore]:
    rows = []
    for name, summed in statistics.items():
        low, high = summed.interval(how)
        rows.append(
            SystemScore(
                metric=metric.key,
                system=name,
                of=of,
                value=summed.value,
                closer=metric.closer,
                low=low,
                high=high,
                n=len(summed.rows) if of == "whole set" else int(summed.rows[:, 1].sum()),
                signature=metric.signature,
            )
        )
    return rows


def _ranked(metric: PairMetric, statistics: Sequence[Summed], how: Bootstrap, level: float) -> Ranking:
    """The systems by their scores; every resample holds the same items for all of them."""
    n = len(statistics[0].rows)
    drawn = np.column_stack([one.score(resampled_sums(one.rows, how.resamples, how.seed)) for one in statistics])
    oriented = metric.orient(drawn[np.isfinite(drawn).all(axis=1)])
    values = metric.orient(np.array([one.value for one in statistics]))
    return ranking(values, _errors(oriented, n), oriented - oriented.mean(axis=0), freedom=n - 1, level=level)


def _errors(drawn: Floats, n: int) -> Floats:
    """Standard errors of differences of columns; resampling n items misses the factor n/(n − 1) of the variance."""
    if n < 2 or len(drawn) < 2:
        return np.full((drawn.shape[1], drawn.shape[1]), np.nan)
    spread = np.std(drawn[:, :, None] - drawn[:, None, :], axis=0)
    return np.asarray(spread * np.sqrt(n / (n - 1)))
