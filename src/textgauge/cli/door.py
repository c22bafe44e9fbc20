"""Commands from functions: options come from signatures and docstrings, a terminal adds how results are printed.

`command` makes a command of a function whose own parameters are its arguments and options. `calling(function)` makes
one that takes the parameters of a public function besides: it gets them as `given`, ready to be passed on.
"""

from __future__ import annotations

import inspect
import os
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from cyclopts import Parameter

from textgauge.cli import STDIN
from textgauge.core.errors import InputError
from textgauge.core.files import check_folder
from textgauge.core.show import join_words

OUTPUT = "Output"  # the panel of what a terminal adds
_NAMES = {"metrics": ("--metrics", "-m"), "metric": ("--metric", "-m"), "jobs": ("--jobs", "-j")}
_NAMES |= {"scheduler": ("--scheduler", "--cluster"), "column": ("--column", "--text")}
_LEAST = {"seed": 0, "jobs": 1, "limit": 1, "repetitions": 1}  # of numbers that Python hands on as they are
_LEAST |= {"resamples": 100}


class Argument(Parameter):
    """A parameter that is given by its place."""


def argument(*, help: str, metavar: str | None = None) -> Parameter:  # noqa: A002
    """Declare an argument, which is given by its place."""
    return Argument(help=help, metavar=metavar)


def option(*names: str, help: str, min: int | None = None, **more: Any) -> Parameter:  # noqa: A002
    """Declare an option, by other names than that of its parameter if some are given."""
    if min is not None:
        from cyclopts.validators import Number

        more["validator"] = Number(gte=min)
    return Parameter(name=names or None, help=help, **more)


def check_writable(_: Any, path: Path | None) -> None:
    """Refuse a file in a folder that does not exist: the validator of options that name a file to write."""
    if path is not None:
        check_folder(path)


def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a command of a function: what is declared as `argument` goes by place, everything else is an option.

    The fields of a last parameter that is a dataclass are options of their own.
    """
    own, pack = _get_own_parameters(function)
    return _make_command(function, own, pack)


def calling(
    function: Callable[..., Any],
    *,
    without: Iterable[str] = (),
    options: Mapping[str, Sequence[str]] | None = None,
    kinds: Mapping[str, Any] | None = None,
    several: Sequence[str] = (),
    also: Sequence[Callable[..., Any]] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a command of a function whose first argument takes the parameters of the public `function` as a dict.

    Parameters
    ----------
    function
        The public function; its positional parameters are arguments, its keyword-only ones options.
    without
        Parameters that a terminal does not offer. Those that begin with `on_` are none of it either.
    options
        Names of options, by parameter, where they are others than the parameter's; a positional parameter that is named
        here is an option too.
    kinds
        Types of parameters, where a terminal offers less than Python.
    several
        Options that take all values up to the next option.
    also
        Further functions whose keyword-only parameters are options, for a command that calls one of several.
    """

    def make(terminal: Callable[..., Any]) -> Callable[..., Any]:
        own, pack = _get_own_parameters(terminal)
        skipped, named = {*without, *(parameter.name for parameter in own)}, options or {}
        taken, maps = [], set[str]()
        for of in (function, *also):
            texts = parse_parameter_texts(of)
            for parameter in inspect.signature(of).parameters.values():
                name, is_option = parameter.name, parameter.kind is parameter.KEYWORD_ONLY
                if name in skipped or name.startswith("on_") or parameter.kind is parameter.VAR_KEYWORD:
                    continue
                if not is_option and of is not function:
                    continue
                text = texts.get(name, "")
                how = argument(help=text)
                if is_option or name in named:
                    how = _declare_option(parameter, {**_NAMES, **named}.get(name, ()), text, several=name in several)
                kind = (kinds or {}).get(name) or get_terminal_type(
                    _resolve_annotation(parameter, of), parameter.default
                )
                taken.append(_place_parameter(parameter.replace(annotation=Annotated[kind, how])))
                if str(parameter.annotation).startswith("Mapping["):
                    maps.add(name)

        if not terminal.__doc__:
            terminal.__doc__ = function.__doc__
        return _make_command(terminal, own[1:], pack, taken, maps)

    return make


