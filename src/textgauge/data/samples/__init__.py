"""Built-in sample data by name, the same on every machine for the same seed.

Four domains (`banking`, `cooking`, `support`, `travel`) are files of sentences written for this package, free of rights
(CC0), and need nothing. `assistant` and `bible-*` are real texts that a package of the index brings; they are fetched
once and then used offline.
"""

from __future__ import annotations

import csv
import gzip
import itertools
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

from textgauge.core.errors import InputError, UnknownName
from textgauge.data.datasets import DatasetCard
from textgauge.data.samples import packages
from textgauge.data.tables import LabelledTexts, TextPairs, take

T = TypeVar("T")
PREFIX = "sample:"
DOMAINS = ("banking", "cooking", "support", "travel")
FOLDER = Path(__file__).parent

_OWN = ("CC0-1.0", "sentences written for textgauge")
_PACKAGES = ("Apache-2.0", "home-assistant-intents, ovos-skill-weather, ovos-skill-date-time")
_VERSES = ("public domain", "pythonbible packages")
_VERSE_COUNTS = {"asv": 30_685, "kjv": 30_834, "web": 30_747, "ylt": 30_860}
_GRADES = {3: "same meaning", 2: "same intent", 1: "same domain", 0: "another domain"}
# Rows that the next seed begins further on: seeds 0 to 3 share no row of 1,000. Graded pairs repeat every 16 rows.
_SEED_STEP = 16 * 63


def list_samples(kind: str | None = None) -> tuple[DatasetCard, ...]:
    """Return the cards of all samples, or of one kind: "texts" (for `sample`) or "pairs" (for `sample_pairs`)."""
    return tuple(card for card in _make_cards() if kind in (None, card.kind))


def sample(name: str, *, n: int | None = None, seed: int = 0) -> LabelledTexts:
    """Draw `n` distinct labelled texts of a sample; its usual size if `n` is not given.

    >>> corpus = sample("travel", n=3)
    >>> len(corpus), sorted(corpus.labels)
    (3, ['cancel_booking', 'lost_property', 'safety'])
    """
    card = _get_card(name, "texts")
    count = _check_count(n, card)
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    if card.name in DOMAINS:
        texts, labels = _draw_rows(card, count, seed, card.name, "text", "label")
    elif card.name == "assistant":
        texts, labels = zip(*_take_first(count, packages.write_texts(seed), card.name), strict=True)
    else:
        verses = packages.read_verses(card.name.removeprefix("bible-"))
        _take_first(count, iter(verses), card.name)
        texts, labels = tuple(verses.values()), tuple(map(packages.get_book, verses))
    corpus = LabelledTexts(texts, labels, PREFIX + card.name, card.licence, card.source)
    return corpus if len(corpus) == count else corpus.draw(count, seed)


def sample_pairs(name: str, *, n: int | None = None, seed: int = 0) -> TextPairs:
    """Draw `n` pairs of a sample, with grades where it has them; its usual size if `n` is not given.

    >>> sample_pairs("graded", n=4).grade
    (3.0, 2.0, 1.0, 0.0)
    """
    card = _get_card(name, "pairs")
    count = _check_count(n, card)
    grade: tuple[float, ...] | None = None
    group: tuple[str, ...]
    if card.name == "graded":
        left, right, grades = _draw_rows(card, count, seed, "graded-pairs", "left", "right", "grade")
        grade, group = tuple(map(float, grades)), tuple(_GRADES[int(one)] for one in grades)
    elif card.name in DOMAINS:
        left, right, group = _draw_rows(card, count, seed, f"{card.name}-pairs", "left", "right", "label")
    elif card.name == "bible-graded":
        left, right, grade = zip(*_take_first(count, packages.pair_graded(seed), card.name), strict=True)
        group = tuple(packages.VERSE_GRADES[int(one)] for one in grade)
    else:
        _, one, other = card.name.split("-")
        left, right, group = zip(
            *_take_first(count, packages.pair_same_verse(one, other, seed), card.name), strict=True
        )
    return TextPairs(left, right, PREFIX + card.name, grade, None, group, card.licence, card.source)


def _make_cards() -> Iterator[DatasetCard]:
    for domain in DOMAINS:
        yield DatasetCard(domain, "texts", 4_000, *_OWN, f"short texts about {domain}, with intents")
    about = "utterances to an assistant, with intents"
    yield DatasetCard("assistant", "texts", 6_000, *_PACKAGES, about, (), packages.NEEDS)
    for version, title in packages.VERSIONS.items():
        name, about = f"bible-{version}", f"verses of the {title}, by book"
        yield DatasetCard(name, "texts", _VERSE_COUNTS[version], *_VERSES, about, (), (name,))
    for domain in DOMAINS:
        yield DatasetCard(domain, "pairs", 6_000, *_OWN, f"paraphrases about {domain}")
    about = "grade 3 same meaning, 2 same intent, 1 same domain, 0 another domain"
    yield DatasetCard("graded", "pairs", 8_000, *_OWN, about)
    for versions in itertools.combinations(packages.VERSIONS, 2):
        about, needs = "the same verse in two versions, worded differently", tuple(f"bible-{one}" for one in versions)
        yield DatasetCard("-".join(("bible", *versions)), "pairs", 20_000, *_VERSES, about, (), needs)
    about = "grade 3 same verse, 2 same chapter, 1 same book, 0 another book"
    needs = tuple(f"bible-{version}" for version in packages.GRADED_VERSIONS)
    yield DatasetCard("bible-graded", "pairs", 8_000, *_VERSES, about, (), needs)


def _get_card(name: str, kind: str) -> DatasetCard:
    cards = {card.name: card for card in list_samples(kind)}
    short = name.removeprefix(PREFIX)
    if short not in cards:
        raise UnknownName.among("sample" if kind == "texts" else "sample of pairs", short, cards)
    return cards[short]


def _check_count(n: int | None, card: DatasetCard) -> int:
    if n is not None and n < 1:
        raise InputError(f"sample {card.name!r}: at least 1 text must be drawn, not {n}")
    return card.size if n is None else n


def _draw_rows(card: DatasetCard, count: int, seed: int, file: str, *columns: str) -> list[tuple[str, ...]]:
    """Return columns of the first `count` rows of a file; another seed begins further on and goes round."""
    if count > card.size:
        raise InputError(f"sample {card.name!r} has {card.size:,} rows, not {count:,}")
    rows = [(seed * _SEED_STEP + row) % card.size for row in range(count)]
    return [take(_read_columns(file)[column], rows) for column in columns]


@cache
def _read_columns(file: str) -> dict[str, list[str]]:
    with gzip.open(FOLDER / f"{file}.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    return {name: list(cells) for name, *cells in zip(header, *rows, strict=True)}


def _take_first(n: int, items: Iterator[T], name: str) -> list[T]:
    rows = list(itertools.islice(items, n))
    if len(rows) < n:
        raise InputError(f"sample {name!r} has {len(rows):,} distinct texts, not {n:,}")
    return rows
