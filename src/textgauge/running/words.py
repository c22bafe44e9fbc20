"""Errors in the words of Python: `pairs` for what the command calls --pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from textgauge.errors import TextgaugeError

_NAMES = (
    "beir|columns?|comparisons|documents|judgements|labelled|left|linearity|only|pairs|rated|rating|reference|right|"
    "steps|ties"
)
_OPTION = re.compile(rf"(?<![\w-])(?:-(?P<short>m)|--source-(?P<source>[ab])|--(?P<long>{_NAMES}))(?![\w-])")


def in_python(text: str) -> str:
    """A message with options of the command as arguments of Python.

    >>> in_python("ksc needs two corpora: --source-a and --source-b")
    'ksc needs two corpora: `a` and `b`'
    """
    return _OPTION.sub(lambda found: f"`{found['source'] or found['long'] or 'metrics'}`", text)


@contextmanager
def told_in_python() -> Iterator[None]:
    """Errors of the block name arguments, not options."""
    try:
        yield
    except TextgaugeError as error:
        error.args = (in_python(str(error)),)
        raise