def parse_settings(items: Iterable[str]) -> dict[str, str]:
    """Parse `name=value` items, separated by commas or given one by one.

    >>> parse_settings(["text=body,label=topic", "k=3"])
    {'text': 'body', 'label': 'topic', 'k': '3'}
    """
    return dict(parse_setting(part) for text in items for part in text.split(",") if part.strip())


def parse_setting(item: str) -> tuple[str, str]:
    """Return name and value of `name=value`."""
    name, equals, value = item.partition("=")
    if not equals:
        raise InputError(f"parameters are written name=value, not {item!r}")
    return name.strip(), value.strip()


def refuse(what: str, *options: str) -> None:
    """Refuse options that were typed and would do nothing here; defaults of a configuration file may stand."""
    typed = [one for one in options if any(word == one or word.startswith(f"{one}=") for word in sys.argv[1:])]
    if typed:
        raise InputError(f"{what} does not take {join_words(typed)}")


def parse_parameter_texts(function: Callable[..., Any]) -> dict[str, str]:
    """Return what the section Parameters of a docstring says of each parameter, without sentences on Python."""
    from docstring_parser import parse
    from docstring_parser.common import DocstringStyle

    parsed = parse(function.__doc__ or "", DocstringStyle.NUMPYDOC)
    return {
        name.strip(): _leave_python_out(" ".join((item.description or "").split()))
        for item in parsed.params
        for name in item.arg_name.split(",")
    }


def _get_own_parameters(
    function: Callable[..., Any],
) -> tuple[list[inspect.Parameter], Callable[[dict[str, Any]], dict[str, Any]]]:
    """Return the parameters of a function, fields of a dataclass in its place, and what packs their values again."""
    own = [_place_parameter(one) for one in inspect.signature(function, eval_str=True).parameters.values()]
    if not own or not is_dataclass(own[-1].annotation):
        return own, lambda values: values
    *own, last = own
    fields, _ = _get_own_parameters(last.annotation)

    def pack(values: dict[str, Any]) -> dict[str, Any]:
        made = last.annotation(**{field.name: values.pop(field.name) for field in fields})
        return {**values, last.name: made}

    return [*own, *fields], pack


