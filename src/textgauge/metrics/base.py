"""What a corpus metric is: a frozen value that declares what it measures, over pure functions on arrays."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import GIVEN, Comparison, Corpus, Draws
from textgauge.corpus.view import TextsLike
from textgauge.errors import UnknownName
from textgauge.metrics import uncertainty
from textgauge.metrics.score import Score
from textgauge.naming import Name
from textgauge.represent.grounds import GROUNDS

Closer = Literal["smaller", "larger"]
Values = dict[str, float]
ManyValues = dict[str, NDArray[np.float64]]

VALUE = "value"  # the headline number among a metric's values


class Undefined(Exception):
    """Raised inside a metric when its value does not exist; becomes NaN with this reason."""


@dataclass(frozen=True)
class Part:
    """A named component of a metric, with a direction and bounds of its own."""

    name: str
    closer: Closer = "smaller"
    bounds: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class CorpusMetric:
    """Base of all corpus metrics: subclasses declare the class variables and implement `compute`.

    Fields are parameters. `part` selects a component, `on` names what the metric looks at (tokenizer, embedder,
    or embedder and ground).
    """

    name: ClassVar[str]
    label: ClassVar[str]
    source: ClassVar[str]
    needs: ClassVar[Literal["tokens", "embeddings", "ground"]]
    default_on: ClassVar[str]
    headline: ClassVar[Part]
    parts: ClassVar[tuple[Part, ...]] = ()
    symmetric: ClassVar[bool] = True
    best: ClassVar[float] = 0.0
    version: ClassVar[int] = 1
    error_by: ClassVar[str] = uncertainty.SECOND_ORDER

    part: str | None = None
    on: str = field(default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", self._full_on(self.on or self.default_on))
        if self.part is not None and self.part not in {part.name for part in self.parts}:
            raise UnknownName.among(f"part of {self.name}", self.part, [part.name for part in self.parts] or ["(none)"])
        for name, kind in parameters(type(self)).items():
            _check_choice(self.name, name, kind, getattr(self, name))
        self.check()

    def check(self) -> None:
        """Refuse parameter values that make no sense; overridden where there are such."""

    @property
    def fewest(self) -> int:
        """The fewest texts each corpus must have."""
        return 2

    @property
    def shown(self) -> Part:
        """The part whose number is the metric's value."""
        return next((part for part in self.parts if part.name == self.part), self.headline)

    @property
    def closer(self) -> Closer:
        """Whether smaller or larger values mean closer corpora."""
        return self.shown.closer

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return self.shown.bounds

    @property
    def seeded(self) -> bool:
        """Whether the value depends on a seed."""
        return "seed" in parameters(type(self))

    @property
    def embedder(self) -> str:
        """The embedder's name, for metrics that look at embeddings."""
        return self.on.rpartition(":")[0] if self.needs == "ground" else self.on

    @property
    def ground(self) -> str:
        """The ground's name, for metrics over a ground."""
        return self.on.rpartition(":")[2]

    @property
    def key(self) -> str:
        """The short name that parses back to an equal metric: what differs from the defaults."""
        changed = tuple(
            (item.name, _written(getattr(self, item.name)))
            for item in fields(self)
            if item.name in parameters(type(self)) and getattr(self, item.name) != item.default
        )
        return str(Name(self.name, self.part, changed, self._short_on()))

    @property
    def signature(self) -> str:
        """Everything that decides the number: all parameters, what it looks at, versions."""
        given = tuple((name, _written(getattr(self, name))) for name in parameters(type(self)))
        spelled = str(Name(self.name, self.part, given, self.on))
        return "|".join([spelled, f"v{self.version}", *_looked_at(self), *_versions()])

    def __str__(self) -> str:
        return self.key

    def looking_at(self, on: str) -> CorpusMetric:
        """The same metric on another embedder, tokenizer or ground."""
        return replace(self, on=on)

    def orient(self, value: Any) -> Any:
        """The value, or values, turned so that farther is larger."""
        return value if self.closer == "smaller" else -value

    def compute(self, comparison: Comparison) -> Values:
        """Headline and parts of one comparison; raises `Undefined` with the reason where there is none."""
        raise NotImplementedError

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """`compute` for many draws of sub-corpora from one corpus; NaN where undefined.

        Families override this with a path that shares work between draws; the numbers are the same.
        """
        names = [VALUE, *(part.name for part in self.parts)]
        rows = [self._values_or_nan(comparison) for comparison in draws.comparisons(joint)]
        return {name: np.array([row[name] for row in rows]) for name in names}

    def standard_error(self, comparison: Comparison, *, seed: int) -> tuple[float, str]:
        """Standard deviation of the value over samples of these sizes, and the method's name."""
        return uncertainty.standard_error(self, comparison, by=self.error_by, seed=seed)

    def interval(self, comparison: Comparison, *, level: float, seed: int) -> tuple[float, float, str]:
        """Low and high end for the expected value at these sizes, and the method's name."""
        value = float(self.shown_of(self.compute(comparison)))
        error, method = self.standard_error(comparison, seed=seed)
        return (*uncertainty.around(value, error, self.bounds, level), method)

    def p_value(self, comparison: Comparison, *, permutations: int, seed: int) -> tuple[float, str]:
        """p-value for "both corpora come from one distribution", and the method's name."""
        return uncertainty.permutation_test(self, comparison, permutations=permutations, seed=seed), "permutation"

    def null(self, reference: Corpus, *, seed: int) -> float:
        """The distance of the reference split against itself."""
        return uncertainty.null_distance(self, reference, seed=seed)

    def measure(self, comparison: Comparison) -> Score:
        """The score of one comparison, without uncertainty; see `textgauge.compare` for that."""
        start = time.perf_counter()
        reason = None
        try:
            self.require(comparison)
            values = self.compute(comparison)
        except Undefined as undefined:
            reason, values = str(undefined), {}
        shown = values.get(self.part or VALUE, float("nan"))
        return Score(
            metric=self.key,
            value=float(shown),
            parts={part.name: float(values.get(part.name, float("nan"))) for part in self.parts},
            reason=reason,
            n_reference=len(comparison.reference),
            n_candidate=len(comparison.candidate),
            seconds=time.perf_counter() - start,
            signature=self.signature,
        )

    def shown_of(self, values: Mapping[str, Any]) -> Any:
        """The number this metric shows, out of headline and parts."""
        return values[self.part or VALUE]

    def require(self, comparison: Comparison) -> None:
        """Raise `Undefined` if a corpus has too few texts."""
        for role, corpus in (("reference", comparison.reference), ("candidate", comparison.candidate)):
            if len(corpus) < self.fewest:
                count = f"{len(corpus)} text{'s' if len(corpus) != 1 else ''}"
                raise Undefined(f"the {role} has {count}; {self.key} needs at least {self.fewest}")

    def __call__(self, *, reference: TextsLike, candidate: TextsLike) -> Score:
        """Score two corpora given as texts, corpora or embedding arrays."""
        comparison = Comparison(reference, candidate)
        return self.on_given(comparison).measure(comparison)

    def on_given(self, comparison: Comparison) -> CorpusMetric:
        """This metric, moved to the ready-made embeddings if the corpora bring them and no embedder was named."""
        default = self.default_on.partition(":")[0]
        if self.needs == "tokens" or self.embedder != default or not comparison.reference.pool.has_given:
            return self
        return self.looking_at(f"{GIVEN}:{self.ground}" if self.needs == "ground" else GIVEN)

    def _values_or_nan(self, comparison: Comparison) -> Values:
        try:
            self.require(comparison)
            return self.compute(comparison)
        except Undefined:
            return dict.fromkeys([VALUE, *(part.name for part in self.parts)], float("nan"))

    def _full_on(self, on: str) -> str:
        if self.needs != "ground":
            return on
        default_embedder, _, default_ground = self.default_on.rpartition(":")
        if on in GROUNDS:
            return f"{default_embedder}:{on}"
        return on if on.rpartition(":")[2] in GROUNDS else f"{on}:{default_ground}"

    def _short_on(self) -> str | None:
        if self.on == self.default_on:
            return None
        if self.needs != "ground":
            return self.on
        default_embedder, _, default_ground = self.default_on.rpartition(":")
        if self.embedder == default_embedder:
            return self.ground
        return self.embedder if self.ground == default_ground else self.on


