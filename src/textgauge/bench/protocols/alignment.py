"""Alignment: does a metric rate and choose summaries as people do? (USMB, task 1.)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs import TaskTable
from textgauge.bench.protocols.base import Measure, TaskSources, register_protocol
from textgauge.bench.protocols.batch import PairBatch
from textgauge.bench.protocols.task import Columns, Examples, Task, Units, divide_known, make_pairs
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError

ASPECTS = ("overall", "accuracy", "coverage", "coherence")
_SUMS = 6  # of each aspect: count, Σx, Σy, Σxx, Σyy, Σxy


@register_protocol
@dataclass(frozen=True, kw_only=True, repr=False)
class RatedAlignment(Task):
    """Similarity of a summary and its text against people's scores: Pearson's r, mapped to [0, 1] by (1 + r)/2.

    The score is that of `overall`; accuracy, coverage and coherence are given where the data have them. Whole documents
    are resampled. An ensemble learns the overall score, brought to [0, 1].
    """

    name = "axis"
    heading = "Rated summaries"
    question = "Is a summary that people rated higher more similar to its text?"
    task = family = "alignment"
    place = 1
    data = TaskTable(
        "rated",
        "load_rated_summaries",
        ("document", "text", "summary", "ratings"),
        samples=("sample:articles",),
    )
    model = "linear"
    measures = (
        Measure("axis", column="alignment", about="(1 + r)/2 of similarity and people's overall score"),
        *(
            Measure(f"axis_{aspect}", detail=True, about=f"(1 + r)/2 of similarity and people's score of {aspect}")
            for aspect in ASPECTS[1:]
        ),
    )

    def __repr__(self) -> str:
        """Return the name that stored ensembles are filed under."""
        return "Axis()"

    def check(self, sources: TaskSources) -> None:
        if len(sources.data.summaries) < 3:
            raise InputError(f"{sources.name}: alignment needs at least three rated summaries")

    def trials(self, sources: TaskSources, seed: int) -> Iterator[PairBatch]:
        """Yield every summary with its text, in one batch."""
        data = sources.data
        scores = {f"score_{aspect}": np.array(data.ratings[aspect]) for aspect in ASPECTS if aspect in data.ratings}
        yield make_pairs(data.summaries, data.texts, **scores)

    def units(self, value: Floats, columns: Columns) -> Units:
        """Moments of every aspect, by document."""
        parts = [_list_moments(value, columns.get(f"score_{aspect}")) for aspect in ASPECTS]
        return Units.of_rows(columns["document"], np.hstack(parts))

    def of_sums(self, sums: Floats) -> Floats:
        """Pearson's r of every aspect from its moments."""
        blocks = [sums[:, start : start + _SUMS] for start in range(0, sums.shape[1], _SUMS)]
        return np.column_stack([(1.0 + _compute_pearson(block)) / 2.0 for block in blocks])

    def targets(self, columns: Columns) -> Floats:
        """Return the overall score, from 0 for the lowest of the data to 1 for the highest."""
        score = columns["score_overall"].astype(np.float64)
        low, high = np.nanmin(score), np.nanmax(score)
        return np.asarray((score - low) / (high - low)) if high > low else np.full(len(score), np.nan)


