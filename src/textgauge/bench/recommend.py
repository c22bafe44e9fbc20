"""`recommend`: which metric to use on two corpora, on rated pairs, or for a task; one fixed experiment per effort."""

from __future__ import annotations

import contextlib
import csv
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from textgauge.bench import (
    Agreement,
    Ksc,
    Measure,
    Observations,
    PairSources,
    Protocol,
    Sources,
    Speed,
    Task,
    TaskSources,
    Verdict,
    find_protocols,
)
from textgauge.bench.inputs import drop_none, get_pair_groups
from textgauge.bench.leaderboard import Leaderboard, rank_metrics
from textgauge.bench.plan import Plan
from textgauge.bench.power import (
    MOST,
    Contaminated,
    PairsNeeded,
    PowerCurve,
    TextsNeeded,
    estimate_pairs_needed,
    estimate_shared_level,
    simulate_tests,
    split_by_label,
)
from textgauge.bench.protocols.base import PAIR_METRICS, RESAMPLES
from textgauge.bench.protocols.task import load_task
from textgauge.bench.recommendation import Answer, Recommendation
from textgauge.bench.results import Group, Results, sum_times
from textgauge.bench.run import run
from textgauge.bench.sources import Data, compact_corpus
from textgauge.bench.store import Store
from textgauge.core.arrays import Ints
from textgauge.core.errors import ArgumentError, InputError, MissingExtra, ResourceError, UnknownName
from textgauge.core.parallel import use_one_blas_thread
from textgauge.core.progress import begin_step
from textgauge.core.registry import split_names
from textgauge.core.show import Row, format_percent, join_words
from textgauge.data import GIVEN, Comparison, Corpus, Pairs, load_corpus
from textgauge.data.source import Source, get_source_name
from textgauge.data.units import FEWEST_GROUPS
from textgauge.encode.embedders import EmbedderLike, get_embedder
from textgauge.encode.resources import is_available
from textgauge.measure.comparing import ALL_METRICS
from textgauge.measure.dependence import Belonging, cut_uneven_groups, find_repeating_column, read_labels
from textgauge.metrics import CorpusMetric, get_corpus_metrics, get_pair_metrics, list_metrics
from textgauge.metrics.cautions import find_confounds
from textgauge.metrics.pair.ensemble import Blend
from textgauge.metrics.pair.models import list_column_names
from textgauge.metrics.pair_metric import BROUGHT
from textgauge.stats.decisions import format_sign

__all__ = ["Answer", "Recommendation", "recommend"]

_POOLS = 4  # times the texts of one repetition: statements about new texts need repetitions that share few texts
_FEWEST_OF_MIXTURE = 12
_COST_TEXTS, _COST_PAIRS, _TIMED_TEXTS = 100, 1_000, 24  # that a cost is given for, and that time an embedder
_SLOW = ("ter", "bertscore", "wmd", "contextual_l2", "blend")  # 25 to 330 ms for a pair of summaries, others below 11
_HARDLY_ORDERED = 0.7  # accuracy of judgements; 0.5 is chance


@dataclass(frozen=True)
class Effort:
    """The sizes of the experiments of `recommend`.

    `texts` are taken of each corpus, `pairs` of rated ones, `slow_pairs` of them for slow metrics that nobody named;
    `mixture` is the size of a mixture of both, `task` the share of a task's texts;
    `tests` permutation tests are simulated at each of the `sizes`.
    """

    texts: int
    mixture: int
    repetitions: int
    pairs: int
    slow_pairs: int
    task: float
    sizes: tuple[int, ...]
    tests: int


