"""Grammar checkers by name: how many errors a text has.

harper              Harper, for English, built in; `harper(dialect=british)`
languagetool:URL    a LanguageTool server of your own (extra `api`); `languagetool:URL#de-DE`
languagetool:FOLDER a LanguageTool in a folder, run by Java
"""

from __future__ import annotations

import os
import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any
from xml.etree import ElementTree

import numpy as np

from textgauge.core.arrays import Ints
from textgauge.core.errors import ResourceError, UnknownName
from textgauge.core.parallel import count_workers
from textgauge.core.registry import parse
from textgauge.encode.endpoint import ask, format_address, open_client, split_address
from textgauge.encode.tokenizers import replace_surrogates, split_folded_words

LONGEST_PIECE = 2_000
LONGEST_TEXT = 20_000
DIALECTS = ("american", "british", "australian", "canadian", "indian")
_BREAKDOWN = "PanicException"  # what the checker raises, outside of Exception, where its own code fails
HARPER_IGNORED = frozenset({"Capitalization", "Formatting", "Style", "Enhancement", "Readability"})
LANGUAGE = "en-US"
_LOCAL_IGNORED = frozenset({"typographical", "whitespace", "style"})
_MOST_BYTES = 50_000  # of a file: what LanguageTool writes of files above 64,000 bytes is no XML
LANGUAGETOOL_IGNORED = frozenset({"CASING", "TYPOGRAPHY", "STYLE", "REDUNDANCY"})
AT_ONCE = 4

_BREAK = re.compile(r".*[.!?]\s|.*\n", re.DOTALL)
_SPACE = re.compile(r".*\s", re.DOTALL)


class GrammarChecker(ABC):
    """Counts grammatical errors. The count of a text does not depend on the other texts.

    Checkers take milliseconds a sentence, so of a text over 20,000 characters only its first sentences up to there are
    checked, and only they count in `lengths`: errors per word stay right. A checker gets pieces of at most 2,000
    characters, cut at the end of a sentence where there is one.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name it is called by."""

    @property
    @abstractmethod
    def signature(self) -> str:
        """Everything the numbers depend on."""

    @abstractmethod
    def _count(self, pieces: list[str]) -> list[int]: ...

    def errors(self, texts: Sequence[str]) -> Ints:
        """Return the number of errors of each text; 0 for an empty one."""
        parts = [list(split_pieces(text)) for text in texts]
        distinct = list(dict.fromkeys(piece for part in parts for piece in part))
        counts = dict(zip(distinct, self._count(distinct), strict=True))
        return np.array([sum(counts[piece] for piece in part) for part in parts], dtype=np.int64)

    def lengths(self, texts: Sequence[str]) -> Ints:
        """Return the number of words of what is checked of each text, signs left out."""
        counts = (
            sum(word[0].isalnum() for piece in split_pieces(text) for word in split_folded_words(piece))
            for text in texts
        )
        return np.fromiter(counts, dtype=np.int64, count=len(texts))


def split_pieces(text: str) -> Iterator[str]:
    """Cut what is checked of a text into pieces: whole sentences where they fit, else words, else anything.

    >>> [len(piece) for piece in split_pieces("A short one. " * 200)]
    [1989, 611]
    """

    def find_cut(start: int, stop: int) -> int:
        match = _BREAK.match(text, start, stop) or _SPACE.match(text, start, stop)
        return match.end() if match else stop

    start, end = 0, len(text) if len(text) <= LONGEST_TEXT else find_cut(0, LONGEST_TEXT)
    while end - start > LONGEST_PIECE:
        stop = find_cut(start, start + LONGEST_PIECE)
        yield text[start:stop]
        start = stop
    if text[start:end].strip():
        yield text[start:end]


