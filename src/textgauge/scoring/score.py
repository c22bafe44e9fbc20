"""`score`: aligned texts, many pair metrics; `contrast`: two systems with the same references, and paired tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    Summed,
    canonical_order,
    item_statistics,
    undefined_statistics,
)
from textgauge.stats.decisions import baseline_sentence
from textgauge.stats.multiple_tests import holm
from textgauge.stats.resampling import percentile_interval, permutation_p, resampled_sums, swapped_sums
from textgauge.tabular import FlatRow

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
) -> ScoreReport:
    """Score every left text (candidate, query) with its right text (reference, document).

    Texts are lists, columns, frames, paths and names as in `compare`; `column` names the column of files and frames,
    `PATH:COLUMN` that of one file. Blank texts are kept, for the sake of their place. `right` may hold a list of
    references for each left text. `columns` are scores that the pairs have already, by name: the metric `column:NAME`
    reads them. `background` is the corpus that `tfidf`, `bm25plus` and
    idf weights are fitted on; all texts of the pairs by default. The report has the values of every pair, and
    `summary()` their means with bootstrap intervals at `level`, and the score of the whole set where one exists.
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


@dataclass(frozen=True, kw_only=True)
class Contrast(FlatRow):
    """Two systems under one metric: both scores, their difference and how sure it is.

    `of` says what is compared: the score of the whole set where the metric has one, else the mean over items.
    `low` and `high` bound the difference; both p-values are two-sided, for "the systems do not differ".
    """

    metric: str
    of: str
    value: float
    baseline: float
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_randomisation: float
    n: int
    signature: str


def contrast(
    *,
    left: Source,
    baseline: Source,
    right: References,
    metrics: str | Iterable[str | Metric],
    column: str | None = None,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
    on_step: Step = show_in_notebook,
) -> list[Contrast]:
    """Compare the candidate texts `left` with those of a `baseline`, both against the references `right`.

    The interval and one p-value come from the paired bootstrap (Koehn 2004, centred as in sacrebleu), the other p-value
    from approximate randomisation (Riezler and Maxwell 2005). Every metric sees the same resamples. Fitted weights come
    from the references, which both systems share.

    >>> found = contrast(left=["a b c", "d e"], baseline=["a b", "x y"], right=["a b c", "d e"], metrics="jaccard")
    >>> round(found[0].difference, 3)
    0.667
    """
    how = Bootstrap(level=level, resamples=resamples, seed=seed)
    references: Any = load_aligned(right, column=column)  # type: ignore[arg-type]
    fitted = all_references(references)
    systems = [checked_pairs(texts, references, fitted, column=column) for texts in (left, baseline)]
    if systems[0].items.tolist() != systems[1].items.tolist():
        raise InputError("both systems need one text for each item of the references")
    found = []
    for metric in get_pair_metrics(metrics):
        on_step(metric.key)
        require_texts(systems[0], [metric.on_given(systems[0])])
        found.append(_contrast(metric.on_given(systems[0]), systems, how))
    return found


def contrast_sentence(found: Sequence[Contrast]) -> str:
    """Which metrics find the candidate better or worse than the baseline, by their tests adjusted together."""
    p = holm(np.array([one.p_randomisation for one in found]))
    larger = {one.metric: get_pair_metrics([one.metric])[0].closer == "larger" for one in found}
    closer = {one.metric: one.difference > 0 if larger[one.metric] else one.difference < 0 for one in found}
    return baseline_sentence(dict(zip(closer, p.tolist(), strict=True)), closer)


def all_references(right: Any) -> TextsLike:
    """The texts of all references, which both sides of a comparison share."""
    if isinstance(right, Corpus | np.ndarray):
        return right
    return [text for texts in right for text in ([texts] if isinstance(texts, str) else texts)]


def _contrast(metric: PairMetric, systems: list[Pairs], how: Bootstrap) -> Contrast:
    of, mine, yours = _statistics(metric, systems)
    observed = mine.value - yours.value
    drawn = resampled_differences(mine, yours, how)
    low, high = percentile_interval(drawn, len(mine.rows), how.level)
    swapped = swapped_sums(mine.rows, yours.rows, how.resamples, how.seed)
    exchanged = mine.score(swapped[0]) - yours.score(swapped[1])
    return Contrast(
        metric=metric.key,
        of=of,
        value=mine.value,
        baseline=yours.value,
        difference=observed,
        low=low,
        high=high,
        p_bootstrap=_two_sided(observed, drawn - drawn.mean()),
        p_randomisation=_two_sided(observed, exchanged),
        n=len(mine.rows),
        signature=metric.signature,
    )


def resampled_differences(mine: Summed, yours: Summed, how: Bootstrap) -> Floats:
    """The first score minus the second, over resamples of the items they share."""
    joint = resampled_sums(np.hstack([mine.rows, yours.rows]), how.resamples, how.seed)
    width = mine.rows.shape[1]
    return mine.score(joint[:, :width]) - yours.score(joint[:, width:])


def _statistics(metric: PairMetric, systems: list[Pairs]) -> tuple[str, Summed, Summed]:
    """What is compared, for both systems, items in an order of their own; undefined for one is left out for both."""
    sides = [item_statistics(metric, pairs, metric.measure(pairs).values) for pairs in systems]
    order = canonical_order(*systems)
    wholes = [side.whole.ordered(order) for side in sides if side.whole is not None]
    if len(wholes) == 2:
        return "whole set", wholes[0], wholes[1]
    means = [side.mean.ordered(order) for side in sides]
    defined = means[0].rows[:, 1:] * means[1].rows[:, 1:]
    mine, yours = (Summed(mean.rows * defined, mean.score) for mean in means)
    return "mean", mine, yours


def _two_sided(observed: float, under_null: Floats) -> float:
    return math.nan if math.isnan(observed) else permutation_p(abs(observed), np.abs(under_null))
