"""`compare` with several candidates: which one is nearest to the reference, by each metric, and how sure that is.

All corpora are cut into disjoint quarters and halves, the reference the same way for every candidate. What the
reference's luck adds to all distances alike then cancels in their differences, as it does in the values themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.charts import without_network
from textgauge.core.errors import InputError
from textgauge.core.progress import Stage
from textgauge.core.tabular import ARROWS, BLUE, GREY, Row, format_cell, format_interval, format_ranks
from textgauge.data import Comparison, Corpus, load_aligned, load_corpus
from textgauge.data.source import Source
from textgauge.measure.comparing.compare import MANY_METRICS, PERMUTATIONS, blas_threads, compare, prepared
from textgauge.measure.comparing.report import CompareReport
from textgauge.metrics import CorpusMetric, Score
from textgauge.metrics.base import Undefined
from textgauge.metrics.uncertainty import Parts
from textgauge.stats.rankings import RankedResult, Ranking, ranking
from textgauge.stats.simultaneous import holm

if TYPE_CHECKING:
    import altair as alt

MIN_TEXTS = 200  # of each corpus: the smallest size at which false statements were simulated
_TRIALS = 16  # cuts into quarters; every candidate pays for all of them


@dataclass(frozen=True, repr=False)
class ManyReport(RankedResult):
    """Several candidates and one reference: `reports` by candidate, `rankings` by metric; iterate over the candidates.

    `unranked` has the reason for each metric that ranks nothing.
    """

    command: ClassVar[str] = "compare"
    thing: ClassVar[str] = "candidate"

    reports: Mapping[str, CompareReport]
    rankings: Mapping[str, Ranking]
    unranked: Mapping[str, str]
    level: float = 0.95

    @property
    def names(self) -> list[str]:  # type: ignore[override]
        """The candidates, in the order given."""
        return list(self.reports)

    @property
    def metrics(self) -> list[str]:
        """The keys of the metrics, in order."""
        return [score.metric for score in next(iter(self.reports.values()))]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against a number, by candidate, and why a metric ranks nothing."""
        found = [f"{name}: {text}" for name, report in self.reports.items() for text in report.warnings]
        return (*found, *(f"no ranks by {metric}: {reason}" for metric, reason in self.unranked.items()))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary per metric and candidate, nearest first: ranks, tier, and all that its score holds."""
        return [row for metric in self.metrics for row in self._rows(metric)]

    def _rows(self, metric: str) -> list[Row]:
        found = self.rankings.get(metric)
        scores = [report[metric].to_dict() for report in self.reports.values()]
        nothing: Row = dict.fromkeys(("rank", "rank_low", "rank_high", "tier"))
        placings: list[Row] = (
            found.placings() if found else [{"place": place, **nothing} for place in range(len(scores))]
        )
        return [
            {"metric": metric, "candidate": self.names[row["place"]]}
            | {name: row[name] for name in nothing}
            | scores[row["place"]]
            for row in placings
        ]

    def readable(self) -> list[Row]:
        """The rows of the table for people."""
        return [_readable(row) for row in self.to_dicts()]

    def plot(self) -> alt.VConcatChart:
        """The candidates of every metric, nearest first, each metric on a scale of its own, coloured by tier."""
        return without_network(candidates_chart(self.to_dicts()))


def candidates_chart(rows: Sequence[Row]) -> alt.VConcatChart:
    """The rows of a board, a panel per metric."""
    import altair as alt

    metrics = dict.fromkeys(row["metric"] for row in rows)
    panels = [_panel(metric, [row for row in rows if row["metric"] == metric]) for metric in metrics]
    return alt.vconcat(*panels, spacing=8)


def _readable(row: Row) -> Row:
    arrow = ARROWS[row["closer"]]
    cells = {"metric": row["metric"], "candidate": row["candidate"], "value": f"{format_cell(row['value'])} {arrow}"}
    if row["interval"] or row["no_interval"]:
        cells["interval"] = format_interval(row["low"], row["high"])
    if row["null"] is not None:
        cells["if same source"] = format_interval(row["null_low"], row["null_high"])
    if row["p_adjusted"] is not None:
        cells["adjusted p"] = format_cell(row["p_adjusted"])
    return cells | {"rank": format_ranks(row["rank_low"], row["rank_high"]), "tier": row["tier"]}


def _panel(metric: str, rows: list[Row]) -> alt.LayerChart:
    import altair as alt

    kept = ("candidate", "value", "low", "high", "rank_low", "rank_high", "tier")
    data = alt.InlineData(values=[{name: row[name] for name in kept} for row in rows])
    y = alt.Y("candidate:N", sort=None, title=None, axis=alt.Axis(labelLimit=220, minExtent=140, ticks=False))
    x = alt.X("value:Q", title=None, axis=alt.Axis(tickCount=4, format=".4~g"))
    tip = [alt.Tooltip("candidate:N"), *(alt.Tooltip(f"{name}:Q", format=".6g") for name in kept[1:])]
    colour = alt.Color("tier:O", title="tier", scale=alt.Scale(scheme="viridis"))
    base = alt.Chart(data).encode(y, tooltip=tip)
    layers = [
        base.mark_rule(color=GREY).encode(x="low:Q", x2="high:Q"),
        base.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(x, color=colour),
    ]
    title = alt.TitleParams(metric, anchor="start", fontSize=11)
    return alt.LayerChart(layer=layers).properties(width=360, height=18 * len(rows), title=title)


def compare_many(
    reference: Source,
    candidates: Mapping[str, Source],
    *,
    metrics: str | Iterable[str | CorpusMetric] = MANY_METRICS,
    ci: bool = False,
    test: bool = True,
    level: float = 0.95,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    paired: bool = False,
    column: str | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> ManyReport:
    """Measure how far each of several candidates, given by name, is from one reference, and rank them.

    For every metric: the distances, the differences between candidates with intervals that hold together at `level`
    for all pairs and metrics, and the rank ranges and tiers that follow. The error of a difference comes from disjoint
    parts of the corpora; the reference is cut alike for all candidates. `paired` says that text i of every candidate
    belongs together (they were made from one prompt or parent), and text i of the reference too if it has as many.
    `ci` and `test` are those of `compare`, for each candidate; p-values are adjusted for all candidates and metrics.

    >>> corpora = {"near": ["a red cat", "a red cow"] * 100, "far": ["ten big ships", "ten ships"] * 100}
    >>> report = compare_many(["a red cat", "a red dog"] * 100, corpora, metrics="jsd@words")
    >>> report["jsd@words"].unbeaten()
    [0]
    """
    corpora = _loaded({"reference": reference, **_named(candidates)}, paired=paired, column=column)
    joint, views = _in_one_pool(corpora)
    n = len(views["reference"])
    _, chosen, missing = prepared(joint.take(range(n)), joint.take(range(n, len(joint))), metrics, seed, on_step)
    pairs = {name: Comparison(views["reference"], views[name]) for name in candidates}
    reports = {
        name: compare(
            pairs[name].reference,
            pairs[name].candidate,
            metrics=chosen,
            ci=ci,
            test=test,
            level=level,
            permutations=permutations,
            seed=seed,
            on_step=partial(_step_of, name, on_step),
        )
        for name in candidates
    }
    rankings: dict[str, Ranking] = {}
    unranked = dict(missing)
    with blas_threads(next(iter(pairs.values()))):
        ranked = [metric for metric in chosen if metric.key not in missing]
        for number, metric in enumerate(ranked):
            on_step(Stage(metric.key, number, len(ranked), "ranking"))
            values = np.array([report[metric.key].value for report in reports.values()])
            try:
                rankings[metric.key] = rank_candidates(
                    metric,
                    list(pairs.values()),
                    values,
                    level=1 - (1 - level) / (len(chosen) - len(missing)),
                    seed=seed,
                    paired=paired,
                )
            except Undefined as reason:
                unranked[metric.key] = str(reason)
    return ManyReport(_adjusted(reports) if test else reports, rankings, unranked, level)


def _step_of(name: str, on_step: Callable[[str], None], step: str) -> None:
    on_step(step.of(name) if isinstance(step, Stage) else f"{name}: {step}")


def _named(candidates: Mapping[str, Source]) -> Mapping[str, Source]:
    if not candidates:
        raise InputError("there is no candidate to compare with the reference")
    if "reference" in candidates:
        raise InputError("a candidate cannot be called 'reference'")
    return candidates


def _loaded(sources: Mapping[str, Source], *, paired: bool, column: str | None) -> dict[str, Corpus]:
    """The corpora by name; paired candidates keep their places, so they need as many texts each, none of them blank."""
    roles = {name: name if name == "reference" else f"candidate {name}" for name in sources}
    if not paired:
        return {name: load_corpus(source, role=roles[name], column=column) for name, source in sources.items()}
    loaded = {name: Corpus.of(load_aligned(source, column=column)) for name, source in sources.items()}
    for name, corpus in loaded.items():
        blank = [row for row, text in enumerate(corpus.texts if corpus.pool.has_texts else ()) if not text.strip()]
        if blank:
            raise InputError(f"text {blank[0] + 1} of the {roles[name]} is blank: paired candidates need every text")
    sizes = {name: len(corpus) for name, corpus in loaded.items() if name != "reference"}
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise InputError(f"paired candidates need equally many texts; they have: {counts}")
    return {name: load_corpus(corpus, role=roles[name]) for name, corpus in loaded.items()}


def _in_one_pool(corpora: Mapping[str, Corpus]) -> tuple[Corpus, dict[str, Corpus]]:
    """All corpora one after the other, and each as a view of it, so that every text is embedded once."""
    joint = reduce(or_, corpora.values())
    starts = accumulate(map(len, corpora.values()), initial=0)
    spans = zip(corpora.items(), starts, strict=False)
    return joint, {name: joint.take(range(start, start + len(corpus))) for (name, corpus), start in spans}


def _adjusted(reports: Mapping[str, CompareReport]) -> dict[str, CompareReport]:
    """p-values, adjusted within each candidate already, adjusted for all candidates by Holm's correction."""
    if len(reports) < 2:
        return dict(reports)
    groups = [number for number, report in enumerate(reports.values()) for _ in report]
    p = iter(holm(np.array([score.p_adjusted for report in reports.values() for score in report]), groups).tolist())
    return {
        name: replace(
            report,
            scores=tuple(replace(score, p_adjusted=next(p), adjustment=_and_holm(score)) for score in report),
        )
        for name, report in reports.items()
    }


