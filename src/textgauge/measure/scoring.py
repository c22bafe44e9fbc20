"""`score`: aligned texts, many pair metrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, overload

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import ArgumentError, InputError, MissingExtra, ResourceError
from textgauge.core.parallel import map_parts, open_dask_executor
from textgauge.core.progress import begin_step
from textgauge.core.settings import split_into_blocks
from textgauge.data import GIVEN, Corpus, Pairs, load_aligned
from textgauge.data.source import Source, is_one_text, load_columns
from textgauge.data.tables import draw_rows, format_column_names, get_cells, take
from textgauge.data.units import FEWEST_GROUPS
from textgauge.encode.embedders import EmbedderLike
from textgauge.measure.dependence import find_repeating_column
from textgauge.measure.score_report import (
    Bootstrap,
    ItemScores,
    ItemUnits,
    ScoreReport,
    find_item_units,
    measure_items,
)
from textgauge.measure.single_texts import list_items
from textgauge.measure.systems import ContrastReport, ScoredSystems, SystemsReport, contrast_systems, rank_systems
from textgauge.metrics import Metric, PairMetric, PairScores, get_pair_metrics

References: TypeAlias = "Source | Sequence[Sequence[str]]"

_PART = 4_096  # items that a worker of a cluster scores at once
DEFAULT_METRICS = "levenshtein,jaccard,chrf,bleu,rouge1,rougeL,cosine,bertscore"


@overload
def score(left: Source, right: References, *, baseline: None = None, **how: Any) -> ScoreReport: ...
@overload
def score(left: Source, right: References, *, baseline: Source, **how: Any) -> ContrastReport: ...
def score(  # type: ignore[misc]
    left: Source,
    right: References,
    *,
    baseline: Source | None = None,
    metrics: str | Iterable[str | Metric] = DEFAULT_METRICS,
    embedder: EmbedderLike | None = None,
    background: Source | None = None,
    columns: Mapping[str, Sequence[float] | Floats] | None = None,
    column: str | None = None,
    group: str | Sequence[Any] | None = None,
    limit: int | None = None,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
    scheduler: str | None = None,
    explain: bool = False,
    on_score: Callable[[PairScores], None] = lambda _: None,
) -> ScoreReport | ContrastReport:
    """Score pairs of texts: candidate and reference, query and document, text and paraphrase; two strings are a pair.

    The report has the values of every pair, and `summary()` their means with bootstrap intervals, and the score of the
    whole set where one exists. Blank texts are kept, for the sake of their place. A metric whose model or package is
    missing has no values and a reason; if that is every metric, the error is raised.

    With a `baseline` the report has a row for each metric: both scores, and their difference with the interval and one
    p-value of the paired bootstrap (Koehn 2004, centred as in sacrebleu), and the p-value of approximate randomisation
    (Riezler and Maxwell 2005), adjusted for all metrics by max-T, as all see the same resamples and exchanges. Fitted
    weights then come from the references, which both systems share, if no background is given.

    Parameters
    ----------
    left
        The texts to score (candidates, queries): lists, columns, frames, paths and names as in `compare`.
    right
        The references (documents), one for each text, or a list of references for each.
    baseline
        The texts of another system: test the difference from it, metric by metric.
    metrics
        Metrics, separated by commas or repeated; `rouge1@words|13a` is a grid.
    embedder
        The embedder of metrics whose name has none. In Python also a function that gives vectors for a list of texts,
        or a model with a method `encode`.
    background
        The corpus that tfidf, bm25plus and idf weights are fitted on; by default all texts given.
    columns
        Scores that the pairs have already, by name: the metric `column:NAME` reads them.
    column
        The column that holds the texts, for tables; by default `text`, or the only column of texts.
    group
        A column that says which items belong together: of a document, a user, a conversation. Intervals and tests count
        groups. A column of the texts, or of the references. In Python also the labels of the items.
    limit
        Use a random sample of this many items; by default all.
    level
        Confidence level of the intervals.
    resamples
        Number of resamples in the bootstrap.
    seed
        Random seed.
    scheduler
        Use a Dask cluster: tcp://HOST:PORT, or local:N for N processes on this machine. Metrics that are fitted on all
        texts are computed here in any case. The numbers are those of one process.
    explain
        Keep every item with its texts and values, so that a saved result shows them on its page; with a baseline,
        print the items that got worse and better.
    on_score
        Called with the values of each metric as soon as they are known.

    Examples
    --------
    >>> report = score(["a red cat", "one dog"], ["a red dog", "one dog"], metrics="jaccard,levenshtein")
    >>> report["jaccard"].values.round(3).tolist()
    [0.5, 1.0]
    >>> found = score(["a b c", "d e"], ["a b c", "d e"], baseline=["a b", "x y"], metrics="jaccard")
    >>> round(found[0].difference, 3)
    0.667
    """
    if is_one_text(left) and is_one_text(right):
        left, right, baseline = [left], [right], [baseline] if is_one_text(baseline) else baseline  # type: ignore
    how = Bootstrap(level=level, resamples=resamples, seed=seed)
    systems = {"the system": left} if baseline is None else {"the system": left, "the baseline": baseline}
    how_read: Any = {"background": background, "columns": columns, "group": group, "limit": limit, "seed": seed}
    pairs, labels = load_systems(systems, right, column, **how_read, shared=baseline is not None)
    scored = measure_systems(pairs, metrics, embedder, labels, (*systems.values(), right), scheduler, on_score)
    if baseline is not None:
        return contrast_systems(scored, how, explain=explain)
    (only,) = pairs.values()
    numbers = set(np.bincount(only.items).tolist())
    references = numbers.pop() if len(numbers) == 1 else -1
    items = tuple(found for (found,) in scored.items.values())
    texts = list_items({"candidate": only}, scored.segments) if explain else None
    rows = only.left.source_rows[only.first_rows]
    return ScoreReport(items, scored.units, how, references, rows, scored.sign, texts)


def score_systems(
    systems: Mapping[str, Source],
    right: References,
    *,
    metrics: str | Iterable[str | Metric] = DEFAULT_METRICS,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
    explain: bool = False,
    embedder: EmbedderLike | None = None,
    column: str | None = None,
    group: str | Sequence[Any] | None = None,
    limit: int | None = None,
    background: Source | None = None,
    scheduler: str | None = None,
) -> SystemsReport:
    """Rank several systems, given by name, by the scores of their texts against the same references; see `score`.

    By each metric: the score of the whole set where the metric has one, else the mean over the items that have a value
    for every system; its interval; the differences between systems with intervals that hold together at `level` for all
    pairs and metrics; the rank ranges and tiers that follow. Items, or groups of them, are resampled for all systems
    and metrics alike.

    >>> systems = {"a": ["a red cat", "one dog", "no"] * 9, "b": ["a cat", "two cows", "yes"] * 9}
    >>> score_systems(systems, ["a red cat", "one dog", "no"] * 9, metrics="jaccard").rankings["jaccard"].unbeaten()
    [0]
    """
    how = Bootstrap(level=level, resamples=resamples, seed=seed)
    pairs, labels = load_systems(systems, right, column, background=background, group=group, limit=limit, seed=seed)
    scored = measure_systems(pairs, metrics, embedder, labels, (*systems.values(), right), scheduler)
    return rank_systems(scored, how, explain=explain)


def measure_systems(
    pairs: Mapping[str, Pairs],
    metrics: str | Iterable[str | Metric],
    embedder: EmbedderLike | None,
    labels: Sequence[Any] | None,
    sources: Iterable[object],
    scheduler: str | None,
    on_score: Callable[[PairScores], None] = lambda _: None,
) -> ScoredSystems:
    """Return the scores of all items of systems by many metrics; refused where all lack their models or packages."""
    first = next(iter(pairs.values()))
    chosen = [metric.on_given(first) for metric in get_pair_metrics(metrics, embedder)]
    asking = next((metric for metric in chosen if metric.needs != "embeddings"), None)
    if asking is not None and not first.left.pool.has_texts:
        raise InputError(f"{asking.key} needs texts, but the pairs were given as embeddings")
    units, sign = find_groups(labels, sources, *pairs.values())
    found, missing = dict[str, list[ItemScores]](), dict[str, ResourceError | MissingExtra]()
    with open_dask_executor(scheduler) as cluster:
        for number, metric in enumerate(chosen):
            begin_step(metric.key, number, len(chosen), "scoring")
            try:
                found[metric.key] = [_measure_metric(metric, one, cluster) for one in pairs.values()]
            except (ResourceError, MissingExtra) as error:
                missing[metric.key] = error
                nothing = np.full(first.n_items, np.nan)
                parts = {part.name: nothing for part in metric.parts}
                lacking = PairScores(metric=metric.key, values=nothing, parts=parts, reason=str(error), seconds=0.0)
                found[metric.key] = [ItemScores(metric, lacking)] * len(pairs)
            on_score(found[metric.key][0].scores)
    if len(missing) == len(chosen):
        raise next(iter(missing.values()))
    return ScoredSystems(pairs, found, {name: str(error) for name, error in missing.items()}, units, sign)


def load_systems(
    systems: Mapping[str, Source],
    right: References,
    column: str | None = None,
    *,
    background: Source | None = None,
    columns: Mapping[str, Sequence[float] | Floats] | None = None,
    group: str | Sequence[Any] | None = None,
    limit: int | None = None,
    seed: int = 0,
    shared: bool = True,
) -> tuple[dict[str, Pairs], Sequence[Any] | None]:
    """Return the pairs of each system with the references, and the labels of their groups; of some items if limited.

    Fitted weights come from the background, or from the references if these are what systems have `shared`.
    """
    if not systems:
        raise InputError("there is no system to score")
    references: Any = load_aligned(right, column=column)  # type: ignore[arg-type]
    labels = find_labels(group, (*systems.values(), right)) if isinstance(group, str) else group
    texts: dict[str, Any] = {name: load_aligned(source, column=column) for name, source in systems.items()}
    for name, own in texts.items():
        if shared and len(own) != len(references):
            raise InputError(f"{name} has {len(own)} texts, but the references have {len(references)} items")
    if limit is not None and limit < len(references):
        rows = draw_rows(len(references), limit, f"items:{seed}")
        texts = {name: Corpus.of(own, source_rows=range(len(references))).take(rows) for name, own in texts.items()}
        references = references.take(rows) if isinstance(references, Corpus) else [references[row] for row in rows]
        columns = {name: [own[row] for row in rows] for name, own in (columns or {}).items()}
        labels = None if labels is None else take(get_cells(labels), rows)
    if shared and background is None:
        background = references
        if not isinstance(references, Corpus | np.ndarray):
            background = [text for of in references for text in ([of] if isinstance(of, str) else of)]
    how: Any = {"column": column, "columns": columns}
    pairs = {name: make_pairs(own, references, background, **how) for name, own in texts.items()}
    return pairs, labels


def _measure_metric(metric: PairMetric, pairs: Pairs, cluster: Executor | None) -> ItemScores:
    if cluster is None or metric.fitted:
        return measure_items(metric, pairs)
    start = time.perf_counter()
    parts = list(map_parts(cluster, partial(_score_part, metric), _split_parts(pairs)))
    scores = [part.scores for part in parts]
    whole = replace(
        scores[0],
        values=np.concatenate([part.values for part in scores]),
        parts={name: np.concatenate([part.parts[name] for part in scores]) for name in scores[0].parts},
        reason=next((part.reason for part in scores if part.reason), None),
        seconds=time.perf_counter() - start,
        warnings=metric.warnings(pairs),
    )
    counts = [part.counts for part in parts if part.counts is not None]
    return ItemScores(metric, whole, np.concatenate(counts) if counts else None)


def _split_parts(pairs: Pairs) -> Iterator[dict[str, Any]]:
    """Yield some items with what a worker needs of them: texts or embeddings, and given scores."""
    for some in split_into_blocks(pairs.n_items, _PART):
        start, stop = np.searchsorted(pairs.items, [some.start, some.stop]).tolist()
        rows = np.arange(start, stop)
        sides = (side.take(rows) for side in (pairs.left, pairs.right))
        left, right = (side.texts if side.pool.has_texts else side.embeddings(GIVEN) for side in sides)
        columns = {name: column[rows] for name, column in pairs.columns.items()}
        yield {"left": left, "right": right, "items": pairs.items[rows] - pairs.items[start], "columns": columns}


def _score_part(metric: PairMetric, part: dict[str, Any]) -> ItemScores:
    return measure_items(metric, Pairs(**part))


def make_pairs(
    left: Source,
    right: References,
    background: Source | None = None,
    *,
    column: str | None = None,
    columns: Mapping[str, Sequence[float] | Floats] | None = None,
) -> Pairs:
    """Return pairs of what was given; at least one."""
    texts, references = load_aligned(left, column=column), load_aligned(right, column=column)  # type: ignore[arg-type]
    fitted = None if background is None else Corpus.of(load_aligned(background, column=column))
    pairs = Pairs.of(texts, references, background=fitted, columns=_check_columns(columns or {}, len(texts)))
    if not len(pairs):
        raise InputError("there are no pairs to score")
    return pairs


def find_groups(
    group: Sequence[Any] | None, sources: Iterable[object], *systems: Pairs
) -> tuple[ItemUnits, str | None]:
    """Return the units of items, by the labels of their groups; without labels a sign of groups in the sources."""
    if group is None:
        return find_item_units(*systems), find_repeating_column(sources)
    labels = get_cells(group)
    names, numbers = np.unique([str(label) for label in labels], return_inverse=True)
    if len(labels) != systems[0].n_items:
        raise InputError(f"{systems[0].n_items} items, but {len(labels)} labels of groups")
    missing = next((place for place, label in enumerate(labels) if label is None or not str(label).strip()), None)
    if missing is not None:
        raise InputError(f"item {missing} has no label of its group")
    if len(names) < FEWEST_GROUPS:
        raise InputError(f"resampling whole groups needs at least {FEWEST_GROUPS} groups, found {len(names)}")
    return find_item_units(*systems, labels=numbers), None


def find_labels(group: str, sources: Iterable[object]) -> Sequence[Any]:
    """Return the column of this name of the first table that has it."""
    tables = [load_columns(source) for source in sources]
    found = next((columns[group] for columns in tables if group in columns), None)
    if found is None:
        known = format_column_names(dict.fromkeys(name for columns in tables for name in columns))
        raise ArgumentError(f"`group`: no table has a column {group!r}{known and f'; the columns are {known}'}")
    return found


def _check_columns(columns: Mapping[str, Sequence[float] | Floats], count: int) -> dict[str, Floats]:
    """Return columns of scores as arrays, NaN where one is missing."""
    try:
        found = {name: np.array(column, dtype=np.float64) for name, column in columns.items()}
    except (TypeError, ValueError):
        raise InputError("columns of scores are numbers, one for each pair") from None
    wrong = next((name for name, column in found.items() if column.shape != (count,)), None)
    if wrong is not None:
        raise InputError(f"column {wrong!r} has {found[wrong].size} scores for {count} pairs")
    return found
