"""`harper`: the Harper checker for English, on this machine; `harper(dialect=british)` for another English.

Capitalisation, formatting, style, enhancements and length of sentences are not grammar and do not count; spelling
does. Errors that overlap count once. A text on which the checker itself breaks down is checked in halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from threading import Lock
from typing import Any

from textgauge.arrays import Ints
from textgauge.encode.grammar import lengths, sums
from textgauge.encode.tokenizers import without_surrogates
from textgauge.errors import UnknownName
from textgauge.parallel import workers

DIALECTS = ("american", "british", "australian", "canadian", "indian")
_BREAKDOWN = "PanicException"  # what the checker raises, outside of Exception, where its own code fails
IGNORED = frozenset({"Capitalization", "Formatting", "Style", "Enhancement", "Readability"})


@dataclass(frozen=True)
class HarperChecker:
    """The checker; its dictionary is loaded on first use."""

    dialect: str = "american"
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.dialect not in DIALECTS:
            raise UnknownName.among("dialect", self.dialect, DIALECTS)

    @property
    def name(self) -> str:
        """The name it is called by."""
        return "harper" if self.dialect == "american" else f"harper(dialect={self.dialect})"

    @property
    def signature(self) -> str:
        """Everything the numbers depend on."""
        ignored = "|".join(sorted(IGNORED)).lower()
        return f"harper(dialect={self.dialect},ignored={ignored},harper-py={version('harper-py')},version=1)"

    def errors(self, texts: Sequence[str]) -> Ints:
        """Give the number of errors of each text; 0 for an empty one."""
        return sums(texts, self._count)

    def lengths(self, texts: Sequence[str]) -> Ints:
        """Give the number of words of each text, signs left out."""
        return lengths(texts)

    @cached_property
    def _linters(self) -> list[Any]:
        # One each: a linter serves one thread at a time, and lets the others run meanwhile.
        return [self._linter() for _ in range(workers())]

    def _linter(self) -> Any:
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
        """The errors of a piece; one on which the checker breaks down is checked in halves."""
        try:
            return _errors(self._linters[number], piece)
        except BaseException as error:
            if type(error).__name__ != _BREAKDOWN:
                raise
        self._linters[number] = self._linter()
        words = piece.split()
        if len(words) < 2:
            return 0
        halves = (" ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :]))
        return sum(self._errors(number, half) for half in halves)


def _errors(linter: Any, piece: str) -> int:
    # Without `dedup`, which would let an ignored remark on a long sentence swallow the errors in it.
    found = linter.lint(without_surrogates(piece), language="plaintext", dedup=False)
    return separate_errors([(lint.span.start, lint.span.end) for lint in found if lint.lint_kind not in IGNORED])


def separate_errors(spans: Sequence[tuple[int, int]]) -> int:
    """Give the largest number of spans that do not overlap.

    >>> separate_errors([(0, 9), (0, 3), (3, 5), (4, 8)])
    2
    """
    count = reached = 0
    for start, end in sorted(spans, key=lambda span: span[1]):
        if start >= reached:
            count, reached = count + 1, max(end, start + 1)
    return count
