"""Hooks of mkdocs: the generated reference joins the pages that are written by hand."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from _pages import all_pages, navigation, notebooks
from _pages.llms import llms_text
from mkdocs.structure.files import File, Files


def on_config(config: Any) -> Any:
    """Fill the sections "Notebooks" and "Reference" of the navigation; every page names the version it is for."""
    config.copyright = f"textgauge {version('textgauge')}"
    filled = {"Notebooks": notebooks.navigation(), "Reference": navigation()}
    for section in config.nav:
        section.update({title: pages for title, pages in filled.items() if title in section})
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """Add the generated pages."""
    made = all_pages()
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))

    def text_of(path: str) -> str:
        return made[path] if path in made else Path(config.docs_dir, path).read_text("utf-8")

    files.append(File.generated(config, "llms.txt", content=llms_text(config.nav, config.site_description, text_of)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Let what a session prints be coloured as output, not as code."""
    return markdown.replace("```python\n>>>", "```pycon\n>>>")
