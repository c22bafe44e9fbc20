"""`compare` for corpora larger than memory: texts are counted, then read once, and each metric takes what it needs.

*sums* (`fid`, `energy` by cosine, `jsd`, …) are taken while reading: exact, with intervals and tests from groups of
texts. *blocks* (`pr`, `mmd`, …) are computed from all pairs of rows, which are kept on disk: exact, or on a sample
where that is asked for. *fitted* metrics (`mauve`, `classifier`, …) see a sample. The result says which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial

from textgauge.core.errors import InputError
from textgauge.core.parallel import one_blas_thread
from textgauge.core.progress import Stage, Step, counting
from textgauge.core.tabular import listed
from textgauge.data.stream import ArrayStream, Stream
from textgauge.measure.comparing.compare import (
    UncertaintyOptions,
    add_null_range,
    add_uncertainty,
    adjust,
    limit_blas_threads,
    not_measured,
)
from textgauge.measure.comparing.report import IN_PARTS, CompareReport
from textgauge.measure.comparing.stream_reading import Read, Streams, is_sampled, read_streams, sums_wanted
from textgauge.measure.comparing.warnings import find_confounds, find_undefined
from textgauge.metrics import CorpusMetric, Score, grouped
from textgauge.metrics.null_values import NullValues
from textgauge.metrics.uncertainty import Parts, student_reach

SAMPLE = 10_000  # texts of each corpus that fitted metrics see
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

    Of metrics that nobody chose, those of all pairs are left out without it, and those of texts for embeddings.
    """
    if len({isinstance(stream, ArrayStream) for stream in streams}) > 1:
        raise InputError("cannot join texts with embeddings: give both corpora as texts, or both as embeddings")
    given = isinstance(streams[0], ArrayStream)
    slow = [] if chosen or approx is not None else [metric for metric in metrics if metric.grows == "blocks"]
    if given and not chosen:
        metrics = [metric for metric in metrics if not metric.on_embeddings().reads_texts]
    metrics = [_fitting(metric.with_default_seed(options.seed), given) for metric in metrics if metric not in slow]
    sizes = _count(streams, on_step)  # damage is found before anything is embedded
    on_step("loading models")
    wanted, missing = sums_wanted(next(streams[0].partitions()), metrics, approx)
    groups = (grouped.group_numbers(*sizes) if options.ci or options.test else None) or (1, 1)
    read = read_streams(streams, sizes, wanted, groups, on_step, executor)
    usable = [metric for metric in metrics if metric.key not in missing]
    results: Results = {
        metric.key: (not_measured(metric, read.comparison, missing[metric.key]), None)
        for metric in metrics
        if metric.key in missing
    }
    with one_blas_thread():
        results |= _of_sums(read, [metric for metric in usable if metric.grows == "sums"], options, on_step)
    sampled = [metric for metric in usable if is_sampled(metric, approx)]
    results |= _of_pairs(read, [m for m in usable if m.grows != "sums" and m not in sampled], options, on_step)
    results |= _of_sample(read, sampled, approx or SAMPLE, options, on_step)
    scores = [results[metric.key][0] for metric in metrics]
    for score in scores:
        on_score(score)
    if options.test:
        scores = adjust(scores, [results[metric.key][1] for metric in metrics])
    notes = [*_notes(usable, sampled, read, approx, options), *_left_out(slow)]
    return CompareReport(tuple(scores), (*notes, *find_undefined(scores), *find_confounds(read.comparison, usable)))


def _count(streams: Streams, on_step: Step) -> tuple[int, int]:
    def one(role: str, stream: Stream) -> int:
        return stream.count(lambda found: on_step(f"counting the {role}: {found:,} texts"))

    return one("reference", streams[0]), one("candidate", streams[1])


