"""`compare`: two corpora, several candidates or slice by slice, by many metrics, with uncertainty on every number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from textgauge.core.errors import ArgumentError, InputError, MissingExtra, ResourceError
from textgauge.core.parallel import open_dask_executor
from textgauge.core.progress import begin_step, name_counts
from textgauge.data import Comparison, LabelledTexts, load_corpus
from textgauge.data.large import load_comparison
from textgauge.data.pool import PADDED
from textgauge.data.source import Source
from textgauge.measure.compare_report import CompareReport
from textgauge.measure.confounds import Terms, find_confounds, find_separating_terms, find_undefined
from textgauge.measure.views import Views
from textgauge.metrics import CorpusMetric, Score, get_corpus_metrics
from textgauge.metrics.base import Undefined
from textgauge.metrics.grounds import get_ground_matrix
from textgauge.metrics.uncertainty import NullValues, adjust_p_values

Missing: TypeAlias = ResourceError | MissingExtra
Metrics: TypeAlias = str | Iterable[str | CorpusMetric]

_WORTH_BLAS_THREADS = 4_000  # texts; with fewer, threads of one product wait for each other longer than they work
_MOST_PERMUTATIONS = 1_000_000
_WORTH_WORDS = 50_000  # texts; counting the words of more would take longer than comparing them
PERMUTATIONS = 199  # p-values down to 0.005, and a null range from the 5th smallest to the 5th largest value
DEFAULT_METRICS = "energy,mmd,mauve,pr,dc,irpr,medoid,classifier,cbdf,jsd,zipf,vocab_overlap"
# Tested within seconds for a thousand texts a side; fid takes as long as all of them together.
MANY_METRICS = "energy,mauve,pr,jsd"
SLICE_METRICS = "energy"


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


def compare(
    reference: Source | LabelledTexts,
    candidate: Source | LabelledTexts | Mapping[str, Source | LabelledTexts],
    *,
    metrics: Metrics | None = None,
    ci: bool = False,
    test: bool = True,
    parts: bool = False,
    foreign: Source | None = None,
    explain: bool = False,
    by: str | None = None,
    paired: bool = False,
    column: str | None = None,
    limit: int | None = None,
    approx: int | None = None,
    scheduler: str | None = None,
    level: float = 0.95,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    on_score: Callable[[Score], None] = lambda _: None,
) -> CompareReport:
    """Say whether two corpora differ, how far they are from each other, and which words separate them.

    Every value comes with a permutation p-value for "same source", as it is and adjusted for all metrics, and with
    its null range: the values to expect if both corpora came from one source. A metric whose model or package is
    missing has no value and a reason; if that is every metric, the error is raised.

    Several candidates, by name, are ranked: by each metric the differences between candidates have intervals that hold
    together at `level` for all pairs and metrics, from disjoint parts of the corpora, the reference cut alike for all;
    rank ranges and tiers follow. With `by`, p-values of all slices, candidates and metrics are adjusted together for
    the false discovery rate (Benjamini and Hochberg 1995), and the shares say how common a label is in both corpora.

    Texts and vectors of sources with more than 50,000 texts are kept on disk, and groups of texts are exchanged in
    place of single ones (see docs/tutorials/large-corpora.md); the warnings of the report then say what was done.
    `foreign` and `explain` hold all texts in memory.

    Parameters
    ----------
    reference
        The reference corpus: lists of texts, frames and their columns, `Corpus` objects, embedding arrays, a path,
        `PATH:COLUMN`, `sample:NAME`, a dataset's name. Blank texts are left out with a warning.
    candidate
        The corpus to compare with the reference. Several, by name, are ranked by their distance to it.
    metrics
        Metrics, separated by commas or repeated; `pr(k=3|5)` is a grid. By default the usual ones; of embeddings those
        that need no texts.
    ci
        Add a confidence interval to every value.
    test
        Test whether the corpora differ, with p-values adjusted for all metrics.
    parts
        Add precision, recall and other parts to the table.
    foreign
        A third corpus: estimate which share of its texts, mixed into the reference, gives the same energy.
    explain
        Show which texts contribute most to each metric, and which words separate the corpora; for metrics that are
        sums over texts.
    by
        A column of labels: compare the texts of each label separately, and say which labels differ. A label needs 20
        texts in both corpora.
    paired
        Text i of each candidate has the same prompt or parent, and so has text i of a reference as long.
    column
        The column that holds the texts, for tables; by default `text`, or the only column of texts.
    limit
        Use a random sample of this many texts of each corpus; by default all.
    approx
        From 50,000 texts on: compute metrics of all pairs of texts on samples of this size.
    scheduler
        Embed the texts on a Dask cluster: tcp://HOST:PORT, or local:N for N processes on this machine. The numbers are
        those of one process.
    level
        Confidence level of the intervals.
    permutations
        Number of permutations in the test.
    seed
        Random seed.
    on_score
        Called with each score before p-values are adjusted.

    Examples
    --------
    >>> reference = ["a red cat", "a red dog", "a blue dog"]
    >>> report = compare(reference, ["one cat", "one dog", "a cow"], metrics="jsd@words")
    >>> report["jsd@words"].n_candidate
    3
    >>> corpora = {"near": ["a red cat", "a red cow"] * 100, "far": ["ten big ships", "ten ships"] * 100}
    >>> report = compare(["a red cat", "a red dog"] * 100, corpora, metrics="jsd@words")
    >>> [(score.candidate, score.rank) for score in report]
    [('near', 1), ('far', 2)]
    """
    options = UncertaintyOptions(ci, test, level, permutations, seed)
    alone = {"foreign": foreign, "explain": explain, "approx": approx, "scheduler": scheduler}
    several = isinstance(candidate, Mapping)
    if by is not None:
        from textgauge.measure.candidates import compare_slices

        _refuse("{by}", alone | {"paired": paired, "limit": limit, "ci": ci, "test": not test})
        named: Any = candidate if several else {"candidate": candidate}
        report = compare_slices(reference, named, by, column, metrics or SLICE_METRICS, options, on_score)
    elif isinstance(candidate, Mapping):
        from textgauge.measure.candidates import compare_many

        _refuse("ranking several candidates", alone)
        if paired and limit is not None:
            raise ArgumentError("{limit} draws texts of each corpus alone, so that {paired} texts would not match")
        how: dict[str, Any] = {"paired": paired, "column": column, "limit": limit}
        report = compare_many(reference, candidate, metrics, options, on_score, **how)  # type: ignore[arg-type]
    else:
        _refuse("one candidate", {"paired": paired})
        given = [reference, candidate, foreign]
        if limit is not None:
            given = [
                source if source is None else load_corpus(source, column=column, limit=limit, seed=seed)  # type: ignore[arg-type]
                for source in given
            ]
        report = _compare_two(given, metrics, options, alone | {"column": column}, on_score)  # type: ignore[arg-type]
    return replace(report, parts=True) if parts else report


def _refuse(what: str, given: Mapping[str, Any]) -> None:
    name = next((name for name, value in given.items() if value not in (None, False)), None)
    if name is not None:
        raise ArgumentError(f"{what} does not take {{{name}}}")


def _compare_two(
    sources: Sequence[Source],
    metrics: Metrics | None,
    options: UncertaintyOptions,
    how: Mapping[str, Any],
    on_score: Callable[[Score], None],
) -> CompareReport:
    """Compare one candidate with the reference; `sources` are reference, candidate and foreign texts."""
    reference, candidate, foreign = sources
    explain, column, scheduler = how["explain"], how["column"], how["scheduler"]
    in_memory = foreign is not None or explain
    comparison = load_comparison(reference, candidate, column=column, seed=options.seed, in_memory=in_memory)
    views = Views(comparison, how["approx"], options.seed)
    chosen, left_out = choose_metrics(metrics, comparison, options.seed), list[str]()
    if metrics is None:
        chosen, left_out = views.drop_slow(chosen)
    with open_dask_executor(scheduler) as cluster:
        missing = prepare_rows(views, chosen, cluster)
    with limit_blas_threads(comparison):
        scores, warnings = measure_all(views, chosen, missing, options, on_score)
        if foreign is not None:
            from textgauge.measure.foreign_share import add_shares

            third = load_corpus(foreign, role="foreign", column=column)
            scores, notes = add_shares(scores, chosen, comparison, third, options)
            warnings = [*notes, *warnings]
        terms = find_separating_terms(comparison) if len(comparison.joint) <= _WORTH_WORDS or explain else Terms.none()
        seen = views.describe([metric for metric in chosen if metric.key not in missing])
        report = CompareReport(tuple(scores), (*seen, *left_out, *find_undefined(scores), *warnings), terms=terms)
        if not explain:
            return report
        from textgauge.measure.explaining import explain_score

        begin_step("explaining")
        explained = {
            metric.key: explain_score(metric, comparison, score, terms)
            for metric, score in zip(chosen, scores, strict=True)
            if score.reason is None and metric.explains
        }
        return replace(report, explanations=explained)


def prepare_two(
    reference: Source,
    candidate: Source,
    metrics: Metrics | None,
    seed: int,
    *,
    column: str | None = None,
    default: str = DEFAULT_METRICS,
) -> tuple[Comparison, list[CorpusMetric], dict[str, str]]:
    """Return the comparison of two corpora in memory, metrics as they fit it, and why some of these have no value."""
    comparison = load_comparison(reference, candidate, column=column, in_memory=True)
    chosen = choose_metrics(metrics, comparison, seed, default=default)
    return comparison, chosen, prepare_rows(Views(comparison), chosen)


def choose_metrics(
    metrics: Metrics | None, comparison: Comparison, seed: int, *, default: str = DEFAULT_METRICS
) -> list[CorpusMetric]:
    """Return metrics as they fit the comparison; of the usual ones those that need no texts where there are none."""
    named = get_corpus_metrics(default if metrics is None else metrics)
    chosen = [metric.with_default_seed(seed).on_given(comparison) for metric in named]
    if metrics is None and not comparison.joint.pool.has_texts:
        chosen = [metric for metric in chosen if not metric.reads_texts]
    return chosen


def limit_blas_threads(comparison: Comparison) -> AbstractContextManager[Any]:
    """Use one thread for the products of few texts, all for those of many."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(
        1 if len(comparison.joint) < _WORTH_BLAS_THREADS else None, user_api="blas"
    )
    return limits


