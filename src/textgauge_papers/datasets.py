"""The published data sets that the papers read: `register` makes them known to textgauge by their names.

`datasets.csv` has address and sha256 of the files of the first half; the texts never ship. Sets of the second half have
no free address: `NAME/FILE` is searched in the folders of `TEXTGAUGE_DATA`, in any format of tables.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from statistics import fmean

from textgauge.core import ResourceError
from textgauge.data import (
    ClusteringTexts,
    ComparedSummaries,
    DatasetFile,
    DatasetItem,
    Documents,
    RatedSummaries,
    RetrievalSet,
    TextTable,
    find_data_table,
    find_dataset_file,
    load_compared_summaries,
    load_documents,
    load_labelled,
    load_published_pairs,
    load_published_texts,
    load_rated_summaries,
    load_retrieval,
    read_table,
    register_dataset,
    register_task_data,
)

Items = Iterator[DatasetItem]

_THREE = ("train", "valid", "test")
_STYLES = ("Bible", "GYAFC_formal", "GYAFC_informal", "GYAFC_rewrites", "Paralex", "Paraphrase", "Yelp")
_RATED_SETS = tuple(f"{style}{tail}" for style in _STYLES for tail in ("", "_random"))
_SYSTEMS = (
    "Borderline DIDI-NLP Facebook-AI IIE-MT MiSS NiuTrans Online-W SMU metricsystem1 metricsystem2 metricsystem3 "
    "metricsystem4 metricsystem5 ref-A ref-B"
)
# The file of texts and the file of scores name the two human references differently.
_SCORED_AS = {"ref": "ref-A", "refB": "ref-B"}


def register() -> None:
    """Register the data sets and the data of tasks: the entry point of `textgauge.datasets`."""
    by_name: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader((files("textgauge_papers") / "datasets.csv").read_text("utf-8").splitlines()):
        by_name.setdefault(row["dataset"], []).append(row)

    def add(
        read: Callable[[], Items],
        size: int,
        about: str,
        splits: tuple[str, ...],
        sides: tuple[str, ...] = (),
        extra: tuple[str, ...] = (),
    ) -> None:
        name = read.__name__
        rows = by_name[name]
        register_dataset(
            name,
            read,
            kind="pairs" if sides else "texts",
            size=size,
            about=about,
            licence=rows[0]["licence"],
            source="/".join(rows[0]["url"].split("/")[3:5]),
            files=[DatasetFile(row["file"], row["url"], row["sha256"], int(row["bytes"])) for row in rows],
            splits=splits,
            extra=extra,
            sides=sides,
        )

    pair = ("left", "right")
    add(banking77, 13_083, "bank customers, 77 intents", ("train", "test"))
    add(clinc150, 22_500, "assistant requests, 150 intents", ("train", "val", "test"), extra=("oos",))
    add(atis, 5_871, "questions about flights, by intent", _THREE)
    add(nfcats, 11_984, "non-factoid questions, by category", _THREE)
    add(stsb, 8_628, "sentence pairs rated 0 to 5", ("train", "dev", "test"), pair)
    add(yamshchikov14, 13_225, "paraphrases and random pairs rated 1 to 5 by three people", _RATED_SETS, pair)
    translated = "translated talks with expert scores, by system"
    add(wmt21_mqm_ted_zhen, 7_935, translated, tuple(_SYSTEMS.split()), ("source", "target"))
    add(scitldr, 1_237, "abstracts and one-sentence summaries", ("dev", "test"), ("source", "summary"))
    add(legal_summ, 446, "clauses of contracts and plain summaries", ("all",), ("original", "summary"))
    _register_task_data()


def banking77() -> Items:
    """Read questions of bank customers with 77 intents (Casanueva et al. 2020)."""
    for split in ("train", "test"):
        for text, label in _read_records("banking77", f"{split}.csv")[1:]:
            yield DatasetItem(split, text, label)


def clinc150() -> Items:
    """Read requests to an assistant with 150 intents, and out-of-scope ones labelled `oos` (Larson et al. 2019)."""
    for part, rows in json.loads(_read("clinc150", "data_full.json")).items():
        split = "oos" if part.startswith("oos") else part
        for text, label in rows:
            yield DatasetItem(split, text, label)


def atis() -> Items:
    """Read spoken questions about flights with their intents (Hemphill et al. 1990)."""
    for split in _THREE:
        texts, labels = (_read_lines("atis", f"{split}_{end}") for end in ("seq.in", "label"))
        for text, label in zip(texts, labels, strict=True):
            yield DatasetItem(split, text.strip(), label.strip())


def nfcats() -> Items:
    """Read non-factoid questions of the web with eight categories (Bolotova et al. 2022)."""
    for split in _THREE:
        for _, label, text in _read_records("nfcats", f"{split}.csv")[1:]:
            yield DatasetItem(split, text, label)


def stsb() -> Items:
    """Read sentence pairs with a similarity of 0 to 5 (Cer et al. 2017)."""
    for split in ("train", "dev", "test"):
        for left, right, grade in _read_records("stsb", f"stsb-en-{split}.csv"):
            yield DatasetItem(split, left, right=right, grade=float(grade))


def yamshchikov14() -> Items:
    """Read paraphrases, style transfers and random pairs, rated 1 to 5 by three people (Yamshchikov et al. 2021)."""
    for split in _RATED_SETS:
        for left, right, *ratings, _ in _read_records("yamshchikov14", f"{split}.csv")[1:]:
            raters = tuple(map(float, ratings))
            yield DatasetItem(split, left, right=right, grade=fmean(raters), raters=raters)


def wmt21_mqm_ted_zhen() -> Items:
    """Read Chinese talks and English translations of 15 systems, scored by experts, 0 best (Freitag et al. 2021)."""
    name = "wmt21_mqm_ted_zhen"
    rows = (line.split() for line in _read_lines(name, "mqm_ted_zhen.avg_seg_scores.tsv")[1:])
    scores = {(system, segment): float(score) + 0.0 for system, score, segment in rows if score != "None"}
    for line in _read_lines(name, "mqm_ted_zhen.tsv")[1:]:
        system, _, _, segment, _, source, target, *_ = line.split("\t")
        system = _SCORED_AS.get(system, system)
        score = scores.pop((system, segment), None)  # the first translation of a segment counts
        if score is not None:
            clean = target.replace("<v>", "").replace("</v>", "")
            yield DatasetItem(system, source, right=clean, grade=score)


def scitldr() -> Items:
    """Read abstracts of papers and their authors' summary in one sentence (Cachola et al. 2020)."""
    for split in ("dev", "test"):
        for line in _read_lines("scitldr", f"{split}.jsonl"):
            paper = json.loads(line)
            summary = " ".join(paper["target"][0].split())
            yield DatasetItem(split, " ".join(" ".join(paper["source"]).split()), right=summary)


