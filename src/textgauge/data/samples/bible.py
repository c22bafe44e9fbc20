"""Four English Bible versions in the public domain, aligned verse by verse: paraphrase and style pairs, graded pairs.

The texts are data modules of the packages pythonbible-*; they are read as text, never run.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from textgauge.core.errors import ResourceError
from textgauge.data.samples.grammar import pick, plain

VERSIONS = {
    "asv": "American Standard Version, 1901",
    "kjv": "King James Version, 1769",
    "web": "World English Bible",
    "ylt": "Young's Literal Translation, 1898",
}
GRADES = {3: "same verse", 2: "same chapter", 1: "same book", 0: "another book"}
_BOOKS = (
    "Genesis Exodus Leviticus Numbers Deuteronomy Joshua Judges Ruth 1-Samuel 2-Samuel 1-Kings 2-Kings 1-Chronicles "
    "2-Chronicles Ezra Nehemiah Esther Job Psalms Proverbs Ecclesiastes Song-of-Songs Isaiah Jeremiah Lamentations "
    "Ezekiel Daniel Hosea Joel Amos Obadiah Jonah Micah Nahum Habakkuk Zephaniah Haggai Zechariah Malachi Matthew Mark "
    "Luke John Acts Romans 1-Corinthians 2-Corinthians Galatians Ephesians Philippians Colossians 1-Thessalonians "
    "2-Thessalonians 1-Timothy 2-Timothy Titus Philemon Hebrews James 1-Peter 2-Peter 1-John 2-John 3-John Jude "
    "Revelation"
)
BOOKS = tuple(_BOOKS.split())

_OFFSET = re.compile(r"(?<!\d)(\d++): (\d+)")
_MARKS = str.maketrans({"[": None, "]": None, "`": "'"})
_QUOTES = '"""'


def book(verse: int) -> str:
    """The book of a verse number, which is book, chapter (3 digits) and verse (3 digits).

    >>> book(43003016)
    'John'
    """
    return BOOKS[verse // 1_000_000 - 1].replace("-", " ")


@cache
def verses(version: str) -> dict[int, str]:
    """The verses of a version by their number, without empty ones, and of equal ones the first."""
    from textgauge.encode.resources import locate

    path = locate(f"bible-{version}") / "plain_text_readers_bible.py"
    found = parse_verses(path.read_text("utf-8"), path)
    first = {found[number]: number for number in sorted(found, reverse=True) if found[number]}
    return {number: text for text, number in sorted(first.items(), key=lambda item: item[1])}


def parse_verses(source: str, path: Path) -> dict[int, str]:
    """Cut the long string of a data module at the start and end offsets that follow it.

    Brackets around words the translators added are removed; the apostrophe is written as such.
    """
    parts = source.split(_QUOTES)
    tables = parts[2].split("}") if len(parts) == 3 else []
    if len(tables) < 3 or "\\" in parts[1]:
        raise ResourceError(f"{path}: not in the expected form")
    starts, ends = ({int(key): int(value) for key, value in _OFFSET.findall(table)} for table in tables[:2])
    text = parts[1]
    return {number: _clean(text[start : ends[number]]) for number, start in starts.items() if number in ends}


def same_verse(left: str, right: str, seed: int) -> Iterator[tuple[str, str, str]]:
    """(left, right, book) of all verses two versions word differently, in an order given by the seed."""
    ours, theirs = verses(left), verses(right)
    for number in _shuffled(ours, f"bible-{left}-{right}:{seed}"):
        if number in theirs and plain(ours[number]) != plain(theirs[number]):
            yield ours[number], theirs[number], book(number)


def graded(left: str, right: str, seed: int) -> Iterator[tuple[str, str, int]]:
    """(left, right, grade) with the grades 3, 2, 1, 0 in turn; both versions are always different, so style is not.

    The right text of a left verse is: the same verse, another of its chapter, another chapter's of its book, another
    book's.
    """
    ours, theirs = verses(left), verses(right)
    rng = random.Random(f"bible-graded:{seed}")  # noqa: S311
    by_chapter, by_book = _grouped(theirs, 1_000), _grouped(theirs, 1_000_000)
    every = list(theirs)
    rows = (row for row in _shuffled(ours, f"bible-graded:{seed}") if row in theirs)
    grade = 3
    for row in rows:
        pool = {3: [row], 2: by_chapter[row // 1_000], 1: by_book[row // 1_000_000], 0: every}[grade]
        other = _other(row, pool, grade, rng)
        if other is not None and plain(ours[row]) != plain(theirs[other]):
            yield ours[row], theirs[other], grade
            grade = (grade - 1) % 4


def relation(left: int, right: int) -> int:
    """The grade of two verse numbers.

    >>> relation(43003016, 43003017), relation(43003016, 43004001), relation(43003016, 1001001)
    (2, 1, 0)
    """
    return sum(left // unit == right // unit for unit in (1, 1_000, 1_000_000))


def _other(row: int, pool: list[int], grade: int, rng: random.Random) -> int | None:
    for _ in range(50):
        other = pick(pool, rng)
        if relation(row, other) == grade:
            return other
    return None


def _grouped(texts: dict[int, str], unit: int) -> dict[int, list[int]]:
    groups = defaultdict(list)
    for number in texts:
        groups[number // unit].append(number)
    return groups


def _shuffled(texts: dict[int, str], seed: str) -> list[int]:
    rng = random.Random(seed)  # noqa: S311
    return sorted(texts, key=lambda _: rng.random())


def _clean(text: str) -> str:
    return " ".join(text.translate(_MARKS).split())
