"""Every error textgauge raises on purpose, and how it warns.

TextgaugeError
├── InputError        the texts, files or arrays given cannot be used
│   ├── ParameterError  a parameter has a value that makes no sense
│   └── ArgumentError   a value is missing or does not fit; Python and the command each name it their way
├── UnknownName       a metric, parameter, embedder or tokenizer that does not exist; a KeyError too
├── ResourceError     a model or data file is not here and cannot be had
└── MissingExtra      an optional package is needed
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from difflib import get_close_matches

_GUESSES = 3
_LISTED = 12  # names listed where none is near
_LONGEST = 100  # characters of a name in a message


class TextgaugeError(Exception):
    """Base of all errors a user can cause and mend; the command prints it in one line and exits with 2."""


class InputError(TextgaugeError):
    """The texts, files or arrays given cannot be used."""


class ParameterError(InputError):
    """A parameter has a value that makes no sense."""


class ArgumentError(InputError):
    """A value that is missing or does not fit, named as an argument between backticks; the command writes its option.

    >>> ArgumentError("ksc needs `source_a`").format_message(lambda name: f"--{name}")
    'ksc needs --source_a'
    """

    def format_message(self, naming: Callable[[str], str]) -> str:
        """Return the message with every value named by `naming`."""
        return re.sub(r"`(\w+)`", lambda found: naming(found[1]), str(self))


class UnknownName(TextgaugeError, KeyError):
    """A name or parameter that does not exist."""

    __str__ = Exception.__str__  # a KeyError would put quotes around the message

    @classmethod
    def among(cls, kind: str, name: str, known: Iterable[str]) -> UnknownName:
        """Build the error for `name`, with at most three near names, or some of those that are known.

        >>> print(UnknownName.among("metric", "FIDD", ["fid", "mauve"]))
        unknown metric 'FIDD'; did you mean fid?
        """
        name = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
        names = {text.lower(): text for text in sorted(known)}
        near = [names[text] for text in get_close_matches(name.lower(), names, n=_GUESSES, cutoff=0.5)]
        if near:
            return cls(f"unknown {kind} {name!r}; did you mean {', '.join(near)}?")
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        return cls(f"unknown {kind} {name!r}; known: {', '.join([*names.values()][:_LISTED])}{more}")


class ResourceError(TextgaugeError):
    """A model or data file is not on this machine and could not be fetched, or is not the file it should be."""


class MissingExtra(TextgaugeError):
    """An optional package is needed."""

    @classmethod
    def named(cls, what: str, extra: str) -> MissingExtra:
        """Build the error with the install line that fits how textgauge was installed."""
        return cls(f"{what} needs an optional package: {format_install_line(extra, *get_install_source())}")


def get_install_source() -> tuple[str, str | None]:
    """Return the program that installed textgauge, and the address it was installed from.

    None for the package index.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution("textgauge")
    except PackageNotFoundError:
        return "pip", None
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    control = origin.get("vcs_info", {}).get("vcs")
    address = f"{control}+{origin['url']}" if control else origin.get("url")
    return (found.read_text("INSTALLER") or "pip").strip(), address


def format_install_line(extra: str, installer: str, address: str | None) -> str:
    """Return the command that adds an extra to this installation.

    >>> format_install_line("st", "pip", None), format_install_line("st", "uv", "file:///src/textgauge")
    ("pip install 'textgauge[st]'", "uv pip install 'textgauge[st] @ file:///src/textgauge'")
    """
    wanted = f"'textgauge[{extra}]" + (f" @ {address}'" if address else "'")
    return f"{'uv pip install' if installer == 'uv' else 'pip install'} {wanted}"


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the line outside of textgauge that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "textgauge":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
