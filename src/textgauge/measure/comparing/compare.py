"""`compare`: two corpora, many metrics, with uncertainty on every number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack, overload

from textgauge.core.errors import InputError, MissingExtra, ResourceError
from textgauge.core.parallel import dask_executor
from textgauge.core.progress import Stage, Step, counting, show_in_notebook
from textgauge.data import Comparison, load_corpus
from textgauge.data.source import Source, stream_of
from textgauge.data.stream import Stream, is_large
from textgauge.measure.comparing.report import CompareReport
from textgauge.measure.comparing.terms import Terms, separating_terms
from textgauge.measure.comparing.warnings import confounds, undefined
from textgauge.metrics import CorpusMetric, Score, get_corpus_metrics
from textgauge.metrics.base import Undefined
from textgauge.metrics.ground_matrix import ground_matrix
from textgauge.metrics.null_values import NullValues, adjusted

if TYPE_CHECKING:
    from textgauge.measure.comparing.many import ManyReport

Missing: TypeAlias = ResourceError | MissingExtra

_WORTH_BLAS_THREADS = 4_000  # texts; with fewer, threads of one product wait for each other longer than they work
_MOST_PERMUTATIONS = 1_000_000
_WORTH_WORDS = 50_000  # texts; counting the words of more would take longer than comparing them
PERMUTATIONS = 199  # p-values down to 0.005, and a null range from the 5th smallest to the 5th largest value
# Tested within seconds for a thousand texts a side; fid takes as long as all of them together.
MANY_METRICS = "energy,mauve,pr,jsd"
DEFAULT_METRICS = "energy,mmd,mauve,pr,dc,irpr,medoid,classifier,cbdf,jsd,zipf,vocab_overlap"


@dataclass(frozen=True)
class UncertaintyOptions:
    """Which kinds of uncertainty to compute, and how."""

    ci: bool
    test: bool
    level: float
    permutations: int
    seed: int

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1:
            raise InputError(f"the level of an interval lies between 0.5 and 1, not {self.level}")
        if self.permutations < 1:
            raise InputError(f"a permutation test needs at least 1 permutation, not {self.permutations}")
        if self.permutations > _MOST_PERMUTATIONS:
            raise InputError(f"at most {_MOST_PERMUTATIONS:,} permutations are made, not {self.permutations:,}")


class _Options(TypedDict, total=False):
    """The options of `compare`, by name."""

    metrics: str | Iterable[str | CorpusMetric]
    ci: bool
    test: bool
    level: float
    permutations: int
    seed: int
    foreign: Source | None
    explain: bool
    paired: bool
    column: str | None
    approx: int | None
    scheduler: str | None
    on_step: Step
    on_score: Callable[[Score], None]


@overload
def compare(reference: Source, candidate: Source, **options: Unpack[_Options]) -> CompareReport: ...
@overload
def compare(reference: Source, candidate: Mapping[str, Source], **options: Unpack[_Options]) -> ManyReport: ...
def compare(
    reference: Source,
    candidate: Source | Mapping[str, Source],
    *,
    metrics: str | Iterable[str | CorpusMetric] = DEFAULT_METRICS,
    ci: bool = False,
    test: bool = True,
    level: float = 0.95,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    foreign: Source | None = None,
    explain: bool = False,
    paired: bool = False,
    column: str | None = None,
    approx: int | None = None,
    scheduler: str | None = None,
    on_step: Step = show_in_notebook,
    on_score: Callable[[Score], None] = lambda _: None,
) -> CompareReport | ManyReport:
    """Measure how far the candidate corpus is from the reference corpus.

    Corpora are what `textgauge.data.load_corpus` reads: lists of texts, frames and their columns, `Corpus` objects,
    embedding arrays, a path, `PATH:COLUMN`, `sample:NAME`, a dataset's name; `column` names the column of files and
    frames. Blank texts are left out with a warning. The result begins with an answer: whether the corpora differ.

    Without `metrics` the usual ones are taken, of embeddings those that need no texts.
    `test` gives every value a permutation p-value for "same source", raw and adjusted for all metrics, `ci` an
    interval; either adds the null range, which holds the values to expect if both corpora came from one source.
    `foreign`, a third corpus, adds which share of its texts, mixed into the reference, would give the same `energy`.
    `explain` adds what each text contributes, for metrics that are sums over texts (see `textgauge.explain`).
    Several candidates, by name, are ranked (see `ManyReport`); `paired` is for those. `on_step` is called
    with the name of each step, `on_score` with each score before p-values are adjusted. A metric
    whose model or package is missing has no value and a reason; if that is every metric, the error is raised.

    Sources of more than 50,000 texts are read in parts and never held in memory (see docs/performance.md); a `Corpus`
    is in memory already, and `foreign` and `explain` need all texts there. The warnings of the report then say what was
    done. Metrics of all pairs of texts take long at that size; `approx=N` measures them on N texts of each corpus.
    `scheduler` is the address of a Dask scheduler whose workers read and embed the parts, or `local:N` for N processes
    here; the numbers are those of one process.

    >>> reference = ["a red cat", "a red dog", "a blue dog"]
    >>> report = compare(reference, ["one cat", "one dog", "a cow"], metrics="jsd@words")
    >>> report["jsd@words"].n_candidate
    3
    """
    options = UncertaintyOptions(ci, test, level, permutations, seed)
    if isinstance(candidate, Mapping):
        from textgauge.measure.comparing.many import compare_many

        if foreign is not None or explain or approx is not None or scheduler is not None:
            raise InputError("foreign, explain, approx and scheduler are for one candidate; compare them one by one")
        how: dict[str, Any] = {"ci": ci, "test": test, "level": level, "permutations": permutations, "seed": seed}
        how |= {"paired": paired, "column": column, "on_step": on_step}
        chosen_many = MANY_METRICS if metrics == DEFAULT_METRICS else metrics
        return compare_many(reference, candidate, metrics=chosen_many, **how)
    if paired:
        raise InputError("paired is for several candidates, whose texts belong together")
    streams = (
        None if foreign is not None or explain else _streams(reference, candidate, column, small=scheduler is not None)
    )
    if streams is not None:
        from textgauge.measure.comparing.streamed import compare_streams

        with dask_executor(scheduler) as cluster:
            return compare_streams(
                streams,
                get_corpus_metrics(metrics),
                options,
                approx=approx,
                chosen=metrics != DEFAULT_METRICS,
                on_step=on_step,
                on_score=on_score,
                executor=cluster,
            )
    if scheduler is not None:
        raise InputError("a scheduler needs files, lists or arrays, which are read in parts, and no foreign or explain")
    comparison, chosen, missing = prepared(reference, candidate, metrics, seed, on_step, column=column)
    scores, nulls, notes = list[Score](), list[NullValues | None](), list[str]()
    for metric in chosen:
        if metric.key not in missing:
            metric.ask_pairs(comparison)
    with blas_threads(comparison):
        for number, metric in enumerate(chosen):
            on_step(Stage(metric.key, number, len(chosen), "measuring and testing" if test else "measuring"))
            reason = missing.get(metric.key)
            with counting(on_step, f"{metric.key}: value"):
                score = metric.measure(comparison) if reason is None else not_measured(metric, comparison, reason)
            score, null = add_uncertainty(score, metric, comparison, options, on_step)
            scores.append(score)
            nulls.append(null)
            on_score(score)
        if test:
            scores = adjust(scores, nulls)
        if foreign is not None:
            from textgauge.measure.comparing.foreign_share import add_shares

            third = load_corpus(foreign, role="foreign", column=column)
            scores, notes = add_shares(scores, chosen, comparison, third, options, on_step)
        usable = [metric for metric in chosen if metric.key not in missing]
        terms = separating_terms(comparison) if len(comparison.joint) <= _WORTH_WORDS or explain else Terms.none()
        warned = (*undefined(scores), *notes, *confounds(comparison, usable))
        report = CompareReport(tuple(scores), warned, terms=terms)
        return _explained(report, comparison, chosen, on_step) if explain else report


def _streams(reference: Source, candidate: Source, column: str | None, *, small: bool) -> tuple[Stream, Stream] | None:
    """Both sources as streams, if they can be read in parts and one is too large for memory; or `small` ones too."""
    first, second = stream_of(reference, column=column), stream_of(candidate, column=column)
    if first is None or second is None or not (small or is_large(first) or is_large(second)):
        return None
    return first, second


def prepared(
    reference: Source,
    candidate: Source,
    metrics: str | Iterable[str | CorpusMetric],
    seed: int,
    on_step: Step,
    *,
    column: str | None = None,
) -> tuple[Comparison, list[CorpusMetric], dict[str, str]]:
    """The comparison of two corpora with the rows that metrics need, the metrics as they fit it, and what is missing.

    A metric whose model or package is missing is there by its key, with the reason; if that is every metric, the first
    error is raised.
    """
    known = {"reference": reference, "candidate": candidate}
    comparison = Comparison(*(load_corpus(source, role=role, column=column) for role, source in known.items()))
    chosen = [metric.with_default_seed(seed).on_given(comparison) for metric in get_corpus_metrics(metrics)]
    if metrics in (DEFAULT_METRICS, MANY_METRICS) and not comparison.joint.pool.has_texts:
        chosen = [metric for metric in chosen if not metric.reads_texts]
    errors = prepare(comparison, chosen, on_step)
    if len(errors) == len(chosen):
        raise next(iter(errors.values()))
    return comparison, chosen, {key: str(error) for key, error in errors.items()}


def blas_threads(comparison: Comparison) -> AbstractContextManager[Any]:
    """One thread for the products of few texts, all for those of many."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(
        1 if len(comparison.joint) < _WORTH_BLAS_THREADS else None, user_api="blas"
    )
    return limits


