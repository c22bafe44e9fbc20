"""Texts to leave out of a corpus, each with the reason and the text it matches; and equal texts with other labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import UnknownName
from textgauge.data import Corpus
from textgauge.measure.lists import get_passages, get_texts
from textgauge.metrics.numerics.search import SetMatches
from textgauge.metrics.properties.base import MeasuredCorpus
from textgauge.metrics.properties.repeats import find_duplicates_across, find_duplicates_within, find_word_matches

if TYPE_CHECKING:
    import polars as pl

CLEANED = ("duplicates", "near_duplicates", "copies")
CLEANABLE = (*CLEANED, "passages")


def list_removed(measured: MeasuredCorpus, drop: Sequence[str] = CLEANED) -> pl.DataFrame:
    """Return the texts to leave out, in their order: corpus, row, reason, and the row and the corpus of their match.

    `copies` are texts that equal, nearly equal or are contained in one of train or of the other file; `passages` are
    all that contain a passage of one. Of `duplicates`, equal but for case and punctuation, and of `near_duplicates` the
    first is kept; of near duplicates, texts are left out until none is left.
    """
    import polars as pl

    unknown = next((name for name in drop if name not in CLEANABLE), None)
    if unknown is not None:
        raise UnknownName.among("reason to leave out a text", unknown, CLEANABLE)
    corpus, n = measured.corpus, len(measured.corpus)
    reasons = np.full(n, "", dtype=object)
    matches = np.full(n, -1)
    beside = "train" if measured.train is not None else "against"

    def mark(rows: NDArray[np.bool_], reason: str, others: Corpus, index: Ints) -> None:
        fresh = rows & (reasons == "")
        reasons[fresh], matches[fresh] = reason, others.source_rows[index[fresh]]

    others = measured.against if measured.train is None else measured.train.corpus
    if others is not None:
        found, _ = get_passages(measured)
        source = np.append(found.others, 0)[found.longest]
        if "copies" in drop:
            near: Any = measured.syntactic if measured.train is not None else measured.derive(find_duplicates_across)
            if measured.train is not None:
                forms, first = np.unique(measured.train.forms, return_index=True)
                place = np.minimum(np.searchsorted(forms, measured.forms), len(forms) - 1)
                mark(forms[place] == measured.forms, "equal to a text of train", others, first[place])
            is_near = near.similarity >= measured.near_copy if measured.train is not None else near.index >= 0
            mark(is_near, f"near copy of {beside}", others, near.index)
            mark(found.is_contained, f"contained in a text of {beside}", others, source)
        if "passages" in drop:
            mark(found.longest >= 0, f"passage of {beside}", others, source)
    outside = reasons != ""
    if "duplicates" in drop:
        kept = np.flatnonzero(reasons == "")
        _, first, inverse = np.unique(measured.forms[kept], return_index=True, return_inverse=True)
        earliest = np.arange(n)
        earliest[kept] = kept[first[inverse]]
        mark(earliest < np.arange(n), "duplicate", corpus, earliest)
    while "near_duplicates" in drop:
        kept = np.flatnonzero(reasons == "")
        pairs = find_word_matches(corpus.take(kept))
        gone = _choose_later(pairs)
        if not gone.any():
            break
        nearest = np.zeros(n, dtype=np.int64)
        nearest[kept] = kept[pairs.index]
        hits = np.zeros(n, dtype=bool)
        hits[kept[gone]] = True
        mark(hits, "near duplicate", corpus, nearest)
    rows = np.flatnonzero(reasons != "")
    return pl.DataFrame(
        {
            "corpus": pl.Series([measured.name] * len(rows), dtype=pl.String),
            "index": corpus.source_rows[rows],
            "reason": pl.Series(reasons[rows].tolist(), dtype=pl.String),
            "match_in": pl.Series(np.where(outside[rows], beside, measured.name).tolist(), dtype=pl.String),
            "match_index": matches[rows],
            "text": pl.Series(get_texts(corpus, rows), dtype=pl.String),
        }
    )


def _choose_later(pairs: SetMatches) -> NDArray[np.bool_]:
    """Return the texts whose nearest duplicate stands before them and is not left out itself."""
    gone = np.zeros(len(pairs.index), dtype=bool)
    for row in np.flatnonzero((pairs.index >= 0) & (pairs.index < np.arange(len(gone)))).tolist():
        gone[row] = not gone[pairs.index[row]]
    return gone


def list_label_conflicts(measured: MeasuredCorpus, labels: NDArray[Any] | None) -> pl.DataFrame:
    """Return equal texts and near duplicates whose labels differ, each with the first such text and both labels."""
    import polars as pl

    corpus, n = measured.corpus, len(measured.corpus)
    index, similarity = np.full(n, -1), np.zeros(n)
    if labels is not None:
        nearest = measured.derive(find_duplicates_within)
        differs = (nearest.index >= 0) & (labels[nearest.index] != labels)
        index[differs], similarity[differs] = nearest.index[differs], nearest.similarity[differs]
        order = np.lexsort((np.arange(n), measured.forms))
        for run in np.split(order, np.flatnonzero(np.diff(measured.forms[order])) + 1):
            if len(np.unique(labels[run])) > 1:
                index[run] = [next(row for row in run.tolist() if labels[row] != labels[own]) for own in run.tolist()]
                similarity[run] = 1.0
    rows = np.flatnonzero(index >= 0)
    match = index[rows]
    named = (np.empty(0, dtype=object) if labels is None else labels.astype(object))[[*rows, *match]].tolist()
    return pl.DataFrame(
        {
            "corpus": pl.Series([measured.name] * len(rows), dtype=pl.String),
            "index": corpus.source_rows[rows],
            "text": pl.Series(get_texts(corpus, rows), dtype=pl.String),
            "label": pl.Series(named[: len(rows)], dtype=pl.String),
            "similarity": similarity[rows],
            "match_index": corpus.source_rows[match],
            "match": pl.Series(get_texts(corpus, match), dtype=pl.String),
            "match_label": pl.Series(named[len(rows) :], dtype=pl.String),
        }
    )
