"""Data for the tasks of a benchmark of pair metrics: alignment, robustness, sensitivity, clustering, retrieval.

Each is read from a path, a table in memory, `sample:NAME`, or the name of a set that a package registered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from textgauge.core.errors import InputError, UnknownName
from textgauge.data.datasets import DATASETS
from textgauge.data.formats import read_table
from textgauge.data.packing import format_path
from textgauge.data.samples import PREFIX, list_samples, sample
from textgauge.data.source import is_path
from textgauge.data.tables import TextTable
from textgauge.data.tasks import build, builtin
from textgauge.data.tasks.card import ClusteringTexts, ComparedSummaries, Documents, RatedSummaries, RetrievalSet

__all__ = [
    "SAMPLE_TASKS",
    "ClusteringTexts",
    "ComparedSummaries",
    "Documents",
    "RatedSummaries",
    "RetrievalSet",
    "load_compared_summaries",
    "load_documents",
    "load_labelled",
    "load_rated_summaries",
    "load_retrieval",
    "register_task_data",
]

Spec = str | os.PathLike[str] | TextTable
Read = Callable[..., Any]

SAMPLE_TASKS: Mapping[str, tuple[str, ...]] = {
    builtin.ARTICLES: ("axis", "comparisons", "robustness", "sensitivity"),
    builtin.INTENTS: ("clustering",),
    builtin.LIBRARY: ("retrieval",),
}


_KINDS = ("rated", "comparisons", "documents", "labelled", "beir")
_registered: dict[str, dict[str, Read]] = {kind: {} for kind in _KINDS}


def register_task_data(name: str, **readers: Read) -> None:
    """Make a set known by its name to `run` and to the loaders of this module; a taken name is refused.

    Each of `readers` is named after the argument of `run` that it serves (rated, comparisons, documents, labelled,
    beir) and returns what the loader returns; that of `beir` takes the split. A package calls this from the function
    that it names under the entry point group `textgauge.datasets`.
    """
    for kind, read in readers.items():
        if kind not in _registered:
            raise UnknownName.among("kind of task data", kind, _KINDS)
        if name in _registered[kind]:
            raise InputError(f"a set {name!r} for {kind} is registered already")
        _registered[kind][name] = read


def load_rated_summaries(
    spec: Spec,
    *,
    document: str | None = None,
    text: str = "text",
    summary: str = "summary",
    ratings: Sequence[str] | Mapping[str, str] = ("overall",),
) -> RatedSummaries:
    """Summaries with ratings, one a row; `ratings` names columns, or gives the column of each aspect.

    Without a column of document ids, equal texts are one document. Rows with an empty text or summary, or a rating
    that is not a number, are left out with a note.

    >>> len(load_rated_summaries("sample:articles"))
    400
    """
    reader = _named(spec, "rated", {builtin.ARTICLES: builtin.load_article_ratings})
    if reader is not None:
        return reader()  # type: ignore[no-any-return]
    columns = dict(ratings) if isinstance(ratings, Mapping) else {name: name for name in ratings}
    return build.rated_summaries(_load(spec), document=document, text=text, summary=summary, ratings=columns)


def load_compared_summaries(
    spec: Spec,
    *,
    document: str | None = None,
    text: str = "text",
    first: str = "first",
    second: str = "second",
    chosen: str = "chosen",
) -> ComparedSummaries:
    """Two summaries of a text and which of them people chose: 0 or 1, first or second, a or b, or the column's name.

    Any other choice is refused; rows with an empty text, or with equal summaries, are left out with a note.
    """
    reader = _named(spec, "comparisons", {builtin.ARTICLES: builtin.load_article_comparisons})
    if reader is not None:
        return reader()  # type: ignore[no-any-return]
    return build.compared_summaries(
        _load(spec), document=document, text=text, first=first, second=second, chosen=chosen
    )


def load_documents(
    spec: Spec, *, document: str | None = None, text: str = "text", summary: str | None = None
) -> Documents:
    """Documents of a table, a TXT file (one a line) or a folder of TXT files, with summaries if a column is named.

    Samples and published sets bring the summaries they have. Empty texts and summaries, and all but the first of
    equal texts, are left out with a note.
    """
    reader = _named(spec, "documents", {builtin.ARTICLES: builtin.load_article_documents})
    if reader is not None:
        return _checked(reader(), summary)
    table = _load(spec)
    if table.unit == "file":
        return _folder(table, summary)
    return build.documents(table, document=document, text=text, summary=summary)


def load_labelled(spec: Spec, *, text: str = "text", label: str = "label") -> ClusteringTexts:
    """Texts with a label each; a label that occurs once is left out with a note, fewer than two labels are refused."""
    own = {PREFIX + card.name: partial(_sampled, card.name) for card in list_samples("texts")}
    reader = _named(spec, "labelled", {builtin.INTENTS: builtin.load_intents, **own})
    return reader() if reader is not None else build.clustering_texts(_load(spec), text=text, label=label)


def load_retrieval(folder: str | os.PathLike[str], *, split: str | None = "test") -> RetrievalSet:
    """A folder in the layout of BEIR, `sample:library`, or a published set; see `read_beir` for what is left out."""
    reader = _named(folder, "beir", {builtin.LIBRARY: lambda _: builtin.load_library()})
    if reader is not None:
        return reader(split)  # type: ignore[no-any-return]
    if not os.path.isdir(folder):
        name = format_path(folder)
        raise InputError(f"{name}: a retrieval set is a folder with corpus.jsonl, queries.jsonl and qrels")
    return build.read_beir(folder, split=split)


def _named(spec: Spec, kind: str, samples: Mapping[str, Read]) -> Read | None:
    """Return the reader of a sample or a registered set, None for a path or table; a file wins over a set."""
    if isinstance(spec, TextTable):
        return None
    name = os.fspath(spec)
    if name.startswith(PREFIX):
        if name not in samples:
            raise UnknownName.among("sample for this task", name, samples)
        return samples[name]
    DATASETS.load()
    sets = _registered[kind]
    if name in sets and not os.path.isfile(name):
        return sets[name]
    if is_path(name):
        return None
    raise UnknownName.among("file or dataset for this task", name, [*sets, *samples])


def _load(spec: Spec) -> TextTable:
    return spec if isinstance(spec, TextTable) else read_table(spec)


def _checked(found: Documents, summary: str | None) -> Documents:
    if summary is not None and found.summaries is None:
        raise InputError(f"{found.name} has no summaries")
    return found


def _folder(table: TextTable, summary: str | None) -> Documents:
    """The TXT files of a folder, each under its own name."""
    if summary is not None:
        raise InputError(f"{table.name}: a folder of texts has no summaries; give a table with a column of summaries")
    return build.documents(table, document="name", text="text", summary=None, places=table.columns["name"])


def _sampled(name: str) -> ClusteringTexts:
    found = sample(name)
    table = TextTable.of(found.name, {"text": found.texts, "label": found.labels or ()})
    return build.clustering_texts(table, text="text", label="label")