def prepare_rows(views: Views, metrics: Sequence[CorpusMetric], executor: Executor | None = None) -> dict[str, str]:
    """Compute rows first, so that models run once and a metric's time is its own; workers of an executor embed.

    A metric whose model or package is missing is given by its key, with the reason; if that is every metric, the first
    error is raised.
    """
    errors: dict[str, Missing] = {}
    tried: dict[tuple[str, bool], Missing] = {}  # by input, so that a model is not looked for again
    for metric in sorted(metrics, key=views.is_sampled):  # a sample takes its vectors from those of all texts
        comparison = views.of(metric)
        if metric.reads_texts and not comparison.joint.pool.has_texts:
            raise InputError(f"{metric.key} needs texts, but the corpora were given as embeddings")
        rows = metric.on if metric.needs == "tokens" or metric.pair_ground else metric.embedder
        key = rows, views.is_sampled(metric)
        if key not in tried:
            try:
                _prepare_metric(metric, comparison, executor)
            except (ResourceError, MissingExtra) as error:
                tried[key] = error
        if key in tried:
            errors[metric.key] = tried[key]
    if metrics and len(errors) == len(metrics):
        raise next(iter(errors.values()))
    return {key: str(error) for key, error in errors.items()}


def _prepare_metric(metric: CorpusMetric, comparison: Comparison, executor: Executor | None) -> None:
    pool = comparison.joint.pool
    if (name := metric.pair_ground) is not None:
        matrix = get_ground_matrix(pool, name)
        matrix.rows(comparison.joint, lambda done, total: begin_step(f"{name} of all pairs", done, total, name))
    elif metric.needs == "tokens":
        with name_counts(f"texts split by {metric.on}"):
            pool.tokens(metric.token_rows.removesuffix(PADDED)) if pool.is_stored else pool.counts(metric.token_rows)
    else:
        begin_step(f"embedding with {metric.embedder}")
        with name_counts(f"texts embedded with {metric.embedder}"):
            pool.embeddings(metric.embedder, executor=executor)


