"""llms.txt: every page of the site with its title and first sentence, in the form that language models read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any


def llms_text(navigation: list[Any], about: str, text_of: Callable[[str], str]) -> str:
    """Title, one line, and a list of links per section of the navigation; `text_of` gives the text of a page."""
    lines = ["# textgauge", "", f"> {about}"]
    for section in navigation:
        for title, below in section.items():
            pages = ((name, _address(path), first_sentence(text_of(path))) for name, path in _pages(title, below))
            lines += [
                "",
                f"## {title}",
                "",
                *(f"- [{name}]({at})" + (f": {what}" if what else "") for name, at, what in pages),
            ]
    return "\n".join(lines) + "\n"


def first_sentence(text: str) -> str:
    """Return the first sentence of a page below its title, without links.

    Nothing for a page that begins with a list or table.

    >>> first_sentence("# Title\\n\\nWhat [it](x.md)\\nis. More.")
    'What it is.'
    """
    for part in text.split("\n\n"):
        if not part.strip() or part.startswith("#"):
            continue
        if not part[0].isalnum():
            return ""
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(part.split()))
        return re.split(r"(?<=[.?!:]) (?=[^a-z])", plain, maxsplit=1)[0].rstrip(":")
    return ""


def _pages(title: str, below: Any) -> Iterator[tuple[str, str]]:
    if isinstance(below, str):
        yield title, below
        return
    for item in below:
        if isinstance(item, str):
            yield title, item
        else:
            for name, deeper in item.items():
                yield from _pages(name, deeper)


def _address(path: str) -> str:
    return (path.removesuffix("index.md") or "./") if path.endswith("index.md") else path.removesuffix(".md") + "/"
