"""Grammar checkers by name: how many errors a text has.

harper              Harper, for English, built in; `harper(dialect=british)`
languagetool:URL    a LanguageTool server of your own (extra `api`); `languagetool:URL#de-DE`
"""

from __future__ import annotations

from functools import cache

from textgauge.encode.grammar.base import GrammarChecker
from textgauge.errors import UnknownName
from textgauge.naming import parse

__all__ = ["GrammarChecker", "get_grammar_checker", "list_grammar_checkers"]


def get_grammar_checker(name: str) -> GrammarChecker:
    """Give the grammar checker of that name; it is loaded, or the server asked, when it is first used.

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