def measure_all(
    views: Views,
    metrics: Sequence[CorpusMetric],
    missing: Mapping[str, str],
    options: UncertaintyOptions,
    on_score: Callable[[Score], None] = lambda _: None,
    of: str = "",
) -> tuple[list[Score], list[str]]:
    """Return the scores of all metrics, p-values adjusted for them, and what confounds them; `of` is said of steps."""
    usable = [metric for metric in metrics if metric.key not in missing]
    doing = f"{of and f'{of}: '}{'measuring and testing' if options.test else 'measuring'}"
    scores, nulls = list[Score](), list[NullValues | None]()
    for number, metric in enumerate(metrics):
        begin_step(f"{of and f'{of}: '}{metric.key}", number, len(metrics), doing)
        score, null = _measure(metric, views, missing.get(metric.key), options)
        scores.append(score)
        nulls.append(null)
        on_score(score)
    return adjust(scores, nulls) if options.test else scores, find_confounds(views.comparison, usable)


def _measure(
    metric: CorpusMetric, views: Views, missing: str | None, options: UncertaintyOptions
) -> tuple[Score, NullValues | None]:
    """Return the score of a metric with its uncertainty, and the null values that this comes from."""
    comparison = views.of(metric)
    if missing is not None:
        return make_missing_score(metric, comparison, missing), None
    with views.limit_threads(metric):
        with name_counts(f"{metric.key}: value"):
            score = views.sign(metric.measure(comparison), metric)
        reason = views.find_obstacle(metric)
        if reason is None:
            return add_uncertainty(score, metric, comparison, options)
    asked = score.reason is None and (options.ci or options.test)
    return replace(score, no_interval=f"{score.metric} has {reason}") if asked else score, None


