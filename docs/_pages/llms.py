"""llms.txt: every page of the site with its title, in the form that language models read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def llms_text(navigation: list[Any], about: str) -> str:
    """Title, one line, and a list of links per section of the navigation."""
    lines = ["# textgauge", "", f"> {about}"]
    for section in navigation:
        for title, below in section.items():
            lines += ["", f"## {title}", "", *(f"- [{name}]({_address(path)})" for name, path in _pages(title, below))]
    return "\n".join(lines) + "\n"


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
