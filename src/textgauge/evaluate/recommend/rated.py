"""Recommend a metric of pairs by its agreement with people, on as many rated pairs as the time allows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from textgauge.evaluate import Plan, Store
from textgauge.evaluate.leaderboard import Leaderboard, leaderboard
from textgauge.evaluate.protocols import Agreement, PairBatch, PairSources
from textgauge.evaluate.recommend.answer import LeftOut, Recommendation
from textgauge.evaluate.recommend.budget import Clock
from textgauge.evaluate.recommend.pair_costs import chosen, judging_seconds, quickest_first, stored_costs, timed, used
from textgauge.evaluate.recommend.pair_draws import DrawnPairs
from textgauge.evaluate.recommend.pair_power import PairsNeeded, pairs_needed
from textgauge.evaluate.recommend.pair_runs import HeldPlan, run_in_time
from textgauge.evaluate.recommend.runs import Step, store_in, verdicts
from textgauge.evaluate.recommend.sentences import listed
from textgauge.evaluate.recommend.texts import embedder_of, paces
from textgauge.evaluate.results import Results
from textgauge.metrics import PairMetric

_FEWEST = 200  # rated pairs that a choice should rest on, where there are as many
_EMBEDDED_ONLY = (200, 140, 100)  # as many as may do where embedding is slow, so that encoders can take part
# Shares of the budget by which a step is to be done: the texts of the fewest pairs; all texts, metrics and judging.
_FIRST, _USED = 0.65, 0.85


def recommend_pairs(
    sources: PairSources,
    *,
    metrics: str | Sequence[str | PairMetric],
    clock: Clock,
    power: float = 0.8,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    on_step: Step = lambda _: None,
) -> Recommendation:
    """Rank metrics by agreement with ratings, within a budget of seconds."""
    protocol, asked = Agreement(), chosen(metrics)
    protocol.check(sources)
    asked, pairs, have, gone = _first_pairs(sources, asked, seed, clock, on_step)
    some = tuple(protocol.trials(pairs.first(have), seed))
    seconds, late = timed(some[0], asked, clock, on_step)
    judging = _judging(protocol, some, power, clock) / have
    on_step("embedding")
    ready = max(have, _more_pairs(pairs, have, seconds, judging, clock))
    kept, count, slow = fitting(seconds, judging, ready, clock)
    plan = _plan(protocol, pairs.first(count), [metric for metric in asked if metric.key in kept], seed)
    with store_in(out) as store:
        expected = {metric: each * count for metric, each in kept.items()}
        plan, failures, more = run_in_time(plan, store, expected, judging * count, clock, on_step)
        on_step("judging")
        board, costs = leaderboard(verdicts(plan, store)), stored_costs(store, plan)
        on_step("resampling pairs")
        needed, untold = _needed(store, plan, board, power, seed, clock)
    fewer = f"{count:,} of {pairs.there:,} pairs were drawn at random, as many as fit the time"
    experiment = f"agreement with the ratings of {count:,} pairs"
    return Recommendation(
        kind="pairs",
        data=(sources.name,),
        choice=quickest_first(board, costs),
        board=board,
        power=tuple(needed),
        costs=costs,
        left_out=(*gone, *late, *slow, *more),
        warnings=failures,
        notes=(
            *(*([fewer] if count < pairs.there else []), *untold),
            f"metrics are ranked by {experiment} (`textgauge run agreement`)",
            *clock.account,
        ),
        about={
            "power": power,
            "budget": clock.budget,
            "seconds": clock.spent,
            "seed": seed,
            "protocol": protocol.key,
            "experiment": experiment,
            "pairs": count,
            "named_by": ("cost",),
        },
    )


def _first_pairs(
    sources: PairSources, asked: list[PairMetric], seed: int, clock: Clock, on_step: Step
) -> tuple[list[PairMetric], DrawnPairs, int, list[LeftOut]]:
    """As many pairs as a choice needs, with their rows; without the slowest encoders where these take too long.

    The pairs of a smaller number are the first ones of a larger, so that no text is embedded for nothing.
    """
    on_step("embedding")
    texts = sources.left | sources.right
    pace, gone = paces(texts, asked, clock), list[LeftOut]()
    while True:
        pairs = DrawnPairs(sources, asked, seed)
        enough = list(dict.fromkeys(min(count, pairs.there) for count in _EMBEDDED_ONLY))
        have = max(pairs.reach(count, clock.patient, share=_FIRST, whole=True) for count in enough)
        slowest = max(pace, key=lambda name: pace[name], default="")
        others = [metric for metric in asked if embedder_of(metric) != slowest]
        if not others:
            have = pairs.reach(enough[0], clock.patient, share=_FIRST)
        if have >= enough[-1] or not others:
            return asked, pairs, have, gone
        seconds = enough[-1] * len(texts) / pairs.there * pace.pop(slowest)
        wanted = (clock.spent + seconds) / _FIRST
        gone += [LeftOut(metric.key, wanted) for metric in asked if metric not in others]
        asked = others


def _more_pairs(pairs: DrawnPairs, have: int, seconds: Mapping[str, float], judging: float, clock: Clock) -> int:
    """Embed as many pairs more as leave the time to score and judge all of them; gives how many have their rows."""
    kept, most, _ = fitting(seconds, judging, pairs.there, clock)
    each = _each(kept, judging)
    room = clock.until(_USED) - have * each
    wanted = min(most, have + int(max(room, 0.0) / max(each + pairs.embedding, 1e-9)))
    return pairs.reach(wanted, clock, share=_USED - wanted * each / clock.budget)


def _judging(protocol: Agreement, batches: Sequence[PairBatch], power: float, clock: Clock) -> float:
    """The seconds that one more metric takes to be judged and held against the best one, on these pairs."""
    ratings = np.concatenate([batch.columns["rating"] for batch in batches]).astype(np.float64)
    values = dict(zip("ab", np.random.default_rng(0).random((2, len(ratings))), strict=True))
    held = used(lambda: pairs_needed(values, ratings, "a", ["b"], power=power), clock)
    return judging_seconds(protocol, batches, clock) + held


def fitting(
    seconds: Mapping[str, float], judging: float, there: int, clock: Clock
) -> tuple[dict[str, float], int, list[LeftOut]]:
    """The metrics and the number of pairs that fit the time left; the slowest go where too few pairs would be left.

    `seconds` are those of one pair with each metric, `judging` those of judging one pair for one metric.

    >>> fitting({"quick": 0.001, "as quick": 0.001, "slow": 1.0}, 0.001, 5000, Clock(20.0))[0]
    {'quick': 0.001, 'as quick': 0.001}
    """
    kept, gone, least = dict(seconds), list[LeftOut](), min(_FEWEST, there)
    while len(kept) > 1 and clock.room(_USED) < (all_of_them := least * _each(kept, judging)):
        slowest = max(kept, key=lambda metric: kept[metric])
        gone.append(LeftOut(slowest, (clock.spent + all_of_them) / _USED))
        del kept[slowest]
    return kept, int(np.clip(clock.until(_USED) / max(_each(kept, judging), 1e-9), least, there)), gone


def _each(seconds: Mapping[str, float], judging: float) -> float:
    return sum(seconds.values()) + judging * len(seconds)


def _plan(protocol: Agreement, sources: PairSources, metrics: list[PairMetric], seed: int) -> HeldPlan:
    return HeldPlan(protocol, sources, metrics, seed, held=tuple(protocol.trials(sources, seed)))


def _needed(
    store: Store, plan: Plan, board: Leaderboard, power: float, seed: int, clock: Clock
) -> tuple[list[PairsNeeded], list[str]]:
    """Rated pairs that tell the best metric from the others, the next one first; the first in any case."""
    ranked = [row.metric for row in board if not np.isnan(row.overall)]
    key = (plan.protocol, plan.sources.fingerprint, plan.seed)
    group = next(group for group in Results(store).groups() if (group.protocol, group.fingerprint, group.seed) == key)
    if len(ranked) < 2:
        return [], []
    columns, found = group.observed[ranked[0]].columns, list[PairsNeeded]()
    for place, other in enumerate(ranked[1:], 1):
        if found and clock.patient.left <= 0:
            return found, [f"no time was left to tell how many pairs part {ranked[0]} from {listed(ranked[place:])}"]
        found += pairs_needed(
            {metric: -group.observed[metric].value for metric in (ranked[0], other)},
            columns["rating"].astype(np.float64),
            ranked[0],
            [other],
            power=power,
            seed=seed,
            items=columns.get("item"),
        )
    return found, []
