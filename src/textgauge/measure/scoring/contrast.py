"""`contrast`: two systems with the same references, their difference under each metric, and paired tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.progress import Stage, Step, show_in_notebook
from textgauge.core.result import Result
from textgauge.core.tabular import FlatRow, Row, format_cell, format_interval
from textgauge.data import Pairs, load_aligned
from textgauge.data.source import Source
from textgauge.measure.scoring.report import Bootstrap, Summed, canonical_order, shared_statistics
from textgauge.measure.scoring.score import References, all_references, checked_pairs, require_texts
from textgauge.metrics import Metric, PairMetric, get_pair_metrics
from textgauge.stats.decisions import baseline_sentence
from textgauge.stats.resampling import percentile_interval, permutation_p, resampled_sums, swapped_sums
from textgauge.stats.simultaneous import holm


@dataclass(frozen=True, kw_only=True)
class Contrast(FlatRow):
    """Two systems under one metric: both scores, their difference and how sure it is.

    `of` says what is compared: the score of the whole set where the metric has one, else the mean over items.
    `low` and `high` bound the difference; both p-values are two-sided, for "the systems do not differ". `p_adjusted` is
    that of randomisation, adjusted for all metrics by Holm's correction.
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
    p_adjusted: float
    n: int
    signature: str


@dataclass(frozen=True, repr=False)
class ContrastReport(Result):
    """Two systems under several metrics; iterate over the contrasts, or take one by its place."""

    command: ClassVar[str] = "score"

    contrasts: tuple[Contrast, ...]

    def __len__(self) -> int:
        return len(self.contrasts)

    def __iter__(self) -> Iterator[Contrast]:
        return iter(self.contrasts)

    def __getitem__(self, place: int) -> Contrast:
        return self.contrasts[place]

    @property
    def answer(self) -> str:
        """Which metrics find the candidate better or worse than the baseline, by their tests adjusted together."""
        larger = {one.metric: get_pair_metrics([one.metric])[0].closer == "larger" for one in self}
        closer = {one.metric: one.difference > 0 if larger[one.metric] else one.difference < 0 for one in self}
        return baseline_sentence({one.metric: one.p_adjusted for one in self}, closer)

    def to_dicts(self) -> list[Row]:
        """One row per metric."""
        return [one.to_dict() for one in self]

    def readable(self) -> list[Row]:
        """The rows as tables for people have them."""
        return [_readable(row) for row in self.to_dicts()]


def _readable(row: Row) -> Row:
    cells = {name: format_cell(row[name]) for name in ("metric", "of", "value", "baseline", "difference")}
    cells["interval"] = format_interval(row["low"], row["high"])
    return cells | {
        "p bootstrap": format_cell(row["p_bootstrap"]),
        "p randomisation": format_cell(row["p_randomisation"]),
        "adjusted p": format_cell(row["p_adjusted"]),
    }


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
) -> ContrastReport:
    """Compare the candidate texts `left` with those of a `baseline`, both against the references `right`.

    The interval and one p-value come from the paired bootstrap (Koehn 2004, centred as in sacrebleu), the other p-value
    from approximate randomisation (Riezler and Maxwell 2005); that one is also adjusted for all metrics. Every metric
    sees the same resamples. Fitted weights come from the references, which both systems share.

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
    chosen = get_pair_metrics(metrics)
    for number, metric in enumerate(chosen):
        on_step(Stage(metric.key, number, len(chosen), "scoring"))
        require_texts(systems[0], [metric.on_given(systems[0])])
        found.append(_contrast(metric.on_given(systems[0]), systems, how))
    p = holm(np.array([one.p_randomisation for one in found])).tolist()
    return ContrastReport(tuple(replace(one, p_adjusted=own) for one, own in zip(found, p, strict=True)))


def _contrast(metric: PairMetric, systems: list[Pairs], how: Bootstrap) -> Contrast:
    values = [metric.measure(pairs).values for pairs in systems]
    of, (mine, yours) = shared_statistics(metric, systems, values, canonical_order(*systems))
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
        p_adjusted=math.nan,
        n=len(mine.rows),
        signature=metric.signature,
    )


def resampled_differences(mine: Summed, yours: Summed, how: Bootstrap) -> Floats:
    """The first score minus the second, over resamples of the items they share."""
    joint = resampled_sums(np.hstack([mine.rows, yours.rows]), how.resamples, how.seed)
    width = mine.rows.shape[1]
    return mine.score(joint[:, :width]) - yours.score(joint[:, width:])


def _two_sided(observed: float, under_null: Floats) -> float:
    return math.nan if math.isnan(observed) else permutation_p(abs(observed), np.abs(under_null))
