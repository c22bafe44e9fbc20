"""Recommend a metric for two corpora: known-similarity corpora of them, robustness to size, speed, and power."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.comparing.warnings import confounds
from textgauge.data import Comparison, Corpus, load_corpus
from textgauge.data.source import Source
from textgauge.errors import InputError
from textgauge.evaluate import Plan, Store
from textgauge.evaluate.leaderboard import Leaderboard, leaderboard
from textgauge.evaluate.protocols import Ksc, Sources
from textgauge.evaluate.protocols.batch import compact_pool
from textgauge.evaluate.recommend.answer import Cost, LeftOut, Recommendation
from textgauge.evaluate.recommend.budget import Clock, expected
from textgauge.evaluate.recommend.needed import Needed, needed_texts
from textgauge.evaluate.recommend.order import in_order
from textgauge.evaluate.recommend.plans import (
    CutPlan,
    Times,
    chosen_ksc,
    fitting_ksc,
    fitting_size,
    fitting_speed,
    judging_seconds,
    piloted,
)
from textgauge.evaluate.recommend.runs import Step, judged, measured, store_in
from textgauge.evaluate.recommend.samples import Contaminated
from textgauge.evaluate.recommend.sentences import listed
from textgauge.evaluate.recommend.texts import Embedded
from textgauge.evaluate.results import Judged
from textgauge.metrics import CorpusMetric, get_corpus_metrics

Index = NDArray[np.int64]

# Shares of the budget by which a step is to be done; what one leaves over, the next may use.
_FIRST, _FIRST_AT_LAST, _PILOTED, _EMBEDDED, _RANKED = 0.30, 0.55, 0.20, 0.45, 0.70
_TIMED, _SIZED, _ALL_EMBEDDED, _POWERED = 0.71, 0.74, 0.80, 0.94
_FIRST_TEXTS = 720  # embedded before anything is known about time: two sides for one repetition
_FEWEST_TEXTS = 160  # seven mixtures of twenty: fewer hardly tell metrics apart, so that these may take longer
_TEXTS_PER_SECOND = 100  # of the budget, for power: more samples than can be tested in the time need no more texts
_OF_TOP = 0.5  # share of the time for power that the metrics of the top cluster have
_UNSTEADY = 0.5
_HARDLY_APART = 0.7  # accuracy of judgements; 0.5 is chance


@dataclass(frozen=True, eq=False)
class _Setting:
    """What is asked for."""

    sources: Sources
    metrics: list[CorpusMetric]
    embedded: Embedded
    clock: Clock
    seed: int
    on_step: Step

    def among(self, rows: Index) -> Sources:
        """The sources cut down to these rows of their joint corpus."""
        cut = len(self.sources.corpora["a"])
        small = self.embedded.corpus(np.sort(rows))
        first = int((rows < cut).sum())
        corpora = {"a": small.take(np.arange(first)), "b": small.take(np.arange(first, len(rows)))}
        return Sources(self.sources.name, corpora)

    def order(self) -> Index:
        """All different texts of both sources in turns, in an order of their content, which is as good as random."""
        sides = [np.unique(self.sources.corpora[role].keys, return_index=True)[1] for role in ("a", "b")]
        sides[1] = sides[1] + len(self.sources.corpora["a"])
        place = np.concatenate([np.arange(len(side)) for side in sides])
        return np.concatenate(sides)[np.argsort(place, kind="stable")]

    def in_turns(self, rows: Index) -> Index:
        """These rows in the same order, so that both sources have as many wherever one stops."""
        place = np.full(len(self.sources.joint), len(self.sources.joint))
        order = self.order()
        place[order] = np.arange(len(order))
        return rows[np.argsort(place[rows], kind="stable")]


@dataclass(frozen=True, eq=False)
class _Ranked:
    """What the protocols found."""

    plan: Plan
    board: Leaderboard
    costs: tuple[Cost, ...]
    robustness: Mapping[str, float]
    left_out: list[LeftOut]
    notes: list[str]
    warnings: list[str]

    @property
    def top(self) -> list[str]:
        """The metrics of the top cluster."""
        return [row.metric for row in self.board if row.cluster == 1 and not np.isnan(row.overall)]


def recommend_corpora(
    reference: Source,
    candidate: Source,
    *,
    metrics: str | Sequence[str | CorpusMetric],
    clock: Clock,
    effect: float = 0.1,
    power: float = 0.8,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    names: tuple[str, str] = ("reference", "candidate"),
    on_step: Step = lambda _: None,
) -> Recommendation:
    """Rank metrics on mixtures of two corpora and find how many texts they need, within a budget of seconds."""
    comparison = Comparison(load_corpus(reference, role="reference"), load_corpus(candidate, role="candidate"))
    setting = _setting(comparison, metrics, clock, seed, names, on_step)
    ranked = _ranked(setting, out)
    confounding = confounds(comparison, _without_fid(setting.metrics))
    needed, notes = _needed(setting, ranked, effect, power)
    choice, named_by = in_order(ranked.top, ranked.robustness, ranked.costs, needed)
    about = {
        "effect": effect,
        "power": power,
        "budget": clock.budget,
        "seconds": clock.spent,
        "seed": seed,
        "protocol": ranked.plan.protocol.key,
        "experiment": _experiment(ranked.plan.protocol),
        "named_by": named_by,
    }
    warnings = [*confounding, *ranked.warnings, *_doubts(choice, ranked)]
    return Recommendation(
        "corpora",
        names,
        tuple(choice),
        ranked.board,
        tuple(needed),
        ranked.costs,
        tuple(ranked.left_out),
        tuple(warnings),
        (*ranked.notes, *notes, *clock.account),
        about,
    )


def _setting(
    comparison: Comparison,
    metrics: str | Sequence[str | CorpusMetric],
    clock: Clock,
    seed: int,
    names: tuple[str, str],
    on_step: Step,
) -> _Setting:
    """The corpora in a pool of their own, whose rows are numbered like those of their joint corpus."""
    chosen = [metric.on_given(comparison) for metric in get_corpus_metrics(metrics)]
    if not chosen:
        raise InputError("name at least one metric with -m")
    blind = [metric.key for metric in chosen if metric.reads_texts and not comparison.joint.pool.has_texts]
    if blind:
        raise InputError(f"{blind[0]} needs texts, but the corpora were given as embeddings")
    pool = compact_pool(comparison.joint, embedders=())
    n = len(comparison.reference)
    corpora = {"a": Corpus(pool, np.arange(n)), "b": Corpus(pool, np.arange(n, pool.size))}
    sources = Sources(",".join(names), corpora)
    return _Setting(sources, chosen, Embedded(sources.joint, chosen), clock, seed, on_step)


def _ranked(setting: _Setting, out: str | os.PathLike[str] | None) -> _Ranked:
    plan, times, gone, notes = _plan(setting)
    with store_in(out) as store:
        found, failures = judged(plan, store, setting.on_step)
        board = leaderboard(found)
        near = setting.among(setting.embedded.ready)
        costs, pace = _costs(near, plan.metrics, times, store, setting)  # type: ignore[arg-type]
        known = {cost.metric: (pace * cost.seconds, cost.growth, cost.size) for cost in costs}
        size = fitting_size(near, known, setting.clock.until(_SIZED)) if len(known) == len(plan.metrics) else None
        robustness: Mapping[str, float] = {}
        if size is not None:
            sized, more = judged(Plan(size, near, plan.metrics, setting.seed), store, setting.on_step)
            robustness, failures = measured(sized, "size_robustness"), failures + more
            notes.append(
                f"robustness to size: samples of {size.smallest} to {size.sizes[-1]} texts against {size.large}"
            )
    return _Ranked(plan, board, costs, robustness, gone, notes, list(failures))


def _plan(setting: _Setting) -> tuple[Plan, Times, list[LeftOut], list[str]]:
    """The known-similarity corpora that fit texts and time, on the whole sources where their texts can be embedded."""
    clock, sources, notes = setting.clock, setting.sources, list[str]()
    whole = fitting_ksc(sources)
    first = setting.order()[:_FIRST_TEXTS]
    setting.on_step("embedding")
    setting.embedded.reach(first, clock.patient, share=_FIRST)
    setting.embedded.reach(first[:_FEWEST_TEXTS], clock.patient, share=_FIRST_AT_LAST)
    ready = setting.embedded.ready
    some = setting.among(ready)
    setting.on_step("timing metrics")
    times = piloted(setting.metrics, some, fitting_ksc(some), clock, _PILOTED)
    judging = judging_seconds(whole, clock)
    room = (_RANKED - _EMBEDDED) * np.array([clock.budget, clock.patient.budget])
    protocol, slow = chosen_ksc(whole, times, room[0], judging=judging, most=room[1])
    gone = [LeftOut(metric.key) for metric in setting.metrics if metric.key not in times]
    gone += [LeftOut(metric, seconds / (_RANKED - _EMBEDDED)) for metric, seconds in slow.items()]
    metrics = [metric for metric in setting.metrics if metric.key in times and metric.key not in slow]
    if not metrics:
        raise InputError("no metric fits the budget; give more time, or quicker metrics with -m")
    plan = CutPlan(protocol, sources, metrics, setting.seed, embedded=setting.embedded)
    setting.on_step("embedding")
    if not setting.embedded.reach(setting.in_turns(plan.touched), clock.patient, share=_EMBEDDED):
        sources = setting.among(setting.embedded.ready)
        small_ksc = fitting_ksc(sources)
        protocol = replace(small_ksc, n=min(small_ksc.n, protocol.n), repetitions=protocol.repetitions)
        small = Plan(protocol, sources, metrics, setting.seed)
        notes.append(f"only {len(setting.embedded.ready):,} texts could be embedded in the time")
        return small, times, gone, [*notes, _said(protocol)]
    return plan, times, gone, [*notes, _said(protocol)]


def _said(protocol: Ksc) -> str:
    return f"metrics are ranked by {_experiment(protocol)} (`textgauge run ksc`)"


def _experiment(protocol: Any) -> str:
    return f"{protocol.repetitions} repetitions of {protocol.k} mixtures of {protocol.n} texts"


def _costs(
    sources: Sources, metrics: Sequence[CorpusMetric], times: Times, store: Store, setting: _Setting
) -> tuple[tuple[Cost, ...], float]:
    """CPU seconds of one comparison, the quick metrics first, for as long as there is time; `time` is of a hundred.

    Timing is taken to last no longer than a repetition of known-similarity corpora of as many texts. Also gives how
    many seconds pass in a second of CPU: more than one where others use the machine.
    """
    began = setting.clock.spent, time.process_time()
    protocol, found = fitting_speed(sources), list[Judged]()
    seconds = {metric.key: expected(*times[metric.key], protocol.n) for metric in metrics}
    for metric in sorted(metrics, key=lambda metric: seconds[metric.key]):
        if seconds[metric.key] < setting.clock.patient.until(_TIMED):
            found += judged(Plan(protocol, sources, [metric], setting.seed), store, setting.on_step)[0]
    costs = tuple(
        Cost(item.metric, item.verdict("time").value / 100.0, protocol.n, item.verdict("growth").value)
        for item in found
    )
    passed, used = setting.clock.spent - began[0], time.process_time() - began[1]
    return costs, max(passed / max(used, 1e-6), 1.0)


def _needed(setting: _Setting, ranked: _Ranked, effect: float, power: float) -> tuple[list[Needed], list[str]]:
    """What each metric needs; those that rank first have half of the time, and the quick ones are first."""
    clock, order = setting.clock, setting.order()
    setting.on_step("embedding")
    setting.embedded.reach(order[: int(_TEXTS_PER_SECOND * clock.budget)], clock, share=_ALL_EMBEDDED)
    samples = Contaminated(setting.among(setting.embedded.ready), effect, setting.seed)
    if samples.most < 4:
        return [], [f"power was not looked at: {len(samples.sides[0])} and {len(samples.sides[1])} texts are too few"]
    seconds = {cost.metric: cost.seconds for cost in ranked.costs}
    rank = {row.metric: row.rank for row in ranked.board if not np.isnan(row.overall)}
    known = [metric for metric in ranked.plan.metrics if metric.key in rank]
    in_line = sorted(known, key=lambda metric: seconds.get(metric.key, np.inf))
    top = [metric for metric in in_line if metric.key in ranked.top]
    rest = [metric for metric in in_line if metric.key not in ranked.top]
    found, own = list[Needed](), Clock(clock.until(_POWERED), clock.now)
    for group, share in ((top, _OF_TOP if rest else 1.0), (rest, 1.0)):
        for_group = Clock(share * own.left, clock.now)
        found += needed_texts(group, samples, power=power, clock=for_group, on_step=setting.on_step)  # type: ignore[arg-type]
    tests, late = sum(row.tests for row in found), [row.metric for row in found if not row.tests]
    notes = [f"no time was left to look at the power of {listed(late)}"] if late else []
    if tests:
        sizes = (
            f"up to {samples.most:,} texts a side, drawn from {len(samples.sides[0]):,} and {len(samples.sides[1]):,}"
        )
        notes.insert(0, f"power: {tests:,} simulated tests at level 0.05 on samples of {sizes}")
    return sorted((row for row in found if row.tests), key=lambda row: rank[row.metric]), notes


def _without_fid(metrics: Sequence[CorpusMetric]) -> list[CorpusMetric]:
    """The warning about fid would embed all texts; its dependence on size is measured here."""
    return [metric for metric in metrics if metric.name != "fid"]


def _doubts(choice: Sequence[str], ranked: _Ranked) -> list[str]:
    best = max((row.measures["accuracy"] for row in ranked.board), default=np.nan)
    found = [
        f"{metric} depends on size (robustness {ranked.robustness[metric]:.2f} of 1): compare samples of one size only"
        for metric in choice
        if ranked.robustness.get(metric, 1.0) < _UNSTEADY
    ]
    if best < _HARDLY_APART:
        found.insert(
            0,
            f"no metric orders mixtures of the corpora well (accuracy {best:.2f} at best, 0.5 by chance): "
            "they may be too alike to choose a metric by",
        )
    return found
