"""Sentence templates: `(a|b)` choice, `[a]` optional, `(a;b)` any order, `<rule>`, `{list}` or `{list:slot}`.

The notation is that of voice-assistant sentence files, so one reader serves them and the built-in grammars.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from textgauge.errors import InputError

T = TypeVar("T")

_CLOSING = {"(": ")", "[": "]"}
_PIECE = re.compile(r"<[^<>]*>|\{[^{}]*\}|[()\[\]|;]|[^<>{}()\[\]|;]+")


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