@dataclass(frozen=True)
class HarperChecker(GrammarChecker):
    """Harper for English, on this machine; its dictionary is loaded on first use.

    Capitalisation, formatting, style, enhancements and length of sentences are not grammar and do not count; spelling
    does. Errors that overlap count once. A text on which the checker itself breaks down is checked in halves.
    """

    dialect: str = "american"
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.dialect not in DIALECTS:
            raise UnknownName.among("dialect", self.dialect, DIALECTS)

    @property
    def name(self) -> str:
        return "harper" if self.dialect == "american" else f"harper(dialect={self.dialect})"

    @property
    def signature(self) -> str:
        ignored = "|".join(sorted(HARPER_IGNORED)).lower()
        return f"harper(dialect={self.dialect},ignored={ignored},harper-py={version('harper-py')},version=1)"

    @cached_property
    def _linters(self) -> list[Any]:
        # One each: a linter serves one thread at a time, and lets the others run meanwhile.
        return [self._make_linter() for _ in range(count_workers())]

    def _make_linter(self) -> Any:
        from harper import Dialect, Linter

        return Linter(Dialect[self.dialect.upper()])

    def _count(self, pieces: list[str]) -> list[int]:
        counts = [0] * len(pieces)
        with self._lock, ThreadPoolExecutor(len(self._linters)) as pool:
            step = len(self._linters)

            def share(first: int) -> None:
                for place in range(first, len(pieces), step):
                    counts[place] = self._errors(first, pieces[place])

            list(pool.map(share, range(step)))
        return counts

    def _errors(self, number: int, piece: str) -> int:
        """Return the errors of a piece; one on which the checker breaks down is checked in halves."""
        try:
            # Without `dedup`, which would let an ignored remark on a long sentence swallow the errors in it.
            lints = self._linters[number].lint(replace_surrogates(piece), language="plaintext", dedup=False)
        except BaseException as error:
            if type(error).__name__ != _BREAKDOWN:
                raise
        else:
            return count_separate_errors(
                [(lint.span.start, lint.span.end) for lint in lints if lint.lint_kind not in HARPER_IGNORED]
            )
        self._linters[number] = self._make_linter()
        words = piece.split()
        if len(words) < 2:
            return 0
        halves = (" ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :]))
        return sum(self._errors(number, half) for half in halves)


def count_separate_errors(spans: Sequence[tuple[int, int]]) -> int:
    """Give the largest number of spans that do not overlap.

    >>> count_separate_errors([(0, 9), (0, 3), (3, 5), (4, 8)])
    2
    """
    count = reached = 0
    for start, end in sorted(spans, key=lambda span: span[1]):
        if start >= reached:
            count, reached = count + 1, max(end, start + 1)
    return count


@dataclass(frozen=True)
class LanguageToolChecker(GrammarChecker):
    """A LanguageTool server that the user runs, for one language; ResourceError where it fails.

    Matches of the categories casing, typography, style and redundancy are not grammar and do not count.
    """

    url: str
    language: str = LANGUAGE

    @classmethod
    def named(cls, address: str) -> LanguageToolChecker:
        """Give the checker that `URL` or `URL#LANGUAGE` stands for."""
        url, _, language = address.partition("#")
        try:
            split_address(url)
        except ResourceError:
            raise UnknownName(
                "write languagetool:URL with the address of your server, as http://localhost:8081"
            ) from None
        return cls(url.rstrip("/").removesuffix("/v2/check").removesuffix("/v2"), language or LANGUAGE)

    @property
    def name(self) -> str:
        """The name it is called by, without what is secret in the address."""
        address = f"{split_address(self.url).scheme}://{format_address(self.url)}"
        return f"languagetool:{address}" + (f"#{self.language}" if self.language != LANGUAGE else "")

    @cached_property
    def signature(self) -> str:
        """Everything the numbers depend on, the version the server tells among it."""
        with open_client(self.name, self.url, has_key=False) as client:
            _, server = self._check(client, ".")
        ignored = "|".join(sorted(LANGUAGETOOL_IGNORED)).lower()
        return f"languagetool(server={server},language={self.language},ignored={ignored},version=1)"

    def _count(self, pieces: list[str]) -> list[int]:
        if not pieces:
            return []
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            with open_client(self.name, self.url, has_key=False) as client:
                return list(pool.map(lambda piece: self._check(client, piece)[0], pieces))
        finally:
            pool.shutdown(cancel_futures=True)

    def _check(self, client: Any, piece: str) -> tuple[int, str]:
        """Return the number of errors, and the version of the server."""
        form = {"text": replace_surrogates(piece), "language": self.language}
        try:
            content = ask(client, f"{self.url}/v2/check", name=self.name, attempts=1, data=form)
            categories = [match["rule"]["category"]["id"] for match in content["matches"]]
            version = (content.get("software") or {}).get("version") or "unknown"
        except ResourceError as error:
            raise ResourceError(f"{error}; start a LanguageTool server there, or use harper") from None
        except (KeyError, TypeError, AttributeError):
            raise ResourceError(f"{self.name} did not answer as LanguageTool does") from None
        return sum(category not in LANGUAGETOOL_IGNORED for category in categories), version


@dataclass(frozen=True)
class LocalLanguageTool(GrammarChecker):
    """LanguageTool of a folder, run by Java for American English: 2.2, of 2013, is that of Zwerdling et al. 2021.

    Capitalisation, typography and style do not count; errors that overlap count once. Version 2.2 needs the jars of
    JAXB among its own where Java is newer than 8.
    """

    folder: Path

    @property
    def name(self) -> str:
        return f"languagetool:{self.folder}"

    @cached_property
    def signature(self) -> str:
        """Everything the numbers depend on, the version of the program among it."""
        return f"languagetool(local={self._run(['.']).get('version')},language={LANGUAGE},version=1)"

    def _count(self, pieces: list[str]) -> list[int]:
        ends = np.cumsum([len(piece.encode("utf-8", "surrogatepass")) for piece in pieces]) // _MOST_BYTES
        parts = (np.flatnonzero(ends == number).tolist() for number in np.unique(ends))
        return [count for part in parts for count in self._count_in_file([pieces[row] for row in part])]

    def _count_in_file(self, pieces: list[str]) -> list[int]:
        spans: list[list[tuple[int, int]]] = [[] for _ in pieces]
        for error in self._run(pieces):
            if error.get("locqualityissuetype") not in _LOCAL_IGNORED and error.get("category") != "Capitalization":
                start, length = (int(error.get(key, 0)) for key in ("offset", "errorlength"))
                spans[int(error.get("fromy", 0))].append((start, start + length))
        return [count_separate_errors(one) for one in spans]

    def _run(self, pieces: list[str]) -> Any:
        """Return the matches of pieces, one a line."""
        jars = os.pathsep.join(str(self.folder / part) for part in ("", "*", "libs/*"))
        with TemporaryDirectory() as place:
            path = Path(place, "texts.txt")
            path.write_text("\n".join(" ".join(replace_surrogates(one).split()) for one in pieces), encoding="utf-8")
            program = ["java", "-cp", jars, "org.languagetool.commandline.Main"]
            options = ["-c", "utf8", "-l", LANGUAGE, "-b", "--api"]
            try:
                done = subprocess.run([*program, *options, str(path)], capture_output=True, check=True)  # noqa: S603
                return ElementTree.fromstring(done.stdout)  # noqa: S314  # nosec B314, the output of the program
            except (OSError, subprocess.CalledProcessError, ElementTree.ParseError) as error:
                raise ResourceError(f"{self.name} cannot be run by java: {error}") from None


def get_grammar_checker(name: str) -> GrammarChecker:
    """Give the grammar checker of that name; it is loaded, or the server called, when it is first used.

    >>> get_grammar_checker("harper").lengths(["She have two cats."]).tolist()
    [4]
    """
    prefix, colon, rest = name.partition(":")
    if prefix == "languagetool" and rest and Path(rest).is_dir():
        return LocalLanguageTool(Path(rest))
    if prefix == "languagetool" and rest:
        return LanguageToolChecker.named(rest)
    parsed = parse(name) if not colon else None
    if parsed is None or parsed.name != "harper" or parsed.part or parsed.on:
        raise UnknownName.among("grammar checker", name, list_grammar_checkers())
    if unknown := [key for key, _ in parsed.params if key != "dialect"]:
        raise UnknownName(f"harper has no parameter {unknown[0]!r}; it has dialect")
    return _make_harper(*(value for _, value in parsed.params))


def list_grammar_checkers() -> list[str]:
    """List the names of all grammar checkers, those with a part to fill in as `languagetool:URL`."""
    return ["harper", "languagetool:URL", "languagetool:FOLDER"]


_make_harper = cache(HarperChecker)
