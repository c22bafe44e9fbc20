"""The suite of Zwerdling et al. 2021: make corpora, describe them whole and in draws as large as test, keep that.

descriptions/NAME-FINGERPRINT.json      both tables, sizes, warnings, what they were made with
descriptions/NAME-FINGERPRINT.parquet   every generated text with its values and neighbours
descriptions/NAME-many-FINGERPRINT.json unique texts and new terms of larger corpora
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np

from textgauge.core import (
    InputError,
    ResourceError,
    Row,
    UnknownName,
    drop_nonfinite_values,
    listen,
    tell_note,
    write_atomically,
    write_table,
)
from textgauge.encode import get_cached_folder
from textgauge_papers.generate.settings import hash_texts
from textgauge_papers.zwerdling_corpora import CAPTIONS, STUDIES, Corpora, Making, Study, draw, is_finished

_FORMAT = 2
_TRAIN = "train drawn"
_NONE, _PLAUSIBLE = "none", "plausibility"
_FAST = (_NONE, "kneser-ney")
_COUNTED = ("unique", "vocab")
# Whatever depends on how many texts there are.
DRAWN = (
    "unique",
    "vocab",
    "semantic_precision",
    "semantic_recall",
    "semantic_f1",
    "syntactic_precision",
    "syntactic_recall",
    "syntactic_f1",
)


@dataclass(frozen=True, kw_only=True)
class Backends:
    """What texts are described with, and how often they are drawn at the size of test.

    `judged` is the number of texts of each corpus that plausibility by a large model is of; 0: all.
    """

    embedder: str = "minilm"
    grammar: str = "harper"
    plausibility: str = "kneser-ney"
    judged: int = 0
    draws: int = 10
    seed: int = 0


@dataclass(frozen=True)
class Described:
    """The description of one source.

    `rows` are those of `describe` on whole corpora. `drawn` are means over draws that are all as large as test, with
    the value of each; `test` is test at that size, and there is a corpus `train`, too. `many` are of larger corpora.
    """

    name: str
    sizes: dict[str, int]
    rows: list[Row]
    drawn: list[Row]
    warnings: list[str]
    many: list[Row] = field(default_factory=list)


def describe_corpora(name: str, corpora: Corpora, backends: Backends, folder: Path) -> tuple[Described, bool]:
    """Return the description that is kept, or a new one, and whether it is new."""
    path = _locate(name, corpora, backends, folder)
    kept = _read(path, name)
    if kept is not None:
        return replace(kept, many=_describe_many(name, corpora, backends, folder)), False
    sampled = backends.judged > 0 and not backends.plausibility.startswith(_FAST)
    whole = _describe(corpora, backends, plausibility=_NONE if sampled else backends.plausibility)
    rows = whole.to_dicts()
    if sampled:
        rows = [row for row in rows if row["property"] != _PLAUSIBLE] + _plausible(corpora, backends)
    sizes = {role: len(texts) for role, texts in _sets(corpora).items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    found = Described(name, sizes, rows, _describe_draws(corpora, backends), list(whole.warnings))
    write_table(path.with_suffix(".parquet"), whole.per_text)
    content = {"format": _FORMAT, "backends": asdict(backends), **asdict(found)}
    write_atomically(path, json.dumps(content, indent=1, ensure_ascii=False))
    return replace(found, many=_describe_many(name, corpora, backends, folder)), True


def _describe_many(name: str, corpora: Corpora, backends: Backends, folder: Path) -> list[Row]:
    """Return unique texts and new terms of the larger corpora: those that are kept, or new ones."""
    if not corpora.many:
        return []
    about = {role: hash_texts(texts) for role, texts in {"train": corpora.train, **corpora.many}.items()}
    path = folder / "descriptions" / f"{name}-many-{_fingerprint([_FORMAT, backends.seed, about])}.json"
    try:
        rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        larger = replace(corpora, generated=corpora.many)
        found = _describe(larger, backends, embedder=_NONE, grammar=_NONE, plausibility=_NONE)
        rows = [
            row | {"texts": len(corpora.many[row["corpus"]])} for row in found.to_dicts() if row["property"] in _COUNTED
        ]
        write_atomically(path, json.dumps(rows, indent=1, ensure_ascii=False))
    return rows


def _describe(corpora: Corpora, backends: Backends, *, ci: bool = True, **changed: Any) -> Any:
    from textgauge.measure import describe

    asked = {"embedder": backends.embedder, "grammar": backends.grammar, "plausibility": backends.plausibility}
    named = {role: None if backend == _NONE else backend for role, backend in (asked | changed).items()}
    return describe(
        generated=corpora.generated,
        train=corpora.train,
        held_out=corpora.test,
        ci=ci,
        seed=backends.seed,
        **named,  # type: ignore[arg-type]
    )


def _plausible(corpora: Corpora, backends: Backends) -> list[Row]:
    """Plausibility of draws of every corpus: a language model takes a twentieth of a second for a text."""
    some = {role: draw(texts, backends.judged, backends.seed) for role, texts in _sets(corpora).items()}
    drawn = Corpora(some.pop("train"), some.pop("test"), some)
    found = _describe(drawn, backends, embedder=_NONE, grammar=_NONE)
    return [row for row in found.to_dicts() if row["property"] == _PLAUSIBLE]


def _describe_draws(corpora: Corpora, backends: Backends) -> list[Row]:
    """Return means over draws at one size for all: that of test, or of the smallest corpus."""
    everything = {**corpora.generated, _TRAIN: corpora.train}
    size = min(len(corpora.test), *map(len, everything.values()))
    numbers = range(backends.draws)
    drawn = {
        f"{name}/{number}": draw(texts, size, backends.seed, number)
        for name, texts in everything.items()
        for number in numbers
    }
    test = draw(corpora.test, size, backends.seed)
    found = _describe(Corpora(corpora.train, test, drawn), backends, ci=False, grammar=_NONE, plausibility=_NONE)
    return [
        _mean(name, [found[wanted, f"{name}/{number}"] for number in numbers], size)
        for name in everything
        for wanted in DRAWN
        if name != _TRAIN or wanted.startswith("semantic")
    ]


def _mean(name: str, properties: list[Any], size: int) -> Row:
    values = [found.value for found in properties]
    row = {"corpus": "train" if name == _TRAIN else name, "property": properties[0].property, "texts": size}
    row |= {"value": float(np.mean(values)), "test": properties[0].test}
    return drop_nonfinite_values(row) | {"values": [value if np.isfinite(value) else None for value in values]}


def _sets(corpora: Corpora) -> dict[str, Any]:
    return {"train": corpora.train, "test": corpora.test, **corpora.generated}


def _locate(name: str, corpora: Corpora, backends: Backends, folder: Path) -> Path:
    texts = {role: hash_texts(part) for role, part in _sets(corpora).items()}
    return folder / "descriptions" / f"{name}-{_fingerprint([_FORMAT, asdict(backends), texts])}.json"


def _fingerprint(about: list[Any]) -> str:
    return hashlib.blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=6).hexdigest()


def _read(path: Path, name: str) -> Described | None:
    """Return what is kept; None where it is missing or damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        parts = (found["sizes"], found["rows"], found["drawn"], found["warnings"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Described(name, *parts) if path.with_suffix(".parquet").is_file() else None


@dataclass(frozen=True, kw_only=True)
class Zwerdling2021:
    """Generated corpora described as in Zwerdling et al. 2021: EDA, VAE, LM on three sources; Texygen's six.

    EDA is as its authors have it, the VAE has 7,000 words, the language model is SmolLM2, trained further. Every
    generator writes `n` texts, by default as many as train has, so unique, new words and nearness to train by wording
    are those of equal numbers; the language model writes `lm`, where that is not 0. Unique texts and new terms are also
    counted in `many` texts of EDA and of the VAE, as published in 100,000. Recall grows with the number of
    texts and precision does not, so both, by meaning and by wording, are taken at the size of test, too, as means over
    `draws`. `grammar` is LanguageTool 2.2, as published, where there is Java and a folder LanguageTool-2.2 in
    TEXTGAUGE_DATA, else Harper. `plausibility` is perplexity under a model that has not seen train, so that copies of
    train are not rewarded; it is left out where that model is not on this machine, and is of `judged` texts of each
    corpus (0: all). `sources` names some of phone, news, health, texygen_coco; `limit` cuts a source, `captions` is the
    number of texts of each of Texygen's generators and of its test set. Models take hours; after a kill, the same
    command goes on.
    """

    n: int = 0
    lm: int = 0
    many: int = 0
    limit: int = 0
    captions: int = 1_000
    draws: int = 10
    embedder: str = "minilm"
    grammar: str = ""
    plausibility: str = "smollm2"
    judged: int = 1_000
    sources: str = ""

    def __post_init__(self) -> None:
        if min(self.n, self.lm, self.many, self.limit, self.judged) < 0 or min(self.captions, self.draws) < 1:
            raise InputError("n, lm, many, limit and judged are 0 or more, captions and draws 1 or more")

    def run(self, folder: Path, *, seed: int, studies: Mapping[str, Study] = STUDIES) -> list[Described]:
        """Describe every source that is to be had; what the folder has of it is not done again."""
        chosen, (making, backends) = self._chosen(studies), self._settings(seed)
        if backends.plausibility != self.plausibility:
            tell_note("plausibility is left out: the model smollm2, which has not seen train, is not on this machine")
        found, missing = [], []
        for name in chosen:
            try:
                corpora = studies[name](folder, making)
            except ResourceError as error:
                missing.append(f"{name} is left out: {error}")
                tell_note(missing[-1])
                continue
            description, new = describe_corpora(name, corpora, backends, folder)
            tell_note(f"{name}: {'described' if new else 'was there'}, kept in {folder / 'descriptions'}")
            found.append(description)
        if not found:
            raise ResourceError(missing[0])
        return found

    def read_kept(self, folder: Path, *, seed: int) -> list[Described]:
        """Return the descriptions of sources that are finished in a folder; nothing is made."""
        making, backends = self._settings(seed)
        found = []
        for name in self._chosen(STUDIES):
            if name == CAPTIONS or is_finished(folder, name):
                many = making.many if is_finished(folder, name, many=True) else 0
                with listen(lambda _: None):
                    corpora = STUDIES[name](folder, replace(making, many=many))
                if _read(_locate(name, corpora, backends, folder), name) is not None:
                    found.append(describe_corpora(name, corpora, backends, folder)[0])
        return found

    def _settings(self, seed: int) -> tuple[Making, Backends]:
        there = self.plausibility != "smollm2" or get_cached_folder("smollm2").exists()
        backends = Backends(
            embedder=self.embedder,
            grammar=self.grammar or choose_grammar(),
            plausibility=self.plausibility if there else _NONE,
            judged=self.judged,
            draws=self.draws,
            seed=seed,
        )
        sizes = {"n": self.n, "lm": self.lm, "many": self.many, "limit": self.limit, "captions": self.captions}
        return Making(**sizes, seed=seed), backends

    def run_rows(self, folder: Path, *, seed: int) -> list[Row]:
        """Run, and give one row per source and property; warnings are notes."""
        found = self.run(folder, seed=seed)
        for text, names in _alike(found).items():
            tell_note(f"warning: {text} ({', '.join(names)})")
        return side_by_side(found)

    def _chosen(self, studies: Mapping[str, Study]) -> list[str]:
        names = [name.strip() for name in self.sources.split(",") if name.strip()] or list(studies)
        unknown = [name for name in names if name not in studies]
        if unknown:
            raise UnknownName.among("source", unknown[0], studies)
        return names


def choose_grammar() -> str:
    """Return the name of LanguageTool where it can be run, else of Harper."""
    places = [Path(one) / "LanguageTool-2.2" for one in os.environ.get("TEXTGAUGE_DATA", "").split(os.pathsep)]
    there = [place for place in places if place.is_dir()]
    return f"languagetool:{there[0]}" if there and which("java") else "harper"


def _alike(found: list[Described]) -> dict[str, list[str]]:
    """Warnings, each with the sources and corpora that it is about."""
    said: dict[str, list[str]] = {}
    for one in found:
        for text in one.warnings:
            corpus, colon, rest = text.partition(": ")
            of_corpus = bool(colon) and corpus in one.sizes
            said.setdefault(rest if of_corpus else text, []).append(f"{one.name} {corpus}" if of_corpus else one.name)
    return said


def side_by_side(found: list[Described]) -> list[Row]:
    """Return one row per source and property: generators, test and train; `texts` tells corpora from draws."""
    rows: dict[tuple[str, str, str], Row] = {}
    for one in found:
        cells = [("all", row) for row in one.rows] + [(str(row["texts"]), row) for row in [*one.drawn, *one.many]]
        for size, row in cells:
            about = {"source": one.name, "property": row["property"], "texts": size}
            line = rows.setdefault((one.name, row["property"], size), about)
            line[row["corpus"]] = row["value"]
            line["test"] = row["test"]
            if size == "all":
                line["train"] = row["train"]
    return list(rows.values())