EFFORTS: dict[str, Effort] = {
    "quick": Effort(400, 30, 10, 500, 50, 0.5, (25, 50, 100, 200), 15),
    "normal": Effort(1_000, 50, 20, 2_000, 200, 1.0, (25, 50, 100, 200, 400), 25),
    "thorough": Effort(4_000, 100, 20, 10_000, 2_000, 1.0, (25, 50, 100, 200, 400, 800, 1_600), 60),
}


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
    embedder: EmbedderLike | None = None,
    group: str | Sequence[Sequence[Any]] | None = None,
    effort: Literal["quick", "normal", "thorough"] = "normal",
    effect: float = 0.1,
    power: float = 0.8,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
) -> Recommendation:
    """Find the metric to use: the best one, those statistically tied with it, how many texts they need, what they cost.

    Among tied metrics the one with the best record on published data is named first. Give two corpora, or rated pairs,
    or a task with its data. Each effort is one fixed experiment: the answer is the same on every machine, but for the
    seconds.

    Parameters
    ----------
    reference
        The reference corpus: a file, sample, dataset or texts.
    candidate
        The corpus to compare with the reference.
    pairs
        A table, sample or dataset of rated pairs.
    left
        The column of the left texts of the pairs.
    right
        The column of the right texts of the pairs.
    rating
        A column of ratings of the pairs, larger for more similar, or several, one for each rater.
    task
        A task by name, such as clustering; it needs data.
    data
        The data of the task: a file, sample or dataset.
    metrics
        Metrics, separated by commas; by default all that can run here, except models and services.
    group
        A column that says which texts, or rated pairs, belong together: of a document, a user, a conversation. Needed
        are then so many groups. In Python also the labels of the texts of two corpora.
    embedder
        The embedder of metrics whose name has none. In Python also a function that gives vectors for a list of texts,
        or a model with a method `encode`.
    effort
        How large the experiments are: quick, normal or thorough.
    effect
        The share of foreign texts that a test should detect.
    power
        The probability that the test detects it.
    seed
        Random seed.
    out
        A folder that keeps the runs behind the answer; by default they are not kept.

    Examples
    --------
    >>> words = [f"{colour} {animal} {i}" for i in range(12) for colour in ("red", "blue") for animal in ("cat", "dog")]
    >>> cards = [f"pay the {what} by card {i}" for i in range(24) for what in ("rent", "fee")]
    >>> recommend(reference=words, candidate=cards, metrics="jsd@words,zipf@words", effort="quick", effect=0.5).choice
    ('jsd@words',)
    """
    if effort not in EFFORTS:
        raise UnknownName.among("effort", effort, list(EFFORTS))
    if not 0.0 < effect <= 1.0:
        raise InputError(f"the effect is a share of foreign texts above 0 and up to 1, not {effect}")
    if not 0.05 < power < 1.0:
        raise InputError(f"the power lies between 0.05, the level of the test, and 1, not {power}")
    two = reference is not None, candidate is not None
    if [any(two), pairs is not None, task is not None].count(True) != 1 or any(two) != all(two):
        raise InputError("give two corpora (reference and candidate), or rated pairs, or a task with its data")
    if task is not None and data is None:
        raise InputError(f"the task {task} needs data: a path, a sample or a dataset's name")
    if task is not None and any(kind.rated for kind in find_protocols(task)):
        pairs = data  # type: ignore[assignment]
    if group is not None and (task is not None if pairs is None else not isinstance(group, str)):
        raise ArgumentError("`group` is for two corpora, or a column of rated pairs")
    with contextlib.ExitStack() as stack:
        folder = out if out is not None else stack.enter_context(tempfile.TemporaryDirectory(prefix="textgauge-"))
        work = _Recommender(Store(folder), EFFORTS[effort], effort, metrics, power, seed, embedder)
        looked_at: list[Any] = []
        if pairs is not None:
            looked_at = [] if isinstance(pairs, PairSources) else [os.fspath(pairs)]
            named = {"left": left, "right": right, "rating": rating} if looked_at else {}
            columns = {"groups": group and {"group": group}, "scores": list_column_names(metrics)}
            given: dict[str, Any] = drop_none({"pairs": pairs, **named, **columns})
            found = work.recommend_for_pairs(Agreement.data.load(given, seed))
        elif task is not None:
            found = work.recommend_for_task(*load_task(task, data, Agreement.name))
        else:
            given = {"reference": reference, "candidate": candidate}
            looked_at = list(given.values())
            corpora = {role: load_corpus(source, role=role) for role, source in given.items()}
            labels = None if group is None else read_labels(corpora, given, group, None, "group")
            kept, belonging = (corpora, Belonging()) if labels is None else cut_uneven_groups(corpora, labels)
            names = tuple(get_source_name(source, role) for role, source in given.items())
            comparison = belonging.compare(kept["reference"], kept["candidate"])
            found = work.recommend_for_corpora(comparison, names, effect, belonging.notes)
        sign = find_repeating_column(looked_at) if looked_at and group is None else None
        what = "Ranks hold" if pairs is not None else "Power holds"
        return replace(found, warnings=(format_sign(sign, what), *found.warnings)) if sign else found


