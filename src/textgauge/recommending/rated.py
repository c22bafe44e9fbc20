"""Recommend a metric of pairs by its agreement with people, on as many rated pairs as the time allows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from textgauge.bench import Plan, Store
from textgauge.bench.judge import read_all
from textgauge.corpus import Corpus
from textgauge.metrics import PairMetric
from textgauge.protocols import Agreement, Observations, PairSources
from textgauge.recommending.answer import Recommendation
from textgauge.recommending.budget import Clock
from textgauge.recommending.pair_costs import chosen, expected_seconds, quickest_first, stored_costs
from textgauge.recommending.pair_power import PairsNeeded, pairs_needed
from textgauge.recommending.runs import Step, judged, store_in
from textgauge.report import Leaderboard, leaderboard

_FEWEST = 200  # rated pairs that a choice should rest on, where there are as many
_USED = 0.8  # share of the budget by which metrics and judging are to be done


def recommend_pairs(
    sources: PairSources,
    *,
    metrics: str | Sequence[str | PairMetric],
    budget: float,
    power: float = 0.8,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    on_step: Step = lambda _: None,
) -> Recommendation:
    """Rank metrics by agreement with ratings, within a budget of seconds."""
    clock, protocol, asked = Clock(budget), Agreement(), chosen(metrics)
    protocol.check(sources)
    seconds, judging = _piloted(asked, sources, protocol, clock, on_step)
    kept, count, notes = fitting(seconds, judging, sources.pairs.n_items, clock.until(_USED))
    plan = Plan(protocol, drawn(sources, count, seed), [metric for metric in asked if metric.key in kept], seed)
    with store_in(out) as store:
        found, failures = judged(plan, store, on_step)
        board, costs = leaderboard(found), stored_costs(store, plan)
        on_step("resampling pairs")
        needed = _needed(store, plan, board, power, seed)
    experiment = f"agreement with the ratings of {count:,} pairs"
    return Recommendation(
        kind="pairs",
        data=(sources.name,),
        choice=quickest_first(board, costs),
        board=board,
        power=tuple(needed),
        costs=costs,
        warnings=failures,
        notes=(
            *notes,
            f"metrics are ranked by {experiment} (`textgauge run agreement`)",
            f"all this took {clock.spent:.1f} s of a budget of {budget:.0f} s",
        ),
        about={
            "power": power,
            "budget": budget,
            "seconds": clock.spent,
            "seed": seed,
            "protocol": protocol.key,
            "experiment": experiment,
            "pairs": count,
            "named_by": ("cost",),
        },
    )


def _piloted(
    metrics: Sequence[PairMetric], sources: PairSources, protocol: Agreement, clock: Clock, on_step: Step
) -> tuple[dict[str, float], float]:
    """Seconds of a pair for each metric, embedding included, and of judging a pair for one metric."""
    some = drawn(sources, _FEWEST, seed=0)
    batch, seconds = next(protocol.trials(some, 0)), {}
    for metric in metrics:
        on_step(f"timing {metric.key}")
        seconds[metric.key] = expected_seconds(batch, metric, len(batch), clock) / len(batch)
    before, values = clock.spent, np.random.default_rng(0).random(len(batch))
    protocol.judge(Observations(values, np.zeros(len(values), np.int64), some.columns))
    return seconds, (clock.spent - before) / len(batch)


def fitting(
    seconds: Mapping[str, float], judging: float, there: int, left: float
) -> tuple[dict[str, float], int, list[str]]:
    """The metrics and the number of pairs that fit the time left; the slowest go where too few pairs would be left.

    >>> fitting({"quick": 0.001, "slow": 1.0}, 0.001, 5000, 10.0)
    ({'quick': 0.001}, 5000, ['slow was left out: it takes 1000.0 ms a pair'])
    """
    kept, notes, least = dict(seconds), list[str](), min(_FEWEST, there)
    while len(kept) > 1 and left < least * (sum(kept.values()) + judging * len(kept)):
        slowest = max(kept, key=lambda metric: kept[metric])
        notes.append(f"{slowest} was left out: it takes {1000 * kept.pop(slowest):.1f} ms a pair")
    count = int(np.clip(left / (sum(kept.values()) + judging * len(kept)), least, there))
    if count < there:
        notes.append(f"{count:,} of {there:,} pairs were drawn at random, as many as fit the time")
    return kept, count, notes


def drawn(sources: PairSources, count: int, seed: int) -> PairSources:
    """So many pairs drawn at random, in a pool of their own; all of them where there are no more."""
    pairs = sources.pairs
    if count >= pairs.n_items:
        return sources
    rows = np.sort(np.random.default_rng([seed, 9]).permutation(pairs.n_items)[:count])
    columns = {name: column[rows] for name, column in sources.columns.items()}
    some = pairs.take(rows)
    items = None if sources.items is None else some.items
    left = some.left if items is None else some.left.take(np.searchsorted(items, np.arange(count)))
    return PairSources(sources.name, _own(left), _own(some.right), columns, items)


def _own(corpus: Corpus) -> Corpus:
    return Corpus.of(list(corpus.texts))


def _needed(store: Store, plan: Plan, board: Leaderboard, power: float, seed: int) -> list[PairsNeeded]:
    """Rated pairs that tell the best metric from the others, the next one first."""
    ranked = [row.metric for row in board if not np.isnan(row.overall)]
    key = (plan.protocol, plan.sources.fingerprint, plan.seed)
    group = next(group for group in read_all(store) if (group.protocol, group.fingerprint, group.seed) == key)
    if len(ranked) < 2:
        return []
    columns = group.observed[ranked[0]].columns
    return pairs_needed(
        {metric: -group.observed[metric].value for metric in ranked},
        columns["rating"].astype(np.float64),
        ranked[0],
        ranked[1:],
        power=power,
        seed=seed,
        items=columns.get("item"),
    )