def make_missing_score(metric: CorpusMetric, comparison: Comparison, reason: str) -> Score:
    """Return the score of a metric whose model or package is missing."""
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
    score: Score, metric: CorpusMetric, comparison: Comparison, options: UncertaintyOptions
) -> tuple[Score, NullValues | None]:
    """Return the score with the uncertainty that is asked for, and the null values it comes from."""
    if score.reason is not None or not (options.ci or options.test):
        return score, None
    if options.ci:
        try:
            with name_counts(f"{metric.key}: parts for the interval"):
                low, high, method = metric.interval(comparison, score, level=options.level, seed=options.seed)
            score = replace(score, low=low, high=high, interval=method)
        except Undefined as undefined:
            score = replace(score, no_interval=str(undefined))
    with name_counts(f"{metric.key}: permutations"):
        null = metric.null_values(comparison, permutations=options.permutations, seed=options.seed)
    low, high = null.range
    times = score.value / null.mean if metric.has_ratio_to_null and null.mean > 0 else math.nan
    score = replace(score, null=null.mean, null_low=low, null_high=high, times=times, effect=null.effect)
    if options.test:
        score = replace(score, p_value=null.p_value, p_error=null.p_error, test=null.method)
    return score, null


def adjust(scores: Sequence[Score], nulls: Sequence[NullValues | None]) -> list[Score]:
    """Return the scores with p-values adjusted for all metrics that were tested."""
    values, method = adjust_p_values([null for null in nulls if null is not None])
    p = iter(values.tolist())
    return [
        score if null is None else replace(score, p_adjusted=next(p), adjustment=method)
        for score, null in zip(scores, nulls, strict=True)
    ]