def _and_holm(score: Score) -> str | None:
    """By what the p-value of a score is adjusted; None where it has none."""
    if np.isnan(score.p_adjusted):
        return None
    return (
        score.adjustment
        if "Holm" in (score.adjustment or "")
        else " and ".join(filter(None, (score.adjustment, "Holm")))
    )


def rank_candidates(
    metric: CorpusMetric,
    comparisons: Sequence[Comparison],
    values: Floats,
    *,
    level: float,
    seed: int,
    paired: bool = False,
) -> Ranking:
    """Which candidate is nearer than which, for comparisons with one reference and the metric's values on them.

    `paired`: text i of every candidate belongs together. Raises `Undefined` with the reason where the corpora are too
    small for this metric's errors.
    """
    fewest = min(one.smaller for one in comparisons)
    if fewest < MIN_TEXTS:
        raise Undefined(f"corpora are ranked from {MIN_TEXTS} texts on; one has {fewest}")
    cut = Parts.of_rows if paired else Parts.of
    parts = [cut(comparison, trials=_TRIALS, seed=seed) for comparison in comparisons]
    drawn = np.stack([metric.select(metric.compute_many(part.joint, part.draws)) for part in parts])
    return ranking_of_parts(parts[0], metric.orient(values), metric.orient(drawn), fewest=fewest, level=level)