class TokenMetric(CorpusMetric):
    """A metric of token counts or sequences."""

    needs = "tokens"
    default_on = "wordpiece"
    # Rare tokens make these metrics far from linear in the texts.
    error_by = uncertainty.DISJOINT


class EmbeddingMetric(CorpusMetric):
    """A metric of sentence embeddings."""

    needs = "embeddings"
    default_on = "minilm"


class GroundMetric(CorpusMetric):
    """A metric over a distance between texts."""

    needs = "ground"
    default_on = "minilm:cosine"


_parameters: dict[type[CorpusMetric], dict[str, Any]] = {}


def parameters(kind: type[CorpusMetric]) -> dict[str, Any]:
    """Parameter names of a metric class and their types."""
    if kind not in _parameters:
        hints = get_type_hints(kind)
        _parameters[kind] = {f.name: hints[f.name] for f in fields(kind) if f.name not in ("part", "on")}
    return _parameters[kind]


def from_name(kind: type[CorpusMetric], name: Name) -> CorpusMetric:
    """Build a metric of this class from a parsed name."""
    known = parameters(kind)
    unknown = [key for key, _ in name.params if key not in known]
    if unknown:
        has = ", ".join(known) or "none"
        raise UnknownName(f"{kind.name} has no parameter {unknown[0]!r}; its parameters: {has}")
    given = {key: _read(kind.name, key, known[key], value) for key, value in name.params}
    return kind(part=name.part, on=name.on or "", **given)


def _read(metric: str, name: str, kind: Any, text: str) -> Any:
    choices = get_args(kind) if get_origin(kind) is Literal else None
    if choices is not None:
        return next((choice for choice in choices if str(choice) == text), text)
    readers: dict[Any, Callable[[str], Any]] = {int: int, float: float, bool: _read_bool, str: str}
    try:
        return readers[kind](text)
    except (ValueError, KeyError):
        raise UnknownName(f"{metric}: {name}={text} is not {_kind_name(kind)}") from None


def _read_bool(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def _check_choice(metric: str, name: str, kind: Any, value: Any) -> None:
    if get_origin(kind) is Literal and value not in get_args(kind):
        raise UnknownName(f"{metric}: {name}={value} is not one of {', '.join(map(str, get_args(kind)))}")
    if isinstance(kind, type) and not isinstance(value, (int, float) if kind is float else kind):
        raise UnknownName(f"{metric}: {name}={value} is not {_kind_name(kind)}")


def _kind_name(kind: Any) -> str:
    return {int: "a whole number", float: "a number", bool: "true or false"}.get(kind, "a valid value")


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _looked_at(metric: CorpusMetric) -> list[str]:
    if metric.needs == "tokens":
        return [f"tokenizer={metric.on}"]
    if metric.embedder == GIVEN:
        return ["embeddings=given"]
    from textgauge.represent.embedders import embedder

    return [f"embedder={embedder(metric.embedder).identity}"]


@cache
def _versions() -> tuple[str, ...]:
    from importlib.metadata import version

    return (f"textgauge={version('textgauge')}", f"numpy={version('numpy')}", f"scipy={version('scipy')}")
