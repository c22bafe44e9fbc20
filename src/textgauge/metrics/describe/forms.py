"""When two texts count as the same: lower case, without punctuation, white space as one space."""

from __future__ import annotations

import string
import sys
import unicodedata
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def form(text: str) -> str:
    """The text in lower case without punctuation.

    Punctuation is Unicode's category P and the ASCII signs ``$+<=>^`|~``; it leaves no space behind, but runs of white
    space become one. Emoji and other symbols stay. A text of signs alone has the empty form.

    >>> form("Don't  panic -- it's $5, OK?")
    'dont panic its 5 ok'
    """
    return " ".join(text.lower().translate(_signs()).split())


def numbered(*corpora: Sequence[str]) -> list[Ints]:
    """For each corpus the number of each text's form; equal forms have equal numbers in all of them.

    >>> [numbers.tolist() for numbers in numbered(["A cat.", "a dog", "a cat"], ["A dog!"])]
    [[0, 1, 0], [1]]
    """
    known: dict[str, int] = {}
    return [
        np.fromiter((known.setdefault(form(text), len(known)) for text in texts), dtype=np.int64, count=len(texts))
        for texts in corpora
    ]


@cache
def _signs() -> dict[int, None]:
    points = range(128, sys.maxunicode + 1)
    wide = (point for point in points if unicodedata.category(chr(point))[0] == "P")
    return dict.fromkeys([*map(ord, string.punctuation), *wide])