def _fitting(metric: CorpusMetric, given: bool) -> CorpusMetric:
    moved = metric.on_embeddings() if given else metric
    if given and moved.reads_texts:
        raise InputError(f"{metric.key} needs texts, but the corpora were given as embeddings")
    return moved


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
    on_step("exchanging groups of texts")
    draws = grouped.exchanges(units, options.permutations, options.seed)
    with counting(on_step, "exchanges"):
        found = grouped.values_of_draws(defined, read.sums, draws)
    nulls = {metric.key: grouped.null_of(metric, values) for metric, values in zip(defined, found, strict=True)}
    if options.ci:
        on_step("intervals from groups of texts")
        parts, reach = Parts.of(units, trials=grouped.TRIALS, seed=options.seed), student_reach(options.level, units)
        with counting(on_step, "parts for the intervals"):
            found = grouped.values_of_draws(defined, read.sums, parts.draws)
        for metric, values in zip(defined, found, strict=True):
            score, null = scores[metric.key], nulls[metric.key]
            scores[metric.key] = grouped.interval(metric, score, values, parts, reach, null)
    for metric in defined:
        null = nulls[metric.key]
        score = add_null_range(scores[metric.key], null, has_times=metric.has_times)
        if options.test:
            score = replace(score, p_value=null.p_value, p_error=null.p_error, test=null.method)
        scores[metric.key] = score
    return {key: (score, nulls.get(key)) for key, score in scores.items()}


def _without_uncertainty(score: Score, reason: str) -> Score:
    return score if score.reason is not None else replace(score, no_interval=f"{score.metric} has {reason}")


def _of_pairs(read: Read, metrics: Sequence[CorpusMetric], options: UncertaintyOptions, on_step: Step) -> Results:
    results: Results = {}
    embedder, comparison = "", read.comparison
    for number, metric in enumerate(sorted(metrics, key=lambda metric: metric.embedder)):
        on_step(Stage(metric.key, number, len(metrics), "measuring"))
        if metric.embedder != embedder:  # metrics of one embedder share what a view remembers; then it goes
            embedder, comparison = metric.embedder, read.view()
        with counting(on_step, f"{metric.key}: pairs of texts"), limit_blas_threads(comparison):
            score = metric.measure(comparison)
        if options.ci or options.test:
            score = _without_uncertainty(
                score,
                "no interval and no null range: these take all pairs of texts again; a sample has them (approx)",
            )
        results[metric.key] = score, None
    return results


def _of_sample(
    read: Read, metrics: Sequence[CorpusMetric], size: int, options: UncertaintyOptions, on_step: Step
) -> Results:
    if not metrics:
        return {}
    on_step(f"drawing a sample of {size:,} texts")
    comparison = read.sample(size, options.seed)
    results: Results = {}
    for number, metric in enumerate(metrics):
        on_step(Stage(metric.key, number, len(metrics), "measuring on a sample"))
        score, null = add_uncertainty(metric.measure(comparison), metric, comparison, options, on_step)
        results[metric.key] = replace(score, signature=f"{score.signature}|sample={size},seed={options.seed}"), null
    return results


def _notes(
    metrics: Sequence[CorpusMetric],
    sampled: Sequence[CorpusMetric],
    read: Read,
    approx: int | None,
    options: UncertaintyOptions,
) -> list[str]:
    sizes = len(read.comparison.reference), len(read.comparison.candidate)
    found = [f"{IN_PARTS}: {sizes[0]:,} and {sizes[1]:,} texts"]
    whole = [metric.key for metric in metrics if metric not in sampled]
    if whole:
        found.append(f"{listed(whole)}: from all texts")
    if sampled:
        seen = " and ".join(f"{min(approx or SAMPLE, size):,}" for size in sizes)
        names = listed([metric.key for metric in sampled])
        found.append(f"{names}: from a sample of {seen} texts, drawn with seed {options.seed}")
    return found


def _left_out(slow: Sequence[CorpusMetric]) -> list[str]:
    names = listed([metric.key for metric in slow])
    return (
        [f"left out, because they take all pairs of texts: {names}; name them, or measure them on a sample (approx)"]
        if slow
        else []
    )
