"""The page of the public names in Python, from their signatures and docstrings."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import textgauge
import textgauge.testing
from _pages.markup import page, paragraphs, split_paragraphs


def python_page() -> str:
    """Functions first, then the classes that they give, then what tests use."""
    functions, classes = _entries(textgauge)
    checks, errors = _entries(textgauge.testing)
    about = "All of `import textgauge`, and the contracts and assertions of `textgauge.testing`."
    return page("Python", about, "## Functions", *functions, "## Classes", *classes, "## Testing", *checks, *errors)


def _entries(module: ModuleType) -> tuple[list[str], list[str]]:
    """Return the public functions of a module, and its public classes."""
    named = {name: getattr(module, name) for name in module.__all__}
    functions = [entry(name, thing, module) for name, thing in named.items() if not inspect.isclass(thing)]
    return functions, [entry(name, thing, module) for name, thing in named.items() if inspect.isclass(thing)]


def entry(name: str, thing: Any, module: ModuleType) -> str:
    """Heading, signature, docstring; of a class also what its own public methods do."""
    parts = [f"### {name}", _call(f"{module.__name__}.{name}", thing), *paragraphs(thing.__doc__), *_examples(thing)]
    if inspect.isclass(thing):
        parts.append(_methods(thing))
    return "\n\n".join(part for part in parts if part)


def _call(name: str, thing: Any) -> str:
    if not inspect.isfunction(thing):
        return ""
    given = list(inspect.signature(thing).parameters.values())
    lines = [f"    {_parameter(one)}," for one in given]
    by_name = [at for at, one in enumerate(given) if one.kind is one.KEYWORD_ONLY]
    if by_name:
        lines.insert(by_name[0], "    *,")
    return "\n".join(["```python", f"{name}(", *lines, ")", "```"])


def _parameter(one: inspect.Parameter) -> str:
    """Name, kind and default; a default that is a function has no readable form."""
    name = f"**{one.name}" if one.kind is one.VAR_KEYWORD else one.name
    kind = "" if one.annotation is one.empty else f": {one.annotation}"
    if one.default is one.empty:
        return name + kind
    return f"{name}{kind} = {'…' if callable(one.default) else repr(one.default)}"


def _examples(thing: Any) -> list[str]:
    return [f"```pycon\n{part}\n```" for part in split_paragraphs(thing.__doc__) if part.startswith(">>>")]


def _methods(thing: type) -> str:
    found = [
        f"- `{name}`: {' '.join(paragraphs(member.__doc__)[:1])}"
        for name, member in inspect.getmembers(thing)
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)) and member.__doc__
    ]
    return "\n".join(found)
