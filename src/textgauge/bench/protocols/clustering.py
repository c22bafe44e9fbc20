"""Clustering: do texts of one label come together? (USMB, task 4.)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs import TaskTable
from textgauge.bench.protocols.base import Measure, TaskSources, make_generator, register_protocol
from textgauge.bench.protocols.batch import MatrixBatch
from textgauge.bench.protocols.task import Columns, Examples, Keys, Task, Units, divide_known
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.data import Corpus

_EXAMPLES = 1_500  # pairs of one label that a model learns from
_OTHERS = 3  # pairs of two labels for each of them; chosen on texts drawn under another seed


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Clustering(Task):
    """V-measure of agglomerative clusters on 1 − similarity against the labels, with the true number of labels.

    Texts are dealt at random into `folds` of `n`, each clustered by itself, and the score is the mean over folds: an
    ensemble is trained on the pairs (same label or not) of the other folds, and all metrics face the same folds.
    """

    name = "clustering"
    heading = "Clustering"
    question = "Do clusters by similarity match the labels of the texts?"
    task = "clustering"
    place = 4
    data = TaskTable(
        "labelled",
        "load_labelled",
        ("text", "label"),
        samples=("sample:intents",),
    )
    model = "forest"
    folded = True
    size = "n"
    judging = ("linkage",)
    measures = (
        Measure("clustering", about="V-measure, mean over folds"),
        Measure("homogeneity", detail=True, about="clusters hold one label only, mean over folds"),
        Measure("completeness", detail=True, about="labels are in one cluster only, mean over folds"),
    )

    n: int = 150
    folds: int = 5
    linkage: Literal["average", "complete", "single"] = "average"

    def check(self, sources: TaskSources) -> None:
        if len(set(sources.data.labels)) < 2:
            raise InputError(f"{sources.name}: clustering needs texts of at least two labels")
        there = len(set(sources.data.texts))
        if there < 4 * self.folds:
            raise InputError(f"{sources.name}: {there} different texts are too few for {self.folds} folds")

    def batch_numbers(self, sources: TaskSources, seed: int) -> Sequence[int]:
        return range(self.folds)

    def trials(self, sources: TaskSources, seed: int) -> Iterator[MatrixBatch]:
        """Yield one batch per fold: all pairs of its texts."""
        label_of = dict(zip(sources.data.texts, sources.data.labels, strict=True))
        every = Corpus.of(list(label_of)).canonical()
        order = make_generator(self, sources, seed, 0).permutation(len(every))
        size = min(self.n, len(every) // self.folds)
        # A pool of the texts that are drawn: models run on whole pools.
        corpus = Corpus.of(list(every.take(order[: self.folds * size]).texts))
        labels = np.unique([label_of[text] for text in corpus.texts], return_inverse=True)[1]
        for fold in range(self.folds):
            # In the order of content keys, as the whole data are.
            rows = fold * size + np.argsort(order[fold * size : (fold + 1) * size])
            texts, left, right = corpus.take(rows), *np.triu_indices(size, 1)
            columns: dict[str, NDArray[Any]] = {
                "fold": np.full(len(left), fold),
                "document": texts.keys[left],
                "other": texts.keys[right],
                "label": labels[rows][left],
                "other_label": labels[rows][right],
            }
            yield MatrixBatch(fold, texts, None, columns, texts)

    def units(self, value: Floats, columns: Columns) -> Units:
        """V-measure, homogeneity and completeness of every fold."""
        folds = np.unique(columns["fold"])
        rows = []
        for fold in folds:
            here = columns["fold"] == fold
            labels, other = columns["label"][here], columns["other_label"][here]
            rows.append(self._scores(value[here], labels, other))
        return Units(folds, np.array(rows))

    def of_sums(self, sums: Floats) -> Floats:
        """Return means over folds."""
        return np.asarray(divide_known(sums[:, 1:], sums[:, :1]))

    def _scores(self, value: Floats, labels: NDArray[Any], other: NDArray[Any]) -> list[float]:
        from sklearn.cluster import AgglomerativeClustering
        from sklearn.metrics import homogeneity_completeness_v_measure

        if not np.isfinite(value).all():
            return [0.0, 0.0, 0.0, 0.0]
        n = int((1 + np.sqrt(1 + 8 * len(value))) / 2)
        truth = np.concatenate([labels[:1], other[: n - 1]])
        distance = np.zeros((n, n))
        distance[np.triu_indices(n, 1)] = 1.0 - value
        distance += distance.T
        count = len(np.unique(truth))
        grouped = AgglomerativeClustering(count, metric="precomputed", linkage=self.linkage).fit_predict(distance)
        homogeneity, completeness, v_measure = homogeneity_completeness_v_measure(truth, grouped)
        return [1.0, float(v_measure), float(homogeneity), float(completeness)]

    def documents(self, columns: Columns) -> Keys:
        return np.column_stack([columns["document"], columns["other"]]).astype(np.uint64)

    def targets(self, columns: Columns) -> Floats:
        """1 for two texts of one label, 0 for others."""
        return np.asarray(columns["label"] == columns["other_label"], dtype=np.float64)

    def examples(self, features: Floats, columns: Columns, seed: int) -> Examples:
        """Return a random sample of pairs of one label, and three times as many of two."""
        every = super().examples(features, columns, seed)
        rng = np.random.default_rng([seed, 11])
        same, different = np.flatnonzero(every.targets == 1.0), np.flatnonzero(every.targets == 0.0)
        size = min(_EXAMPLES, max(len(same), 1))
        return every.take(
            np.sort(np.concatenate([rng.permutation(same)[:size], rng.permutation(different)[: _OTHERS * size]]))
        )
