"""Texts to leave out of a corpus, each with the reason and the text it matches; and equal texts with other labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import UnknownName
from textgauge.measure.lists import get_texts, make_frame
from textgauge.metrics.properties.base import MeasuredCorpus
from textgauge.metrics.properties.repeats import (
    find_duplicates_across,
    find_duplicates_within,
    find_word_matches,
    get_passages,
)

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
    unknown = next((name for name in drop if name not in CLEANABLE), None)
    if unknown is not None:
        raise UnknownName.among("reason to leave out a text", unknown, CLEANABLE)
    corpus, train = measured.corpus, measured.train
    own, side = corpus.source_rows.tolist(), "against" if train is None else "train"
    removed: dict[int, tuple[str, str, int]] = {}

    def remove(hits: NDArray[np.bool_], reason: str, match: Ints) -> None:
        for row in np.flatnonzero(hits).tolist():
            removed.setdefault(row, (f"{reason} {side}", side, int(others.source_rows[match[row]])))

    if measured.others is not None:
        passages, others = get_passages(measured)
        source = np.append(passages.others, 0)[passages.longest]
        if "copies" in drop and train is not None and measured.syntactic is not None:
            forms, first = np.unique(train.forms, return_index=True)
            place = np.minimum(np.searchsorted(forms, measured.forms), len(forms) - 1)
            remove(forms[place] == measured.forms, "equal to a text of", first[place])
            near = measured.syntactic
            remove(near.similarity >= measured.near_copy, "near copy of", near.index)
        elif "copies" in drop:
            matches = measured.derive(find_duplicates_across)
            remove(matches.index >= 0, "near copy of", matches.index)
        if "copies" in drop:
            remove(passages.is_contained, "contained in a text of", source)
        if "passages" in drop:
            remove(passages.longest >= 0, "passage of", source)
    if "duplicates" in drop:
        kept: dict[int, int] = {}
        for row, form in enumerate(measured.forms.tolist()):
            if row not in removed and kept.setdefault(form, row) != row:
                removed[row] = "duplicate", measured.name, own[kept[form]]
    before = -1
    while "near_duplicates" in drop and len(removed) > before:
        before, rows = len(removed), [row for row in range(len(corpus)) if row not in removed]
        for row, match in zip(rows, find_word_matches(corpus.take(rows)).index.tolist(), strict=True):
            if match >= 0 and rows[match] < row and rows[match] not in removed:
                removed[row] = "near duplicate", measured.name, own[rows[match]]
    rows = sorted(removed)
    reasons, sides, matched = zip(*(removed[row] for row in rows), strict=True) if rows else ((), (), ())
    return make_frame(
        measured.name,
        index=np.array([own[row] for row in rows], dtype=np.int64),
        reason=list(reasons),
        match_in=list(sides),
        match_index=np.array(matched, dtype=np.int64),
        text=get_texts(corpus, rows),
    )


def list_label_conflicts(measured: MeasuredCorpus, labels: NDArray[Any] | None) -> pl.DataFrame:
    """Return equal texts and near duplicates whose labels differ, each with the first such text and both labels."""
    corpus, found = measured.corpus, list[tuple[int, int, float]]()
    given = [] if labels is None else labels.astype(object).tolist()
    first: dict[int, dict[Any, int]] = {}  # the first text of each label, by form
    for row, (form, label) in enumerate(zip(measured.forms.tolist(), given, strict=False)):
        first.setdefault(form, {}).setdefault(label, row)
    nearest = measured.derive(find_duplicates_within)
    near = zip(measured.forms.tolist(), nearest.index.tolist(), nearest.similarity.tolist(), strict=True)
    for row, (label, (form, match, similarity)) in enumerate(zip(given, near, strict=False)):
        equal = next((other for name, other in first[form].items() if name != label), None)
        if equal is not None:
            found.append((row, equal, 1.0))
        elif match >= 0 and given[match] != label:
            found.append((row, match, similarity))
    rows, matches = (np.array([one[side] for one in found], dtype=np.int64) for side in (0, 1))
    return make_frame(
        measured.name,
        index=corpus.source_rows[rows],
        text=get_texts(corpus, rows),
        label=[given[row] for row, _, _ in found],
        similarity=np.array([similarity for _, _, similarity in found]),
        match_index=corpus.source_rows[matches],
        match=get_texts(corpus, matches),
        match_label=[given[match] for _, match, _ in found],
    )