def list_usable_metrics(kind: Any) -> list[Any]:
    """Return one metric of every sort that may be installed, those that are used most first.

    Those that would call or fetch a model by name are left out; `blend` is there where its encoders are.
    """
    usual = split_names(ALL_METRICS if kind == "corpus" else PAIR_METRICS)
    usable = [metric for metric in list_metrics(kind=kind) if metric.needs not in BROUGHT]
    if kind == "pair" and all(is_available(name) for name in Blend.encoders()):
        usable.append(Blend())
    return sorted(usable, key=lambda metric: usual.index(metric.name) if metric.name in usual else len(usual))


@dataclass(frozen=True, eq=False)
class _Ranking:
    """The leaderboard of an experiment, and what it rests on."""

    plan: Plan
    board: Leaderboard
    observed: Mapping[str, Observations]
    failures: tuple[str, ...]
    unavailable: Sequence[str]
    results: Results

    @property
    def defined(self) -> list[Any]:
        """The metrics that have a value, best first."""
        metrics = {metric.key: metric for metric in self.plan.metrics}
        return [metrics[row.metric] for row in self.board if not np.isnan(row.overall)]


@dataclass(frozen=True, eq=False)
class _Recommender:
    """What all kinds of data have in common: where results go, the effort, the metrics asked for."""

    store: Store
    effort: Effort
    effort_name: str
    metrics: str | Sequence[Any] | None
    power: float
    seed: int
    embedder: EmbedderLike | None = None

    def recommend_for_pairs(self, sources: PairSources) -> Recommendation:
        """Rank metrics of pairs by their agreement with ratings."""
        Agreement().check(sources)
        some = sources.draw(self.effort.pairs, self.seed)
        usable: Any = list_usable_metrics("pair") if self.metrics is None else self.metrics
        is_cut = self.metrics is None and some.pairs.n_items > self.effort.slow_pairs
        slow = [metric for metric in usable if metric.name in _SLOW] if is_cut else []
        ranking, costs = self._rank_pair_metrics(
            Agreement(), some, some.left, [m for m in usable if m not in slow] if slow else None
        )
        there, count = sources.pairs.n_items, some.pairs.n_items
        begin_step("resampling pairs")
        best, *others = [metric.key for metric in ranking.defined] or [""]
        columns = ranking.observed[best].columns if best else {}
        similarity = {metric: -seen.value for metric, seen in ranking.observed.items()}
        options: dict[str, Any] = {"power": self.power, "seed": self.seed, "items": get_pair_groups(columns)}
        needed = [
            estimate_pairs_needed(similarity, columns["rating"].astype(np.float64), best, other, **options)
            for other in others
        ]
        drawn = [f"{count:,} of {there:,} pairs were drawn at random"] if count < there else []
        if slow and best:
            few = some.draw(self.effort.slow_pairs, self.seed)
            board = self._rank_pair_metrics(Agreement(), few, few.left, [best, *slow])[0].board
            where = f"on {few.pairs.n_items:,} pairs drawn at random"
            drawn.append(f"slow metrics next to {best}, {where}: {board.answer} Name metrics to rank them on all pairs")
        return self._answer(
            "pairs",
            (sources.name,),
            ranking,
            [choose_by_record("score pairs", ranking.board)],
            f"agreement with the ratings of {count:,} pairs",
            costs=costs,
            power=needed,
            notes=drawn,
            about={"power": self.power, "pairs": count},
        )

    def recommend_for_task(self, protocol: Task, sources: TaskSources) -> Recommendation:
        """Rank metrics of pairs by a task."""
        whole = getattr(protocol, protocol.size, 0)
        smaller = replace(protocol, **{protocol.size: int(self.effort.task * whole)}) if whole else protocol
        texts = next(smaller.trials(sources, self.seed)).pool
        ranking, costs = self._rank_pair_metrics(smaller, sources, texts)
        return self._answer(
            "task",
            (sources.name,),
            ranking,
            [Answer(f"do well in {protocol.name}", ranking.board.top, ranking.board)],
            f"the task {protocol.name}",
            costs=costs,
            notes=[f"the task was made smaller: {smaller.key.partition('|')[0]}"] if smaller != protocol else [],
        )

    def recommend_for_corpora(
        self, comparison: Comparison, names: tuple[str, ...], effect: float, notes: Sequence[str]
    ) -> Recommendation:
        """Rank metrics on mixtures of two corpora, and find how many texts they need to detect a mixture."""
        usable = list_usable_metrics("corpus") if self.metrics is None else self.metrics
        named = get_corpus_metrics(usable, self.embedder)
        metrics: list[CorpusMetric] = [metric.on_given(comparison) for metric in named]
        blind = [metric for metric in metrics if metric.reads_texts and not comparison.joint.pool.has_texts]
        if blind and self.metrics is not None:
            raise InputError(f"{blind[0].key} needs texts, but the corpora were given as embeddings")
        chosen = [metric for metric in metrics if metric not in blind]
        whole = Sources(",".join(names), {"a": comparison.reference, "b": comparison.candidate})
        sources, groups = take_texts(whole, self.effort.texts, comparison.groups)
        protocol = choose_mixtures(sources, self.effort)
        few = Comparison(*(sources.corpora[role].take(np.arange(4)) for role in "ab"))
        ranking = self._rank(protocol, sources, chosen, lambda metric: metric.measure(few))
        answers = [choose_by_record("rank corpora", ranking.board)]
        samples = Contaminated(sources, effect, self.seed, groups)
        detect, needed, tested = self._find_texts_needed(ranking, samples)
        size = f"metrics are tried on {len(sources.joint):,} of {len(comparison.joint):,} texts"
        n = min(_COST_TEXTS, sources.fewest)
        begin_step("timing")
        batch = next(Speed(n=n, largest=n, repetitions=1).trials(sources, self.seed))
        timed = [(metric, batch.seconds(metric, 0)) for metric in ranking.defined]
        warnings = list(find_confounds(comparison, [m for m in chosen if m.name != "fid"]))
        best = max((row.measures["accuracy"] for row in ranking.board), default=np.nan)
        if not best >= _HARDLY_ORDERED:
            poor = f"no metric orders mixtures of the corpora well (accuracy {best:.2f} at best, 0.5 by chance)"
            warnings.append(f"{poor}: they may be too alike to choose a metric by")
        return self._answer(
            "corpora",
            names,
            ranking,
            [*answers, *([detect] if detect else [])],
            f"{protocol.repetitions} repetitions of {protocol.k} mixtures of {protocol.n} texts",
            costs=_compute_costs(timed, n, sources.joint),
            power=needed,
            notes=[*notes, *([size] if len(sources.joint) < len(comparison.joint) else []), *tested],
            warnings=warnings,
            about={"effect": effect, "power": self.power},
        )

    def _rank_pair_metrics(
        self, protocol: Protocol, sources: Any, texts: Any, metrics: Sequence[Any] | str | None = None
    ) -> tuple[_Ranking, list[Row]]:
        """Rank metrics of pairs; a cost is that of a thousand pairs, by the results of the run."""
        usable = list_usable_metrics("pair") if self.metrics is None else self.metrics
        named = get_pair_metrics(usable if metrics is None else metrics, self.embedder)
        pair = Pairs(Corpus.of(["a red cat"]), Corpus.of(["a blue cat"]))
        ranking = self._rank(
            protocol, sources, named, lambda metric: metric.needs == "column" or metric.compute_items(pair)
        )
        each = {(one["metric"], one["protocol"]): one["each"] for one in sum_times([ranking.results])}
        places = [(metric, (metric.key, protocol.name)) for metric in ranking.plan.metrics]
        timed = [(metric, _COST_PAIRS * each[place]) for metric, place in places if place in each]
        return ranking, _compute_costs(timed, _COST_PAIRS, texts)

    def _rank(
        self, protocol: Protocol, sources: Data, named: Sequence[Any], try_metric: Callable[[Any], object]
    ) -> _Ranking:
        """Run the protocol and judge its metrics; without named metrics, those that are not installed are left out."""
        metrics, unavailable, reason = list[Any](), list[str](), "name at least one metric"
        for metric in named:
            begin_step(f"trying {metric.key}")
            try:
                with contextlib.suppress(ArithmeticError, LookupError, TypeError, ValueError):  # the run reports them
                    try_metric(metric)
                metrics.append(metric)
            except (MissingExtra, ResourceError) as error:
                if self.metrics is not None:
                    raise
                unavailable.append(metric.key)
                reason = str(error)
        if not metrics:
            raise InputError(reason)
        plan = Plan(protocol, sources, metrics, self.seed)
        with use_one_blas_thread():
            report = run([plan], self.store)
        begin_step("judging")
        results = Results(self.store)
        own = protocol, sources.fingerprint, self.seed  # other runs of the store do not count
        groups = [group for group in results.groups() if (group.protocol, group.fingerprint, group.seed) == own]
        keys = {metric.key for metric in metrics}
        observed = {key: seen for group in groups for key, seen in group.complete.items() if key in keys}
        ranked = [replace(groups[-1], observed=observed, missing={}, results=None)] if groups else []
        return _Ranking(plan, rank_metrics(ranked), observed, report.failures, unavailable, results)

    def _find_texts_needed(
        self, ranking: _Ranking, samples: Contaminated
    ) -> tuple[Answer | None, list[TextsNeeded], list[str]]:
        a, b = (len(rows) for rows in samples.sides)
        kind, fewest = ("texts", 4) if samples.groups is None else ("groups", FEWEST_GROUPS)
        if samples.most < fewest:
            return None, [], [f"power was not simulated: too few {kind} ({a:,} and {b:,})"]
        curves = dict[str, PowerCurve]()
        for metric in ranking.defined:
            begin_step(f"simulating tests with {metric.key}")
            design: dict[str, Any] = {"sizes": self.effort.sizes, "tests": self.effort.tests, "power": self.power}
            curves[metric.key] = simulate_tests(metric, samples, **design)
        board = rank_by_texts_needed(curves, samples)
        tested = [metric for metric in ranking.defined if metric.key in {*ranking.board.top, *board.top}]
        level = estimate_shared_level(tested, samples)
        order = [row.metric for row in board]
        rows = [TextsNeeded.of(metric, curve, level, samples.group_size) for metric, curve in curves.items()]
        rows.sort(key=lambda row: (order.index(row.metric), 0.0) if row.known else (len(order), row.low))
        tests, largest = sum(row.tests for row in rows), max(row.largest for row in rows)
        where = f"up to {largest:,} {kind} a side, drawn from {a:,} and {b:,}"
        notes = [f"power: {tests:,} simulated permutation tests at level 0.05 on samples of {where}"]
        if samples.groups is not None:
            notes.append("ranks by mixtures take texts as independent; the numbers of groups needed do not")
        return choose_by_record(f"detect {format_percent(samples.effect)} of foreign texts", board), rows, notes

    def _answer(
        self,
        kind: Any,
        data: tuple[str, ...],
        ranking: _Ranking,
        answers: Sequence[Answer],
        experiment: str,
        *,
        costs: Sequence[Row],
        notes: Sequence[str],
        power: Sequence[TextsNeeded] | Sequence[PairsNeeded] = (),
        warnings: Sequence[str] = (),
        about: Mapping[str, Any] | None = None,
    ) -> Recommendation:
        protocol, order = ranking.plan.protocol, [row.metric for row in ranking.board]
        absent = [f"not installed here: {join_words(ranking.unavailable)}"] if ranking.unavailable else []
        how = f"metrics are ranked by {experiment} (`textgauge run {protocol.name}`), effort {self.effort_name}"
        settings = {"effort": self.effort_name, "seed": self.seed, "protocol": protocol.key, "experiment": experiment}
        return Recommendation(
            kind=kind,
            data=data,
            answers=tuple(answers),
            power=tuple(power),  # type: ignore[arg-type]
            costs=tuple(sorted(costs, key=lambda cost: order.index(cost["metric"]))),
            warnings=(*warnings, *ranking.failures),
            notes=(how, *ranking.board.notes, *notes, *absent),
            about=settings | dict(about or {}),
        )


