"""A stack of pair metrics: trained on ratings, with what was found on pairs left out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from textgauge.bench.learned.features import Step, TrainingPairs, rated_features
from textgauge.bench.learned.training import CrossValidated, Kind, cross_validated, train
from textgauge.core.arrays import Floats
from textgauge.core.result import Result
from textgauge.core.tabular import format_cell, format_interval, plain_row
from textgauge.data.view import TextsLike
from textgauge.measure.scoring.score import References, checked_pairs
from textgauge.metrics import Metric, PairMetric, get_metric
from textgauge.metrics.ensemble_file import Trained
from textgauge.metrics.text_sketch import EMBEDDER
from textgauge.stats.decisions import verdict

_Labels: TypeAlias = Iterable[Any] | None
Rated: TypeAlias = (
    tuple[TextsLike, References, Iterable[float], _Labels]
    | tuple[TextsLike, References, Iterable[float], _Labels, _Labels]
)

_ONE_SOURCE = "all pairs are of one source: how it does on texts of other sources is not known"
_NO_SKETCH = (
    f"no embeddings of these texts are kept, so scoring cannot warn of texts far from them: it takes {EMBEDDER} "
    f"(textgauge resources fetch {EMBEDDER})"
)


@dataclass(frozen=True, eq=False, repr=False)
class Stack(Result):
    """A trained ensemble; its rows compare it with the best single metric on pairs that were left out.

    `trained` is the model of all pairs, `judged` holds the predictions for left-out pairs and all single metrics.
    """

    command: ClassVar[str] = "train ensemble"

    trained: Trained
    judged: CrossValidated

    @property
    def answer(self) -> str:
        """Whether the learned metric is better than the best single one on new sources, in one sentence."""
        row = self.judged.contrasts[0]
        where, said, ends, untested = "new sources", row.verdict, (row.sources_low, row.sources_high), ""
        if np.isnan(row.sources_low):
            where, untested = "new pairs of these sets", "new sources were not tested; "
            ends = row.pairs_low, row.pairs_high
            said = verdict(ends)
        gap = f"(difference {format_cell(row.difference)}, {format_interval(*ends)})"
        learned = f"{self.trained.about['share']:.0%} of it is learned"
        return f"The learned metric is {said} {row.best} on {where} {gap}; {untested}{learned}."

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What is not known of it, or speaks against it."""
        found = [] if self.judged.left_out else [_ONE_SOURCE]
        return (*found, *([] if self.trained.texts is not None else [_NO_SKETCH]))

    @property
    def details(self) -> dict[str, Any]:
        """The card of the model: what it was trained on and how; and how much of it each metric has."""
        return {"card": dict(self.trained.about), "metrics": self.shares()}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        return self.to_dicts()

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per measure, then one per source left out."""
        return self.judged.to_dicts()

    def shares(self) -> list[dict[str, Any]]:
        """How much of the model each metric has, most first: of |weights|, or of the splits of trees."""
        metrics = self.trained.metrics
        found = zip(metrics, self.trained.model.shares(len(metrics)), strict=True)
        rows = [plain_row({"metric": metric.key, "share": float(share)}) for metric, share in found]
        return sorted(rows, key=lambda row: -row["share"])

    def readable(self) -> list[dict[str, Any]]:
        """The rows as tables for people have them."""
        return [readable(row) for row in self.to_dicts()]

    def save(self, path: str | os.PathLike[str]) -> PairMetric:  # type: ignore[override]
        """Write the model to a JSON file and give the metric that scores with it, `ensemble@path`."""
        self.trained.save(path)
        metric: PairMetric = get_metric(f"ensemble@{os.fspath(path)}")
        return metric


def readable(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a stack for reading: what was left out, and both intervals of the difference."""
    cells = {"left out": row["left_out"] or "each in turn", "measure": row["measure"]}
    cells |= {name: format_cell(row[name]) for name in ("ensemble", "best", "single", "difference")}
    pairs, sources = (format_interval(row.get(f"{name}_low"), row.get(f"{name}_high")) for name in ("pairs", "sources"))
    return cells | {"new pairs": pairs, "new sources": sources, "n": row["n"]}


def ensemble(
    *,
    left: TextsLike,
    right: References,
    target: Iterable[float],
    metrics: str | Iterable[str | Metric] | None = None,
    groups: Iterable[Any] | None = None,
    sources: Iterable[Any] | None = None,
    also: Rated | Sequence[Rated] | None = None,
    model: Kind = "ridge",
    scale: tuple[float, float] | None = None,
    seed: int = 0,
    resamples: int = 1_000,
    columns: Mapping[str, Sequence[float] | Floats] | None = None,
    names: Sequence[str] = (),
    on_step: Step = lambda _: None,
) -> Stack:
    """Stack pair metrics into one that predicts `target`, people's ratings of the pairs.

    `metrics` are by default all that can be computed here (`all_features`). `groups` are the sets of the pairs; those
    that share texts are one source, or `sources` names it. One source is left out after the other to see what was
    learned; where there is one, the pairs of some texts. `also` holds the left texts, right texts, ratings, groups (or
    None) and, if known, sources of other data to learn from, or several of them; `names` are those of all data.
    `columns` are scores of the pairs, by name, for metrics `column:NAME`. `scale` holds the ratings of texts with
    nothing in common and of texts that say the same, where they are not the smallest and the largest.

    >>> left = ["a red cat sleeps", "the old house", "a stone in the river", "blue dogs run"] * 10
    >>> right = ["a red cat naps", "the new tree", "a stone in the stream", "cats sleep"] * 10
    >>> stack = ensemble(left=left, right=right, target=[4, 2, 5, 1] * 10, metrics="jaccard,chrf", resamples=100)
    >>> stack.warnings
    ('all pairs are of one source: how it does on texts of other sources is not known',)
    """
    others: Sequence[Any] = () if also is None else also if isinstance(also, list) else [also]
    given = [(left, right, target, groups, sources), *((*other, None)[:5] for other in others)]
    called = [*names, *(f"data {number + 1}" for number in range(len(names), len(given)))]
    data = [
        TrainingPairs(
            checked_pairs(texts, references, columns=None if place else columns),
            list(ratings),
            name,
            *(_listed(cells) for cells in labels),
        )
        for place, ((texts, references, ratings, *labels), name) in enumerate(zip(given, called, strict=True))
    ]
    rated = rated_features(data, metrics=metrics, on_step=on_step)
    options: dict[str, Any] = {"model": model, "scale": scale, "seed": seed}
    judged = cross_validated(rated, **options, resamples=resamples, on_step=on_step)
    trained = train(rated, **options)
    card = {**trained.about, "left_out": [row.to_dict() for row in judged.left_out]}
    return Stack(replace(trained, about=card), judged)


def _listed(cells: Iterable[Any] | None) -> list[Any] | None:
    return None if cells is None else list(cells)
