"""`compare` for corpora larger than memory: texts are counted, then read once, and each metric takes what it needs.

*sums* (`fid`, `energy` by cosine, `jsd`, …) are taken while reading: exact, with intervals and tests from groups of
texts. *blocks* (`pr`, `mmd`, …) are computed from all pairs of rows, which are kept on disk: exact, or on a sample
where that is asked for. *fitted* metrics (`mauve`, `classifier`, …) see a sample. The result says which.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from textgauge.arrays import Floats, Ints
from textgauge.comparing.compare import (
    Missing,
    UncertaintyOptions,
    add_null_range,
    add_uncertainty,
    adjust,
    blas_threads,
    not_measured,
)
from textgauge.comparing.report import CompareReport
from textgauge.comparing.warnings import confounds, undefined
from textgauge.data import GIVEN, Comparison, Corpus
from textgauge.data.blocks import BLOCK, EncodedTexts, embed_blocks
from textgauge.data.pool import PADDED
from textgauge.data.source import check_different
from textgauge.data.stored import RowFile, StoredPool
from textgauge.data.stream import ArrayStream, Partition, Stream
from textgauge.encode.embedders import embedder
from textgauge.encode.tokenizers import tokenizer
from textgauge.errors import InputError, MissingExtra, ResourceError
from textgauge.metrics import CorpusMetric, Score, grouped
from textgauge.metrics.null_values import NullValues
from textgauge.metrics.readable import PIECES, reads_pieces
from textgauge.metrics.sums import COUNTS, KEYS, SCRIPTS, UNKNOWN, WORDS, CorpusSums, SumsWanted, sum_partition
from textgauge.metrics.uncertainty import Parts, student_reach
from textgauge.numerics.progress import listening
from textgauge.parallel import map_ordered, one_blas_thread, workers, workers_of
from textgauge.progress import Stage, Step
from textgauge.tabular import format_duration, listed

SAMPLE = 10_000  # texts of each corpus that fitted metrics see
Streams = tuple[Stream, Stream]
Results = dict[str, tuple[Score, NullValues | None]]


def compare_streams(
    streams: Streams,
    metrics: Sequence[CorpusMetric],
    options: UncertaintyOptions,
    *,
    approx: int | None = None,
    chosen: bool = True,
    on_step: Step,
    on_score: Callable[[Score], None] = lambda _: None,
    executor: Executor | None = None,
) -> CompareReport:
    """Measure two streams. `approx` is the size of the samples that metrics of pairs see, too; None for all texts.

    Of metrics that nobody chose, those of all pairs are left out without it.
    """
    if len({isinstance(stream, ArrayStream) for stream in streams}) > 1:
        raise InputError("cannot join texts with embeddings: give both corpora as texts, or both as embeddings")
    given = isinstance(streams[0], ArrayStream)
    slow = [] if chosen or approx is not None else [metric for metric in metrics if metric.grows == "blocks"]
    metrics = [_fitting(metric.with_default_seed(options.seed), given) for metric in metrics if metric not in slow]
    on_step("counting texts")
    sizes = streams[0].count(), streams[1].count()  # damage is found before anything is embedded
    wanted, missing = _wanted(next(streams[0].partitions()), metrics, approx)
    groups = (grouped.group_numbers(*sizes) if options.ci or options.test else None) or (1, 1)
    read = read_streams(streams, sizes, wanted, groups, on_step, executor)
    usable = [metric for metric in metrics if metric.key not in missing]
    results: Results = {
        metric.key: (not_measured(metric, read.comparison, missing[metric.key]), None)
        for metric in metrics
        if metric.key in missing
    }
    results |= _of_sums(read, [metric for metric in usable if metric.grows == "sums"], options, on_step)
    sampled = [metric for metric in usable if _is_sampled(metric, approx)]
    results |= _of_pairs(read, [m for m in usable if m.grows != "sums" and m not in sampled], options, on_step)
    results |= _of_sample(read, sampled, approx or SAMPLE, options, on_step)
    scores = [results[metric.key][0] for metric in metrics]
    for score in scores:
        on_score(score)
    if options.test:
        scores = adjust(scores, [results[metric.key][1] for metric in metrics])
    notes = [
        f"read in parts, no text kept in memory: {_sizes(read.comparison)} texts",
        *_sample_notes(sampled, read, approx, options),
    ]
    if slow:
        names = listed([metric.key for metric in slow])
        notes.append(f"left out, because they take all pairs of texts: {names}; name them, or give approx")
    return CompareReport(tuple(scores), (*notes, *undefined(scores), *confounds(read.comparison, usable)))


def _fitting(metric: CorpusMetric, given: bool) -> CorpusMetric:
    moved = metric.on_embeddings() if given else metric
    if given and moved.reads_texts:
        raise InputError(f"{metric.key} needs texts, but the corpora were given as embeddings")
    return moved


def _is_sampled(metric: CorpusMetric, approx: int | None) -> bool:
    return metric.grows == "fitted" or (metric.grows == "blocks" and approx is not None)


def _sizes(comparison: Comparison) -> str:
    return f"{len(comparison.reference):,} and {len(comparison.candidate):,}"


def _wanted(first: Partition, metrics: Sequence[CorpusMetric], approx: int | None) -> tuple[SumsWanted, dict[str, str]]:
    """What metrics need of a partition, and those whose model or package is missing, with the reason.

    The first texts of the reference give the centres: any centre is right, one amid the rows keeps digits.
    """
    errors: dict[str, Missing] = {}
    centres: dict[str, Floats] = {}
    for metric in metrics:
        try:
            if metric.needs == "tokens":
                tokenizer(metric.on.removesuffix(PADDED)).encode(["a"])
            elif not metric.reads_texts and metric.embedder not in centres:
                centres[metric.embedder] = _centre(first, metric.embedder)
        except (ResourceError, MissingExtra) as error:
            errors[metric.key] = error
    if len(errors) == len(metrics):
        raise next(iter(errors.values()))
    usable = [metric for metric in metrics if metric.key not in errors]
    kinds: dict[str, dict[str, None]] = {}
    for metric in usable:
        if metric.summed and COUNTS not in metric.summed:
            kinds.setdefault(metric.embedder, {}).update(dict.fromkeys(metric.summed))
    exact = [m.embedder for m in usable if m.grows == "blocks" and not _is_sampled(m, approx)]
    # A sample's vectors are taken from those of all texts where these are computed anyway.
    shared = [m.embedder for m in usable if _is_sampled(m, approx) and not m.reads_texts and m.embedder in kinds]
    wanted = SumsWanted(
        tokenizers=tuple(dict.fromkeys(m.on for m in usable if COUNTS in m.summed)),
        embeddings=tuple((name, tuple(found)) for name, found in kinds.items()),
        centres=tuple((name, centres[name]) for name in kinds),
        kept=tuple(dict.fromkeys([*exact, *shared])),
        readable=any(map(reads_pieces, usable)),
    )
    return wanted, {key: str(error) for key, error in errors.items()}


def _centre(first: Partition, name: str) -> Floats:
    if name == GIVEN:
        rows = first.rows
    elif first.texts is None:
        raise InputError("the corpora were given as embeddings; their texts are not known")
    else:
        texts = first.texts[:BLOCK]
        rows = embed_blocks(embedder(name), texts, EncodedTexts.of(texts))
    return np.asarray(rows[:BLOCK].mean(axis=0, dtype=np.float64))  # type: ignore[index]


@dataclass(frozen=True)
class Read:
    """What reading two streams left: their sums, and a comparison whose rows are on disk."""

    streams: Streams
    sums: tuple[CorpusSums, CorpusSums]
    comparison: Comparison
    kept: frozenset[str]

    def view(self) -> Comparison:
        """The comparison anew, with nothing remembered."""
        sides = self.comparison.reference, self.comparison.candidate
        return Comparison(*(Corpus(side.pool, side.index) for side in sides))

    def sample(self, size: int, seed: int) -> Comparison:
        """At most so many texts of each corpus, chosen by content and seed, with the vectors that were kept."""
        pool, corpora = self.comparison.joint.pool, []
        for stream, side in zip(self.streams, (self.comparison.reference, self.comparison.candidate), strict=True):
            rows = _drawn(side, size, seed)
            if isinstance(stream, ArrayStream):
                corpora.append(Corpus.of(np.asarray(stream.array[rows])))
                continue
            corpora.append(Corpus.of(stream.take(rows)))
            for name in self.kept:
                corpora[-1].pool.adopt("embeddings", name, pool.embeddings(name)[side.index[rows]])
        return Comparison(*corpora)


def _drawn(side: Corpus, size: int, seed: int) -> Ints:
    """Rows in rising order, the same texts whatever their order in the file."""
    order = np.argsort(side.keys, kind="stable")
    chosen = np.random.default_rng([seed, 23]).choice(len(order), min(size, len(order)), replace=False)
    return np.sort(order[chosen])


def read_streams(
    streams: Streams,
    sizes: tuple[int, int],
    wanted: SumsWanted,
    groups: tuple[int, int],
    on_step: Step,
    executor: Executor | None,
) -> Read:
    """Read both streams once: the sums that metrics need, and on disk the rows that they need."""
    vocabularies: dict[str, dict[str, int]] = {}
    files = {name: RowFile() for name in wanted.kept}
    first, second = (CorpusSums(vocabularies, replace(wanted, groups=number)) for number in groups)
    # Here, too: a limit that each thread sets and lifts by itself would be lifted by the first that ends.
    with one_blas_thread(), _opened(executor) as (pool, ahead):
        for role, stream, size, side in zip(("reference", "candidate"), streams, sizes, (first, second), strict=True):
            for part in map_ordered(pool, partial(sum_partition, wanted=side.wanted), stream.partitions(), ahead=ahead):
                side.add(part)
                for name, rows in part.kept.items():
                    files[name].append(rows)
                done = int(side.texts.sum())
                on_step(Stage(f"reading the {role}: {done:,} of {size:,} texts", done, size, f"reading the {role}"))
    return Read(streams, (first, second), _comparison(streams, (first, second), files), frozenset(files))


@contextlib.contextmanager
def _opened(executor: Executor | None) -> Iterator[tuple[Executor, int]]:
    """An executor, and how many partitions it is given before the first is taken back."""
    if executor is not None:
        yield executor, 2 * workers_of(executor)
        return
    with ThreadPoolExecutor(workers()) as threads:
        yield threads, workers()


def _comparison(streams: Streams, sums: tuple[CorpusSums, CorpusSums], files: dict[str, RowFile]) -> Comparison:
    facts = {name: np.concatenate([part for side in sums for part in side.facts[name]]) for name in sums[0].facts}
    rows = {name: file.array() for name, file in files.items()}
    dimensions = {name: len(centre) for name, centre in sums[0].wanted.centres}
    pool = StoredPool(streams, facts[KEYS], rows, dimensions)
    for kind, name in ((WORDS, ""), (SCRIPTS, ""), (UNKNOWN, PIECES)):
        if kind in facts:
            pool.adopt(kind, name, facts[kind])
    n = int(sums[0].texts.sum())
    comparison = Comparison(Corpus(pool, np.arange(n)), Corpus(pool, np.arange(n, pool.size)))
    check_different(comparison.reference, "reference")
    check_different(comparison.candidate, "candidate")
    return comparison


def _of_sums(read: Read, metrics: Sequence[CorpusMetric], options: UncertaintyOptions, on_step: Step) -> Results:
    P, Q = (side.total() for side in read.sums)
    scores = {metric.key: metric.measure(read.comparison, partial(metric.of_sums, P, Q)) for metric in metrics}
    defined = [metric for metric in metrics if scores[metric.key].reason is None]
    if not defined or not (options.ci or options.test):
        return {key: (score, None) for key, score in scores.items()}
    if read.sums[0].wanted.groups == 1:
        reason = (
            "no interval and no null range: one corpus has over seven times the texts of the other; take a part of it"
        )
        return {key: (_without_uncertainty(score, reason), None) for key, score in scores.items()}
    units = grouped.units(*read.sums)
    if options.ci:
        on_step("intervals from groups of texts")
        parts, reach = Parts.of(units, trials=grouped.TRIALS, seed=options.seed), student_reach(options.level, units)
        for metric, values in zip(defined, grouped.values_of_draws(defined, read.sums, parts.draws), strict=True):
            scores[metric.key] = grouped.interval(metric, scores[metric.key], values, parts, reach)
    on_step("exchanging groups of texts")
    draws = grouped.exchanges(units, options.permutations, options.seed)
    found = grouped.values_of_draws(defined, read.sums, draws)
    nulls = {metric.key: grouped.null_of(metric, values) for metric, values in zip(defined, found, strict=True)}
    for metric in defined:
        null = nulls[metric.key]
        score = add_null_range(scores[metric.key], null, has_times=metric.has_times)
        if options.test:
            score = replace(score, p_value=null.p_value, p_error=null.p_error, test=grouped.EXCHANGED)
        scores[metric.key] = score
    return {key: (score, nulls.get(key)) for key, score in scores.items()}


def _without_uncertainty(score: Score, reason: str) -> Score:
    return score if score.reason is not None else replace(score, no_interval=f"{score.metric} has {reason}")


def _of_pairs(read: Read, metrics: Sequence[CorpusMetric], options: UncertaintyOptions, on_step: Step) -> Results:
    results: Results = {}
    on, comparison = "", read.comparison
    for metric in sorted(metrics, key=lambda metric: metric.on):
        on_step(metric.key)
        if metric.on != on:  # metrics of one input share what a view remembers; then it goes
            on, comparison = metric.on, read.view()
        with listening(PairProgress(metric.key, on_step)), blas_threads(comparison):
            score = metric.measure(comparison)
        if options.ci or options.test:
            score = _without_uncertainty(
                score, "no interval and no null range from all pairs of so many texts; approx gives them"
            )
        results[metric.key] = score, None
    return results


@dataclass
class PairProgress:
    """Says how many pairs of a pass are done, at most twice a second, and how long the rest takes at that pace."""

    name: str
    on_step: Step
    clock: Callable[[], float] = time.perf_counter
    _start: float = 0.0
    _shown: float = 0.0
    _last: tuple[int, int] = (0, 0)

    def __call__(self, done: int, total: int) -> None:
        """Take a report; fewer pairs than before, or others, begin a new pass."""
        now = self.clock()
        if done < self._last[0] or total != self._last[1]:
            self._start = self._shown = now
        elif now - self._shown >= 0.5:
            left = (now - self._start) * (total - done) / max(done, 1)
            self._shown = now
            self.on_step(f"{self.name}: {100 * done // total} % of {total:,} pairs, about {format_duration(left)} left")
        self._last = done, total


def _of_sample(
    read: Read, metrics: Sequence[CorpusMetric], size: int, options: UncertaintyOptions, on_step: Step
) -> Results:
    if not metrics:
        return {}
    comparison = read.sample(size, options.seed)
    results: Results = {}
    for metric in metrics:
        on_step(metric.key)
        score, null = add_uncertainty(metric.measure(comparison), metric, comparison, options)
        results[metric.key] = replace(score, signature=f"{score.signature}|sample={size},seed={options.seed}"), null
    return results


def _sample_notes(
    metrics: Sequence[CorpusMetric], read: Read, approx: int | None, options: UncertaintyOptions
) -> list[str]:
    if not metrics:
        return []
    sizes = " and ".join(
        f"{min(approx or SAMPLE, len(side)):,}" for side in (read.comparison.reference, read.comparison.candidate)
    )
    return [
        f"{listed([metric.key for metric in metrics])}: from a sample of {sizes} texts, drawn with seed {options.seed}"
    ]
