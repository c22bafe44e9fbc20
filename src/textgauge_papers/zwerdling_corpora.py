"""The corpora of Zwerdling et al. 2021 as they can be had: three with our generators, one with published ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from textgauge.core import InputError, MissingExtra, begin_step, tell_note, write_table
from textgauge.data import load_texts, read_table
from textgauge_papers.datasets import find_path
from textgauge_papers.generate import AdapterSettings, VaeSettings, eda, train_language_model, train_vae
from textgauge_papers.generate.settings import hash_text, make_generator, one_thread

_FEWEST, _MOST = 3, 40  # words of a sentence
_TENTH = 10
# Fixed before any run: epochs, and how many texts a VAE learns at least in all of them; it has the paper's 7,000 words.
LM_EPOCHS, VAE_EPOCHS, _VAE_LEARNED = 2, 15, 90_000
_VAE, _LM = VaeSettings(vocabulary=7_000), AdapterSettings(bits=16)
_FAST = ("eda", "vae")  # they write 100,000 texts in minutes, the language model in an hour
_DRAW = 41  # the purpose of random numbers
CAPTIONS = "texygen_coco"
_CAPTIONS = f"{CAPTIONS}/{CAPTIONS}"
_HUMAN = {"train": "human_train", "test": "human_test"}


@dataclass(frozen=True, kw_only=True)
class Making:
    """What decides the corpora of a source: texts generated (0: as many as train has), those of the language model
    (0: as many as of the others), larger corpora of EDA and the VAE (0: none), texts of a source at most (0: all),
    texts of each published generator and its test set, seed.
    """

    n: int = 0
    lm: int = 0
    many: int = 0
    limit: int = 0
    captions: int = 1_000
    seed: int = 0


@dataclass(frozen=True)
class Corpora:
    """What is described together; of the larger corpora `many`, unique texts and new terms alone."""

    train: Sequence[str]
    test: Sequence[str]
    generated: Mapping[str, Sequence[str]]
    many: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """Texts to learn from."""

    name: str
    read: Callable[[], Iterable[str]]


Study = Callable[[Path, Making], Corpora]


def make_corpora(source: Source, folder: Path, making: Making) -> Corpora:
    """Train, test and what is generated of train; kept in `folder`/corpora, and taken from there if it is there."""
    place, trained = folder / "corpora" / source.name, folder / "checkpoints" / source.name
    place.mkdir(parents=True, exist_ok=True)
    train, test = _split(source, place, making)

    def obtain(name: str, n: int, file: str) -> dict[str, Sequence[str]]:
        begin_step(f"{source.name}: {file}")
        path = place / f"{file}.txt"
        if not path.exists():
            try:
                texts = _generate(name, train, trained / name, n, making)
            except MissingExtra as error:
                tell_note(f"{source.name}: {name} is left out: {error}, or put its texts into {path}")
                return {}
            write_table(path, [{"text": text} for text in texts], exact=True)
        return {name: _as_many(load_texts(path).texts, n, f"{source.name}: {file}")}

    usual = making.n or len(train)
    found = obtain("eda", usual, "eda") | obtain("vae", usual, "vae") | obtain("lm", making.lm or usual, "lm")
    larger = making.many > usual and trained.is_dir()  # no model is trained for corpora that were put there
    many = [obtain(name, making.many, f"{name}-many") for name in _FAST if larger and name in found]
    return Corpora(train, test, found, {name: texts for one in many for name, texts in one.items()})


def is_finished(folder: Path, name: str, *, many: bool = False) -> bool:
    """Whether all corpora of a source are in the folder, the larger ones too (`many`)."""
    parts = [f"{part}-many" for part in _FAST] if many else ["train", "test", *_FAST, "lm"]
    return all((folder / "corpora" / name / f"{part}.txt").exists() for part in parts)


def captions(folder: Path, making: Making) -> Corpora:
    """Captions of images by people and by Texygen's six generators (Zhu et al. 2018); samples, but all of train."""
    del folder
    begin_step("texygen_coco: reading")
    found = load_texts(find_path(_CAPTIONS, "source, text"), labels="source")
    by_source: dict[str, list[str]] = {}
    for text, label in zip(found.texts, found.labels or (), strict=True):
        by_source.setdefault(label, []).append(text)
    missing = [name for name in _HUMAN.values() if name not in by_source]
    if missing or len(by_source) <= len(_HUMAN):
        raise InputError(f"{_CAPTIONS}: the column source needs {', '.join(_HUMAN.values())} and generators")
    train = by_source.pop(_HUMAN["train"])
    drawn = {name: draw(texts, making.captions, making.seed) for name, texts in by_source.items()}
    return Corpora(train, drawn.pop(_HUMAN["test"]), drawn)


