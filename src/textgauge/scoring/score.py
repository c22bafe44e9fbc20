"""`score`: aligned texts, many pair metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from textgauge.data import Corpus, Pairs
from textgauge.data.view import TextsLike
from textgauge.errors import InputError
from textgauge.metrics import Metric, PairMetric, get_pair_metrics
from textgauge.scoring.report import Bootstrap, ScoreReport, canonical_order, item_statistics

References: TypeAlias = "TextsLike | Sequence[Sequence[str]]"
Step: TypeAlias = Callable[[str], None]

DEFAULT_METRICS = "levenshtein,jaccard,chrf,bleu,rouge1,rougeL,cosine,bertscore"


def score(
    *,
    left: TextsLike,
    right: References,
    metrics: str | Iterable[str | Metric] = DEFAULT_METRICS,
    background: TextsLike | None = None,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
    on_step: Step = lambda _: None,
) -> ScoreReport:
    """Score every left text (candidate, query) with its right text (reference, document).

    `right` may hold a list of references for each left text. `background` is the corpus that `tfidf`, `bm25plus` and
    idf weights are fitted on; all texts of the pairs by default. The report has the values of every pair, and
    `summary()` their means with bootstrap intervals at `level`, and the score of the whole set where one exists.

    >>> report = score(left=["a red cat", "one dog"], right=["a red dog", "one dog"], metrics="jaccard,levenshtein")
    >>> report["jaccard"].values.round(3).tolist()
    [0.5, 1.0]
    """
    how = Bootstrap(level=level, resamples=resamples, seed=seed)
    pairs = checked_pairs(left, right, background)
    chosen = [metric.on_given(pairs) for metric in get_pair_metrics(metrics)]
    require_texts(pairs, chosen)
    found, statistics = [], {}
    for metric in chosen:
        on_step(metric.key)
        found.append(metric.measure(pairs))
        statistics[metric.key] = item_statistics(metric, pairs, found[-1].values)
    return ScoreReport(tuple(found), statistics, canonical_order(pairs), how)


def checked_pairs(left: TextsLike, right: References, background: TextsLike | None = None) -> Pairs:
    """Pairs of what was given; at least one."""
    pairs = Pairs.of(left, right, background=None if background is None else Corpus.of(background))
    if not len(pairs):
        raise InputError("there are no pairs to score")
    return pairs


def require_texts(pairs: Pairs, metrics: Sequence[PairMetric]) -> None:
    """Refuse metrics of texts where only embeddings were given."""
    asking = next((metric for metric in metrics if metric.needs != "embeddings"), None)
    if asking is not None and not pairs.left.pool.has_texts:
        raise InputError(f"{asking.key} needs texts, but the pairs were given as embeddings")