def legal_summ() -> Items:
    """Read clauses of contracts and a plain summary of each (Manor and Li 2019)."""
    for clause in json.loads(_read("legal_summ", "all_v1.json")).values():
        yield DatasetItem("all", clause["original_text"].strip(), right=clause["reference_summary"].strip())


def _read(dataset: str, file: str) -> str:
    return find_dataset_file(dataset, file).read_text("utf-8")


def _read_lines(dataset: str, file: str) -> list[str]:
    return [line.rstrip("\n") for line in io.StringIO(_read(dataset, file), newline=None)]


def _read_records(dataset: str, file: str) -> list[list[str]]:
    with find_dataset_file(dataset, file).open(encoding="utf-8", newline="") as lines:
        return [record for record in csv.reader(lines, strict=True) if record]


def _register_task_data() -> None:
    register_task_data("summeval", rated=partial(_summeval, "summeval", "source"))
    register_task_data("summeval_reference", rated=partial(_summeval, "summeval_reference", "cnndm_reference"))
    register_task_data("cnndm_chaganty", rated=_chaganty)
    register_task_data("openai_summary_comparisons", comparisons=_openai)
    for name in ("scitldr", "legal_summ"):
        register_task_data(name, documents=partial(_published_documents, name))
    register_task_data(
        "bbc_news",
        documents=partial(_documents, "bbc_news", "bbc_news", ids=("category", "id"), summary="summary"),
        labelled=partial(_labelled, "bbc_news", "bbc_news", label="category", title="title"),
    )
    essays = partial(_documents, "paul_graham_essays", "pg_essays", ids=("title",))
    register_task_data("paul_graham_essays", documents=essays)
    stories = partial(_documents, "squality", "squality_dev_documents", ids=("passage_id",), text="document")
    register_task_data("squality", documents=stories)
    register_task_data(
        "newsgroups20",
        documents=partial(_documents, "newsgroups20", "newsgroups20_sample", ids=("category", "id")),
        labelled=partial(_labelled, "newsgroups20", "newsgroups20_sample", label="category"),
    )
    for name, stem, label in (
        ("stackoverflow_titles", "stackoverflow20", "tag"),
        ("biomedical_titles", "biomedical20", "label"),
        ("huffpost_headlines", "huffpost", "category"),
    ):
        register_task_data(name, labelled=partial(_labelled, name, stem, label=label))
    news = partial(_labelled, "ag_news", "ag_news_test", label="category", title="title")
    register_task_data("ag_news", labelled=news)
    for name in ("banking77", "clinc150", "atis", "nfcats"):
        register_task_data(name, labelled=partial(_published_labelled, name))
    for name in ("scifact_beir", "cranfield", "vaswani_npl"):
        register_task_data(name, beir=partial(_retrieval, name))


