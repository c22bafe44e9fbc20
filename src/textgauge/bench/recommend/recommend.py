"""`recommend`: which metric to use on two corpora, on rated pairs, or for a task."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textgauge.bench import Store
from textgauge.bench.boards.leaderboard import Leaderboard
from textgauge.bench.inputs.pair_sources import read_rated
from textgauge.bench.protocols import (
    Agreement,
    Observations,
    PairSources,
    Sources,
    Speed,
    Task,
    TaskSources,
    known_tasks,
    protocols_named,
)
from textgauge.bench.protocols.base import PAIR_METRICS
from textgauge.bench.protocols.batch import compact_views
from textgauge.bench.recommend.answer import Answer, MetricCost, Recommendation
from textgauge.bench.recommend.budget import Clock, Embeddings, embedder_of, embedders_of, seconds_of
from textgauge.bench.recommend.detection import Contaminated, TextsNeeded, detection_board, simulate_tests
from textgauge.bench.recommend.experiments import corpora_ladder, in_turns, pairs_ladder, task_ladder
from textgauge.bench.recommend.power import PairsNeeded, pairs_needed
from textgauge.bench.recommend.rank import Ranked, Step, rank, store_in, top_tier
from textgauge.bench.results import total_times
from textgauge.core.errors import InputError, UnknownName
from textgauge.core.naming import split_names
from textgauge.core.tabular import format_percent, listed
from textgauge.data import Comparison, load_corpus
from textgauge.data.source import Source, source_name
from textgauge.measure.comparing import DEFAULT_METRICS
from textgauge.measure.comparing.warnings import confounds
from textgauge.metrics import CorpusMetric, Metric, get_corpus_metrics, get_pair_metrics, list_metrics
from textgauge.metrics.pair.column import column_names
from textgauge.metrics.pair_metric import BROUGHT

_HALF = 0.5  # of the time left, for each step that others follow
_TEXTS_PER_SECOND = 100  # of the budget: samples that can be tested in the time need no more texts
_COST_TEXTS, _COST_PAIRS = 100, 1_000  # that a cost is given for
_HARDLY_ORDERED = 0.7  # accuracy of judgements; 0.5 is chance


def recommend(
    reference: Source | None = None,
    candidate: Source | None = None,
    *,
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
    a sample or a dataset), or the name of a `task` and its `data`. Without `metrics` all are tried that this
    installation can run, except models and services. `budget` is the time it may take, as `90s` or `2m`; how large the
    experiments are depends on it, and with it the answer. `effect` is the share of foreign texts that a test should
    detect, `power` how often. `out` is a folder that keeps the runs; without it they are not kept.

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
    if task is not None and any(kind.rated for kind in protocols_named(task)):
        pairs = _needs_data(task, data)
    with store_in(out) as store:
        work = Recommender(store, clock, metrics, power, seed, on_step)
        if pairs is not None:
            return work.pairs(_pair_sources(pairs, left, right, rating, column_names(metrics), seed))
        if task is not None:
            return work.task(*_task(task, data))
        if reference is None or candidate is None:
            raise InputError("two corpora are needed: reference and candidate")
        names = (source_name(reference, "reference"), source_name(candidate, "candidate"))
        comparison = Comparison(load_corpus(reference, role="reference"), load_corpus(candidate, role="candidate"))
        return work.corpora(comparison, names, effect)


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
    pairs: Any, left: str, right: str, rating: str | Sequence[str] | None, scores: Sequence[str], seed: int
) -> PairSources:
    if isinstance(pairs, PairSources):
        return pairs
    ratings = [rating] if isinstance(rating, str) else list(rating or [])
    return read_rated(os.fspath(pairs), left=left, right=right, ratings=ratings, scores=scores, seed=seed)


def _task(task: str, data: Any) -> tuple[Task, TaskSources | PairSources]:
    tasks = {kind.name: kind for kind in known_tasks()}
    if task not in tasks:
        raise UnknownName.among("task", task, [*tasks, Agreement.name])
    if not isinstance(_needs_data(task, data), TaskSources | PairSources):
        data = tasks[task].data.read(os.fspath(data))
    return tasks[task](), data


def all_metrics(kind: Any) -> list[Metric]:
    """One metric of every sort that may be installed, those that are used most first.

    Those that would call or fetch a model by name are left out.
    """
    usual = split_names(DEFAULT_METRICS if kind == "corpus" else PAIR_METRICS)
    found = [metric for metric in list_metrics(kind=kind) if metric.needs not in BROUGHT]
    return sorted(found, key=lambda metric: usual.index(metric.name) if metric.name in usual else len(usual))


def _chosen(found: Sequence[Any]) -> list[Any]:
    if not found:
        raise InputError("name at least one metric")
    return list(found)


@dataclass(frozen=True, eq=False)
class Recommender:
    """What all kinds of data have in common: where results go, the time, the metrics asked for."""

    store: Store
    clock: Clock
    metrics: str | Sequence[Any] | None
    power: float
    seed: int
    on_step: Step

    def pairs(self, sources: PairSources) -> Recommendation:
        """Rank metrics of pairs by their agreement with ratings."""
        Agreement().check(sources)
        ranked = self._rank(pairs_ladder(sources, self.seed, self.clock.budget, self._judge_and_test), "pair")
        self.on_step("resampling pairs")
        needed, notes = self._pairs_needed(ranked)
        there, count = sources.pairs.n_items, sum(len(batch) for batch in ranked.plan.drawn)
        if count < there:
            notes.insert(0, f"{count:,} of {there:,} pairs were drawn at random, as many as fit the time")
        experiment = f"agreement with the ratings of {count:,} pairs"
        answer = Answer("score pairs", ranked.top, ranked.board)
        about = {"power": self.power, "pairs": count}
        return self._whole(
            "pairs", (sources.name,), ranked, [answer], experiment, costs=self._pair_costs(ranked),
            notes=notes, power=needed, about=about,
        )  # fmt: skip

    def task(self, protocol: Task, sources: TaskSources | PairSources) -> Recommendation:
        """Rank metrics of pairs by a task."""
        ranked = self._rank(task_ladder(protocol, sources, self.seed), "pair")
        smaller = f"the task was made smaller to fit the time: {ranked.plan.protocol.key.partition('|')[0]}"
        notes = [smaller] if ranked.plan.protocol != protocol else []
        answer = Answer(f"do well in {protocol.name}", ranked.top, ranked.board)
        experiment, costs = f"the task {protocol.name}", self._pair_costs(ranked)
        return self._whole("task", (sources.name,), ranked, [answer], experiment, costs=costs, notes=notes)

    def corpora(self, comparison: Comparison, names: tuple[str, str], effect: float) -> Recommendation:
        """Rank metrics on mixtures of two corpora, and find how many texts they need to detect a mixture."""
        chosen = self._corpus_metrics(comparison)
        sources = Sources(",".join(names), {"a": comparison.reference, "b": comparison.candidate})
        ranked = self._rank(corpora_ladder(sources, self.seed), "corpus", chosen, share=_HALF)
        near = self._embedded(sources, ranked)
        answers = [Answer("rank corpora", ranked.top, ranked.board)]
        detect, needed, notes = self._detection(ranked, Contaminated(near, effect, self.seed))
        if detect is not None:
            answers.append(detect)
        costs = self._corpus_costs(ranked, near, {metric for answer in answers for metric in answer.choice})
        protocol: Any = ranked.plan.protocol
        experiment = f"{protocol.repetitions} repetitions of {protocol.k} mixtures of {protocol.n} texts"
        few = ranked.plan.sources is not sources
        fewer = f"only {len(ranked.plan.sources.joint):,} texts could be embedded in the time"  # type: ignore[union-attr]
        return self._whole(
            "corpora", names, ranked, answers, experiment, costs=costs, power=needed,
            notes=[*([fewer] if few else []), *notes],
            warnings=[*confounds(comparison, [m for m in chosen if m.name != "fid"]), *_hardly_ordered(ranked)],
            about={"effect": effect, "power": self.power},
        )  # fmt: skip

    def _rank(self, ladder: Any, scope: str, chosen: Sequence[Any] | None = None, *, share: float = 1.0) -> Ranked:
        own = _chosen(get_pair_metrics(self.metrics)) if scope == "pair" and self.metrics is not None else chosen
        return rank(
            ladder,
            all_metrics(scope) if own is None else own,
            self.store,
            clock=self.clock,
            share=share,
            skip_missing=self.metrics is None,
            on_step=self.on_step,
        )

    def _corpus_metrics(self, comparison: Comparison) -> list[CorpusMetric]:
        named = _chosen(all_metrics("corpus") if self.metrics is None else get_corpus_metrics(self.metrics))
        metrics: list[CorpusMetric] = [metric.on_given(comparison) for metric in named]
        blind = [metric for metric in metrics if metric.reads_texts and not comparison.joint.pool.has_texts]
        if blind and self.metrics is not None:
            raise InputError(f"{blind[0].key} needs texts, but the corpora were given as embeddings")
        return [metric for metric in metrics if metric not in blind]

    def _judge_and_test(self, seen: Observations) -> object:
        """What judges one metric and compares it with another."""
        ratings = seen.columns["rating"].astype(np.float64)
        needed = pairs_needed({"a": seen.value, "b": seen.value[::-1]}, ratings, "a", "b", power=self.power)
        return Agreement().judge(seen), needed

    def _pairs_needed(self, ranked: Ranked) -> tuple[list[PairsNeeded], list[str]]:
        """Rated pairs that separate the best metric from the others, the next one first, and that one in any case."""
        best, *others = [row.metric for row in ranked.board if not np.isnan(row.overall)] or [""]
        found = list[PairsNeeded]()
        for place, other in enumerate(others):
            if found and self.clock.left <= 0:
                return found, [f"no time was left to find how many pairs separate {best} from {listed(others[place:])}"]
            columns = ranked.observed[best].columns
            similarity = {metric: -ranked.observed[metric].value for metric in (best, other)}
            ratings, items = columns["rating"].astype(np.float64), columns.get("item")
            found.append(pairs_needed(similarity, ratings, best, other, power=self.power, seed=self.seed, items=items))
        return found, []

    def _embedded(self, sources: Sources, ranked: Ranked) -> Sources:
        """The sources cut down to texts that are embedded, after more of them were, for up to half of the time left."""
        names, joint, embeddings = embedders_of(ranked.plan.metrics), sources.joint, ranked.embeddings
        order = in_turns(sources)[: int(_TEXTS_PER_SECOND * self.clock.budget)]
        if names:
            self.on_step("embedding")
            texts = joint.take(order).texts
            known = ~np.isin(texts, [text for name in names for text in embeddings.missing(name, texts)])
            order = order[np.argsort(~known, kind="stable")]
            each = sum(embeddings.pace[name] for name in names)
            order = order[: max(int(known.sum()), 1) + int(_HALF * self.clock.left / max(each, 1e-9))]
            embeddings.embed(names, joint.take(order).texts, self.clock.left)
            texts = joint.take(order).texts
            order = order[~np.isin(texts, [text for name in names for text in embeddings.missing(name, texts)])]
        rows = np.sort(order)
        (small,) = compact_views([joint.take(rows)], ())
        embeddings.fill([small.pool], names)
        first = int((rows < len(sources.corpora["a"])).sum())
        corpora = {"a": small.take(np.arange(first)), "b": small.take(np.arange(first, len(rows)))}
        return Sources(sources.name, corpora)

    def _detection(self, ranked: Ranked, samples: Contaminated) -> tuple[Answer | None, list[TextsNeeded], list[str]]:
        """What each metric needs; those recommended for ranking come first, then the others, the quick ones first."""
        known: list[Any] = sorted(ranked.defined, key=lambda metric: metric.key not in ranked.top)
        top, rest = known[: len(ranked.top)], known[len(ranked.top) :]
        searches = simulate_tests(
            top, samples, power=self.power, clock=self.clock.part(_HALF * self.clock.left), on_step=self.on_step
        )
        searches = simulate_tests(
            rest, samples, power=self.power, clock=self.clock, known=searches, on_step=self.on_step
        )
        board = detection_board(searches, samples)
        a, b = (len(rows) for rows in samples.sides)
        if not searches:
            return None, [], [f"power was not simulated: too little time, or too few texts ({a:,} and {b:,})"]
        purpose = f"detect {format_percent(samples.effect)} of foreign texts"
        answer = Answer(purpose, top_tier(board) if board else (), board or Leaderboard((), ()))
        tested = [metric for metric in known if metric.key in {*ranked.top, *answer.choice}]
        rows = TextsNeeded.tested_together(searches, tested, samples)
        order = [row.metric for row in answer.board]
        rows.sort(key=lambda row: (order.index(row.metric), 0.0) if row.known else (len(order), row.low))
        late = [metric.key for metric in known if metric.key not in searches]
        sizes = f"up to {samples.most:,} texts a side, drawn from {a:,} and {b:,}"
        tests = sum(row.tests for row in rows)
        notes = [f"power: {tests:,} simulated permutation tests at level 0.05 on samples of {sizes}"]
        return answer, rows, [*notes, *([f"no time was left to simulate tests with {listed(late)}"] if late else [])]

    def _corpus_costs(self, ranked: Ranked, sources: Sources, wanted: set[str]) -> tuple[MetricCost, ...]:
        """CPU seconds of one comparison, of the metrics wanted, and of the others where there is time."""
        n, found = min(_COST_TEXTS, sources.fewest), list[MetricCost]()
        batch = next(Speed(n=n, largest=n, repetitions=1).trials(sources, self.seed))
        metrics: Sequence[Any] = ranked.defined
        for metric in metrics:
            if metric.key in wanted or self.clock.left > 0:
                found.append(_cost(metric, batch.seconds(metric, 0), n, 2 * n, ranked.embeddings))
        return tuple(found)

    def _pair_costs(self, ranked: Ranked) -> tuple[MetricCost, ...]:
        """CPU seconds of a thousand pairs, by the results of the run, and of embedding their texts."""
        times = total_times(t for t in ranked.results.times() if t.protocol == ranked.plan.protocol.name)
        each = {time.metric: time.each for time in times}
        return tuple(
            _cost(metric, _COST_PAIRS * each[metric.key], _COST_PAIRS, 2 * _COST_PAIRS, ranked.embeddings)
            for metric in ranked.plan.metrics
            if metric.key in each
        )

    def _whole(
        self,
        kind: Any,
        data: tuple[str, ...],
        ranked: Ranked,
        answers: Sequence[Answer],
        experiment: str,
        *,
        costs: Sequence[MetricCost],
        notes: Sequence[str],
        power: Sequence[Any] = (),
        warnings: Sequence[str] = (),
        about: Mapping[str, Any] | None = None,
    ) -> Recommendation:
        plan, budget, order = ranked.plan, self.clock.budget, [row.metric for row in ranked.board]
        absent = [f"not installed here: {listed(ranked.unavailable)}"] if ranked.unavailable else []
        spent = f"this took {self.clock.spent:.1f} s of a budget of {budget:.0f} s"
        return Recommendation(
            kind=kind,
            data=data,
            answers=tuple(answers),
            power=tuple(power),
            costs=tuple(sorted(costs, key=lambda cost: order.index(cost.metric))),
            left_out=ranked.left_out,
            warnings=(*warnings, *ranked.failures),
            notes=(
                f"metrics are ranked by {experiment} (`textgauge run {plan.protocol.name}`)",
                *ranked.board.notes,
                *notes,
                *absent,
                spent,
            ),
            about={
                "budget": budget,
                "seconds": self.clock.spent,
                "seed": self.seed,
                "protocol": plan.protocol.key,
                "experiment": experiment,
                **(about or {}),
            },
        )


def _cost(metric: Metric, seconds: float, size: int, texts: int, embeddings: Embeddings) -> MetricCost:
    name = embedder_of(metric)
    return MetricCost(metric.key, seconds, size, texts * embeddings.cpu[name] if name else 0.0, name)


def _hardly_ordered(ranked: Ranked) -> list[str]:
    best = max((row.measures["accuracy"] for row in ranked.board), default=np.nan)
    if best >= _HARDLY_ORDERED:
        return []
    said = f"no metric orders mixtures of the corpora well (accuracy {best:.2f} at best, 0.5 by chance)"
    return [f"{said}: they may be too alike to choose a metric by"]
