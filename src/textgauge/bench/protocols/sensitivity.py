"""Sensitivity: does similarity fall by as much as a text was changed? (USMB, task 3.)"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs import TaskTable
from textgauge.bench.protocols.base import Measure, TaskSources, make_generator, register_protocol
from textgauge.bench.protocols.batch import PairBatch
from textgauge.bench.protocols.task import Columns, Task, Units, divide_known, make_pairs
from textgauge.bench.transformations import PLACES, fits, insert, pieces, remove
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError

INSERTED = (0.05, 0.10, 0.25, 0.50, 1.00)
REMOVED = (0.05, 0.10, 0.25, 0.50)
CHANGES = [*product(["insert"], INSERTED, PLACES), *product(["remove"], REMOVED, PLACES)]


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Sensitivity(Task):
    """1 less the mean absolute error of similarity against the ideal one, over changes of known size.

    A needle of 5 to 100 % of the tokens (the beginning of documents set aside for that) is put at the beginning, middle
    or end: the ideal similarity is 1/(1 + x) (`ideal=reciprocal`), or 1 − x/2 (`straight`; the paper says that it falls
    linearly, and both lines have its two ends). A chunk of 5 to 50 % is taken out: 1 − x. `quadratic` and `root` are
    the square and the root of `reciprocal`. Documents of which 5 % is less than half a token are left out. Ensembles
    learn the ideal.
    """

    name = "sensitivity"
    heading = "Sensitivity"
    question = "Does similarity fall in proportion to the share of a text that was added or removed?"
    task = "sensitivity"
    place = 3
    data = TaskTable(
        "documents",
        "load_documents",
        ("document", "text"),
        samples=("sample:articles",),
    )
    figures = (*Task.figures, "sensitivity")
    model = "linear"
    size = "documents_drawn"
    judging = ("ideal",)
    measures = (
        Measure("sensitivity", about="1 − mean absolute error against the ideal similarity"),
        Measure("insertion_sensitivity", detail=True, about="the same over insertions"),
        Measure("removal_sensitivity", detail=True, about="the same over removals"),
    )

    documents_drawn: int = 40
    ideal: Literal["reciprocal", "straight", "quadratic", "root"] = "reciprocal"

    def check(self, sources: TaskSources) -> None:
        long_enough = sum(fits(text, INSERTED[0]) for text in set(sources.data.texts))
        if long_enough < 2:
            least = f"{round(1 / INSERTED[0])} tokens"
            raise InputError(f"{sources.name}: sensitivity needs at least two different documents of {least} or more")

    def notes(self, sources: TaskSources) -> tuple[str, ...]:
        """Return what was left out on reading, and documents that are too short."""
        short = sum(not fits(text, INSERTED[0]) for text in sources.data.texts)
        note = f"{sources.name}: {short} of {len(sources.data.texts)} documents are shorter than one needle: left out"
        return (*super().notes(sources), *([note] if short else []))

    def trials(self, sources: TaskSources, seed: int) -> Iterator[PairBatch]:
        """Yield every document with its changed copies, in one batch."""
        texts, hay = self._dealt(sources, seed)
        rng = make_generator(self, sources, seed, 0)
        needles = [_make_needle(text, hay, rng) for text in texts]
        originals = [text for text in texts for _ in CHANGES]
        changed = [
            insert(text, needle, share=share, place=place)
            if change == "insert"
            else remove(text, share=share, place=place)
            for text, needle in zip(texts, needles, strict=True)
            for change, share, place in CHANGES
        ]
        columns = zip(("change", "share", "place"), zip(*CHANGES, strict=True), strict=True)
        yield make_pairs(changed, originals, **{name: np.tile(np.array(cells), len(texts)) for name, cells in columns})

    def _dealt(self, sources: TaskSources, seed: int) -> tuple[list[str], list[str]]:
        """Documents to change, and as many as a quarter of them that needles are made of: no document is both."""
        aside = max(1, self.documents_drawn // 4)
        drawn = sources.data.draw(self.documents_drawn + aside, seed)
        usable = sorted(
            {text for text in drawn.texts if fits(text, INSERTED[0])}, key=lambda text: _make_sort_key(text, seed)
        )
        count = max(1, len(usable) - min(self.documents_drawn, round(0.8 * len(usable))))
        return sorted(usable[count:]), sorted(usable[:count])

    def units(self, value: Floats, columns: Columns) -> Units:
        """Number of changes and absolute errors, of insertions and of removals, by document."""
        error, inserted = np.abs(value - self.targets(columns)), columns["change"] == "insert"
        known = np.isfinite(error)
        sides = [known & inserted, known & ~inserted]
        rows = np.column_stack([part for side in sides for part in (side, np.where(side, error, 0.0))])
        return Units.of_rows(columns["document"], rows)

    def of_sums(self, sums: Floats) -> Floats:
        """Over all changes, over insertions, over removals."""
        n_in, in_error, n_out, out_error = sums.T
        parts = [(in_error + out_error, n_in + n_out), (in_error, n_in), (out_error, n_out)]
        return np.column_stack([1.0 - divide_known(over, under) for over, under in parts])

    def targets(self, columns: Columns) -> Floats:
        """Return the ideal similarity of every change."""
        return compute_ideal_similarity(columns["change"], columns["share"], self.ideal)


def compute_ideal_similarity(change: NDArray[Any], share: NDArray[Any], ideal: str = "reciprocal") -> Floats:
    """1/(1 + x), or 1 − x/2 for `straight`, where a share x was inserted, 1 − x where it was removed; or bent.

    >>> compute_ideal_similarity(np.array(["insert", "remove"]), np.array([1.0, 0.5])).tolist()
    [0.5, 0.5]
    """
    size = share.astype(np.float64)
    inserted = 1.0 - size / 2.0 if ideal == "straight" else 1.0 / (1.0 + size)
    line = np.where(change == "insert", inserted, 1.0 - size)
    return np.asarray(line ** {"quadratic": 2.0, "root": 0.5}.get(ideal, 1.0))


def _make_needle(text: str, hay: list[str], rng: np.random.Generator) -> str:
    """Documents one after the other in random order, until they are as long as this one."""
    wanted, found, parts = len(pieces(text)), 0, []
    for place in rng.permutation(len(hay)):
        parts.append(hay[place])
        found += len(pieces(hay[place]))
        if found >= wanted:
            break
    return " ".join(parts)


def _make_sort_key(text: str, seed: int) -> bytes:
    return hashlib.blake2b(f"{seed}|{text}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
