"""Tasks of documents and their summaries (USMB): alignment with people, robustness to noise, sensitivity to changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs import TaskTable
from textgauge.bench.pieces import PLACES, fits, insert, pieces, remove
from textgauge.bench.protocols.base import Measure, make_generator, register_protocol
from textgauge.bench.protocols.task import Columns, Examples, Task, TaskUnits, divide_known, make_pairs
from textgauge.bench.sources import PairBatch, TaskSources
from textgauge.bench.transformations import TRANSFORMATIONS
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError

ASPECTS = ("overall", "accuracy", "coverage", "coherence")
_SUMS = 6  # of each aspect: count, Σx, Σy, Σxx, Σyy, Σxy
SUPERFICIAL = ("capitals", "dropped_letters", "zeros")
SEMANTIC = ("negation", "sentence_shuffle", "word_shuffle")
INSERTED = (0.05, 0.10, 0.25, 0.50, 1.00)
REMOVED = (0.05, 0.10, 0.25, 0.50)
CHANGES = [*product(["insert"], INSERTED, PLACES), *product(["remove"], REMOVED, PLACES)]


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
    family = "alignment"
    place = 1
    data = TaskTable(
        "rated", "load_rated_summaries", ("document", "text", "summary", "ratings"), samples=("sample:articles",)
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
        data = sources.data
        scores = {f"score_{aspect}": np.array(data.ratings[aspect]) for aspect in ASPECTS if aspect in data.ratings}
        yield make_pairs(data.summaries, data.texts, **scores)

    def units(self, value: Floats, columns: Columns) -> TaskUnits:
        parts = [_list_moments(value, columns.get(f"score_{aspect}")) for aspect in ASPECTS]
        return TaskUnits.of_rows(columns["document"], np.hstack(parts))

    def of_sums(self, sums: Floats) -> Floats:
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
    family = "alignment"
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
        # First and second summary of every comparison with their text: two trials after each other.
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

    def units(self, value: Floats, columns: Columns) -> TaskUnits:
        first, second = value[::2], value[1::2]
        known = np.isfinite(first + second)
        says = np.where(second > first, 1.0, np.where(second < first, 0.0, 0.5))
        chosen = columns["chosen"][::2].astype(np.float64)
        right = np.where(chosen == 1, says, 1.0 - says)
        rows = np.column_stack([np.ones(len(says)), right, says, chosen, says * chosen]) * known[:, None]
        return TaskUnits.of_rows(columns["document"][::2], rows)

    def of_sums(self, sums: Floats) -> Floats:
        n, right, says, chosen, both = sums.T
        precision, recall = divide_known(both, says), divide_known(both, chosen)
        return np.column_stack([divide_known(right, n), precision, recall, divide_known(2 * both, says + chosen)])

    def examples(self, features: Floats, columns: Columns, seed: int) -> Examples:
        inputs = self.inputs(features, columns)
        known = np.flatnonzero(np.isfinite(inputs).all(axis=1))
        return Examples(inputs[known], columns["chosen"][::2][known].astype(np.float64), 2 * known)

    def pair_examples(self, features: Floats, columns: Columns, seed: int) -> Examples:
        return super().examples(features, columns, seed)

    def targets(self, columns: Columns) -> Floats:
        return np.asarray(columns["chosen"] == columns["second"], dtype=np.float64)

    def inputs(self, features: Floats, columns: Columns) -> Floats:
        return features[1::2] - features[::2]

    def values_of(self, answers: Floats, columns: Columns) -> Floats:
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
    def _kinds(self) -> list[str]:
        return ["summary", *SUPERFICIAL[:2], self.numerals, *SEMANTIC]

    def check(self, sources: TaskSources) -> None:
        if sources.data.summaries is None:
            raise InputError(f"{sources.name}: robustness needs documents with summaries")

    def trials(self, sources: TaskSources, seed: int) -> Iterator[PairBatch]:
        data = sources.data.draw(self.documents_drawn, seed)
        summaries = dict(zip(data.texts, data.summaries, strict=True))
        changes = [TRANSFORMATIONS[name] for name in self._kinds[1:]]
        variants = [
            variant
            for text, summary in summaries.items()
            for variant in (summary, *(change(text, seed=seed) for change in changes))
        ]
        originals = [text for text in summaries for _ in self._kinds]
        yield make_pairs(variants, originals, kind=np.array(self._kinds * len(summaries)))

    def units(self, value: Floats, columns: Columns) -> TaskUnits:
        table = value.reshape(-1, len(self._kinds))
        summary, noise, change = table[:, 0], table[:, 1:4].min(axis=1), table[:, 4:].max(axis=1)
        rows = np.column_stack([np.ones(len(table)), summary > change, noise > change, noise > summary])
        known = np.isfinite(table).all(axis=1, keepdims=True)
        return TaskUnits.of_rows(columns["document"][:: len(self._kinds)], np.where(known, rows, 0.0))

    def of_sums(self, sums: Floats) -> Floats:
        rates = divide_known(sums[:, 1:], sums[:, :1])
        return np.column_stack([rates.mean(axis=1), rates])

    def targets(self, columns: Columns) -> Floats:
        kind = columns["kind"]
        return np.where(kind == "summary", 0.5, np.where(np.isin(kind, SEMANTIC), 0.0, 1.0))


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
    place = 3
    data = TaskTable("documents", "load_documents", ("document", "text"), samples=("sample:articles",))
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
        # As many as a quarter of the documents are set aside for needles: no document is both.
        drawn = sources.data.draw(self.documents_drawn + max(1, self.documents_drawn // 4), seed)
        usable = sorted(
            {text for text in drawn.texts if fits(text, INSERTED[0])},
            key=lambda text: hashlib.blake2b(f"{seed}|{text}".encode("utf-8", "surrogatepass"), digest_size=8).digest(),
        )
        count = max(1, len(usable) - min(self.documents_drawn, round(0.8 * len(usable))))
        texts, hay = sorted(usable[count:]), sorted(usable[:count])
        rng = make_generator(self, sources, seed, 0)
        needles = [_make_needle(text, hay, rng) for text in texts]
        changed = [
            insert(text, needle, share=share, place=place)
            if change == "insert"
            else remove(text, share=share, place=place)
            for text, needle in zip(texts, needles, strict=True)
            for change, share, place in CHANGES
        ]
        columns = zip(("change", "share", "place"), zip(*CHANGES, strict=True), strict=True)
        known = {name: np.tile(np.array(cells), len(texts)) for name, cells in columns}
        yield make_pairs(changed, [text for text in texts for _ in CHANGES], **known)

    def units(self, value: Floats, columns: Columns) -> TaskUnits:
        error, inserted = np.abs(value - self.targets(columns)), columns["change"] == "insert"
        known = np.isfinite(error)
        sides = [known & inserted, known & ~inserted]
        rows = np.column_stack([part for side in sides for part in (side, np.where(side, error, 0.0))])
        return TaskUnits.of_rows(columns["document"], rows)

    def of_sums(self, sums: Floats) -> Floats:
        n_in, in_error, n_out, out_error = sums.T
        parts = [(in_error + out_error, n_in + n_out), (in_error, n_in), (out_error, n_out)]
        return np.column_stack([1.0 - divide_known(over, under) for over, under in parts])

    def targets(self, columns: Columns) -> Floats:
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
