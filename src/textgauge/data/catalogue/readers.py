"""The published datasets: what each declares, and how its files are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import fmean

from textgauge.data.card import DatasetCard
from textgauge.data.catalogue.files import entries_of, read
from textgauge.data.delimited import csv_records, split_lines

_THREE = ("train", "valid", "test")
_STYLES = ("Bible", "GYAFC_formal", "GYAFC_informal", "GYAFC_rewrites", "Paralex", "Paraphrase", "Yelp")
_RATED_SETS = tuple(f"{style}{tail}" for style in _STYLES for tail in ("", "_random"))
_SYSTEMS = (
    "Borderline DIDI-NLP Facebook-AI IIE-MT MiSS NiuTrans Online-W SMU metricsystem1 metricsystem2 metricsystem3 "
    "metricsystem4 metricsystem5 ref-A ref-B"
)
# The file of texts and the file of scores name the two human references differently.
_SCORED_AS = {"ref": "ref-A", "refB": "ref-B"}


@dataclass(frozen=True)
class Item:
    """One text with its label, or (where `right` is set) one pair; `split` is the part it belongs to."""

    split: str
    left: str
    label: str | None = None
    right: str | None = None
    grade: float | None = None
    raters: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Published:
    """A dataset: its card, its splits, the names of its columns of texts, and how its files are read.

    `sides` is `("text",)` for texts and two names for pairs. Splits in `extra` are read only when named.
    """

    card: DatasetCard
    splits: tuple[str, ...]
    sides: tuple[str, ...]
    read: Callable[[], Iterator[Item]]
    extra: tuple[str, ...] = ()


_declared: list[Callable[[], Published]] = []
_Reader = Callable[[], Iterator[Item]]


def catalogue_datasets() -> tuple[Published, ...]:
    """All datasets of the catalogue."""
    return tuple(make() for make in _declared)


def _published(
    name: str,
    size: int,
    about: str,
    splits: tuple[str, ...],
    *,
    sides: tuple[str, ...] = ("text",),
    extra: tuple[str, ...] = (),
) -> Callable[[_Reader], _Reader]:
    """Declare the dataset that the decorated function reads; licence and source are those of its first file."""

    def declare(read: _Reader) -> _Reader:
        def make() -> Published:
            first = entries_of(name)[0]
            source = "/".join(first.url.split("/")[3:5])
            parts = tuple(dict.fromkeys((*splits, *extra, *sides)))
            kind = "texts" if sides == ("text",) else "pairs"
            return Published(
                DatasetCard(name, kind, size, first.licence, source, about, parts), splits, sides, read, extra
            )

        _declared.append(make)
        return read

    return declare


@_published("banking77", 13_083, "bank customers, 77 intents", ("train", "test"))
def banking77() -> Iterator[Item]:
    """Questions of bank customers with 77 intents (Casanueva et al. 2020)."""
    for split in ("train", "test"):
        for text, label in _rows("banking77", f"{split}.csv"):
            yield Item(split, text, label)


@_published("clinc150", 22_500, "assistant requests, 150 intents", ("train", "val", "test"), extra=("oos",))
def clinc150() -> Iterator[Item]:
    """Requests to an assistant with 150 intents, and out-of-scope ones labelled `oos` (Larson et al. 2019)."""
    for part, rows in json.loads(read("clinc150", "data_full.json")).items():
        split = "oos" if part.startswith("oos") else part
        for text, label in rows:
            yield Item(split, text, label)


@_published("atis", 5_871, "questions about flights, by intent", _THREE)
def atis() -> Iterator[Item]:
    """Spoken questions about flights with their intents (Hemphill et al. 1990)."""
    for split in _THREE:
        texts = split_lines(read("atis", f"{split}_seq.in"))
        labels = split_lines(read("atis", f"{split}_label"))
        for text, label in zip(texts, labels, strict=True):
            yield Item(split, text.strip(), label.strip())


@_published("nfcats", 11_984, "non-factoid questions, by category", _THREE)
def nfcats() -> Iterator[Item]:
    """Non-factoid questions of the web with eight categories (Bolotova et al. 2022)."""
    for split in _THREE:
        for _, label, text in _rows("nfcats", f"{split}.csv"):
            yield Item(split, text, label)


def _rows(dataset: str, file: str) -> Iterator[list[str]]:
    """The records below the header."""
    records = csv_records(read(dataset, file), f"{dataset}/{file}")
    next(records)
    for _, record in records:
        yield record


@_published("stsb", 8_628, "sentence pairs rated 0 to 5", ("train", "dev", "test"), sides=("left", "right"))
def stsb() -> Iterator[Item]:
    """Sentence pairs with a similarity of 0 to 5 (Cer et al. 2017)."""
    for split in ("train", "dev", "test"):
        file = f"stsb-en-{split}.csv"
        for _, (left, right, grade) in csv_records(read("stsb", file), f"stsb/{file}"):
            yield Item(split, left, right=right, grade=float(grade))


@_published(
    "yamshchikov14",
    13_225,
    "paraphrases and random pairs rated 1 to 5 by three people",
    _RATED_SETS,
    sides=("left", "right"),
)
def yamshchikov14() -> Iterator[Item]:
    """Paraphrases, style transfers and random pairs, rated 1 to 5 by three people (Yamshchikov et al. 2021)."""
    for split in _RATED_SETS:
        records = csv_records(read("yamshchikov14", f"{split}.csv"), f"yamshchikov14/{split}.csv")
        next(records)
        for _, (left, right, *ratings, _) in records:
            raters = tuple(map(float, ratings))
            yield Item(split, left, right=right, grade=fmean(raters), raters=raters)


@_published(
    "wmt21_mqm_ted_zhen",
    7_935,
    "translated talks with expert scores, by system",
    tuple(_SYSTEMS.split()),
    sides=("source", "target"),
)
def wmt21_mqm_ted_zhen() -> Iterator[Item]:
    """Chinese talks and English translations of 15 systems, scored by experts, 0 the best (Freitag et al. 2021)."""
    scores = _segment_scores()
    done = set()
    for line in split_lines(read("wmt21_mqm_ted_zhen", "mqm_ted_zhen.tsv"))[1:]:
        name, _, _, segment, _, source, target, *_ = line.split("\t")
        key = _SCORED_AS.get(name, name), segment
        if key in scores and key not in done:
            done.add(key)
            clean = target.replace("<v>", "").replace("</v>", "")
            yield Item(key[0], source, right=clean, grade=scores[key])


def _segment_scores() -> dict[tuple[str, str], float]:
    lines = split_lines(read("wmt21_mqm_ted_zhen", "mqm_ted_zhen.avg_seg_scores.tsv"))[1:]
    rows = (line.split() for line in lines)
    return {(system, segment): float(score) + 0.0 for system, score, segment in rows if score != "None"}


@_published("scitldr", 1_237, "abstracts and one-sentence summaries", ("dev", "test"), sides=("source", "summary"))
def scitldr() -> Iterator[Item]:
    """Abstracts of papers and their authors' summary in one sentence (Cachola et al. 2020)."""
    for split in ("dev", "test"):
        for line in split_lines(read("scitldr", f"{split}.jsonl")):
            paper = json.loads(line)
            yield Item(split, " ".join(" ".join(paper["source"]).split()), right=" ".join(paper["target"][0].split()))


@_published("legal_summ", 446, "clauses of contracts and plain summaries", ("all",), sides=("original", "summary"))
def legal_summ() -> Iterator[Item]:
    """Clauses of contracts and a plain summary of each (Manor and Li 2019)."""
    for clause in json.loads(read("legal_summ", "all_v1.json")).values():
        yield Item("all", clause["original_text"].strip(), right=clause["reference_summary"].strip())
