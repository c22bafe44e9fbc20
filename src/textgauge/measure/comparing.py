"""`compare`: two corpora, several candidates or slice by slice, by many metrics, with uncertainty on every number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import or_
from typing import Any, TypeAlias

from textgauge.core.errors import ArgumentError, InputError, MissingExtra, ResourceError, warn
from textgauge.core.parallel import open_dask_executor, use_one_blas_thread
from textgauge.core.progress import begin_step, name_counts
from textgauge.core.settings import check_seed_and_level
from textgauge.core.show import join_words
from textgauge.data import Comparison, LabelledTexts, load_corpus
from textgauge.data.large import load_comparison, sample_comparison
from textgauge.data.pool import PADDED
from textgauge.data.source import Source
from textgauge.data.tables import parse_number
from textgauge.encode.embedders import EmbedderLike, get_window
from textgauge.measure.candidates import (
    Pairing,
    load_candidates,
    report_candidates,
    report_slices,
    split_into_slices,
)
from textgauge.measure.compare_report import IN_PARTS, CompareReport, Terms, find_separating_terms
from textgauge.measure.dependence import find_repeating_column, find_signs, read_belonging
from textgauge.metrics import CorpusMetric, Score, get_corpus_metrics
from textgauge.metrics.base import Undefined
from textgauge.metrics.cautions import count_words, find_confounds, find_reader, format_other_scripts
from textgauge.metrics.grounds import get_ground_matrix
from textgauge.metrics.uncertainty import NullValues, adjust_p_values
from textgauge.stats.decisions import ALIKE_ROWS, ALPHA, is_different

Missing: TypeAlias = ResourceError | MissingExtra
Metrics: TypeAlias = str | Iterable[str | CorpusMetric]

_MOST_PERMUTATIONS = 1_000_000
_ALONE = ("foreign", "within", "approx", "scheduler")  # options of a comparison with one candidate
_BELONGING = frozenset({"group", "block", "paired"})  # options that say which texts belong together
_WORTH_WORDS = 50_000  # texts; counting the words of more would take longer than comparing them
_USUAL = "minilm"
_WINDOW, _LONG_SHARE = 254, 0.1  # tokens that it reads, and the share of longer texts that is not left cut
_MANY_TEXTS = "{} texts: {} is slow for so many; name the metrics with @wordllama, about a hundred times faster"
PERMUTATIONS = 199  # p-values down to 0.005, and a null range from the 5th smallest to the 5th largest value
# Tested within seconds for a thousand texts a side; fid takes as long as all of them together.
ALL_METRICS = "energy,mmd,mauve,pr,dc,irpr,medoid,classifier,cbdf,jsd,zipf,vocab_overlap"
# Those that found 15 % foreign texts among 80 most often (in 17 comparisons), and words, which need no model.
DEFAULT_METRICS = "energy,mauve,pr,dc,jsd"
_ANY_SCRIPT = "jsd@{0},cbdf@{0},vocab_overlap@{0}"  # where the encoder cannot read the texts
_WORTH_WHOLE = 1_000_000  # words; embedding more of them to their end would take minutes
MANY_METRICS = "energy,mauve,pr,jsd"
SLICE_METRICS = "energy"
SAMPLE = 10_000  # texts of each corpus that fitted metrics see of large ones
_LOPSIDED = "no interval and no null range: one corpus has over seven times the texts of the other; take a part of it"
_ALL_PAIRS = "no interval and no null range: these take all pairs of texts again; a sample has them (approx)"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is to be compared, how it is read, and which kinds of uncertainty are computed."""

    sources: Mapping[str, Any]
    several: bool
    given: Mapping[str, Any]  # the options that were given: `by`, `group`, `foreign` and others
    column: str | None
    ci: bool
    test: bool
    level: float
    permutations: int
    seed: int

    def __post_init__(self) -> None:
        check_seed_and_level(self.seed, self.level)
        if self.permutations < 1:
            raise InputError(f"a permutation test needs at least 1 permutation, not {self.permutations}")
        if self.permutations > _MOST_PERMUTATIONS:
            raise InputError(f"at most {_MOST_PERMUTATIONS:,} permutations are made, not {self.permutations:,}")
        what, refused = "a comparison of two corpora", tuple[str, ...]()
        if "by" in self.given:
            what, refused = "`by`", (*_ALONE, "block", "paired")
        elif self.several:
            what, refused = "ranking several candidates", _ALONE
        elif "block" in self.given or "paired" in self.given:
            what, refused = "a comparison within blocks", ("foreign", "within", "limit")
        for name in refused:
            if name in self.given:
                raise ArgumentError(f"{what} does not take `{name}`")
        if "paired" in self.given and "limit" in self.given:
            raise ArgumentError("`limit` draws texts of each corpus alone, so that `paired` texts would not match")
        for name in ("by", "within"):
            if name in self.given and not self.test:
                raise ArgumentError(f"`{name}` needs the test")
        if not 0 < self.given.get("within", 0.5) < 1:
            raise ArgumentError(f"`within` is a share of foreign texts, such as 0.05 or 5%, not {self.given['within']}")


