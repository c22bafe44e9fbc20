"""`textgauge mcp`: compare, score, describe and leaderboard as tools of the Model Context Protocol, for agents."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import textgauge
from textgauge.cli.door import argument, command
from textgauge.core.errors import InputError, MissingExtra, TextgaugeError
from textgauge.data.source import split_column


def resolve_below(folder: Path, name: str) -> str:
    """Return the path of a file or folder below `folder`, as `PATH` or `PATH:COLUMN`; any other is refused."""
    path, column = split_column(str(folder / name))
    found = Path(path).resolve()
    if not found.is_relative_to(folder.resolve()) or not found.exists():
        raise InputError(f"{name}: no such file below the folder of this server")
    return f"{found}:{column}" if column else str(found)


def _check_metrics(metrics: str) -> str:
    if set(metrics) & set("/:\\"):
        raise InputError(f"{metrics}: metrics here are those without addresses and files")
    return metrics


def make_server(folder: Path) -> Any:
    """Return the server; its tools read files below `folder`, write nothing and return the JSON of a result."""
    try:
        server: Any = import_module("mcp.server").MCPServer("textgauge")
        refusal: type[Exception] = import_module("mcp.server.mcpserver.exceptions").ToolError
    except (ImportError, AttributeError):
        raise MissingExtra.named("`textgauge mcp`", "mcp") from None

    def tool(function: Callable[..., dict[str, Any]]) -> None:
        """Add a tool; of all errors the server hides what they say, but for its own."""

        @wraps(function)
        def run(*args: Any, **named: Any) -> dict[str, Any]:
            try:
                return function(*args, **named)
            except TextgaugeError as error:
                raise refusal(str(error)) from None

        server.tool()(run)

    @tool
    def compare(reference: str, candidate: str, metrics: str = "energy") -> dict[str, Any]:
        """Compare two files of texts: how far is the candidate corpus from the reference, and is it different?"""
        sources = [resolve_below(folder, name) for name in (reference, candidate)]
        return textgauge.compare(*sources, metrics=_check_metrics(metrics)).to_dict()

    @tool
    def score(texts: str, references: str, metrics: str = "chrf") -> dict[str, Any]:
        """Score texts with their references, line by line; FILE:COLUMN names a column of a table or log."""
        sources = [resolve_below(folder, name) for name in (texts, references)]
        found = textgauge.score(*sources, metrics=_check_metrics(metrics))
        return {"answer": found.answer, **found.details, "warnings": list(found.warnings)}

    @tool
    def describe(texts: str, train: str = "") -> dict[str, Any]:
        """Describe a file of texts: lengths, duplicates, diversity; with `train`, copies from it."""
        known = resolve_below(folder, train) if train else None
        return textgauge.describe(resolve_below(folder, texts), train=known).to_dict()

    @tool
    def leaderboard(scores: list[str], group: str = "", lower: str = "") -> dict[str, Any]:
        """Rank systems by a table or logs of scores: who is first, who is tied, which neighbours can be separated?"""
        sources = [resolve_below(folder, name) for name in scores]
        return textgauge.leaderboard(sources, group=group or None, lower=lower).to_dict()

    return server


@command
def mcp(folder: Annotated[Path, argument(help="The folder whose files the tools may read, and no others.")]) -> None:
    """Serve compare, score, describe and leaderboard to agents by the Model Context Protocol, on standard input.

    Example: textgauge mcp data/
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    make_server(folder).run()