def draw(texts: Sequence[str], n: int, seed: int, number: int = 0) -> list[str]:
    """At most n texts without replacement; which ones does not depend on their order.

    >>> draw(["a", "b", "c"], 2, seed=0) == draw(["c", "a", "b"], 2, seed=0)
    True
    """
    ordered = sorted(texts, key=hash_text)
    rows = make_generator(seed, _DRAW, number).permutation(len(ordered))[:n].tolist()
    return [ordered[row] for row in sorted(rows)]


def split(texts: Iterable[str], making: Making) -> tuple[list[str], list[str]]:
    """Split sentences of 3 to 40 words, each once, into train and test, nine to one, by seed and content."""
    clean = {" ".join(text.split()) for text in texts}
    fit = [text for text in clean if _FEWEST <= len(text.split()) <= _MOST]
    ordered = sorted(fit, key=lambda text: (hash_text(f"{making.seed} {text}"), text))
    ordered = ordered[: making.limit or None]
    held_out = len(ordered) // _TENTH
    if not held_out:
        raise InputError(f"{len(ordered)} sentences of {_FEWEST} to {_MOST} words are too few for train and test")
    return ordered[held_out:], ordered[:held_out]


def read_sentences(file: str, column: str, only: tuple[str, str] | None = None, *, first: bool = False) -> list[str]:
    """Read a column of a table: rows with one value in another column (`only`), first sentences alone (`first`)."""
    table = read_table(find_path(file, ", ".join([column, *([only[0]] if only else [])])))
    cells = table.get_texts(column)
    kept = [only is None or value == only[1] for value in table.columns[table.find_column(only[0] if only else column)]]
    texts = [" ".join(cell.split()) for cell, keep in zip(cells, kept, strict=True) if cell and keep]
    return [cut_first_sentence(text) for text in texts] if first else texts


def cut_first_sentence(text: str) -> str:
    """Up to the first stop, question or exclamation mark before white space.

    >>> cut_first_sentence("Is 3.5 mg safe? I take it daily.")
    'Is 3.5 mg safe?'
    """
    found = re.match(r".+?[.?!](?=\s|$)", text)
    return found.group(0) if found else text


def _split(source: Source, place: Path, making: Making) -> tuple[Sequence[str], Sequence[str]]:
    paths = {part: place / f"{part}.txt" for part in ("train", "test")}
    if not any(path.exists() for path in paths.values()):
        ready = sorted(path.name for path in place.glob("*.txt"))
        if ready:
            raise InputError(f"{place / ready[0]} needs the train.txt and test.txt it belongs to next to it")
        texts_of = split(source.read(), making)
        for path, texts in zip(paths.values(), texts_of, strict=True):
            write_table(path, [{"text": text} for text in texts], exact=True)
    else:
        tell_note(f"{source.name}: train and test are those of {place}, whatever seed and limit say")
    return load_texts(paths["train"]).texts, load_texts(paths["test"]).texts


def _generate(name: str, train: Sequence[str], kept: Path, n: int, making: Making) -> list[str]:
    seed = making.seed
    if name == "eda":
        return eda(train, n=n, seed=seed, compat="eda")
    how: dict[str, Any] = {"seed": seed, "checkpoint": kept}
    with one_thread():
        if name == "vae":
            epochs = max(VAE_EPOCHS, round(_VAE_LEARNED / len(train)))
            return train_vae(train, settings=_VAE, epochs=epochs, **how).generate(n, seed=seed)
        return train_language_model(train, epochs=LM_EPOCHS, settings=_LM, **how).generate(n, seed=seed)


def _as_many(texts: Sequence[str], n: int, name: str) -> Sequence[str]:
    if len(texts) < n:
        tell_note(f"{name} has {len(texts)} texts, not {n}")
    return texts if len(texts) <= n else draw(texts, n, 0)


PHONE = Source("phone", partial(read_sentences, "phone_reviews/phone_review_sentences", "text"))
NEWS = Source(
    "news", partial(read_sentences, "huffpost_headlines/huffpost_v3_recent", "headline", ("category", "POLITICS"))
)
HEALTH = Source("health", partial(read_sentences, "health_questions/health_questions", "question", first=True))
STUDIES: dict[str, Study] = {
    **{source.name: partial(make_corpora, source) for source in (PHONE, NEWS, HEALTH)},
    CAPTIONS: captions,
}
