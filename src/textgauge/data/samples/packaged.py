"""Samples of real texts that packages of the index bring: four versions of the Bible, in the public domain.

They are aligned verse by verse: paraphrase and style pairs, graded pairs. A verse has a number: book, chapter (3
digits) and verse (3 digits). Only data of the packages are read, never run.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from textgauge.core.errors import InputError, ResourceError
from textgauge.data.datasets import DatasetCard
from textgauge.data.samples import register_sample
from textgauge.data.tables import LabelledTexts
from textgauge.encode.resources import locate

T = TypeVar("T")
_VERSES = ("public domain", "pythonbible packages")
_VERSE_COUNTS = {"asv": 30_685, "kjv": 30_834, "web": 30_747, "ylt": 30_860}
_WORD = re.compile(r"\w+")
VERSIONS = {
    "asv": "American Standard Version, 1901",
    "kjv": "King James Version, 1769",
    "web": "World English Bible",
    "ylt": "Young's Literal Translation, 1898",
}
GRADED_VERSIONS = ("web", "kjv")
VERSE_GRADES = {3: "same verse", 2: "same chapter", 1: "same book", 0: "another book"}
_NAMES = (
    "Genesis Exodus Leviticus Numbers Deuteronomy Joshua Judges Ruth 1-Samuel 2-Samuel 1-Kings 2-Kings 1-Chronicles "
    "2-Chronicles Ezra Nehemiah Esther Job Psalms Proverbs Ecclesiastes Song-of-Songs Isaiah Jeremiah Lamentations "
    "Ezekiel Daniel Hosea Joel Amos Obadiah Jonah Micah Nahum Habakkuk Zephaniah Haggai Zechariah Malachi Matthew Mark "
    "Luke John Acts Romans 1-Corinthians 2-Corinthians Galatians Ephesians Philippians Colossians 1-Thessalonians "
    "2-Thessalonians 1-Timothy 2-Timothy Titus Philemon Hebrews James 1-Peter 2-Peter 1-John 2-John 3-John Jude "
    "Revelation"
)
_BOOKS = _NAMES.split()
_OFFSET = re.compile(r"(?<!\d)(\d++): (\d+)")
_MARKS = str.maketrans({"[": None, "]": None, "`": "'"})


def _register() -> None:
    """Make the samples known: `bible-VERSION`, `bible-VERSION-VERSION`, `bible-graded`."""
    for version, title in VERSIONS.items():
        name = f"bible-{version}"
        about = f"verses of the {title}, by book"
        card = DatasetCard(name, "texts", _VERSE_COUNTS[version], *_VERSES, about, (), (name,))
        register_sample(card, partial(_draw_verses, version))
    for versions in itertools.combinations(VERSIONS, 2):
        name, needs = "-".join(("bible", *versions)), tuple(f"bible-{one}" for one in versions)
        about = "the same verse in two versions, worded differently"
        card = DatasetCard(name, "pairs", 20_000, *_VERSES, about, (), needs)
        register_sample(card, partial(_draw_same_verses, name, *versions))
    about = "grade 3 same verse, 2 same chapter, 1 same book, 0 another book"
    needs = tuple(f"bible-{version}" for version in GRADED_VERSIONS)
    card = DatasetCard("bible-graded", "pairs", 8_000, *_VERSES, about, (), needs)
    register_sample(card, _draw_graded_verses)


def _take_first(n: int, items: Iterator[T], name: str) -> list[T]:
    rows = list(itertools.islice(items, n))
    if len(rows) < n:
        raise InputError(f"sample {name!r} has {len(rows):,} distinct texts, not {n:,}")
    return rows


def _draw_verses(version: str, n: int, seed: int) -> tuple[tuple[str, ...], ...]:
    verses, name = read_verses(version), f"bible-{version}"
    _take_first(n, iter(verses), name)
    whole = LabelledTexts(tuple(verses.values()), tuple(map(get_book, verses)), f"sample:{name}")
    drawn = whole if len(whole) == n else whole.draw(n, seed)
    return drawn.texts, drawn.labels or ()


def _draw_same_verses(name: str, one: str, other: str, n: int, seed: int) -> tuple[Any, ...]:
    left, right, book = zip(*_take_first(n, pair_same_verse(one, other, seed), name), strict=True)
    return left, right, None, book


def _draw_graded_verses(n: int, seed: int) -> tuple[Any, ...]:
    left, right, grade = zip(*_take_first(n, pair_graded(seed), "bible-graded"), strict=True)
    return left, right, grade, tuple(VERSE_GRADES[int(one)] for one in grade)


def normalize(text: str) -> str:
    """Return the text without case and punctuation: texts that differ in no more count as one.

    >>> normalize("Where's my card?") == normalize("where's my card")
    True
    """
    return " ".join(_WORD.findall(text.casefold()))


def pick(options: Sequence[T], rng: random.Random) -> T:
    """Return one option; only `random()` is used, because Python promises its stream never changes."""
    return options[int(rng.random() * len(options))]


def get_book(verse: int) -> str:
    """Return the book of a verse number.

    >>> get_book(43003016)
    'John'
    """
    return _BOOKS[verse // 1_000_000 - 1].replace("-", " ")


@cache
def read_verses(version: str) -> dict[int, str]:
    """Read the verses of a version by their number, without empty ones, and of equal ones the first."""
    path = locate(f"bible-{version}") / "plain_text_readers_bible.py"
    verses = parse_verses(path.read_text("utf-8"), path)
    first = {verses[number]: number for number in sorted(verses, reverse=True) if verses[number]}
    return {number: text for text, number in sorted(first.items(), key=lambda item: item[1])}


def parse_verses(source: str, path: Path) -> dict[int, str]:
    """Cut the long string of a data module at the start and end offsets that follow it.

    Brackets around words the translators added are removed; the apostrophe is written as such.
    """
    parts = source.split('"""')
    tables = parts[2].split("}") if len(parts) == 3 else []
    if len(tables) < 3 or "\\" in parts[1]:
        raise ResourceError(f"{path}: not in the expected form")
    starts, ends = ({int(key): int(value) for key, value in _OFFSET.findall(table)} for table in tables[:2])
    pieces = {number: parts[1][start : ends[number]] for number, start in starts.items() if number in ends}
    return {number: " ".join(piece.translate(_MARKS).split()) for number, piece in pieces.items()}


