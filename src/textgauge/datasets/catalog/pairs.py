"""Pairs of texts: STS-B, the fourteen sets of Yamshchikov et al., WMT21 MQM (TED), SciTLDR, legal summaries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from statistics import fmean

from textgauge.datasets.catalog.fetch import read
from textgauge.datasets.catalog.published import Item, Published, published
from textgauge.datasets.decode import split_lines
from textgauge.datasets.tables import csv_records

_STYLES = ("Bible", "GYAFC_formal", "GYAFC_informal", "GYAFC_rewrites", "Paralex", "Paraphrase", "Yelp")
_SYSTEMS = (
    "Borderline DIDI-NLP Facebook-AI IIE-MT MiSS NiuTrans Online-W SMU metricsystem1 metricsystem2 metricsystem3 "
    "metricsystem4 metricsystem5 ref-A ref-B"
)
# The file of texts and the file of scores name the two human references differently.
_SCORED_AS = {"ref": "ref-A", "refB": "ref-B"}


def stsb() -> Iterator[Item]:
    """Sentence pairs with a similarity of 0 to 5 (Cer et al. 2017)."""
    for split in ("train", "dev", "test"):
        file = f"stsb-en-{split}.csv"
        for _, (left, right, grade) in csv_records(read("stsb", file), f"stsb/{file}"):
            yield Item(split, left, right=right, grade=float(grade))


def yamshchikov14() -> Iterator[Item]:
    """Paraphrases, style transfers and random pairs, rated 1 to 5 by three people (Yamshchikov et al. 2021)."""
    for split in (f"{style}{tail}" for style in _STYLES for tail in ("", "_random")):
        records = csv_records(read("yamshchikov14", f"{split}.csv"), f"yamshchikov14/{split}.csv")
        next(records)
        for _, (left, right, *ratings, _) in records:
            raters = tuple(map(float, ratings))
            yield Item(split, left, right=right, grade=fmean(raters), raters=raters)


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


def scitldr() -> Iterator[Item]:
    """Abstracts of papers and their authors' summary in one sentence (Cachola et al. 2020)."""
    for split in ("dev", "test"):
        for line in split_lines(read("scitldr", f"{split}.jsonl")):
            paper = json.loads(line)
            yield Item(split, " ".join(" ".join(paper["source"]).split()), right=" ".join(paper["target"][0].split()))


def legal_summ() -> Iterator[Item]:
    """Clauses of contracts and a plain summary of each (Manor and Li 2019)."""
    for clause in json.loads(read("legal_summ", "all_v1.json")).values():
        yield Item("all", clause["original_text"].strip(), right=clause["reference_summary"].strip())


def datasets() -> tuple[Published, ...]:
    """The datasets of this file."""
    both = ("left", "right")
    return (
        published(
            "stsb",
            size=8_628,
            about="sentence pairs rated 0 to 5",
            splits=("train", "dev", "test"),
            sides=both,
            read=stsb,
        ),
        published(
            "yamshchikov14",
            size=13_225,
            about="paraphrases and random pairs rated 1 to 5 by three people",
            splits=tuple(f"{style}{tail}" for style in _STYLES for tail in ("", "_random")),
            sides=both,
            read=yamshchikov14,
        ),
        published(
            "wmt21_mqm_ted_zhen",
            size=7_935,
            about="translated talks with expert scores, by system",
            splits=tuple(_SYSTEMS.split()),
            sides=("source", "target"),
            read=wmt21_mqm_ted_zhen,
        ),
        published(
            "scitldr",
            size=1_237,
            about="abstracts and one-sentence summaries",
            splits=("dev", "test"),
            sides=("source", "summary"),
            read=scitldr,
        ),
        published(
            "legal_summ",
            size=446,
            about="clauses of contracts and plain summaries",
            splits=("all",),
            sides=("original", "summary"),
            read=legal_summ,
        ),
    )