@cache
def read_records() -> dict[str, tuple[float, str]]:
    """Return how well pair metrics did on nine published sets (`benchmarks/records.py`), with what the number is."""
    table = (files("textgauge.bench") / "records.csv").read_text("utf-8")
    return {row["metric"]: (float(row["record"]), row["what"]) for row in csv.DictReader(table.splitlines())}


def choose_by_record(purpose: str, board: Leaderboard) -> Answer:
    """Return the first metric of a board and those tied with it; of several, the one with the best record comes first.

    What comes first among tied metrics is chance, and what did well on many data is likely to do so again.
    """
    top, records = board.top, read_records()
    known = [metric for metric in top if metric in records]
    if len(top) < 2 or not known:
        return Answer(purpose, top, board)
    best = max(known, key=lambda metric: records[metric][0])
    value, what = records[best]
    return Answer(purpose, (best, *(metric for metric in top if metric != best)), board, f"{what}: {value:.2f}")


def take_texts(
    sources: Sources, count: int, groups: tuple[Ints, Ints] | None = None
) -> tuple[Sources, tuple[Ints, Ints] | None]:
    """Take this many different texts of each source in an order of their content, as good as random, with their labels.

    Groups are taken one after the other.
    """
    rows = {role: sources.distinct(role) for role in sources.corpora}
    if groups is not None:
        rows = {
            role: np.concatenate(split_by_label(own, of[own]))
            for (role, own), of in zip(rows.items(), groups, strict=True)
        }
    rows = {role: own[:count] for role, own in rows.items()}
    corpora = {role: compact_corpus(sources.corpora[role].take(own), ()) for role, own in rows.items()}
    labels = None if groups is None else (groups[0][rows["a"]], groups[1][rows["b"]])
    return Sources(sources.name, corpora), labels


