"""What every metric is: a frozen value that declares what it measures, and whose name parses back to it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import ParameterError, UnknownName
from textgauge.core.registry import Name
from textgauge.data.pool import GIVEN
from textgauge.encode.embedders import get_embedder
from textgauge.encode.tokenizers import LIBRARIES

Closer = Literal["smaller", "larger"]
Scope = Literal["corpus", "pair"]  # two corpora, or two texts

VALUE = "value"  # the headline number among a metric's values
INFINITY, POSITIVE = math.inf, sys.float_info.min  # ends of ranges: no end, and above 0
UNBOUNDED = (-INFINITY, INFINITY)
PACKAGES = ("textgauge", "numpy", "scipy")  # whose versions every signature ends with


class DefaultSeed(int):
    """The seed of a metric that was given none: it equals 0, and `compare` puts its own in its place."""


DEFAULT_SEED = DefaultSeed(0)


class Undefined(Exception):
    """Raised inside a metric when its value does not exist; becomes NaN with this reason."""


@dataclass(frozen=True)
class Part:
    """A named component of a metric, with a direction and bounds of its own."""

    name: str
    closer: Closer = "smaller"
    bounds: tuple[float, float] = (0.0, 1.0)


class Range(NamedTuple):
    """The values that a parameter may have: finite numbers, both ends included."""

    name: str
    least: float
    most: float = INFINITY

    def check(self, metric: str, value: float) -> None:
        """Refuse a value outside."""
        if not self.least <= value <= self.most or value == INFINITY:
            least = "above 0" if self.least == POSITIVE else f"at least {self.least:g}"
            most = f" and at most {self.most:,.10g}" if self.most < INFINITY else ""
            raise ParameterError(f"{metric}: {self.name}={value} must be {least}{most}")


@dataclass(frozen=True, kw_only=True)
class Metric:
    """Base of pair and corpus metrics: subclasses declare the class variables.

    Fields are parameters. `part` selects a component, `on` names the input (tokenizer, embedder, word vectors, ground).
    """

    scope: ClassVar[Scope]
    name: ClassVar[str]
    label: ClassVar[str]
    source: ClassVar[str]
    needs: ClassVar[str]
    default_on: ClassVar[str]
    headline: ClassVar[Part] = Part(VALUE)
    parts: ClassVar[tuple[Part, ...]] = ()
    symmetric: ClassVar[bool] = True
    libraries: ClassVar[tuple[str, ...]] = ()  # packages whose version can change the value, besides numpy and scipy
    value_at_identity: ClassVar[float] = 0.0
    version: ClassVar[int] = 1
    ranges: ClassVar[tuple[Range, ...]] = ()  # of parameters; a seed is at least 0

    part: str | None = None
    on: str = field(default="")
    shown: Part = field(init=False, repr=False, compare=False)
    """The part whose number is the metric's value."""
    shown_label: str = field(init=False, repr=False, compare=False)
    """What that number is, in words: the metric's label, or the part."""
    _short_on: str | None = field(init=False, repr=False, compare=False)  # what names the input in the key

    def __post_init__(self) -> None:
        if self.on and not self.default_on:
            raise ParameterError(f"{self.name} has no input to choose; write it without @{self.on}")
        self._set_input(self.on or self.default_on)
        if self.part is not None and self.part not in {part.name for part in self.parts}:
            raise UnknownName.among(f"part of {self.name}", self.part, [part.name for part in self.parts] or ["(none)"])
        parameters = get_parameters(type(self))
        check_parameters(self, parameters, (*self.ranges, *([Range("seed", 0)] if "seed" in parameters else [])))
        vars(self).update(
            shown=next((part for part in self.parts if part.name == self.part), self.headline),
            shown_label=f"{self.part.replace('_', ' ')} ({self.label})" if self.part else self.label,
        )

    @property
    def value_names(self) -> tuple[str, ...]:
        """The names of headline and parts, as `compute` gives them."""
        return VALUE, *(part.name for part in self.parts)

    def select(self, values: Mapping[str, Any]) -> Any:
        """Return the number this metric shows, out of headline and parts."""
        return values[self.part or VALUE]

    @property
    def closer(self) -> Closer:
        """Whether smaller or larger values mean closer."""
        return self.shown.closer

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return self.shown.bounds

    @property
    def seeded(self) -> bool:
        """Whether the value depends on a seed."""
        return "seed" in get_parameters(type(self))

    @property
    def key(self) -> str:
        """The short name that parses back to an equal metric: what differs from the defaults."""
        changed = tuple(
            (item.name, _format_parameter(getattr(self, item.name)))
            for item in fields(self)
            if item.name in get_parameters(type(self)) and getattr(self, item.name) != item.default
        )
        return str(Name(self.name, self.part, changed, self._short_on))

    @property
    def signature(self) -> str:
        """Everything that decides the number: all parameters, the input, versions of what computes it."""
        given = tuple((name, _format_parameter(getattr(self, name))) for name in get_parameters(type(self)))
        spelled = str(Name(self.name, self.part, given, self.on or None))
        libraries = dict.fromkeys([*self.libraries, *([LIBRARIES[self.on]] if self.on in LIBRARIES else [])])
        return "|".join([spelled, f"v{self.version}", *self.input_identity(), *list_versions(*libraries, *PACKAGES)])

    def __str__(self) -> str:
        return self.key

    def with_input(self, on: str) -> Self:
        """Return the same metric on another embedder, tokenizer or ground."""
        return replace(self, on=on)

    def with_default_seed(self, seed: int) -> Self:
        """Return the same metric with this seed, where it has a seed and was given none by name."""
        given = not isinstance(getattr(self, "seed", None), DefaultSeed)
        return self if given else replace(self, seed=seed)  # type: ignore[call-arg]

    def input_identity(self) -> list[str]:
        """Return the input of the metric, spelled out for the signature: `name=identity`."""
        return []

    def orient(self, value: Any) -> Any:
        """Return the value, or values, turned so that farther is larger."""
        return value if self.closer == "smaller" else -value

    def _set_input(self, on: str) -> None:
        vars(self).update(on=on, _short_on=None if on == self.default_on else on)


