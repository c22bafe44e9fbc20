"""`recommend`: which metric to use on two corpora, on rated pairs, or for a task."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from textgauge.comparing import DEFAULT_METRICS
from textgauge.data import Comparison, load_corpus
from textgauge.data.source import Source, source_name
from textgauge.errors import InputError, UnknownName
from textgauge.evaluate import Store
from textgauge.evaluate.pair_sources import read_rated
from textgauge.evaluate.protocols import Agreement, Observations, PairSources, Protocol, Task, TaskSources, known_tasks
from textgauge.evaluate.recommend.answer import MetricCost, Recommendation, order_tied
from textgauge.evaluate.recommend.budget import Clock, seconds_of
from textgauge.evaluate.recommend.corpora import recommend_corpora
from textgauge.evaluate.recommend.experiments import pairs_ladder, task_ladder
from textgauge.evaluate.recommend.power import PairsNeeded, pairs_needed
from textgauge.evaluate.recommend.schedule import Ranked, Step, rank, store_in
from textgauge.evaluate.results import Results, total_times
from textgauge.metrics import PairMetric, get_pair_metrics
from textgauge.tabular import listed

_RANKED = 0.85  # share of the budget by which pair metrics are ranked
_PAIRS = 1_000  # that a cost is given for


def recommend(
    *,
    reference: Source | None = None,
    candidate: Source | None = None,
    pairs: str | os.PathLike[str] | PairSources | None = None,
    left: str = "left",
    right: str = "right",
    rating: str | Sequence[str] | None = None,
    task: str | None = None,
    data: str | os.PathLike[str] | TaskSources | PairSources | None = None,
    metrics: str | Sequence[Any] | None = None,
    budget: str | float = "2m",
    effect: float = 0.1,
    power: float = 0.8,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    on_step: Step = lambda _: None,
) -> Recommendation:
    """Which metric to use on these data: the best one, those statistically tied with it, what they need and cost.

    Give two corpora (`reference`, `candidate`), or rated `pairs` (a table with its columns `left`, `right`, `rating`,
    a sample or a dataset), or the name of a `task` and its `data`. `budget` is the time it may take, as `90s` or `2m`;
    how large the experiments are depends on it, and with it the answer. The smallest sensible run may take 15 seconds,
    whatever the budget, and the answer says so. `effect` is the share of foreign texts that a test should detect,
    `power` how often. `out` is a folder that keeps the runs; without it they are not kept.

    >>> words = [f"{colour} {animal} {i}" for i in range(12) for colour in ("red", "blue") for animal in ("cat", "dog")]
    >>> cards = [f"pay the {what} by card {i}" for i in range(24) for what in ("rent", "fee")]
    >>> answer = recommend(reference=words, candidate=cards, metrics="jsd@words,zipf@words", budget="5s", effect=0.5)
    >>> answer.choice
    ('jsd@words',)
    """
    _check(effect, power)
    given = [reference is not None or candidate is not None, pairs is not None, task is not None]
    if sum(given) != 1:
        raise InputError("give two corpora (reference and candidate), or rated pairs, or a task with its data")
    clock = Clock(seconds_of(budget))
    if task == Agreement.name:
        pairs = _needs_data(task, data)
    if pairs is not None:
        found = _pair_sources(pairs, left, right, rating, seed)
        with store_in(out) as store:
            return recommend_pairs(found, metrics, store, clock=clock, power=power, seed=seed, on_step=on_step)
    if task is not None:
        protocol, source = _task(task, data)
        with store_in(out) as store:
            return recommend_task(protocol, source, metrics, store, clock=clock, seed=seed, on_step=on_step)
    if reference is None or candidate is None:
        raise InputError("two corpora are needed: reference and candidate")
    names = (source_name(reference, "reference"), source_name(candidate, "candidate"))
    comparison = Comparison(load_corpus(reference, role="reference"), load_corpus(candidate, role="candidate"))
    common: dict[str, Any] = {"clock": clock, "effect": effect, "power": power, "seed": seed, "on_step": on_step}
    with store_in(out) as store:
        return recommend_corpora(comparison, names, metrics or DEFAULT_METRICS, store, **common)


def _check(effect: float, power: float) -> None:
    if not 0.0 < effect <= 1.0:
        raise InputError(f"the effect is a share of foreign texts above 0 and up to 1, not {effect}")
    if not 0.05 < power < 1.0:
        raise InputError(f"the power lies between 0.05, the level of the test, and 1, not {power}")


def _needs_data(task: str, data: Any) -> Any:
    if data is None:
        raise InputError(f"the task {task} needs data: a path, a sample or a dataset's name")
    return data


def _pair_sources(
    pairs: str | os.PathLike[str] | PairSources, left: str, right: str, rating: str | Sequence[str] | None, seed: int
) -> PairSources:
    if isinstance(pairs, PairSources):
        return pairs
    ratings = [rating] if isinstance(rating, str) else list(rating or [])
    return read_rated(os.fspath(pairs), left=left, right=right, ratings=ratings, seed=seed)


def _task(task: str, data: Any) -> tuple[Protocol, TaskSources | PairSources]:
    tasks = {kind.name: kind for kind in known_tasks()}
    if task not in tasks:
        raise UnknownName.among("task", task, [*tasks, Agreement.name])
    if not isinstance(_needs_data(task, data), TaskSources | PairSources):
        data = tasks[task].data.read(os.fspath(data))
    return tasks[task](), data


def recommend_pairs(
    sources: PairSources,
    metrics: str | Sequence[str | PairMetric] | None,
    store: Store,
    *,
    clock: Clock,
    power: float = 0.8,
    seed: int = 0,
    on_step: Step = lambda _: None,
) -> Recommendation:
    """Rank metrics of pairs by their agreement with ratings."""
    chosen = _pair_metrics(metrics or Agreement.default_metrics)
    Agreement().check(sources)
    ladder = pairs_ladder(sources, seed, clock.budget, _judge_and_test(power))
    ranked = rank(ladder, chosen, store, clock=clock, share=_RANKED, on_step=on_step)
    on_step("resampling pairs")
    needed, notes = _pairs_needed(ranked, power, seed, clock)
    there, count = sources.pairs.n_items, sum(len(batch) for batch in ranked.plan.drawn)
    if count < there:
        notes.insert(0, f"{count:,} of {there:,} pairs were drawn at random, as many as fit the time")
    return _answer(
        "pairs",
        ranked,
        f"agreement with the ratings of {count:,} pairs",
        store=store,
        clock=clock,
        notes=notes,
        needed=needed,
        about={"power": power, "pairs": count},
    )


def recommend_task(
    protocol: Protocol,
    sources: TaskSources | PairSources,
    metrics: str | Sequence[str | PairMetric] | None,
    store: Store,
    *,
    clock: Clock,
    seed: int = 0,
    on_step: Step = lambda _: None,
) -> Recommendation:
    """Rank metrics of pairs by a task."""
    chosen = _pair_metrics(metrics or Task.default_metrics)
    ladder = task_ladder(protocol, sources, seed)
    ranked = rank(ladder, chosen, store, clock=clock, share=_RANKED, on_step=on_step)
    smaller = f"the task was made smaller to fit the time: {ranked.plan.protocol.key.partition('|')[0]}"
    notes = [smaller] if ranked.plan.protocol != protocol else []
    return _answer("task", ranked, f"the task {protocol.name}", store=store, clock=clock, notes=notes)


def _pair_metrics(metrics: str | Sequence[str | PairMetric]) -> list[PairMetric]:
    found = get_pair_metrics(metrics)
    if not found:
        raise InputError("name at least one metric")
    return found


def _judge_and_test(power: float) -> Callable[[Observations], object]:
    """What judges one metric and compares it with another."""

    def judge(seen: Observations) -> object:
        ratings = seen.columns["rating"].astype(np.float64)
        needed = pairs_needed({"a": seen.value, "b": seen.value[::-1]}, ratings, "a", "b", power=power)
        return Agreement().judge(seen), needed

    return judge


def _pairs_needed(ranked: Ranked, power: float, seed: int, clock: Clock) -> tuple[list[PairsNeeded], list[str]]:
    """Rated pairs that separate the best metric from the others, the next one first, and that one in any case."""
    best, *others = [row.metric for row in ranked.board if not np.isnan(row.overall)] or [""]
    found = list[PairsNeeded]()
    for place, other in enumerate(others):
        if found and clock.patient.left <= 0:
            return found, [f"no time was left to find how many pairs separate {best} from {listed(others[place:])}"]
        columns = ranked.observed[best].columns
        similarity = {metric: -ranked.observed[metric].value for metric in (best, other)}
        ratings, items = columns["rating"].astype(np.float64), columns.get("item")
        found.append(pairs_needed(similarity, ratings, best, other, power=power, seed=seed, items=items))
    return found, []


def _answer(
    kind: Any,
    ranked: Ranked,
    experiment: str,
    *,
    store: Store,
    clock: Clock,
    notes: Sequence[str],
    needed: Sequence[PairsNeeded] = (),
    about: dict[str, Any] | None = None,
) -> Recommendation:
    plan, costs = ranked.plan, _costs(ranked, store)
    choice, named_by = order_tied(ranked.top, {}, costs, [])
    return Recommendation(
        kind=kind,
        data=(plan.sources.name,),
        choice=tuple(choice),
        board=ranked.board,
        power=tuple(needed),
        costs=costs,
        left_out=ranked.left_out,
        warnings=ranked.failures,
        notes=(*notes, f"metrics are ranked by {experiment} (`textgauge run {plan.protocol.name}`)", *clock.account),
        about={
            "budget": clock.budget,
            "seconds": clock.spent,
            "seed": plan.seed,
            "protocol": plan.protocol.key,
            "experiment": experiment,
            "named_by": named_by,
            **(about or {}),
        },
    )


def _costs(ranked: Ranked, store: Store) -> tuple[MetricCost, ...]:
    """CPU seconds of a thousand trials, metric by metric, from the results of the run."""
    times = total_times(time for time in Results(store).times() if time.protocol == ranked.plan.protocol.name)
    each = {time.metric: time.each for time in times}
    keys = [metric.key for metric in ranked.plan.metrics if metric.key in each]
    return tuple(MetricCost(key, _PAIRS * each[key], _PAIRS) for key in keys)
