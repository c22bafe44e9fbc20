"""The five tasks (USMB): alignment with people, robustness to noise, sensitivity to changes, clusters, retrieval.

The first three are of documents and their summaries, the others over all pairs of many texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs import TaskTable
from textgauge.bench.pieces import PLACES, fits, insert, pieces, remove
from textgauge.bench.protocols.base import Measure, make_generator, register_protocol
from textgauge.bench.protocols.task import Columns, Examples, Keys, Task, TaskUnits, divide_known, make_pairs
from textgauge.bench.sources import MatrixBatch, PairBatch, TaskSources
from textgauge.bench.transformations import TRANSFORMATIONS
from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.errors import InputError
from textgauge.core.settings import split_into_blocks
from textgauge.data import Corpus

ASPECTS = ("overall", "accuracy", "coverage", "coherence")
_SUMS = 6  # of each aspect: count, Σx, Σy, Σxx, Σyy, Σxy
SUPERFICIAL = ("capitals", "dropped_letters", "zeros")
SEMANTIC = ("negation", "sentence_shuffle", "word_shuffle")
INSERTED = (0.05, 0.10, 0.25, 0.50, 1.00)
REMOVED = (0.05, 0.10, 0.25, 0.50)
CHANGES = [*product(["insert"], INSERTED, PLACES), *product(["remove"], REMOVED, PLACES)]
COPIES = (*SUPERFICIAL, *SEMANTIC, "needle_insertion", "chunk_removal")
_CELLS = 4_000_000  # trials of one batch of retrieval: 32 MB of values
# Of clustering, pairs of one label that a model learns from, and pairs of two labels for each of them (chosen on texts
# drawn under another seed); of retrieval, ideal documents, copies of ideal ones and others for each.
_SAME_LABEL, _TWO_LABELS = 1_500, 3
_IDEAL, _COPIES_OF_IDEAL, _OTHERS = 4_000, 2, 10


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
        Measure("found_before", detail=True, about="ideal documents at the top, of the most possible, without copies"),
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
        found = np.array([self._count_found(value[part], columns, part) for part in np.split(order, starts[1:])])
        return TaskUnits.of_rows(columns["query"][order[starts]], found)

    def _count_found(self, value: Floats, columns: Columns, part: NDArray[np.int64]) -> list[float]:
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
