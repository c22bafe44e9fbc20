"""`score`: aligned texts, many pair metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from textgauge.arrays import Floats
from textgauge.data import Corpus, Pairs, load_aligned
from textgauge.data.source import Source
from textgauge.data.view import TextsLike
from textgauge.errors import InputError, MissingExtra, ResourceError
from textgauge.metrics import Metric, PairMetric, PairScores, get_pair_metrics
from textgauge.progress import Stage, Step, show_in_notebook
from textgauge.scoring.report import (
    Bootstrap,
    ScoreReport,
    canonical_order,
    item_statistics,
    undefined_statistics,
)

References: TypeAlias = "Source | Sequence[Sequence[str]]"

DEFAULT_METRICS = "levenshtein,jaccard,chrf,bleu,rouge1,rougeL,cosine,bertscore"


def score(
    left: Source,
    right: References,
    *,
    metrics: str | Iterable[str | Metric] = DEFAULT_METRICS,
    background: Source | None = None,
    columns: Mapping[str, Sequence[float] | Floats] | None = None,
    column: str | None = None,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
    on_step: Step = show_in_notebook,
    on_score: Callable[[PairScores], None] = lambda _: None,
) -> ScoreReport:
    """Score every left text (candidate, query) with its right text (reference, document).

    Texts are lists, columns, frames, paths and names as in `compare`; `column` names the column of files and frames,
    `PATH:COLUMN` that of one file. Blank texts are kept, for the sake of their place. `right` may hold a list of
    references for each left text. `columns` are scores that the pairs have already, by name: the metric `column:NAME`
    reads them. `background` is the corpus that `tfidf`, `bm25plus` and
    idf weights are fitted on; all texts of the pairs by default. The report has the values of every pair, and
    `summary()` their means with bootstrap intervals at `level`, and the score of the whole set where one exists.
    `on_step` is called with the name of each step, `on_score` with the values of each metric as soon as they are known.
    A metric whose model or package is missing has no values and a reason; if that is every metric, the error is raised.

    >>> report = score(["a red cat", "one dog"], ["a red dog", "one dog"], metrics="jaccard,levenshtein")
    >>> report["jaccard"].values.round(3).tolist()
    [0.5, 1.0]
    """
    how = Bootstrap(level=level, resamples=resamples, seed=seed)
    pairs = checked_pairs(left, right, background, column=column, columns=columns)
    chosen = [metric.on_given(pairs) for metric in get_pair_metrics(metrics)]
    require_texts(pairs, chosen)
    found, statistics = [], {}
    missing: list[ResourceError | MissingExtra] = []
    for number, metric in enumerate(chosen):
        on_step(Stage(metric.key, number, len(chosen), "scoring"))
        try:
            found.append(metric.measure(pairs))
            statistics[metric.key] = item_statistics(metric, pairs, found[-1].values)
        except (ResourceError, MissingExtra) as error:
            missing.append(error)
            found.append(_not_measured(metric, pairs.n_items, str(error)))
            statistics[metric.key] = undefined_statistics(pairs.n_items)
        on_score(found[-1])
    if len(missing) == len(chosen):
        raise missing[0]
    return ScoreReport(tuple(found), statistics, canonical_order(pairs), how)


def _not_measured(metric: PairMetric, n: int, reason: str) -> PairScores:
    nothing = np.full(n, np.nan)
    parts = {part.name: nothing for part in metric.parts}
    return PairScores(metric=metric.key, values=nothing, parts=parts, reason=reason, seconds=0.0)


def checked_pairs(
    left: Source,
    right: References,
    background: Source | None = None,
    *,
    column: str | None = None,
    columns: Mapping[str, Sequence[float] | Floats] | None = None,
) -> Pairs:
    """Pairs of what was given; at least one."""
    texts, references = load_aligned(left, column=column), load_aligned(right, column=column)  # type: ignore[arg-type]
    fitted = None if background is None else Corpus.of(load_aligned(background, column=column))
    pairs = Pairs.of(texts, references, background=fitted, columns=_checked_columns(columns or {}, len(texts)))
    if not len(pairs):
        raise InputError("there are no pairs to score")
    return pairs


def _checked_columns(columns: Mapping[str, Sequence[float] | Floats], count: int) -> dict[str, Floats]:
    """Columns of scores as arrays, NaN where one is missing."""
    try:
        found = {name: np.array(column, dtype=np.float64) for name, column in columns.items()}
    except (TypeError, ValueError):
        raise InputError("columns of scores are numbers, one for each pair") from None
    wrong = next((name for name, column in found.items() if column.shape != (count,)), None)
    if wrong is not None:
        raise InputError(f"column {wrong!r} has {found[wrong].size} scores for {count} pairs")
    return found


def require_texts(pairs: Pairs, metrics: Sequence[PairMetric]) -> None:
    """Refuse metrics of texts where only embeddings were given."""
    asking = next((metric for metric in metrics if metric.needs != "embeddings"), None)
    if asking is not None and not pairs.left.pool.has_texts:
        raise InputError(f"{asking.key} needs texts, but the pairs were given as embeddings")


def all_references(right: Any) -> TextsLike:
    """The texts of all references, which both sides of a comparison share."""
    if isinstance(right, Corpus | np.ndarray):
        return right
    return [text for texts in right for text in ([texts] if isinstance(texts, str) else texts)]