def choose_mixtures(sources: Sources, effort: Effort) -> Ksc:
    """Return the mixtures of an effort, smaller where the sources hold too few different texts for them."""
    have = sources.fewest
    for k, least in ((7, 10), (5, 10), (4, 10), (3, 4)):
        for most in range(min(effort.mixture, 2 * have // k), least - 1, -1):
            with contextlib.suppress(InputError):
                Ksc(k=k, n=most).check(sources)
                n = max(min(have * 2 // k // _POOLS, most), min(_FEWEST_OF_MIXTURE, most))
                return Ksc(k=k, n=n, repetitions=effort.repetitions)
    raise InputError(f"{sources.name}: too few different texts to rank metrics; give at least 20 of each")


@dataclass(frozen=True, kw_only=True)
class _Detection(Protocol):
    """How few texts a metric's test needs, on a scale of logarithms: 1 for one text, 0 for two million."""

    name = "detection"
    resampled = "texts"  # samples are drawn again, from the same texts
    measures = (Measure("detection", about="1 − log(texts needed)/log(2,000,000)"),)


def rank_by_texts_needed(curves: Mapping[str, PowerCurve], samples: Contaminated) -> Leaderboard:
    """Rank metrics by the number of texts they need, fewest first; those without a known number are left out.

    What is resampled is the number of texts itself, as likely as simulated tests make it.
    """

    def scale(texts: Any) -> Any:
        return 1.0 - np.log(texts) / np.log(MOST)

    judged = {}
    for place, (metric, curve) in enumerate(curves.items()):
        needed = TextsNeeded.of(metric, curve)
        if needed.known:
            drawn = scale(curve.draw(RESAMPLES, np.random.default_rng([samples.seed, place])))
            value = float(scale(curve.texts))
            judged[metric] = [Verdict("detection", value, values=(value,), draws=tuple(drawn), units=needed.tests)]
    group = Group(samples.sources.name, _Detection(), samples.seed, judged=judged)
    return rank_metrics([group]) if judged else Leaderboard((), ())


def _compute_costs(timed: Sequence[tuple[Any, float]], size: int, texts: Any) -> list[Row]:
    """Add the CPU seconds of embedding twice as many texts as the size, by a few texts, past the cache."""
    each: dict[str, float] = {}
    costs = list[Row]()
    for metric, seconds in timed:
        embeds = not metric.reads_texts if isinstance(metric, CorpusMetric) else metric.needs == "embeddings"
        name = (metric.embedder if isinstance(metric, CorpusMetric) else metric.on) if embeds else None
        name = None if name == GIVEN else name  # ready-made embeddings need none
        if name and name not in each:
            some = list(texts.texts[:_TIMED_TEXTS])
            encoder = get_embedder(name)
            encoder.encode(some[:1])  # the first use loads the model
            start = time.process_time()
            encoder.encode(some)
            each[name] = (time.process_time() - start) / len(some)
        embedding = {"embedding_seconds": 2 * size * each[name] if name else 0.0, "embedder": name}
        costs.append({"metric": metric.key, "seconds": seconds, "size": size, **embedding})
    return costs