_parameters: dict[type[Metric], dict[str, Any]] = {}


def get_parameters(kind: type[Metric]) -> dict[str, Any]:
    """Parameter names of a metric class and their types."""
    if kind not in _parameters:
        hints = get_type_hints(kind)
        _parameters[kind] = {f.name: hints[f.name] for f in fields(kind) if f.init and f.name not in ("part", "on")}
    return _parameters[kind]


def parse_parameter(metric: str, name: str, kind: Any, text: str) -> Any:
    """Return the value that a text gives to a parameter of this kind."""
    choices = get_args(kind) if get_origin(kind) is Literal else None
    if choices is not None:
        return next((choice for choice in choices if str(choice) == text), text)
    readers: dict[Any, Callable[[str], Any]] = {int: int, float: float, str: str}
    try:
        return {"true": True, "false": False}[text.lower()] if kind is bool else readers[kind](text)
    except (ValueError, KeyError):
        raise ParameterError(f"{metric}: {name}={text} is not {_describe_kind(kind)}") from None


def check_parameters(thing: Any, kinds: Mapping[str, Any], ranges: Iterable[Range]) -> None:
    """Refuse parameters of a metric or a protocol that are not of their kind or outside their range."""
    for name, kind in kinds.items():
        value = getattr(thing, name)
        if get_origin(kind) is Literal and value not in get_args(kind):
            raise ParameterError(f"{thing.name}: {name}={value} is not one of {', '.join(map(str, get_args(kind)))}")
        fits = isinstance(value, (int, float) if kind is float else kind) if isinstance(kind, type) else True
        if not fits or (isinstance(value, bool) and kind in (int, float)):
            raise ParameterError(f"{thing.name}: {name}={value} is not {_describe_kind(kind)}")
    for known in ranges:
        known.check(thing.name, getattr(thing, known.name))


def _describe_kind(kind: Any) -> str:
    return {int: "a whole number", float: "a number", bool: "true or false"}.get(kind, "a valid value")


def _format_parameter(value: Any) -> str:
    """Return the shortest text that gives this value to a parameter."""
    if isinstance(value, float):
        return short if float(short := f"{value:g}") == value else repr(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def take_single(values: Mapping[str, NDArray[np.float64]]) -> dict[str, float]:
    """Return the values of the only draw.

    >>> take_single({"value": np.array([0.5])})
    {'value': 0.5}
    """
    return {name: np.asarray(column).item() for name, column in values.items()}


def identify_embedder(name: str) -> str:
    """Return what a signature says of an embedder: its name and revision, or that embeddings were given."""
    return "embeddings=given" if name == GIVEN else f"embedder={get_embedder(name).identity}"


@cache
def list_versions(*packages: str) -> tuple[str, ...]:
    """Installed versions, as `package=version`; `none` for a package that is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    def get_version(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "none"

    return tuple(f"{package}={get_version(package)}" for package in packages)
