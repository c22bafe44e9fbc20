"""Published sets by name: those of the catalogue, and those that are read from a folder of `TEXTGAUGE_DATA`.

The latter have no free address: `NAME/FILE` is searched in each of the folders, in any format of tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean

from textgauge.core.errors import ResourceError, UnknownName
from textgauge.data.catalogue import data_table, is_here, published_pairs, published_texts
from textgauge.data.formats import load_table
from textgauge.data.tables import TextTable, number
from textgauge.data.tasks import build
from textgauge.data.tasks.card import ClusteringTexts, ComparedSummaries, Documents, RatedSummaries, RetrievalSet

_BEIR = ("corpus", "queries")
_ASPECTS = ("coherence", "consistency", "fluency", "relevance")
# Sets outside the catalogue: the files in their folder, without ending.
_FILES = {
    "ag_news": ("ag_news_test",),
    "bbc_news": ("bbc_news",),
    "biomedical_titles": ("biomedical20",),
    "cnndm_chaganty": ("cnndm_human_scores",),
    "cranfield": _BEIR,
    "huffpost_headlines": ("huffpost",),
    "newsgroups20": ("newsgroups20_sample",),
    "openai_summary_comparisons": ("comparisons",),
    "paul_graham_essays": ("pg_essays",),
    "scifact_beir": _BEIR,
    "squality": ("squality_dev_documents",),
    "stackoverflow_titles": ("stackoverflow20",),
    "summeval": ("summeval_summaries", "summeval_documents"),
    "summeval_reference": ("summeval_summaries", "summeval_documents"),
    "vaswani_npl": _BEIR,
}
_FOLDERS = {"summeval_reference": "summeval"}


def _summeval(name: str, text: str) -> RatedSummaries:
    """Summaries rated by experts, with their article or its reference (Fabbri et al. 2021).

    Consistency is called accuracy here, relevance coverage; `overall` is the mean of the four aspects.
    """
    table = _table(name, "summeval_summaries", "doc_id", "summary", *_ASPECTS)
    sources = _table(name, "summeval_documents", "doc_id", text)
    by_id = dict(zip(build.names_of(sources, "doc_id"), sources.columns[text], strict=True))
    texts = [by_id.get(key) for key in build.names_of(table, "doc_id")]
    overall = [_mean(cells) for cells in zip(*(table.columns[aspect] for aspect in _ASPECTS), strict=True)]
    ratings = {"overall": "overall", "accuracy": "consistency", "coverage": "relevance"}
    ratings |= {"coherence": "coherence", "fluency": "fluency"}
    whole = table.having(text=texts, overall=overall)
    return build.rated_summaries(whole, document="doc_id", text="text", summary="summary", ratings=ratings)


def _chaganty(name: str) -> RatedSummaries:
    """Summaries rated with the reference (Chaganty et al. 2018).

    Rated references are left out, since they would be compared with themselves; so are focus and clarity, which seven
    rows have, and the edit rate, of which less is better.
    """
    ratings = {aspect: aspect for aspect in ("overall", "grammar", "redundancy")}
    table = _table(name, "cnndm_human_scores", "doc_id", "system", "reference", "summary", *ratings)
    own = [system == "reference" for system in build.names_of(table, "system")]
    rows, notes = build.drop_invalid(name, table.unit, table.rows, {"the reference itself as summary": own})
    found = build.rated_summaries(
        table.take(rows), document="doc_id", text="reference", summary="summary", ratings=ratings
    )
    return replace(found, notes=(*notes, *found.notes))


def _openai(name: str) -> ComparedSummaries:
    """Summaries of posts and news that people chose between (Stiennon et al. 2020)."""
    columns = {"text": "document", "first": "summary_0", "second": "summary_1", "chosen": "choice"}
    table = _table(name, "comparisons", *columns.values())
    return build.compared_summaries(table, document=None, **columns)


def _documents(name: str, *, ids: tuple[str, ...], text: str = "text", summary: str | None = None) -> Documents:
    """The documents of a table; several columns of ids are joined by a slash."""
    table = _table(name, _FILES[name][0], text, *ids, *([summary] if summary else []))
    parts = zip(*(build.names_of(table, column) for column in ids), strict=True)
    whole = table.having(id=["/".join(part) for part in parts])
    return build.documents(whole, document="id", text=text, summary=summary)


def _catalogue_documents(name: str) -> Documents:
    pairs = published_pairs(name)
    table = TextTable.of(name, {"text": pairs.left, "summary": pairs.right})
    return build.documents(table, document=None, text="text", summary="summary")


def _labelled(name: str, *, label: str, title: str | None = None) -> ClusteringTexts:
    """The labelled texts of a table, each after its title where there is one."""
    table = _table(name, _FILES[name][0], "text", label, *([title] if title else []))
    texts = build.texts_of(table, "text")
    titles = build.texts_of(table, title) if title else [""] * len(texts)
    whole = table.having(text=[f"{head} {text}".strip() for head, text in zip(titles, texts, strict=True)])
    return build.clustering_texts(whole, text="text", label=label)


def _catalogue_labelled(name: str) -> ClusteringTexts:
    found = published_texts(name)
    table = TextTable.of(name, {"text": found.texts, "label": found.labels or ()})
    return build.clustering_texts(table, text="text", label="label")


def _retrieval(name: str, split: str | None) -> RetrievalSet:
    return build.read_beir(_path(name, "corpus", "_id, title, text").parent, split=split, name=name)


RATED: Mapping[str, Callable[[], RatedSummaries]] = {
    "summeval": partial(_summeval, "summeval", "source"),
    "summeval_reference": partial(_summeval, "summeval_reference", "cnndm_reference"),
    "cnndm_chaganty": partial(_chaganty, "cnndm_chaganty"),
}
COMPARED: Mapping[str, Callable[[], ComparedSummaries]] = {
    "openai_summary_comparisons": partial(_openai, "openai_summary_comparisons")
}
SUMMARISED: Mapping[str, Callable[[], Documents]] = {
    "scitldr": partial(_catalogue_documents, "scitldr"),
    "legal_summ": partial(_catalogue_documents, "legal_summ"),
    "bbc_news": partial(_documents, "bbc_news", ids=("category", "id"), summary="summary"),
}
DOCUMENTS: Mapping[str, Callable[[], Documents]] = {
    **SUMMARISED,
    "paul_graham_essays": partial(_documents, "paul_graham_essays", ids=("title",)),
    "squality": partial(_documents, "squality", ids=("passage_id",), text="document"),
    "newsgroups20": partial(_documents, "newsgroups20", ids=("category", "id")),
}
LABELLED: Mapping[str, Callable[[], ClusteringTexts]] = {
    "newsgroups20": partial(_labelled, "newsgroups20", label="category"),
    "stackoverflow_titles": partial(_labelled, "stackoverflow_titles", label="tag"),
    "biomedical_titles": partial(_labelled, "biomedical_titles", label="label"),
    "ag_news": partial(_labelled, "ag_news", label="category", title="title"),
    "bbc_news": partial(_labelled, "bbc_news", label="category", title="title"),
    "huffpost_headlines": partial(_labelled, "huffpost_headlines", label="category"),
    **{name: partial(_catalogue_labelled, name) for name in ("banking77", "clinc150", "atis", "nfcats")},
}
RETRIEVAL: Mapping[str, Callable[[str | None], RetrievalSet]] = {
    name: partial(_retrieval, name) for name in ("scifact_beir", "cranfield", "vaswani_npl")
}
_BY_TASK: Mapping[str, Mapping[str, object]] = {
    "axis": RATED,
    "comparisons": COMPARED,
    "robustness": SUMMARISED,
    "sensitivity": DOCUMENTS,
    "clustering": LABELLED,
    "retrieval": RETRIEVAL,
}
# The tasks each set serves; `axis` and `comparisons` are the two halves of alignment.
PUBLISHED_TASKS: Mapping[str, tuple[str, ...]] = {
    name: tuple(task for task, sets in _BY_TASK.items() if name in sets)
    for name in dict.fromkeys(name for sets in _BY_TASK.values() for name in sets)
}


def task_set_is_here(name: str) -> bool:
    """Whether the files of a set of `PUBLISHED_TASKS` are on this machine; reads no content and no network."""
    if name not in PUBLISHED_TASKS:
        raise UnknownName.among("dataset", name, PUBLISHED_TASKS)
    if name not in _FILES:
        return is_here(name)
    return all(_find(name, stem) is not None for stem in _FILES[name])


def _table(name: str, stem: str, *columns: str) -> TextTable:
    """A table of a set, under the name of the set, with all these columns."""
    table = load_table(_path(name, stem, ", ".join(columns)))
    for column in columns:
        table.column(column)
    return replace(table, name=name)


def _path(name: str, stem: str, columns: str) -> Path:
    found = _find(name, stem)
    if found is None:
        folder = _FOLDERS.get(name, name)
        raise ResourceError(
            f"{name} is not on this machine and has no free address; put {stem}.csv or {stem}.jsonl "
            f"(columns {columns}) into a folder named by TEXTGAUGE_DATA as {folder}/{stem}.csv"
        )
    return found


def _find(name: str, stem: str) -> Path | None:
    return data_table(f"{_FOLDERS.get(name, name)}/{stem}")


def _mean(cells: tuple[object, ...]) -> float | None:
    values = [value for cell in cells if (value := number(cell)) is not None]
    return fmean(values) if len(values) == len(cells) else None
