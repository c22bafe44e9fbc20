"""Retrieval: are the documents that answer a query found among altered copies? (USMB, task 5.)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs import TaskTable
from textgauge.bench.protocols.base import Measure, TaskSources, make_generator, register_protocol
from textgauge.bench.protocols.batch import MatrixBatch
from textgauge.bench.protocols.robustness import SEMANTIC, SUPERFICIAL
from textgauge.bench.protocols.sensitivity import INSERTED, REMOVED
from textgauge.bench.protocols.task import Columns, Examples, Task, Units, divide_known
from textgauge.bench.transformations import get_transformation
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.sizes import split_into_blocks
from textgauge.data import Corpus

COPIES = (*SUPERFICIAL, *SEMANTIC, "needle_insertion", "chunk_removal")
_CELLS = 4_000_000  # trials of one batch: 32 MB of values
_EXAMPLES = 4_000


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
    task = "retrieval"
    place = 5
    data = TaskTable(
        "beir",
        "load_retrieval",
        ("split",),
        samples=("sample:library",),
    )
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
        return [batch.number for batch in self.trials(sources, seed)]

    def trials(self, sources: TaskSources, seed: int) -> Iterator[MatrixBatch]:
        """Batches of queries, with all documents of a fold and their copies."""
        data = sources.data.draw(self.n or len(sources.data.texts), seed, queries=self.queries or None)
        place = {document: row for row, document in enumerate(data.documents)}
        relevant = {
            query: {place[document] for document in data.relevant[name] if document in place}
            for query, name in enumerate(data.query_ids)
        }
        fold_of = _deal_folds(data.texts, self.folds, make_generator(self, sources, seed, 0))
        number = 0
        for fold in range(self.folds):
            rows = np.flatnonzero(fold_of == fold)
            query_rows = [query for query, ideal in relevant.items() if ideal & set(rows.tolist())]
            for batch in self._batches(data, rows, query_rows, relevant, fold, number, seed):
                yield batch
                number += 1

    def _batches(
        self,
        data: Any,
        rows: NDArray[np.int64],
        query_rows: list[int],
        relevant: dict[int, set[int]],
        fold: int,
        number: int,
        seed: int,
    ) -> Iterator[MatrixBatch]:
        originals = [data.texts[row] for row in rows]
        copies = [make_copy(text, name, seed) for text in originals for name in COPIES]
        texts = Corpus.of([*originals, *copies, *(data.queries[query] for query in query_rows)])
        held = len(originals) + len(copies)
        documents, background = texts.take(np.arange(held)), texts.take(np.arange(len(originals)))
        document = np.concatenate([np.arange(len(rows)), np.repeat(np.arange(len(rows)), len(COPIES))])
        copy = np.array([""] * len(rows) + list(COPIES) * len(rows))
        for block in split_into_blocks(len(query_rows), _CELLS, held):
            some = query_rows[block]
            ideal = np.array([[row in relevant[query] for row in rows.tolist()] for query in some])
            columns: dict[str, NDArray[Any]] = {
                "fold": np.full(len(some) * held, fold),
                "query": np.repeat(np.array(some), held),
                "document": np.tile(background.keys[document], len(some)),
                "copy": np.tile(copy, len(some)),
                "ideal": ideal[:, document].reshape(-1),
            }
            queries = texts.take(held + np.arange(block.start, block.stop))
            yield MatrixBatch(number, queries, documents, columns, background)
            number += 1

    def units(self, value: Floats, columns: Columns) -> Units:
        """Return sums over folds of the share of ideal documents at the top before and after, by query.

        What a query finds in one fold hints at what it finds in another, so folds of one query are one unit.
        """
        query_rows = columns["fold"].astype(np.int64) * (1 << 32) + columns["query"].astype(np.int64)
        order = np.argsort(query_rows, kind="stable")
        starts = np.unique(query_rows[order], return_index=True)[1]
        found = np.array([self._found(value[part], columns, part) for part in np.split(order, starts[1:])])
        return Units.of_rows(columns["query"][order[starts]], found)

    def _found(self, value: Floats, columns: Columns, part: NDArray[np.int64]) -> list[float]:
        original = columns["copy"][part] == ""
        ideal = columns["ideal"][part] & original
        if not np.isfinite(value).all():
            return [0.0, 0.0, 0.0]
        top = self.top or int(ideal.sum())
        return [1.0, count_at_top(value[original], ideal[original], top), count_at_top(value, ideal, top)]

    def of_sums(self, sums: Floats) -> Floats:
        """After over before, and both; what finds nothing keeps nothing."""
        n, before, after = sums.T
        kept = np.where((n > 0) & (before == 0), 0.0, divide_known(after, before))
        return np.column_stack([kept, divide_known(before, n), divide_known(after, n)])

    def targets(self, columns: Columns) -> Floats:
        """1 for ideal documents as they are, 0 for all others and for copies."""
        return np.asarray(columns["ideal"] & (columns["copy"] == ""), dtype=np.float64)

    def examples(self, features: Floats, columns: Columns, seed: int) -> Examples:
        """Return all ideal documents, for each of them two copies of ideal ones and ten other documents or copies."""
        every = super().examples(features, columns, seed)
        rng = np.random.default_rng([seed, 12])
        ideal = columns["ideal"][every.trials].astype(bool)
        good, copies = np.flatnonzero(every.targets == 1), np.flatnonzero(ideal & (every.targets == 0))
        size = min(len(good), _EXAMPLES)
        sides = ((good, size), (copies, 2 * size), (np.flatnonzero(~ideal), 10 * size))
        chosen = np.sort(np.concatenate([rng.permutation(side)[:count] for side, count in sides]))
        return every.take(chosen)


def make_copy(text: str, name: str, seed: int) -> str:
    """A copy by one transformation; how much is inserted or removed is one of the task's shares, drawn by content."""
    shares = {"needle_insertion": INSERTED, "chunk_removal": REMOVED}.get(name)
    if shares is None:
        return get_transformation(name)(text, seed=seed)
    strength = shares[(int(Corpus.of([text]).keys[0]) + seed) % len(shares)]
    return get_transformation(name)(text, seed=seed, strength=strength)


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


def _deal_folds(texts: tuple[str, ...], folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of every document; the order of the documents does not decide it."""
    order = np.argsort(Corpus.of(list(texts)).keys, kind="stable")
    fold = np.empty(len(texts), dtype=np.int64)
    fold[order[rng.permutation(len(texts))]] = np.arange(len(texts)) % folds
    return fold