def _summeval(name: str, text: str) -> RatedSummaries:
    """Read summaries rated by experts, with their article or its reference (Fabbri et al. 2021).

    Consistency is called accuracy here, relevance coverage; `overall` is the mean of the four aspects.
    """
    aspects = ("coherence", "consistency", "fluency", "relevance")
    table = find_table("summeval", "summeval_summaries", "doc_id", "summary", *aspects, name=name)
    sources = find_table("summeval", "summeval_documents", "doc_id", text, name=name)
    by_id = dict(zip(_cells(sources, "doc_id"), sources.columns[text], strict=True))
    columns = [[_number(cell) for cell in table.columns[aspect]] for aspect in aspects]
    whole = table.with_columns(
        text=[by_id.get(key) for key in _cells(table, "doc_id")],
        overall=[None if None in row else fmean(row) for row in zip(*columns, strict=True)],
    )
    ratings = {"overall": "overall", "accuracy": "consistency", "coverage": "relevance"}
    ratings |= {"coherence": "coherence", "fluency": "fluency"}
    return load_rated_summaries(whole, document="doc_id", ratings=ratings)


def _chaganty() -> RatedSummaries:
    """Read summaries rated with the reference (Chaganty et al. 2018).

    Rated references are left out, since they would be compared with themselves; so are focus and clarity, which seven
    rows have, and the edit rate, of which less is better.
    """
    aspects = ("overall", "grammar", "redundancy")
    name = "cnndm_chaganty"
    table = find_table(name, "cnndm_human_scores", "doc_id", "system", "reference", "summary", *aspects)
    rows = [row for row, system in enumerate(_cells(table, "system")) if system != "reference"]
    rated = load_rated_summaries(table.take(rows), document="doc_id", text="reference", ratings=aspects)
    references = len(table.rows) - len(rows)
    note = f"{references} of {len(table.rows)} rows rate the reference itself: skipped"
    return replace(rated, notes=(note, *rated.notes)) if references else rated


def _openai() -> ComparedSummaries:
    """Read summaries of posts and news that people chose between (Stiennon et al. 2020)."""
    columns = {"text": "document", "first": "summary_0", "second": "summary_1", "chosen": "choice"}
    table = find_table("openai_summary_comparisons", "comparisons", *columns.values())
    return load_compared_summaries(table, **columns)


def _documents(
    name: str, stem: str, *, ids: tuple[str, ...], text: str = "text", summary: str | None = None
) -> Documents:
    """Read the documents of a table; several columns of ids are joined by a slash."""
    table = find_table(name, stem, text, *ids, *([summary] if summary else []))
    parts = zip(*(_cells(table, column) for column in ids), strict=True)
    whole = table.with_columns(id=["/".join(part) for part in parts])
    return load_documents(whole, document="id", text=text, summary=summary)


def _published_documents(name: str) -> Documents:
    pairs = load_published_pairs(name)
    return load_documents(TextTable.of(name, {"text": pairs.left, "summary": pairs.right}), summary="summary")


def _labelled(name: str, stem: str, *, label: str, title: str | None = None) -> ClusteringTexts:
    """Read the labelled texts of a table, each after its title where there is one."""
    table = find_table(name, stem, "text", label, *([title] if title else []))
    texts = [text or "" for text in table.get_texts("text")]
    titles = [text or "" for text in table.get_texts(title)] if title else [""] * len(texts)
    whole = table.with_columns(text=[f"{head} {text}".strip() for head, text in zip(titles, texts, strict=True)])
    return load_labelled(whole, label=label)


def _published_labelled(name: str) -> ClusteringTexts:
    texts = load_published_texts(name)
    return load_labelled(TextTable.of(name, {"text": texts.texts, "label": texts.labels or ()}))


def _retrieval(name: str, split: str | None) -> RetrievalSet:
    return replace(load_retrieval(find_path(f"{name}/corpus", "_id, title, text").parent, split=split), name=name)


def find_table(folder: str, stem: str, *columns: str, name: str = "") -> TextTable:
    """Return a table of a folder of `TEXTGAUGE_DATA`, under the name of its set, with all these columns."""
    name = name or folder
    table = read_table(find_path(f"{folder}/{stem}", ", ".join(columns), name))
    for column in columns:
        table.find_column(column)
    return replace(table, name=name)


def find_path(place: str, columns: str, name: str = "") -> Path:
    """Return the path of a table that has no free address, by FOLDER/FILE without ending."""
    path = find_data_table(place)
    if path is None:
        folder, _, stem = place.partition("/")
        raise ResourceError(
            f"{name or folder} is not on this machine and has no free address; put {stem}.csv or {stem}.jsonl "
            f"(columns {columns}) into a folder named by TEXTGAUGE_DATA as {place}.csv"
        )
    return path


def _cells(table: TextTable, column: str) -> list[str]:
    """Return ids or labels, numbers as they are written; a missing one is empty."""
    return ["" if cell is None else str(cell).strip() for cell in table.columns[table.find_column(column)]]


def _number(cell: object) -> float | None:
    try:
        return float(str(cell))
    except ValueError:
        return None