def _explained(
    report: CompareReport, comparison: Comparison, metrics: list[CorpusMetric], on_step: Step
) -> CompareReport:
    from textgauge.measure.comparing.explain import explanation_of

    on_step("explaining")
    pairs = [pair for pair in zip(metrics, report, strict=True) if pair[1].reason is None and pair[0].explains]
    found = {metric.key: explanation_of(metric, comparison, score, report.terms) for metric, score in pairs}
    return replace(report, explanations=found)


def prepare(comparison: Comparison, metrics: Sequence[CorpusMetric], on_step: Step) -> dict[str, Missing]:
    """Compute rows first, so that models run once and a metric's time is its own; give what is missing, by metric."""
    errors: dict[str, Missing] = {}
    tried: dict[str, Missing] = {}  # by input, so that a model is not looked for again
    for metric in metrics:
        if metric.reads_texts and not comparison.joint.pool.has_texts:
            raise InputError(f"{metric.key} needs texts, but the corpora were given as embeddings")
        rows = metric.on if metric.needs == "tokens" or metric.pair_ground else metric.embedder
        if rows not in tried:
            try:
                _prepare_rows(comparison, metric, on_step)
            except (ResourceError, MissingExtra) as error:
                tried[rows] = error
        if rows in tried:
            errors[metric.key] = tried[rows]
    return errors


