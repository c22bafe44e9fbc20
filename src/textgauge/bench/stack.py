"""A pair metric that is learned from people's ratings, and what it reaches on pairs it has not seen."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from textgauge.bench.ensemble import CrossValidated, Kind, RatedFeatures, Step, cross_validated, rated_features, train
from textgauge.corpus.view import TextsLike
from textgauge.metrics import Metric, PairMetric, get_metric
from textgauge.metrics.pair._ensemble_file import Trained
from textgauge.scoring.score import References, checked_pairs
from textgauge.stats.numbers import plain_row
from textgauge.tabular import Tabular, text_table

Rated: TypeAlias = tuple[TextsLike, References, Iterable[float], Iterable[Any] | None]

_SHOWN = ("measure", "ensemble", "best", "single", "difference", "low", "high", "p", "n")


@dataclass(frozen=True, eq=False)
class Stack(Tabular):
    """A trained ensemble; its rows set it against the best single metric on pairs that were left out.

    `trained` is the model of all pairs, `judged` holds the predictions for left-out pairs and all single metrics.
    """

    trained: Trained
    judged: CrossValidated

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per measure."""
        return self.judged.to_dicts()

    def shares(self) -> list[dict[str, Any]]:
        """How much of the model each metric has, most first: of |weights|, or of the splits of trees."""
        metrics = self.trained.metrics
        found = zip(metrics, self.trained.model.shares(len(metrics)), strict=True)
        rows = [plain_row({"metric": metric.key, "share": float(share)}) for metric, share in found]
        return sorted(rows, key=lambda row: -row["share"])

    def save(self, path: str | os.PathLike[str]) -> PairMetric:
        """Write the model to a JSON file and give the metric that scores with it, `ensemble@path`."""
        self.trained.save(path)
        metric: PairMetric = get_metric(f"ensemble@{os.fspath(path)}")
        return metric

    def __str__(self) -> str:
        return text_table([{name: row[name] for name in _SHOWN} for row in self.to_dicts()])


def ensemble(
    *,
    left: TextsLike,
    right: References,
    target: Iterable[float],
    metrics: str | Iterable[str | Metric] | None = None,
    groups: Iterable[Any] | None = None,
    also: Rated | None = None,
    model: Kind = "ridge",
    scale: tuple[float, float] | None = None,
    seed: int = 0,
    resamples: int = 1_000,
    about: str = "",
    on_step: Step = lambda _: None,
) -> Stack:
    """Stack pair metrics into one that predicts `target`, people's ratings of the pairs.

    `metrics` are all that can be computed here unless named (`all_features`). `groups` are the sets of the pairs: one
    is left out after the other to see what was learned; without them, the pairs of some texts. `also` holds the left
    texts, right texts, ratings, and groups (or None) of other data to learn from, never left out. `scale` holds the
    ratings of texts with nothing in common and of texts that say the same, where they are not the smallest and the
    largest.

    >>> left = ["a red cat sleeps", "the old house", "a stone in the river", "blue dogs run"] * 10
    >>> right = ["a red cat naps", "the new tree", "a stone in the stream", "cats sleep"] * 10
    >>> stack = ensemble(left=left, right=right, target=[4, 2, 5, 1] * 10, metrics="jaccard,chrf", resamples=100)
    >>> [row["metric"] for row in stack.shares()]
    ['jaccard', 'chrf']
    """

    def features(rated: Rated) -> RatedFeatures:
        texts, references, ratings, sets = rated
        return rated_features(checked_pairs(texts, references), ratings, metrics=metrics, groups=sets, on_step=on_step)

    own = features((left, right, target, groups))
    options: dict[str, Any] = {"model": model, "scale": scale, "seed": seed}
    options["also"] = None if also is None else features(also)
    trained = train(own, **options, about=about)
    return Stack(trained, cross_validated(own, **options, resamples=resamples, on_step=on_step))
