"""Samples of real texts that packages of the index bring: utterances to a voice assistant, four versions of the Bible.

The utterances, with intents, follow templates of Home Assistant and questions of two Open Voice OS skills; the places
and things that the templates leave open are ours. The versions are in the public domain and aligned verse by verse:
paraphrase and style pairs, graded pairs. A verse has a number: book, chapter (3 digits) and verse (3 digits).

Only data of the packages are read, never run.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from textgauge.core.errors import InputError, ResourceError
from textgauge.data.datasets import DatasetCard
from textgauge.data.samples import register_sample
from textgauge.data.tables import LabelledTexts
from textgauge.encode.resources import locate

T = TypeVar("T")
_PACKAGES = ("Apache-2.0", "home-assistant-intents, ovos-skill-weather, ovos-skill-date-time")
_VERSES = ("public domain", "pythonbible packages")
_VERSE_COUNTS = {"asv": 30_685, "kjv": 30_834, "web": 30_747, "ylt": 30_860}
NEEDS = ("home-assistant-intents", "ovos-skill-weather", "ovos-skill-date-time")

_NEAT = 0.75  # share of texts with a capital letter and a full stop; people who write to a machine often leave them out
_WORD = re.compile(r"\w+")
_CLOSING = {"(": ")", "[": "]"}
_PIECE = re.compile(r"<[^<>]*>|\{[^{}]*\}|[()\[\]|;]|[^<>{}()\[\]|;]+")
_FILLERS = {
    "area": "kitchen|living room|bedroom|bathroom|garage|hallway|office|nursery|garden|attic|cellar|dining room",
    "floor": "ground|first|second|top|lower|upper",
    "message": "dinner is ready|the bus leaves in ten minutes|it is time for bed|someone is at the door|we leave now",
    "search_query": "some jazz|the Beatles|rain sounds|the morning news|Vivaldi|a fairy tale|nineties hits|Nina Simone",
    "zone": "garden|office|living room|school|gym",
    "timer_name": "pasta|laundry|eggs|workout|pizza|homework|tea|oven",
    "timer_command": "turn off the lights|lock the front door|stop the music|open the blinds|start the dishwasher",
    "shopping_list_item": "milk|oat flakes|two lemons|washing powder|bread|olive oil|batteries|apples|toothpaste",
    "todo_list_item": "call the dentist|water the plants|renew the passport|buy a gift|fix the bike|book the train",
    "offset": "2|3|4|5|6|8|10|12|18|24|36|48",
    "name.binary_sensor": "front door|kitchen window|smoke detector|garage door|motion sensor",
    "name.button": "doorbell|coffee machine|garden gate button|restart button",
    "name.climate": "thermostat|heat pump|air conditioner|bedroom radiator|floor heating",
    "name.cover": "left blind|garage door|awning|bedroom curtain|roof window|patio shutter",
    "name.fan": "ceiling fan|desk fan|extractor fan|bathroom fan",
    "name.lawn_mower": "lawn mower|robot mower|mower",
    "name.light": "bedside lamp|desk lamp|porch|chandelier|reading lamp|fairy lights|floor lamp|mirror",
    "name.lock": "front door|back door|shed|garden gate|side entrance",
    "name.media_player": "television|radio|soundbar|kitchen speaker|record player|projector",
    "name.person": "Maria|Tom|grandma|Amina|Jonas|Lee",
    "name.scene": "movie night|dinner party|good morning|reading|romantic",
    "name.script": "bedtime|leaving home|guest mode|wake up|vacation",
    "name.sensor": "outdoor temperature|washing machine|solar output|battery level|water meter",
    "name.todo": "chores|packing|work|garden|birthday",
    "name.vacuum": "robot vacuum|upstairs vacuum|hoover",
    "name.valve": "garden hose|main water valve|sprinkler|greenhouse valve",
    "name.weather": "home|the cottage|the office",
}
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
    """Make the samples known: `assistant`, `bible-VERSION`, `bible-VERSION-VERSION`, `bible-graded`."""
    about = "utterances to an assistant, with intents"
    card = DatasetCard("assistant", "texts", 6_000, *_PACKAGES, about, (), NEEDS)
    register_sample(card, lambda n, seed: tuple(zip(*_take_first(n, write_texts(seed), "assistant"), strict=True)))
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


def write_texts(seed: int) -> Iterator[tuple[str, str]]:
    """Yield (text, intent), each text once; end when new texts have become rare.

    A longer draw begins with the shorter one of the same seed. The intents have the packages' own names.
    """
    intents, slots, rules = _read_templates()
    rng = random.Random(f"assistant:{seed}")  # noqa: S311
    names, seen, misses = list(intents), set[str](), 0
    while misses < 1000:
        name = pick(names, rng)
        template = pick(pick(intents[name], rng), rng)
        text = write_template(template, slots, rules, rng)
        text = text[0].upper() + text[1:] if rng.random() < _NEAT else text.rstrip(".?")
        key = normalize(text)
        misses = misses + 1 if key in seen else 0
        if not misses:
            seen.add(key)
            yield text, name


def normalize(text: str) -> str:
    """Return the text without case and punctuation: texts that differ in no more count as one.

    >>> normalize("Where's my card?") == normalize("where's my card")
    True
    """
    return " ".join(_WORD.findall(text.casefold()))


def pick(options: Sequence[T], rng: random.Random) -> T:
    """Return one option; only `random()` is used, because Python promises its stream never changes."""
    return options[int(rng.random() * len(options))]


@cache
def _read_templates() -> tuple[dict[str, list[list[Template]]], dict[str, list[Template]], dict[str, Template]]:
    """Return the templates of each intent in groups, the values of each slot, and the rules."""
    home, weather, clock = (locate(name) for name in NEEDS)
    source: dict[str, Any] = json.loads((home / "data" / "en.json").read_text("utf-8"))
    slots = {name: [parse(value) for value in values.split("|")] for name, values in _FILLERS.items()}
    slots |= {name: values for name, spec in source["lists"].items() if (values := _parse_list(spec))}
    for entity in ("location", "date"):
        slots[entity] = [(line,) for line in _read_lines(clock / "locale/en-us" / f"{entity}.entity")]
    intents = {name: [_parse_block(block) for block in spec["data"]] for name, spec in source["intents"].items()}
    intents |= _read_skill(weather, "weather") | _read_skill(clock, "time")
    return intents, slots, {name: parse(text) for name, text in source["expansion_rules"].items()}


def _parse_block(block: dict[str, Any]) -> list[Template]:
    domains = block.get("requires_context", {}).get("domain") or ["light"]
    domain = domains[0] if isinstance(domains, list) else domains
    return [parse(text.replace("{name}", f"{{name.{domain}:name}}")) for text in block["sentences"]]


def _parse_list(spec: dict[str, Any]) -> list[Template]:
    if "range" in spec:
        span = spec["range"]
        return [(str(value),) for value in range(span["from"], span["to"] + 1, span.get("step", 1))]
    return [parse(value if isinstance(value, str) else value["in"]) for value in spec.get("values", ())]


def _read_skill(folder: Path, topic: str) -> dict[str, list[list[Template]]]:
    paths = sorted((folder / "locale/en-us/intents").glob("*.intent"))
    if not paths:
        raise ResourceError(f"{folder}: no intents found")
    return {f"{topic}.{path.stem.replace('.', '_')}": [[parse(line) for line in _read_lines(path)]] for path in paths}


def _read_lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]


class Choice(NamedTuple):
    """One of several sequences, or all of them in any order."""

    options: tuple[Template, ...]
    shuffled: bool = False


class Slot(NamedTuple):
    """A value drawn from a list; equal slot names hold equal values within one text."""

    values: str
    name: str


class Rule(NamedTuple):
    """A template written elsewhere."""

    name: str


Node = str | Choice | Slot | Rule
Template = tuple[Node, ...]


def parse(source: str) -> Template:
    """Read one template: (either|or), [perhaps], (any;order), {slot} or {list:slot}, <rule>.

    >>> parse("turn {name} (on|off)")[:2]
    ('turn ', Slot(values='name', name='name'))
    """
    pieces = _PIECE.findall(source)
    template, rest = _parse_branches(pieces, "")
    if rest or "".join(pieces) != source or len(template.options) != 1:
        raise InputError(f"template {source!r} has unbalanced brackets")
    return template.options[0]


def _parse_branches(pieces: list[str], closing: str) -> tuple[Choice, list[str]]:
    """Read sequences up to `closing`; give them and the pieces that follow."""
    branches: list[list[Node]] = [[]]
    shuffled = False
    while pieces and pieces[0] not in (")", "]"):
        piece, *pieces = pieces
        if piece in _CLOSING:
            inner, pieces = _parse_branches(pieces, _CLOSING[piece])
            perhaps = piece == "[" and not inner.shuffled
            branches[-1].append(Choice(((), (inner,))) if perhaps else inner)
        elif piece in "|;":
            branches.append([])
            shuffled = shuffled or piece == ";"
        elif piece[0] == "{":
            values, _, name = piece[1:-1].partition(":")
            branches[-1].append(Slot(values, name or values))
        else:
            branches[-1].append(Rule(piece[1:-1]) if piece[0] == "<" else piece)
    if closing and pieces[:1] != [closing]:
        raise InputError(f"template has unbalanced brackets: no {closing}")
    return Choice(tuple(map(tuple, branches)), shuffled), pieces[1:] if closing else pieces


def write_template(
    template: Template,
    slots: Mapping[str, Sequence[Template]],
    rules: Mapping[str, Template],
    rng: random.Random,
    values: dict[str, str] | None = None,
) -> str:
    """Return one text of a template, with single spaces; what a slot held once (`values`) it holds again."""
    values = {} if values is None else values

    def write(nodes: Template) -> str:
        return "".join(map(write_node, nodes))

    def write_node(node: Node) -> str:
        if isinstance(node, str):
            return node
        if isinstance(node, Rule):
            return write(rules[node.name])
        if isinstance(node, Choice):
            if not node.shuffled:
                return write(pick(node.options, rng))
            parts = list(node.options)
            first = parts.pop(int(rng.random() * len(parts)))
            return " ".join(map(write, (first, *parts)))
        if node.name not in values:
            value = ""
            for _ in range(8):  # no two slots hold the same, if these tries are enough
                value = write_template(pick(slots[node.values], rng), slots, rules, rng, values)
                if value not in values.values():
                    break
            values[node.name] = value
        return values[node.name]

    return " ".join(write(template).split())


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