@register_protocol
@dataclass(frozen=True, kw_only=True, repr=False)
class ComparedAlignment(Task):
    """Of two summaries of a text, is the one that people chose the nearer one? Equal similarities count half.

    Precision, recall and F1 are those of choosing the second. An ensemble sees by how much the second is nearer, by
    every metric.
    """

    name = "comparisons"
    heading = "Preferred summaries"
    question = "Of two summaries, is the one that people preferred more similar to the text?"
    task = family = "alignment"
    place = 1
    data = TaskTable(
        "comparisons",
        "load_compared_summaries",
        ("document", "text", "first", "second", "chosen"),
        samples=("sample:articles",),
    )
    model = "forest"
    measures = (
        Measure("comparisons", column="alignment", about="share of choices as people's; ties count half"),
        Measure("comparisons_precision", detail=True, about="of the choices of the second, the share of people's"),
        Measure("comparisons_recall", detail=True, about="of people's choices of the second, the share found"),
        Measure("comparisons_f1", detail=True, about="harmonic mean of precision and recall"),
    )

    def __repr__(self) -> str:
        """Return the name that stored ensembles are filed under."""
        return "Comparisons()"

    def check(self, sources: TaskSources) -> None:
        if len(sources.data.chosen) < 2:
            raise InputError(f"{sources.name}: alignment needs at least two comparisons of summaries")

    def trials(self, sources: TaskSources, seed: int) -> Iterator[PairBatch]:
        """First and second summary of every comparison with their text: two trials after each other."""
        data = sources.data
        both = [text for pair in zip(data.first, data.second, strict=True) for text in pair]
        texts = [text for text in data.texts for _ in range(2)]
        yield make_pairs(
            both,
            texts,
            comparison=np.repeat(np.arange(len(data.chosen)), 2),
            second=np.tile([False, True], len(data.chosen)),
            chosen=np.repeat(np.array(data.chosen, dtype=np.int64), 2),
        )

    def units(self, value: Floats, columns: Columns) -> Units:
        """Right choices, choices of the second, people's, and both; by document."""
        first, second = value[::2], value[1::2]
        known = np.isfinite(first + second)
        says = np.where(second > first, 1.0, np.where(second < first, 0.0, 0.5))
        chosen = columns["chosen"][::2].astype(np.float64)
        right = np.where(chosen == 1, says, 1.0 - says)
        rows = np.column_stack([np.ones(len(says)), right, says, chosen, says * chosen]) * known[:, None]
        return Units.of_rows(columns["document"][::2], rows)

    def of_sums(self, sums: Floats) -> Floats:
        """Accuracy, precision, recall, F1."""
        n, right, says, chosen, both = sums.T
        precision, recall = divide_known(both, says), divide_known(both, chosen)
        return np.column_stack([divide_known(right, n), precision, recall, divide_known(2 * both, says + chosen)])

    def examples(self, features: Floats, columns: Columns, seed: int) -> Examples:
        """Return one example per comparison: how much nearer the second summary is, and whether it was chosen."""
        inputs = self.inputs(features, columns)
        known = np.flatnonzero(np.isfinite(inputs).all(axis=1))
        return Examples(inputs[known], columns["chosen"][::2][known].astype(np.float64), 2 * known)

    def pair_examples(self, features: Floats, columns: Columns, seed: int) -> Examples:
        """Return every summary by itself, 1 for the chosen one."""
        return super().examples(features, columns, seed)

    def targets(self, columns: Columns) -> Floats:
        """1 for the chosen summary, 0 for the other."""
        return np.asarray(columns["chosen"] == columns["second"], dtype=np.float64)

    def inputs(self, features: Floats, columns: Columns) -> Floats:
        """Return how much nearer the second summary is by every metric."""
        return features[1::2] - features[::2]

    def values_of(self, answers: Floats, columns: Columns) -> Floats:
        """Return the probability of being chosen, for both."""
        return np.column_stack([1.0 - answers, answers]).reshape(-1)


def _list_moments(x: Floats, score: NDArray[Any] | None) -> Floats:
    if score is None:
        return np.zeros((len(x), _SUMS))
    y = score.astype(np.float64)
    known = np.isfinite(x) & np.isfinite(y)
    a, b = (np.where(known, side - side[known].mean() if known.any() else 0.0, 0.0) for side in (x, y))
    return np.column_stack([known, a, b, a * a, b * b, a * b])


def _compute_pearson(moments: Floats) -> Floats:
    n, x, y, xx, yy, xy = moments.T
    safe = np.where(n > 0, n, 1.0)
    vx, vy = xx - x * x / safe, yy - y * y / safe
    # What rounding leaves of a constant column is no variance.
    flat = (vx <= 1e-12 * np.maximum(xx, 1e-300)) | (vy <= 1e-12 * np.maximum(yy, 1e-300)) | (n < 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(flat, np.nan, np.clip((xy - x * y / safe) / np.sqrt(vx * vy), -1.0, 1.0))
