"""Robustness: is a text nearer to itself with noise than to itself with another meaning? (USMB, task 2.)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from textgauge.bench.inputs import TaskTable
from textgauge.bench.protocols.base import Measure, TaskSources, register_protocol
from textgauge.bench.protocols.batch import PairBatch
from textgauge.bench.protocols.task import Columns, Task, Units, count_known, divide_known, make_pairs, pivot
from textgauge.bench.transformations import get_transformation
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError

SUMMARY = "summary"
SUPERFICIAL = ("capitals", "dropped_letters", "zeros")
SEMANTIC = ("negation", "sentence_shuffle", "word_shuffle")


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Robustness(Task):
    """The share of documents that a metric puts in the right order, strictly: noise, then the summary, then a change.

    A document is compared with its summary, with three copies that differ superficially (capitals, dropped letters, 0
    for the letter o, or `numerals=digits` for six letters) and with three whose meaning differs (negation, shuffled
    sentences, shuffled words). Three rates: the summary is above every semantic change; every superficial change above
    every semantic one; every superficial change above the summary. The score is their mean. Ensembles learn 0 for
    semantic changes, 0.5 for summaries and 1 for superficial changes.
    """

    name = "robustness"
    heading = "Robustness"
    question = "Does a change of spelling cost less similarity than a change of meaning?"
    task = "robustness"
    place = 2
    data = TaskTable(
        "documents",
        "load_documents",
        ("document", "text", "summary"),
        defaults={"summary": "summary"},
        samples=("sample:articles",),
    )
    model = "linear"
    size = "documents_drawn"
    measures = (
        Measure("robustness", about="mean of the three rates"),
        Measure("summary_gt_semantic", detail=True, about="documents whose summary is above every semantic change"),
        Measure("superficial_gt_semantic", detail=True, about="every superficial change above every semantic one"),
        Measure("superficial_gt_summary", detail=True, about="every superficial change above the summary"),
    )

    documents_drawn: int = 150
    numerals: Literal["zeros", "digits"] = "zeros"
    version = 2

    @property
    def _superficial(self) -> list[str]:
        return [*SUPERFICIAL[:2], self.numerals]

    @property
    def _kinds(self) -> list[str]:
        return [SUMMARY, *self._superficial, *SEMANTIC]

    def check(self, sources: TaskSources) -> None:
        if sources.data.summaries is None:
            raise InputError(f"{sources.name}: robustness needs documents with summaries")

    def trials(self, sources: TaskSources, seed: int) -> Iterator[PairBatch]:
        """Yield every document with its seven variants, in one batch; each is changed under a seed of its own."""
        data = sources.data.draw(self.documents_drawn, seed)
        originals, variants, kinds = [], [], []
        for text, summary in dict(zip(data.texts, data.summaries, strict=True)).items():
            changed = [get_transformation(name)(text, seed=seed) for name in self._kinds[1:]]
            originals += [text] * len(self._kinds)
            variants += [summary, *changed]
            kinds += self._kinds
        yield make_pairs(variants, originals, kind=np.array(kinds))

    def units(self, value: Floats, columns: Columns) -> Units:
        """Return whether each of the three orders holds, by document."""
        labels, table = pivot(value, columns["document"], columns["kind"], self._kinds)
        summary, noise, change = table[:, 0], table[:, 1:4].min(axis=1), table[:, 4:].max(axis=1)
        return Units(labels, count_known(table, np.column_stack([summary > change, noise > change, noise > summary])))

    def of_sums(self, sums: Floats) -> Floats:
        """Return the three rates, after their mean."""
        rates = divide_known(sums[:, 1:], sums[:, :1])
        return np.column_stack([rates.mean(axis=1), rates])

    def targets(self, columns: Columns) -> Floats:
        """0 for semantic changes, 0.5 for the summary, 1 for superficial ones."""
        kind = columns["kind"]
        return np.where(kind == SUMMARY, 0.5, np.where(np.isin(kind, self._superficial), 1.0, 0.0))
