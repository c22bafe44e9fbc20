"""Grammar checkers by name: how many errors a text has.

harper              Harper, for English, built in; `harper(dialect=british)`
languagetool:URL    a LanguageTool server of your own (extra `api`); `languagetool:URL#de-DE`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Protocol, runtime_checkable

import numpy as np

from textgauge.arrays import Ints
from textgauge.encode.tokenizers import words_of
from textgauge.errors import UnknownName
from textgauge.naming import parse

__all__ = ["GrammarChecker", "get_grammar_checker", "list_grammar_checkers"]


LONGEST_PIECE = 2_000
LONGEST_TEXT = 20_000

_BREAK = re.compile(r".*[.!?]\s|.*\n", re.DOTALL)
_SPACE = re.compile(r".*\s", re.DOTALL)


@runtime_checkable
class GrammarChecker(Protocol):
    """Counts grammatical errors. The count of a text does not depend on the other texts.

    Checkers take milliseconds a sentence, so of a text over 20,000 characters only its first sentences up to there are
    checked, and only they count in `lengths`: errors per word stay right. A checker gets pieces of at most 2,000
    characters, cut at the end of a sentence where there is one.
    """

    @property
    def name(self) -> str:
        """The name it is called by."""

    @property
    def signature(self) -> str:
        """Everything the numbers depend on."""

    def errors(self, texts: Sequence[str]) -> Ints:
        """Give the number of errors of each text; 0 for an empty one."""

    def lengths(self, texts: Sequence[str]) -> Ints:
        """Give the number of words of each text, signs left out."""


def pieces(text: str) -> Iterator[str]:
    """Cut what is checked of a text into pieces: whole sentences where they fit, else words, else anything.

    >>> [len(piece) for piece in pieces("A short one. " * 200)]
    [1989, 611]
    """
    start, end = 0, len(text)
    if end > LONGEST_TEXT:
        end = _cut(text, 0, LONGEST_TEXT)
    while end - start > LONGEST_PIECE:
        stop = _cut(text, start, start + LONGEST_PIECE)
        yield text[start:stop]
        start = stop
    if text[start:end].strip():
        yield text[start:end]


def _cut(text: str, start: int, stop: int) -> int:
    found = _BREAK.match(text, start, stop) or _SPACE.match(text, start, stop)
    return found.end() if found else stop


def lengths(texts: Sequence[str]) -> Ints:
    """Give the number of words of what is checked of each text.

    >>> lengths(["It's 5 o'clock -- really!", ""])
    array([4, 0])
    """
    counts = (sum(word[0].isalnum() for piece in pieces(text) for word in words_of(piece)) for text in texts)
    return np.fromiter(counts, dtype=np.int64, count=len(texts))


def sums(texts: Sequence[str], count: Callable[[list[str]], Sequence[int]]) -> Ints:
    """Count the errors of the different pieces of all texts, each once, and add them up by text."""
    parts = [list(pieces(text)) for text in texts]
    distinct = list(dict.fromkeys(piece for part in parts for piece in part))
    found = dict(zip(distinct, count(distinct), strict=True))
    return np.array([sum(found[piece] for piece in part) for part in parts], dtype=np.int64)


def get_grammar_checker(name: str) -> GrammarChecker:
    """Give the grammar checker of that name; it is loaded, or the server called, when it is first used.

    >>> get_grammar_checker("harper").lengths(["She have two cats."]).tolist()
    [4]
    """
    prefix, colon, rest = name.partition(":")
    if prefix == "languagetool" and rest:
        from textgauge.encode.grammar.languagetool import LanguageToolChecker

        return LanguageToolChecker.named(rest)
    parsed = parse(name) if not colon else None
    if parsed is None or parsed.name != "harper" or parsed.part or parsed.on:
        raise UnknownName.among("grammar checker", name, list_grammar_checkers())
    unknown = [key for key, _ in parsed.params if key != "dialect"]
    if unknown:
        raise UnknownName(f"harper has no parameter {unknown[0]!r}; it has dialect")
    return _harper(dict(parsed.params).get("dialect", "american"))


def list_grammar_checkers() -> list[str]:
    """List the names of all grammar checkers, those with a part to fill in as `languagetool:URL`."""
    return ["harper", "languagetool:URL"]


@cache
def _harper(dialect: str) -> GrammarChecker:
    from textgauge.encode.grammar.harper import HarperChecker

    return HarperChecker(dialect)
