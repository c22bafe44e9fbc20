"""Tasks over all pairs of many texts (USMB): clusters of labelled texts, documents that answer a query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs import TaskTable
from textgauge.bench.protocols.base import Measure, make_generator, register_protocol
from textgauge.bench.protocols.document_tasks import INSERTED, REMOVED, SEMANTIC, SUPERFICIAL
from textgauge.bench.protocols.task import Columns, Examples, Keys, Task, TaskUnits, divide_known
from textgauge.bench.sources import MatrixBatch, TaskSources
from textgauge.bench.transformations import TRANSFORMATIONS
from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.errors import InputError
from textgauge.core.settings import split_into_blocks
from textgauge.data import Corpus

COPIES = (*SUPERFICIAL, *SEMANTIC, "needle_insertion", "chunk_removal")
_CELLS = 4_000_000  # trials of one batch of retrieval: 32 MB of values
# Of clustering, pairs of one label that a model learns from, and pairs of two labels for each of them (chosen on texts
# drawn under another seed); of retrieval, ideal documents, copies of ideal ones and others for each.
_SAME_LABEL, _TWO_LABELS = 1_500, 3
_IDEAL, _COPIES_OF_IDEAL, _OTHERS = 4_000, 2, 10


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
    place = 4
    data = TaskTable("labelled", "load_labelled", ("text", "label"), samples=("sample:intents",))
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

    def units(self, value: Floats, columns: Columns) -> TaskUnits:
        folds = np.unique(columns["fold"])
        parts = [columns["fold"] == fold for fold in folds]
        labels, others = columns["label"], columns["other_label"]
        return TaskUnits(folds, np.array([self._score(value[here], labels[here], others[here]) for here in parts]))

    def of_sums(self, sums: Floats) -> Floats:
        return divide_known(sums[:, 1:], sums[:, :1])

    def _score(self, value: Floats, labels: NDArray[Any], other: NDArray[Any]) -> list[float]:
        """Return 1, V-measure, homogeneity and completeness of one fold; zeros where a similarity does not exist."""
        from scipy.spatial.distance import squareform
        from sklearn.cluster import AgglomerativeClustering
        from sklearn.metrics import homogeneity_completeness_v_measure

        if not np.isfinite(value).all():
            return [0.0, 0.0, 0.0, 0.0]
        distance = squareform(1.0 - value)
        truth = np.concatenate([labels[:1], other[: len(distance) - 1]])
        count = len(np.unique(truth))
        grouped = AgglomerativeClustering(count, metric="precomputed", linkage=self.linkage).fit_predict(distance)
        homogeneity, completeness, v_measure = homogeneity_completeness_v_measure(truth, grouped)
        return [1.0, float(v_measure), float(homogeneity), float(completeness)]

    def documents(self, columns: Columns) -> Keys:
        return np.column_stack([columns["document"], columns["other"]]).astype(np.uint64)

    def targets(self, columns: Columns) -> Floats:
        return np.asarray(columns["label"] == columns["other_label"], dtype=np.float64)

    def examples(self, features: Floats, columns: Columns, seed: int) -> Examples:
        """Return a random sample of pairs of one label, and three times as many of two."""
        every = super().examples(features, columns, seed)
        same, different = np.flatnonzero(every.targets == 1.0), np.flatnonzero(every.targets == 0.0)
        size = min(_SAME_LABEL, max(len(same), 1))
        return every.sample([(same, size), (different, _TWO_LABELS * size)], [seed, 11])


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Retrieval(Task):
    """What is left of the share of ideal documents at the top when altered copies of all documents join the corpus.

    Every document gets one copy per transformation of the tasks robustness and sensitivity. For a query with r ideal
    documents, those among the `top` nearest (0: the r nearest), as a share of the most that fit there, before and
    after; the score is the sum after over the sum before, 0 where nothing is found at all. Equal similarities share
    their places. Documents are dealt into `folds`, each a corpus by itself, so that ensembles are trained on other
    documents; 1 fold is the whole corpus, for which there is no ensemble.
    """

    name = "retrieval"
    heading = "Retrieval"
    question = "Are the right documents still on top when altered copies of all documents join them?"
    place = 5
    data = TaskTable("beir", "load_retrieval", ("split",), samples=("sample:library",))
    model = "forest"
    folded = True
    size = "n"
    judging = ("top",)
    measures = (
        Measure("retrieval", about="share of ideal documents at the top with altered copies, over that without"),
        Measure(
            "found_before",
            detail=True,
            about="ideal documents at the top, of the most possible, without copies",
        ),
        Measure("found_after", detail=True, about="the same with copies"),
    )

    n: int = 250
    queries: int = 200
    folds: int = 5
    top: int = 5
    version = 2

    def check(self, sources: TaskSources) -> None:
        if not sources.data.queries:
            raise InputError(f"{sources.name}: retrieval needs a query with at least one relevant document")
        if len(sources.data.texts) < 2 * self.folds:
            raise InputError(f"{sources.name}: {len(sources.data.texts)} documents are too few for {self.folds} folds")

    def batch_numbers(self, sources: TaskSources, seed: int) -> Sequence[int]:
        return range(sum(len(blocks) for *_, blocks in self._deal(sources, seed)))

    def trials(self, sources: TaskSources, seed: int) -> Iterator[MatrixBatch]:
        """Yield batches of queries, with all documents of a fold and their copies."""
        number = 0
        for fold, (originals, questions, query, ideal, blocks) in enumerate(self._deal(sources, seed)):
            copies = [make_copy(text, name, seed) for text in originals for name in COPIES]
            texts = Corpus.of([*originals, *copies, *questions])
            n, held = len(originals), len(originals) + len(copies)
            documents, background = texts.take(np.arange(held)), texts.take(np.arange(n))
            document = np.concatenate([np.arange(n), np.repeat(np.arange(n), len(COPIES))])
            copy = np.array([""] * n + list(COPIES) * n)
            for block in blocks:
                count = block.stop - block.start
                columns: dict[str, NDArray[Any]] = {
                    "fold": np.full(count * held, fold),
                    "query": np.repeat(query[block], held),
                    "document": np.tile(background.keys[document], count),
                    "copy": np.tile(copy, count),
                    "ideal": ideal[block][:, document].reshape(-1),
                }
                queries = texts.take(held + np.arange(block.start, block.stop))
                yield MatrixBatch(number, queries, documents, columns, background)
                number += 1

    def _deal(self, sources: TaskSources, seed: int) -> Iterator[tuple[list[str], list[str], Ints, Masks, list[slice]]]:
        """Yield of every fold documents, queries, their numbers, which document is ideal for which, and batches."""
        data = sources.data.draw(self.n or len(sources.data.texts), seed, queries=self.queries or None)
        place = {document: row for row, document in enumerate(data.documents)}
        wanted = np.zeros((len(data.queries), len(place)), dtype=bool)
        for query, name in enumerate(data.query_ids):
            wanted[query, [place[document] for document in data.relevant[name]]] = True
        # By content: the order of the documents does not decide their folds.
        order = np.argsort(Corpus.of(list(data.texts)).keys, kind="stable")
        fold_of = np.empty(len(place), dtype=np.int64)
        fold_of[order[make_generator(self, sources, seed, 0).permutation(len(place))]] = (
            np.arange(len(place)) % self.folds
        )
        for fold in range(self.folds):
            rows = np.flatnonzero(fold_of == fold)
            asked = np.flatnonzero(wanted[:, rows].any(axis=1))
            blocks = split_into_blocks(len(asked), _CELLS, len(rows) * (1 + len(COPIES)))
            texts, queries = [data.texts[row] for row in rows], [data.queries[query] for query in asked]
            yield texts, queries, asked, wanted[np.ix_(asked, rows)], blocks

    def units(self, value: Floats, columns: Columns) -> TaskUnits:
        """Return sums over folds of the share of ideal documents at the top before and after, by query.

        What a query finds in one fold hints at what it finds in another, so folds of one query are one unit.
        """
        query_rows = columns["fold"].astype(np.int64) * (1 << 32) + columns["query"].astype(np.int64)
        order = np.argsort(query_rows, kind="stable")
        starts = np.unique(query_rows[order], return_index=True)[1]
        found = np.array([self._found(value[part], columns, part) for part in np.split(order, starts[1:])])
        return TaskUnits.of_rows(columns["query"][order[starts]], found)

    def _found(self, value: Floats, columns: Columns, part: NDArray[np.int64]) -> list[float]:
        original = columns["copy"][part] == ""
        ideal = columns["ideal"][part] & original
        if not np.isfinite(value).all():
            return [0.0, 0.0, 0.0]
        top = self.top or int(ideal.sum())
        return [1.0, count_at_top(value[original], ideal[original], top), count_at_top(value, ideal, top)]

    def of_sums(self, sums: Floats) -> Floats:
        n, before, after = sums.T
        kept = np.where((n > 0) & (before == 0), 0.0, divide_known(after, before))
        return np.column_stack([kept, divide_known(before, n), divide_known(after, n)])

    def targets(self, columns: Columns) -> Floats:
        return np.asarray(columns["ideal"] & (columns["copy"] == ""), dtype=np.float64)

    def examples(self, features: Floats, columns: Columns, seed: int) -> Examples:
        """Return all ideal documents, for each of them two copies of ideal ones and ten other documents or copies."""
        every = super().examples(features, columns, seed)
        ideal = columns["ideal"][every.trials].astype(bool)
        good, copies = np.flatnonzero(every.targets == 1), np.flatnonzero(ideal & (every.targets == 0))
        size = min(len(good), _IDEAL)
        others = np.flatnonzero(~ideal)
        return every.sample([(good, size), (copies, _COPIES_OF_IDEAL * size), (others, _OTHERS * size)], [seed, 12])


def make_copy(text: str, name: str, seed: int) -> str:
    """Return a copy by one transformation.

    How much is inserted or removed is one of the task's shares, drawn by content.
    """
    shares = {"needle_insertion": INSERTED, "chunk_removal": REMOVED}.get(name)
    if shares is None:
        return TRANSFORMATIONS[name](text, seed=seed)
    strength = shares[(int(Corpus.of([text]).keys[0]) + seed) % len(shares)]
    return TRANSFORMATIONS[name](text, seed=seed, strength=strength)


def count_at_top(value: Floats, ideal: NDArray[np.bool_], top: int) -> float:
    """Return the expected number of ideal documents among the `top` nearest, as a share of the most possible.

    Equal ones are in random order.

    >>> count_at_top(np.array([0.9, 0.5, 0.5]), np.array([False, True, False]), 2)
    0.5
    """
    top = min(top, len(value))
    least = np.partition(value, len(value) - top)[len(value) - top]
    above, level = value > least, value == least
    places = (top - above.sum()) / level.sum()
    return float(((ideal & above).sum() + places * (ideal & level).sum()) / min(top, ideal.sum()))
