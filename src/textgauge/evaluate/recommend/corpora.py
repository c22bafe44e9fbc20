"""Recommend a metric for two corpora: ranked by mixtures of them, with cost, robustness to size, and texts needed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textgauge.comparing.warnings import confounds
from textgauge.data import Comparison
from textgauge.errors import InputError
from textgauge.evaluate import Plan, Store
from textgauge.evaluate.protocols import Size, Sources, Speed
from textgauge.evaluate.protocols.batch import compact_views
from textgauge.evaluate.recommend.answer import MetricCost, Recommendation, order_tied
from textgauge.evaluate.recommend.budget import Clock, extrapolate
from textgauge.evaluate.recommend.encodings import Encodings, embedders_of
from textgauge.evaluate.recommend.experiments import corpora_ladder, in_turns
from textgauge.evaluate.recommend.schedule import Ranked, Step, judge, observed_by, rank, run_plan
from textgauge.evaluate.recommend.texts_needed import Contaminated, TextsNeeded, needed_texts
from textgauge.metrics import CorpusMetric, get_corpus_metrics
from textgauge.tabular import listed

# Shares of the budget by which metrics are ranked, more texts are embedded, metrics are timed, power is simulated.
_RANKED, _EMBEDDED, _TIMED, _POWERED = 0.60, 0.72, 0.77, 0.94
_TEXTS_PER_SECOND = 100  # of the budget: samples that can be tested in the time need no more texts
_TOP_SHARE = 0.5  # of the time for power, for the metrics of the top tier
_LARGE = (1_000, 500, 250, 120, 60)  # texts of the largest sample for robustness to size
_UNSTEADY = 0.5  # robustness to size
_HARDLY_ORDERED = 0.7  # accuracy of judgements; 0.5 is chance


def recommend_corpora(
    comparison: Comparison,
    names: tuple[str, str],
    metrics: str | Sequence[str | CorpusMetric],
    store: Store,
    *,
    clock: Clock,
    effect: float,
    power: float,
    seed: int,
    on_step: Step,
) -> Recommendation:
    """Rank metrics on mixtures of two corpora and find how many texts they need."""
    chosen = _checked(metrics, comparison)
    sources = Sources(",".join(names), {"a": comparison.reference, "b": comparison.candidate})
    ladder = corpora_ladder(sources, seed)
    ranked = rank(ladder, chosen, store, clock=clock, share=_RANKED, on_step=on_step)
    on_step("embedding")
    near = embedded_sources(sources, embedders_of(ranked.plan.metrics), ranked.forecast.encodings, clock)
    costs, pace = _costs(ranked, near, store, clock, on_step)
    robustness, failures, notes = _robustness(ranked, near, costs, pace, store, clock, on_step)
    needed, power_notes = _needed(ranked, costs, Contaminated(near, effect, seed), power, clock, on_step)
    choice, named_by = order_tied(ranked.top, robustness, costs, needed)
    protocol: Any = ranked.plan.protocol
    experiment = f"{protocol.repetitions} repetitions of {protocol.k} mixtures of {protocol.n} texts"
    fewer = f"only {len(ranked.plan.sources.joint):,} texts could be embedded in the time"  # type: ignore[union-attr]
    return Recommendation(
        kind="corpora",
        data=names,
        choice=tuple(choice),
        board=ranked.board,
        power=tuple(needed),
        costs=costs,
        left_out=ranked.left_out,
        warnings=(
            *confounds(comparison, _without_fid(chosen)),
            *ranked.failures,
            *failures,
            *_warnings(choice, ranked, robustness),
        ),
        notes=(
            *([] if ranked.plan.sources is sources else [fewer]),
            f"metrics are ranked by {experiment} (`textgauge run ksc`)",
            *notes,
            *power_notes,
            *clock.account,
        ),
        about={
            "effect": effect,
            "power": power,
            "budget": clock.budget,
            "seconds": clock.spent,
            "seed": seed,
            "protocol": protocol.key,
            "experiment": experiment,
            "named_by": named_by,
        },
    )


def _checked(metrics: str | Sequence[str | CorpusMetric], comparison: Comparison) -> list[CorpusMetric]:
    chosen = [metric.on_given(comparison) for metric in get_corpus_metrics(metrics)]
    if not chosen:
        raise InputError("name at least one metric")
    blind = [metric.key for metric in chosen if metric.reads_texts and not comparison.joint.pool.has_texts]
    if blind:
        raise InputError(f"{blind[0]} needs texts, but the corpora were given as embeddings")
    return chosen


def embedded_sources(sources: Sources, names: Sequence[str], encodings: Encodings, clock: Clock) -> Sources:
    """The sources cut down to texts that are embedded, after more of them were, as many as time and power allow."""
    joint, order = sources.joint, in_turns(sources)
    if names:
        texts = joint.take(order).texts
        known = [not any(encodings.missing(name, [text]) for name in names) for text in texts]
        order = order[np.argsort(np.logical_not(known), kind="stable")]
        within = clock.until(_EMBEDDED)
        more = int(max(within, 0.0) / max(sum(encodings.pace[name] for name in names), 1e-9))
        order = order[: min(sum(known) + more, max(sum(known), int(_TEXTS_PER_SECOND * clock.budget)))]
        if not encodings.embed(names, joint.take(order).texts, within):
            order = order[[not any(encodings.missing(n, [text]) for n in names) for text in joint.take(order).texts]]
    else:
        order = order[: int(_TEXTS_PER_SECOND * clock.budget)]
    rows = np.sort(order)
    (small,) = compact_views([joint.take(rows)], ())
    encodings.fill([small.pool], names)
    first = int((rows < len(sources.corpora["a"])).sum())
    corpora = {"a": small.take(np.arange(first)), "b": small.take(np.arange(first, len(rows)))}
    return Sources(sources.name, corpora)


def largest_speed(sources: Sources) -> Speed:
    """Times at up to 100 texts a side, and at twice as many if there are."""
    have = min(len(np.unique(corpus.keys)) for corpus in sources.corpora.values())
    n = min(100, have)
    return Speed(n=n, largest=2 * n if have >= 2 * n else n, repetitions=2)


def largest_size(sources: Sources, costs: Sequence[MetricCost], seconds: float) -> Size | None:
    """Robustness to size, up to as many texts as data and time allow; None where that is too few."""
    have = min(len(np.unique(corpus.keys)) for corpus in sources.corpora.values())
    for large in _LARGE:
        step = large // 5
        protocol = Size(smallest=step, step=step, total=large, large=large, draws=3, repetitions=3)
        trials = 3 + 3 * 2 * len(protocol.sizes)
        total = sum(trials * cost.seconds * (large / cost.size) ** max(cost.growth, 0.0) for cost in costs)
        if large <= have and total <= seconds:
            return protocol
    return None


def _costs(
    ranked: Ranked, sources: Sources, store: Store, clock: Clock, on_step: Step
) -> tuple[tuple[MetricCost, ...], float]:
    """CPU seconds of one comparison, the quick metrics first, for as long as there is time.

    Timing is assumed to last no longer than one repetition of the mixtures. Also gives how many seconds pass in a
    second of CPU: more than one where others use the machine.
    """
    began, protocol, found = (clock.spent, time.process_time()), largest_speed(sources), list[MetricCost]()
    mixtures, times = 7 * protocol.n, ranked.forecast.times
    seconds = {metric.key: extrapolate(*times[metric.key], mixtures) for metric in ranked.plan.metrics}
    for metric in sorted(ranked.plan.metrics, key=lambda metric: seconds[metric.key]):
        if seconds[metric.key] >= clock.patient.until(_TIMED):
            continue
        plan = Plan(protocol, sources, [metric], ranked.plan.seed)
        run_plan(plan, store, on_step)
        for item in judge(plan, observed_by(plan, store)):
            each, growth = 0.01 / item.verdict("throughput").value, item.verdict("growth").value
            found.append(MetricCost(item.metric, each, protocol.n, growth))
    passed, used = clock.spent - began[0], time.process_time() - began[1]
    return tuple(found), max(passed / max(used, 1e-6), 1.0)


def _robustness(
    ranked: Ranked,
    sources: Sources,
    costs: Sequence[MetricCost],
    pace: float,
    store: Store,
    clock: Clock,
    on_step: Step,
) -> tuple[Mapping[str, float], tuple[str, ...], list[str]]:
    """Robustness to size by metric, what failed, and a note; nothing where data or time are too short."""
    if len(costs) < len(ranked.plan.metrics):
        return {}, (), []
    protocol = largest_size(sources, costs, clock.until(_TIMED) / pace)
    if protocol is None:
        return {}, (), []
    plan = Plan(protocol, sources, ranked.plan.metrics, ranked.plan.seed)
    failures = run_plan(plan, store, on_step)
    found = {item.metric: item.verdict("size_robustness").value for item in judge(plan, observed_by(plan, store))}
    sizes = f"samples of {protocol.smallest} to {protocol.sizes[-1]} texts compared with {protocol.large}"
    return found, failures, [f"robustness to size: {sizes}"]


def _needed(
    ranked: Ranked, costs: Sequence[MetricCost], samples: Contaminated, power: float, clock: Clock, on_step: Step
) -> tuple[list[TextsNeeded], list[str]]:
    """What each metric needs; the top tier has half of the time, and the quick metrics come first."""
    a, b = (len(rows) for rows in samples.sides)
    if samples.most < 4:
        return [], [f"power was not simulated: {a} and {b} texts are too few"]
    seconds = {cost.metric: cost.seconds for cost in costs}
    place = {row.metric: row.rank for row in ranked.board if not np.isnan(row.overall)}
    known: list[Any] = [metric for metric in ranked.plan.metrics if metric.key in place]
    known.sort(key=lambda metric: seconds.get(metric.key, np.inf))
    top = [metric for metric in known if metric.key in ranked.top]
    rest = [metric for metric in known if metric.key not in ranked.top]
    found, own = list[TextsNeeded](), clock.part(clock.until(_POWERED))
    for group, share in ((top, _TOP_SHARE if rest else 1.0), (rest, 1.0)):
        found += needed_texts(group, samples, power=power, clock=own.part(share * own.left), on_step=on_step)
    tests, late = sum(row.tests for row in found), [row.metric for row in found if not row.tests]
    notes = [f"no time was left to simulate the power of {listed(late)}"] if late else []
    if tests:
        sizes = f"up to {samples.most:,} texts a side, drawn from {a:,} and {b:,}"
        notes.insert(0, f"power: {tests:,} simulated tests at level 0.05 on samples of {sizes}")
    return sorted((row for row in found if row.tests), key=lambda row: place[row.metric]), notes


def _without_fid(metrics: Sequence[CorpusMetric]) -> list[CorpusMetric]:
    """The warning about fid would embed all texts; its dependence on size is measured here."""
    return [metric for metric in metrics if metric.name != "fid"]


def _warnings(choice: Sequence[str], ranked: Ranked, robustness: Mapping[str, float]) -> list[str]:
    best = max((row.measures["accuracy"] for row in ranked.board), default=np.nan)
    found = [
        f"{metric} depends on size (robustness {robustness[metric]:.2f} of 1): compare samples of one size only"
        for metric in choice
        if robustness.get(metric, 1.0) < _UNSTEADY
    ]
    if best < _HARDLY_ORDERED:
        found.insert(
            0,
            f"no metric orders mixtures of the corpora well (accuracy {best:.2f} at best, 0.5 by chance): "
            "they may be too alike to choose a metric by",
        )
    return found
