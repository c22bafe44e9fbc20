"""Small grammars of short texts, one TOML file a domain: offline, deterministic, with labels and paraphrases.

An intent is a list of meanings, a meaning a list of wordings. Two wordings of one meaning with the same slot values
are paraphrases. No text is copied from anywhere; all of them are free of rights (CC0).
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypeVar

from textgauge.core.errors import InputError

T = TypeVar("T")
DOMAINS = ("banking", "cooking", "support", "travel")
# Share of texts with a capital letter and a full stop; people who write to a machine often leave them out.
_NEAT = 0.75
_WORD = re.compile(r"\w+")
_CLOSING = {"(": ")", "[": "]"}
_PIECE = re.compile(r"<[^<>]*>|\{[^{}]*\}|[()\[\]|;]|[^<>{}()\[\]|;]+")


@dataclass(frozen=True)
class Wording:
    """One way to say a meaning; a request takes on one of the domain's polite frames."""

    template: Template
    request: bool = False


@dataclass(frozen=True)
class Meaning:
    """One meaning of one intent, in two wordings or more."""

    intent: str
    wordings: tuple[Wording, ...]


@dataclass(frozen=True)
class Grammar:
    """Meanings by intent, with the lists that fill their slots and the rules they share."""

    name: str
    intents: dict[str, tuple[Meaning, ...]]
    slots: dict[str, tuple[Template, ...]]
    rules: dict[str, Template]
    opening: Template = ()
    request: Template = ()

    def writer(self, rng: random.Random) -> Writer:
        """A writer of this grammar's templates."""
        return Writer(self.rules, lambda values: pick(self.slots[values], rng), rng)


def texts(grammar: Grammar, seed: int) -> Iterator[tuple[str, str]]:
    """Endless (text, intent), each text once; ends when new texts have become rare.

    A longer draw begins with the shorter one of the same seed.
    """
    rng = random.Random(f"{grammar.name}:{seed}")  # noqa: S311
    writer = grammar.writer(rng)
    intents = list(grammar.intents)
    seen: set[str] = set()
    misses = 0
    while misses < 1000:
        meaning = pick(grammar.intents[pick(intents, rng)], rng)
        text = say(grammar, writer, pick(meaning.wordings, rng), {})
        misses = misses + 1 if plain(text) in seen else 0
        if not misses:
            seen.add(plain(text))
            yield text, meaning.intent


def paraphrases(grammar: Grammar, seed: int) -> Iterator[tuple[str, str, str]]:
    """Endless (left, right, intent): two wordings of one meaning that speak of the same things; each pair once."""
    rng = random.Random(f"{grammar.name} pairs:{seed}")  # noqa: S311
    writer = grammar.writer(rng)
    intents = list(grammar.intents)
    seen: set[tuple[str, str]] = set()
    misses = 0
    while misses < 1000:
        meaning = pick(grammar.intents[pick(intents, rng)], rng)
        left, right = _two(grammar, writer, meaning)
        keys = plain(left), plain(right)
        misses = misses + 1 if keys in seen or keys[0] == keys[1] else 0
        if not misses:
            seen.update({keys, keys[::-1]})
            yield left, right, meaning.intent


def plain(text: str) -> str:
    """The text without case and punctuation: texts that differ in no more count as one.

    >>> plain("Where's my card?") == plain("where's my card")
    True
    """
    return " ".join(_WORD.findall(text.casefold()))


def say(grammar: Grammar, writer: Writer, wording: Wording, bound: dict[str, str]) -> str:
    """Write one wording out, in its polite frame or after an opening, neatly or not."""
    text = writer.write(wording.template, bound)
    if wording.request:
        text = writer.write(grammar.request, {"it": text})
    elif grammar.opening:
        text = f"{writer.write(grammar.opening, {})} {text}".lstrip()
    if writer.rng.random() < _NEAT:
        return text[0].upper() + text[1:]
    return text.rstrip(".?")


@cache
def load(name: str) -> Grammar:
    """The grammar of one domain."""
    source = tomllib.loads((files("textgauge.data.samples") / "grammars" / f"{name}.toml").read_text("utf-8"))
    intents = {
        intent: tuple(Meaning(intent, tuple(map(_wording, wordings))) for wordings in meanings)
        for intent, meanings in source["intents"].items()
    }
    slots = {slot: tuple(map(parse, values)) for slot, values in source["slots"].items()}
    rules = {rule: parse(text) for rule, text in source["rules"].items()}
    return Grammar(name, intents, slots, rules, parse(source["opening"]), parse(source["request"]))