def ranking_of_parts(parts: Parts, values: Floats, drawn: Floats, *, fewest: int, level: float) -> Ranking:
    """The ranking of candidates by their values, given those on the parts (a row each); less is nearer.

    Degrees of freedom: half the texts, as of an interval of a single value, and one and a half per cut, since that is
    about what the few cuts leave of the variances of halves and quarters.
    """
    freedom = 1.0 / (2.0 / (fewest - 1) + 1.0 / (1.5 * parts.trials))
    draws = _usable(parts.half_differences(drawn))
    return ranking(values, _errors_of_differences(parts, drawn), draws, freedom=freedom, level=level)


def _errors_of_differences(parts: Parts, drawn: Floats) -> Floats:
    """The standard error of the difference of every two candidates; NaN where it cannot be estimated.

    V(n) ≈ V(n/2) · V(n/2)/V(n/4), where the ratio is that of all pairs together, or the pair's own if that is larger:
    one pair's ratio alone would be too noisy.
    """
    quarters, halves = np.zeros((2, len(drawn), len(drawn)))
    for first, second in zip(*np.triu_indices(len(drawn), 1), strict=True):
        try:
            found = parts.variances(drawn[first] - drawn[second])
        except Undefined:
            found = (np.nan, np.nan)
        quarters[first, second], halves[first, second] = found
    quarters, halves = quarters + quarters.T, halves + halves.T
    with np.errstate(invalid="ignore", divide="ignore"):
        own, pooled = halves / quarters, np.nansum(halves) / np.nansum(quarters)
    return np.asarray(np.sqrt(np.where(halves == 0, 0.0, halves * np.fmax(own, pooled))))


def _usable(differences: Floats) -> Floats:
    """Draws as rows, those in which a candidate has no value left out."""
    return np.asarray(differences[:, np.isfinite(differences).all(axis=0)].T)