def pair_same_verse(left: str, right: str, seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield (left, right, book) of all verses two versions word differently, in an order given by the seed."""
    ours, theirs = read_verses(left), read_verses(right)
    for number in _shuffle(ours, f"bible-{left}-{right}:{seed}"):
        if number in theirs and normalize(ours[number]) != normalize(theirs[number]):
            yield ours[number], theirs[number], get_book(number)


def pair_graded(seed: int) -> Iterator[tuple[str, str, float]]:
    """Yield (left, right, grade) with the grades 3, 2, 1, 0 in turn; the two versions differ, so style tells nothing.

    The right text of a left verse is: the same verse, another of its chapter, another chapter's of its book, another
    book's.
    """
    ours, theirs = map(read_verses, GRADED_VERSIONS)
    rng = random.Random(f"bible-graded:{seed}")  # noqa: S311
    by_unit: dict[int, dict[int, list[int]]] = {unit: defaultdict(list) for unit in (1, 1_000, 1_000_000)}
    for unit, groups in by_unit.items():
        for number in theirs:
            groups[number // unit].append(number)
    every, grade = list(theirs), 3
    for row in _shuffle(ours, f"bible-graded:{seed}"):
        if row not in theirs:
            continue
        pool = every if grade == 0 else by_unit[1_000 ** (3 - grade)][row // 1_000 ** (3 - grade)]
        tries = (pick(pool, rng) for _ in range(50))
        other = next((one for one in tries if get_grade(row, one) == grade), None)
        if other is not None and normalize(ours[row]) != normalize(theirs[other]):
            yield ours[row], theirs[other], float(grade)
            grade = (grade - 1) % 4


def get_grade(left: int, right: int) -> int:
    """Return the grade of two verse numbers.

    >>> get_grade(43003016, 43003017), get_grade(43003016, 43004001), get_grade(43003016, 1001001)
    (2, 1, 0)
    """
    return sum(left // unit == right // unit for unit in (1, 1_000, 1_000_000))


def _shuffle(texts: dict[int, str], seed: str) -> list[int]:
    rng = random.Random(seed)  # noqa: S311
    return sorted(texts, key=lambda _: rng.random())


_register()