def _place_parameter(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return what is declared as `argument` as one that goes by place, everything else as an option."""
    by_place = any(isinstance(item, Argument) for item in getattr(parameter.annotation, "__metadata__", ()))
    return parameter.replace(kind=parameter.POSITIONAL_ONLY if by_place else parameter.KEYWORD_ONLY)


def _resolve_annotation(parameter: inspect.Parameter, function: Callable[..., Any]) -> Any:
    """Return the annotation of a parameter; a type that is imported for checks alone stands for texts of some kind."""
    written = types.SimpleNamespace(__annotations__={"type": parameter.annotation})
    try:
        return get_type_hints(written, sys.modules[function.__module__].__dict__)["type"]
    except (NameError, TypeError):
        return str


def _declare_option(parameter: inspect.Parameter, names: Sequence[str], text: str, *, several: bool) -> Parameter:
    default, more = parameter.default, dict[str, Any](consume_multiple=True) if several else {}
    if isinstance(default, str) and "," in default:  # which breaks between names in a help
        more["show_default"] = lambda names: names.replace(",", ", ")
    return option(*names, help=text, min=_LEAST.get(parameter.name), **more)


def get_terminal_type(annotation: Any, default: Any) -> Any:
    """Return the type that words of a terminal are converted to for a parameter of a Python function.

    What is a name, or the values themselves, in Python is a name on a terminal.

    >>> get_terminal_type(int | None, None), get_terminal_type(str | Sequence[str], "bleu")
    (int | None, list[str])
    >>> get_terminal_type(str | Sequence[Sequence[Any]] | Mapping[str, Sequence[Any]] | None, None)
    str | None
    """
    members = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    members = tuple(member for member in members if member is not type(None))
    if str in members:
        members = tuple(member for member in members if not _holds_values(member))
    origins = [get_origin(member) or member for member in members]
    if isinstance(default, bool):
        shown: Any = bool
    elif members and all(origin in (int, float, Literal) for origin in origins):
        shown = annotation
    elif any(isinstance(origin, type) and issubclass(origin, os.PathLike) for origin in origins):
        shown = str
    elif any(origin in (Mapping, list, tuple, Sequence, Iterable) for origin in origins):
        shown = list[str]
    else:
        shown = str
    return shown | None if default is None and type(None) not in get_args(shown) else shown


def _leave_python_out(text: str) -> str:
    """Return a text without its sentences on Python.

    >>> _leave_python_out("A file. In Python also a list. Or a folder.")
    'A file. Or a folder.'
    """
    kept = [part for part in text.removesuffix(".").split(". ") if "in python" not in part.lower()]
    return ". ".join(kept) + "." * (bool(kept) and text.endswith("."))


def _holds_values(member: Any) -> bool:
    """Whether a type is a tuple, or a container of sequences: values that no terminal can give."""
    return get_origin(member) is tuple or any(get_origin(of) is Sequence for of in get_args(member))


_METAVARS = {str: "TEXT", int: "N", float: "X", Path: "FILE"}


def _name_value(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return an option whose help names its value in plain words, not by a type of Python."""
    kind, *declared = get_args(parameter.annotation) if get_origin(parameter.annotation) is Annotated else [None]
    members = [kind, *get_args(kind), *(inner for member in get_args(kind) for inner in get_args(member))]
    kinds = [one for one in members if one in _METAVARS]
    own = next((one for one in declared if isinstance(one, Parameter)), None)
    if own is None or isinstance(own, Argument) or own.metavar is not None or not kinds:
        return parameter
    is_shown = Parameter(show_default=False if parameter.default == () else None)
    named = Parameter.combine(is_shown, own, Parameter(metavar=_METAVARS[kinds[0]]))
    return parameter.replace(annotation=Annotated[kind, named])


def _make_command(
    function: Callable[..., Any],
    own: Sequence[inspect.Parameter],
    pack: Callable[[dict[str, Any]], dict[str, Any]],
    taken: Sequence[inspect.Parameter] | None = None,
    maps: Iterable[str] = (),
) -> Callable[..., Any]:
    """Return a command that calls a function: with what is `taken` from another one as a dict, then its own values."""
    parameters = list(map(_name_value, [*(taken or ()), *own]))
    positional = [one for one in parameters if one.kind is one.POSITIONAL_ONLY]
    signature = inspect.Signature([*positional, *(one for one in parameters if one not in positional)])

    def run(*args: Any, **named: Any) -> Any:
        bound = signature.bind(*args, **named)
        bound.apply_defaults()
        values = dict[str, Any]()
        for name, value in bound.arguments.items():
            several = value if isinstance(value, list) else [value]
            restored = [type(one)("-") if str(one) == STDIN else one for one in several]
            values[name] = restored if isinstance(value, list) else restored[0]
        if taken is None:
            return function(**pack(values))
        given = {one.name: values.pop(one.name) for one in taken}
        given |= {name: parse_settings(given[name]) for name in maps if given[name] is not None}
        return function(given, **pack(values))

    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__name__, run.__doc__, run.__module__ = function.__name__, _strip_sections(function), function.__module__
    return run


def _strip_sections(function: Callable[..., Any]) -> str:
    """Return the docstring down to its first section; what follows is for readers of Python."""
    text = inspect.getdoc(function) or ""
    return text.partition("\nParameters\n")[0].partition("\n>>> ")[0].strip()