def compare(
    reference: Source | LabelledTexts,
    candidate: Source | LabelledTexts | Mapping[str, Source | LabelledTexts],
    *,
    metrics: Metrics | None = None,
    embedder: EmbedderLike | None = None,
    ci: bool = False,
    test: bool = True,
    parts: bool = False,
    foreign: Source | None = None,
    within: float | str | None = None,
    explain: bool = False,
    by: str | None = None,
    group: str | Sequence[Sequence[Any]] | Mapping[str, Sequence[Any]] | None = None,
    block: str | Sequence[Sequence[Any]] | Mapping[str, Sequence[Any]] | None = None,
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
        Metrics, separated by commas or repeated; `pr(k=3|5)` is a grid, `all` the twelve usual ones. By default energy,
        mauve, pr, dc and jsd; of embeddings those that need no texts, of scripts that minilm cannot read those of
        words or characters.
    embedder
        The embedder of metrics whose name has none. In Python also a function that gives vectors for a list of texts,
        or a model with a method `encode`.
    ci
        Add a confidence interval to every value.
    test
        Test whether the corpora differ, with p-values adjusted for all metrics.
    parts
        Add precision, recall and other parts to the table.
    foreign
        A third corpus: estimate which share of its texts, mixed into the reference, gives the same energy.
    within
        Ask whether the corpora are the same within this share of foreign texts, such as 0.05 or 5%; of built-in ones if
        no other foreign texts are named.
    explain
        Show which texts contribute most to each metric, and which words separate the corpora; for metrics that are
        sums over texts, and of each candidate and slice. A saved result then holds the texts, and its page shows them.
    by
        A column of labels: compare the texts of each label separately, and say which labels differ. A label needs 20
        texts in both corpora.
    group
        A column that says which texts belong together: of a document, a user, a conversation. The test exchanges whole
        groups, and intervals and ranks rest on them. In Python also the labels of the reference's and of the
        candidate's texts, or of all corpora by name.
    block
        A column that says which texts of both corpora belong to the same prompt or item. The test exchanges texts, or
        groups, within it.
    paired
        Text i of the candidate, or of each candidate, has the same prompt or parent as text i of the reference: a block
        for every row.
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
        Number of permutations in the test; more where that many slices or candidates could never differ.
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
    several = isinstance(candidate, Mapping)
    options: dict[str, Any] = {"foreign": foreign, "explain": explain, "approx": approx, "scheduler": scheduler}
    options |= {"by": by, "group": group, "block": block, "paired": paired, "limit": limit}
    options["within"] = None if within is None else parse_share(within, "`within`")
    asked = Asked(
        sources={"reference": reference, **(candidate if several else {"candidate": candidate})},  # type: ignore[dict-item]
        several=several,
        given={name: value for name, value in options.items() if value is not None and value is not False},
        column=column,
        ci=ci,
        test=test,
        level=level,
        permutations=permutations,
        seed=seed,
    )
    usual = SLICE_METRICS if by is not None else MANY_METRICS if several else DEFAULT_METRICS
    if metrics is not None or embedder is not None or by is not None:
        named = usual if metrics is None else ALL_METRICS if metrics in ("all", ["all"]) else metrics
        metrics = get_corpus_metrics(named, embedder)
    pairings, whole, notes = _read_pairings(asked)
    views, is_large = Views(whole, approx, seed), whole.joint.pool.is_stored
    chosen = choose_metrics(metrics, whole, seed, default=usual)
    if is_large:
        chosen, notes = views.drop_slow(chosen) if metrics is None else (chosen, [])
        if slow := [metric.embedder for metric in chosen if get_window(metric.embedder)]:
            warn(_MANY_TEXTS.format(f"{len(whole.joint):,}", slow[0]))
    with open_dask_executor(scheduler) as cluster:
        missing = prepare_rows(views, chosen, cluster)
    usable = [metric for metric in chosen if metric.key not in missing]
    statements = len(pairings) * (1 if by is None else len(chosen))
    if (enough := math.ceil(statements / ALPHA) - 1) > permutations >= PERMUTATIONS:  # fewer are a choice
        asked = replace(asked, permutations=enough)
    with use_one_blas_thread():  # the same bits on every machine
        for place, pairing in enumerate(pairings):
            seen = views if pairing.comparison is whole else Views(pairing.comparison)
            pairings[place] = measure_all(pairing, seen, chosen, missing, asked, on_score)
        if by is not None:
            report = report_slices(pairings, notes)
        elif several:
            report = report_candidates(pairings, usable, missing, asked, notes)
        else:
            notes = [*(views.describe(usable) if is_large else []), *notes]
            report = _report_one(pairings[0], chosen, usable, asked, notes)
        if explain:
            from textgauge.measure.single_texts import explain_pairings

            report = explain_pairings(report, pairings, whole, usable, asked)
    return replace(report, with_parts=parts)


def _read_pairings(asked: Asked) -> tuple[list[Pairing], Comparison, list[str]]:
    """Return what is compared with the reference, all of it in one comparison, and what to say of groups and slices."""
    sources, column, given, drawn = asked.sources, asked.column, asked.given, asked.sources
    if "limit" in given:
        how: Any = {"column": column, "limit": given["limit"], "seed": asked.seed}
        drawn = {name: load_corpus(source, **how) for name, source in sources.items()}
    if asked.several or "by" in given:
        corpora = load_candidates(drawn, column, paired="paired" in given)
        whole = Comparison(corpora["reference"], reduce(or_, list(corpora.values())[1:]))
    else:
        in_memory = bool({"foreign", "within", "explain"} & set(given))
        whole = load_comparison(*drawn.values(), column=column, seed=asked.seed, in_memory=in_memory)
        corpora = dict(zip(sources, whole.sides, strict=True))
    if "by" in given:
        slices, notes = split_into_slices(corpora, sources, given["by"], given.get("group"), column)
        return slices, whole, notes
    is_named = bool(_BELONGING & set(given))
    if not asked.several and not is_named:
        return [Pairing("", whole)], whole, []
    if is_named and whole.joint.pool.is_stored:
        raise ArgumentError("`group`, `block` and `paired` take corpora of at most 50,000 texts")
    paired = "paired" in given and (not asked.several or len(set(map(len, corpora.values()))) == 1)
    corpora, belonging = read_belonging(
        corpora, sources, group=given.get("group"), block=given.get("block"), paired=paired, column=column
    )
    reference, *others = corpora.items()
    found = {name: belonging.compare(reference[1], corpus, name) for name, corpus in others}
    if asked.several:
        return [Pairing(name, comparison) for name, comparison in found.items()], whole, list(belonging.notes)
    (whole,) = found.values()
    return [Pairing("", whole)], whole, [*belonging.notes, belonging.describe(whole.units)]


def _report_one(
    measured: Pairing,
    chosen: Sequence[CorpusMetric],
    usable: Sequence[CorpusMetric],
    asked: Asked,
    notes: Sequence[str],
) -> CompareReport:
    """Return what is said of one candidate: its scores, how far it is, signs of dependence, words and texts."""
    comparison = measured.comparison
    sign = find_signs([measured], usable, asked.seed).get("") if asked.test else None
    is_open = sign is None and not _BELONGING & set(asked.given) and not comparison.joint.pool.is_stored
    is_found = any(is_different(score.p_adjusted) for score in measured.scores)
    if is_open and is_found:
        sign = find_repeating_column(list(asked.sources.values()))
    scores, more, size = list(measured.scores), list[str](), dict[str, Any]()
    if not is_found or {"foreign", "within"} & set(asked.given):
        from textgauge.measure.foreign_share import find_size

        scores, more, size = find_size(measured, chosen, asked)
    few = len(comparison.joint) <= _WORTH_WORDS
    terms = find_separating_terms(comparison) if few or "explain" in asked.given else Terms()
    hint = [f"{sign}: if they belong together, name their group"] if sign == ALIKE_ROWS else []
    warnings = (*notes, *measured.warnings, *hint, *more)
    return CompareReport(tuple(scores), warnings, terms=terms, sign=sign, **size)


def parse_share(given: object, what: str) -> float:
    """Return a number, or a share in percent.

    >>> parse_share("5%", "max"), parse_share(0.1, "max")
    (0.05, 0.1)
    """
    text = str(given).strip()
    number = parse_number(text.removesuffix("%"))
    if number is None:
        raise ArgumentError(f"{what} is a number or a share in percent, not {given!r}")
    return number / (100.0 if text.endswith("%") else 1.0)


@dataclass(frozen=True)
class Views:
    """What metrics see of a comparison: all of it in memory; of large corpora, fitted metrics see a sample.

    `approx` is the size of samples that metrics of all pairs of texts see as well; None for all texts.
    """

    comparison: Comparison
    approx: int | None = None
    seed: int = 0

    def is_sampled(self, metric: CorpusMetric) -> bool:
        """Return whether a metric sees a sample."""
        sampled = ("fitted",) if self.approx is None else ("fitted", "blocks")
        return self.comparison.joint.pool.is_stored and metric.grows in sampled

    @cached_property
    def sample(self) -> Comparison:
        """Some texts of each corpus, chosen by content and seed."""
        return sample_comparison(self.comparison, self.approx or SAMPLE, seed=self.seed)

    def drop_slow(self, metrics: Sequence[CorpusMetric]) -> tuple[list[CorpusMetric], list[str]]:
        """Leave out metrics of all pairs of many texts, and say so: for metrics that nobody chose."""
        slow = [metric for metric in metrics if metric.grows == "blocks" and not self.is_sampled(metric)]
        names = join_words([metric.key for metric in slow])
        note = (
            f"left out, because they take all pairs of texts: {names}; name them, or measure them on a sample (approx)"
        )
        return [metric for metric in metrics if metric not in slow], [note] if slow else []

    def describe(self, metrics: Sequence[CorpusMetric]) -> list[str]:
        """Return how large corpora were read, and which metrics saw all texts and which a sample."""
        sizes = [len(side) for side in self.comparison.sides]
        notes = [f"{IN_PARTS}: {sizes[0]:,} and {sizes[1]:,} texts"]
        if whole := [metric.key for metric in metrics if not self.is_sampled(metric)]:
            notes.append(f"{join_words(whole)}: from all texts")
        if sampled := [metric.key for metric in metrics if self.is_sampled(metric)]:
            seen = " and ".join(f"{min(self.approx or SAMPLE, size):,}" for size in sizes)
            notes.append(f"{join_words(sampled)}: from a sample of {seen} texts, drawn with seed {self.seed}")
        return notes


def choose_metrics(
    metrics: Metrics | None, comparison: Comparison, seed: int, *, default: str = DEFAULT_METRICS
) -> list[CorpusMetric]:
    """Return metrics as they fit the comparison; of the usual ones those that need no texts where there are none.

    The usual ones are others for scripts that the encoder cannot read, and embed long texts to their end.
    """
    joint = comparison.joint
    named = get_corpus_metrics(default if metrics is None else metrics)
    if metrics is None and joint.pool.has_texts and not joint.pool.is_stored and not joint.pool.has_given:
        reader = find_reader(joint)
        words = count_words(comparison)
        if reader is not None:
            named = get_corpus_metrics(_ANY_SCRIPT.format(reader))
            warn(format_other_scripts(reader))
        elif (words > _WINDOW).mean() > _LONG_SHARE and words.sum() <= _WORTH_WHOLE:
            warn(
                f"long texts are embedded to their end by whole:{_USUAL}; "
                f"--embedder {_USUAL} reads their first {_WINDOW} tokens"
            )
            named = [metric.on_embeddings(f"whole:{_USUAL}") for metric in named]
    chosen = [metric.with_default_seed(seed).on_given(comparison) for metric in named]
    if metrics is None and not comparison.joint.pool.has_texts:
        chosen = [metric for metric in chosen if not metric.reads_texts]
    return chosen


def prepare_rows(views: Views, metrics: Sequence[CorpusMetric], executor: Executor | None = None) -> dict[str, str]:
    """Compute rows first, so that models run once and a metric's time is its own; workers of an executor embed.

    A metric whose model or package is missing is given by its key, with the reason; if that is every metric, the first
    error is raised.
    """
    errors: dict[str, Missing] = {}
    tried: dict[tuple[str, bool], Missing] = {}  # by input, so that a model is not looked for again
    for metric in sorted(metrics, key=views.is_sampled):  # a sample takes its vectors from those of all texts
        is_sampled = views.is_sampled(metric)
        joint = (views.sample if is_sampled else views.comparison).joint
        pool, ground = joint.pool, metric.pair_ground
        if metric.reads_texts and not pool.has_texts:
            raise InputError(f"{metric.key} needs texts, but the corpora were given as embeddings")
        key = metric.on if metric.reads_texts else metric.embedder, is_sampled
        try:
            if key in tried:
                pass
            elif ground is not None:
                tell = partial(begin_step, f"{ground} of all pairs", kind=ground)
                get_ground_matrix(pool, ground).rows(joint, tell)
            elif metric.needs == "tokens":
                with name_counts(f"texts split by {metric.on}"):
                    rows = metric.token_rows
                    pool.tokens(rows.removesuffix(PADDED)) if pool.is_stored else pool.counts(rows)
            else:
                begin_step(f"embedding with {metric.embedder}")
                with name_counts(f"texts embedded with {metric.embedder}"):
                    pool.embeddings(metric.embedder, executor=executor)
        except (ResourceError, MissingExtra) as error:
            tried[key] = error
        if key in tried:
            errors[metric.key] = tried[key]
    if metrics and len(errors) == len(metrics):
        raise next(iter(errors.values()))
    return {key: str(error) for key, error in errors.items()}


def measure_all(
    pairing: Pairing,
    views: Views,
    metrics: Sequence[CorpusMetric],
    missing: Mapping[str, str],
    asked: Asked,
    on_score: Callable[[Score], None] = lambda _: None,
) -> Pairing:
    """Return a pairing with the scores of all metrics, p-values adjusted for them, and what to beware of."""
    of = "".join(f"{name}: " for name in (pairing.candidate, pairing.slice.get("slice")) if name)
    doing = f"{of}{'measuring and testing' if asked.test else 'measuring'}"
    scores, nulls = list[Score](), list[NullValues | None]()
    for number, metric in enumerate(metrics):
        begin_step(f"{of}{metric.key}", number, len(metrics), doing)
        score, null = measure_one(metric, views, asked, missing.get(metric.key))
        scores.append(score)
        nulls.append(null)
        on_score(score)
    if asked.test:
        values, method = adjust_p_values([null for null in nulls if null is not None])
        p = iter(values.tolist())
        scores = [
            score if null is None else replace(score, p_adjusted=next(p), adjustment=method)
            for score, null in zip(scores, nulls, strict=True)
        ]
    undefined, lacking = dict[str, list[str]](), dict[str, list[str]]()
    for score in scores:
        if score.reason:
            undefined.setdefault(score.reason, []).append(score.metric)
        if score.no_interval:
            lacking.setdefault(score.no_interval.removeprefix(f"{score.metric} has "), []).append(score.metric)
    usable = [metric for metric in metrics if metric.key not in missing]
    warnings = [
        *(f"{join_words(of)} {'is' if len(of) == 1 else 'are'} undefined: {why}" for why, of in undefined.items()),
        *(f"{join_words(of)} {'has' if len(of) == 1 else 'have'} {what}" for what, of in lacking.items()),
        *find_confounds(views.comparison, usable),
    ]
    return replace(pairing, scores=scores, warnings=warnings, nulls=nulls)


def measure_one(
    metric: CorpusMetric, views: Views, asked: Asked, missing: str | None = None
) -> tuple[Score, NullValues | None]:
    """Return the score of a metric with the uncertainty that is asked for, and the null values that this comes from.

    `missing` says why there is no score: its model or package is not there.
    """
    is_sampled = views.is_sampled(metric)
    comparison = views.sample if is_sampled else views.comparison
    if missing is not None:
        n, m = map(len, comparison.sides)
        named: Any = {"metric": metric.key, "label": metric.shown_label, "closer": metric.closer, "reason": missing}
        parts = {part.name: math.nan for part in metric.parts}
        return Score(value=math.nan, parts=parts, n_reference=n, n_candidate=m, seconds=0.0, **named), None
    is_large = views.comparison.joint.pool.is_stored
    with name_counts(f"{metric.key}: value"):
        score = metric.measure(comparison)
    if is_sampled:
        score = replace(score, signature=f"{score.signature}|sample={views.approx or SAMPLE},seed={views.seed}")
    if score.reason is not None or not (asked.ci or asked.test):
        return score, None
    if is_large and not is_sampled and (comparison.groups is None or not metric.is_sum):
        reason = _LOPSIDED if metric.is_sum else _ALL_PAIRS
        return replace(score, no_interval=f"{score.metric} has {reason}"), None
    if asked.ci:
        try:
            with name_counts(f"{metric.key}: parts for the interval"):
                low, high, method = metric.interval(comparison, score, level=asked.level, seed=asked.seed)
            score = replace(score, low=low, high=high, interval=method)
        except Undefined as undefined:
            score = replace(score, no_interval=str(undefined))
    with name_counts(f"{metric.key}: permutations"):
        null = metric.null_values(comparison, permutations=asked.permutations, seed=asked.seed)
    low, high = null.range
    times = score.value / null.mean if metric.has_ratio_to_null and null.mean > 0 else math.nan
    score = replace(score, null=null.mean, null_low=low, null_high=high, times=times, effect=null.effect)
    if asked.test:
        score = replace(score, p_value=null.p_value, p_error=null.p_error, test=null.method)
    return score, null