def _prepare_rows(comparison: Comparison, metric: CorpusMetric, on_step: Step) -> None:
    if metric.pair_ground is not None:
        _prepare_ground(comparison, metric.pair_ground, on_step)
    elif metric.needs == "tokens":
        comparison.joint.pool.counts(metric.token_rows)
    else:
        on_step(f"embedding with {metric.embedder}")
        with counting(on_step, f"texts embedded with {metric.embedder}"):
            comparison.joint.pool.embeddings(metric.embedder)


def _prepare_ground(comparison: Comparison, name: str, on_step: Step) -> None:
    matrix = ground_matrix(comparison.joint.pool, name)
    matrix.rows(comparison.joint, lambda done, total: on_step(Stage(f"{name} of all pairs", done, total, name)))


def not_measured(metric: CorpusMetric, comparison: Comparison, reason: str) -> Score:
    """The score of a metric whose model or package is missing."""
    return Score(
        metric=metric.key,
        label=metric.shown_label,
        value=math.nan,
        parts={part.name: math.nan for part in metric.parts},
        reason=reason,
        n_reference=len(comparison.reference),
        n_candidate=len(comparison.candidate),
        seconds=0.0,
    )


def add_uncertainty(
    score: Score,
    metric: CorpusMetric,
    comparison: Comparison,
    options: UncertaintyOptions,
    on_step: Step = lambda _: None,
) -> tuple[Score, NullValues | None]:
    """The score with the uncertainty that is asked for, and the null values it comes from."""
    if score.reason is not None or not (options.ci or options.test):
        return score, None
    if options.ci:
        with counting(on_step, f"{metric.key}: parts for the interval"):
            score = _add_interval(score, metric, comparison, options)
    with counting(on_step, f"{metric.key}: permutations"):
        null = metric.null_values(comparison, permutations=options.permutations, seed=options.seed)
    score = add_null_range(score, null, has_times=metric.has_times)
    if options.test:
        score = replace(score, p_value=null.p_value, p_error=null.p_error, test=null.method)
    return score, null


def _add_interval(score: Score, metric: CorpusMetric, comparison: Comparison, options: UncertaintyOptions) -> Score:
    try:
        low, high, method = metric.interval(comparison, score, level=options.level, seed=options.seed)
    except Undefined as undefined:
        return replace(score, no_interval=str(undefined))
    return replace(score, low=low, high=high, interval=method)


def add_null_range(score: Score, null: NullValues, *, has_times: bool) -> Score:
    """The score with its null range."""
    low, high = null.range
    times = score.value / null.mean if has_times and null.mean > 0 else float("nan")
    return replace(score, null=null.mean, null_low=low, null_high=high, times=times, effect=null.effect)


def adjust(scores: Sequence[Score], nulls: Sequence[NullValues | None]) -> list[Score]:
    """p-values adjusted for all metrics that were tested."""
    found, method = adjusted([null for null in nulls if null is not None])
    p = iter(found.tolist())
    return [
        score if null is None else replace(score, p_adjusted=next(p), adjustment=method)
        for score, null in zip(scores, nulls, strict=True)
    ]