def take(n: int, items: Iterator[T], name: str) -> list[T]:
    """The first `n` items, or an error that says how many there are."""
    found = [item for _, item in zip(range(n), items, strict=False)]
    if len(found) < n:
        raise InputError(f"sample {name!r} has {len(found):,} distinct texts, not {n:,}")
    return found


def _wording(source: str) -> Wording:
    return Wording(parse(source.removeprefix("!")), request=source.startswith("!"))


def _two(grammar: Grammar, writer: Writer, meaning: Meaning) -> tuple[str, str]:
    wordings = list(meaning.wordings)
    first = wordings.pop(int(writer.rng.random() * len(wordings)))
    bound: dict[str, str] = {}
    return say(grammar, writer, first, bound), say(grammar, writer, pick(wordings, writer.rng), bound)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several sequences."""

    options: tuple[Template, ...]


@dataclass(frozen=True, slots=True)
class Shuffle:
    """All of several sequences, in any order."""

    parts: tuple[Template, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A named template written elsewhere."""

    name: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A value drawn from a list; equal slot names hold equal values within one meaning."""

    values: str
    name: str


Node = str | Choice | Shuffle | Rule | Slot
Template = tuple[Node, ...]


def parse(source: str) -> Template:
    """Read one template.

    >>> parse("turn [it] (on|off)")[0]
    'turn '
    """
    pieces = _PIECE.findall(source)
    if "".join(pieces) != source:
        raise InputError(f"template {source!r} has a stray bracket")
    branches, position, _ = _branches(pieces, 0, "")
    if position != len(pieces) or len(branches) != 1:
        raise InputError(f"template {source!r} has unbalanced brackets")
    return branches[0]


def _branches(pieces: list[str], position: int, closing: str) -> tuple[list[Template], int, bool]:
    """Read sequences up to `closing`; tell whether `;` (any order) separated them."""
    branches: list[list[Node]] = [[]]
    shuffled = False
    while position < len(pieces) and pieces[position] != closing:
        piece = pieces[position]
        if piece in _CLOSING:
            inner, position, mixed = _branches(pieces, position + 1, _CLOSING[piece])
            branches[-1].append(_group(piece, inner, mixed))
        elif piece in "|;":
            branches.append([])
            shuffled = shuffled or piece == ";"
        elif piece in ")]":
            break
        else:
            branches[-1].append(_leaf(piece))
        position += 1
    if closing and pieces[position : position + 1] != [closing]:
        raise InputError(f"template {''.join(pieces)!r} has unbalanced brackets")
    return [tuple(branch) for branch in branches], position, shuffled


def _group(opening: str, inner: list[Template], mixed: bool) -> Node:
    if mixed:
        return Shuffle(tuple(inner))
    if opening == "(":
        return Choice(tuple(inner))
    return Choice(((), (Choice(tuple(inner)),)))


def _leaf(piece: str) -> Node:
    if piece[0] == "<":
        return Rule(piece[1:-1])
    if piece[0] == "{":
        values, _, name = piece[1:-1].partition(":")
        return Slot(values, name or values)
    return piece


@dataclass(frozen=True)
class Writer:
    """Writes templates out, with rules, with lists of slot values, and with one source of chance.

    `bound` keeps the value of each slot, so that two wordings of one meaning speak of the same things.
    """

    rules: Mapping[str, Template]
    draw: Callable[[str], Template]
    rng: random.Random

    def write(self, template: Template, bound: dict[str, str]) -> str:
        """One realisation of `template`, with single spaces; fills `bound`."""
        return " ".join(self._sequence(template, bound).split())

    def _sequence(self, template: Template, bound: dict[str, str]) -> str:
        return "".join([node if isinstance(node, str) else self._node(node, bound) for node in template])

    def _node(self, node: Choice | Shuffle | Rule | Slot, bound: dict[str, str]) -> str:
        if isinstance(node, Choice):
            return self._sequence(pick(node.options, self.rng), bound)
        if isinstance(node, Rule):
            return self._sequence(self.rules[node.name], bound)
        if isinstance(node, Slot):
            if node.name not in bound:
                bound[node.name] = self._value(node, bound)
            return bound[node.name]
        parts = list(node.parts)
        first = parts.pop(int(self.rng.random() * len(parts)))
        return " ".join(self._sequence(part, bound) for part in (first, *parts))

    def _value(self, slot: Slot, bound: dict[str, str]) -> str:
        """A value no other slot has, so that nobody travels from Lima to Lima; after some tries, any value."""
        value = ""
        for _ in range(8):
            value = self.write(self.draw(slot.values), bound)
            if value not in bound.values():
                break
        return value


def pick(options: Sequence[T], rng: random.Random) -> T:
    """One option; only `random()` is used, because Python promises its stream never changes."""
    return options[int(rng.random() * len(options))]
