"""What a property of a generated corpus is: a declaration, how it is computed, and the registry that `describe` lists.

A property is added by one `declare(...)` in a file of this folder; elsewhere by `register_property`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, TypeAlias, TypeVar

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import UnknownName
from textgauge.data import Corpus

Need: TypeAlias = Literal["tokens", "embeddings", "grammar", "plausibility", "train", "test", "against"]
_T = TypeVar("_T")

NEAR_COPY = 0.9  # SynSim: one word in nine is another
TOKENIZER = "words"
NOT_FOR_TEST = {"test": "not defined for test itself"}
NOT_FOR_TRAIN = {"train": "not defined for train itself"}
# of families in the table; others follow
_ORDER = (
    "texts", "uniqueness", "duplicates", "repetition", "vocabulary", "diversity", "meaning", "quality", "nearest",
)  # fmt: skip
_ROOM = __name__.rpartition(".")[0]
_UNDEFINED = "undefined: too few texts, none with words, or similarities below 0"


@dataclass(frozen=True)
class PropertyValue:
    """A value with its interval; NaN where there is none."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, eq=False)
class NearestMatches:
    """For each text the place of its nearest one in another corpus, and their similarity."""

    index: Ints
    similarity: Floats

    def take(self, rows: Ints) -> NearestMatches:
        """Those of a selection of the texts."""
        return NearestMatches(self.index[rows], self.similarity[rows])


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredCorpus:
    """One corpus, generated, test or train, and what was measured on each of its texts.

    `forms` numbers the texts: equal but for case and punctuation, equal number. `train` is None for train itself.
    `grammar` holds errors and words, `surprise` −ln P and tokens. `semantic` leads to the nearest test text and
    `covered` from each test text back; `syntactic` leads to the nearest train text and `echoed` from each train text
    back. `against` are the texts of another file that near duplicates are searched in. What could not be measured is
    None, and `missing` has the reason, by need. `corpus.embeddings(embedder)` are the vectors. A text is a near copy of
    train from the similarity of wording `near_copy` on.
    """

    name: str
    corpus: Corpus
    forms: Ints
    train: MeasuredCorpus | None
    embedder: str | None = None
    grammar: tuple[Floats, Floats] | None = None
    surprise: tuple[Floats, Floats] | None = None
    semantic: NearestMatches | None = None
    covered: NearestMatches | None = None
    syntactic: NearestMatches | None = None
    echoed: NearestMatches | None = None
    against: Corpus | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    near_copy: float = NEAR_COPY
    _memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    def derive(self, statistic: Callable[[MeasuredCorpus], _T]) -> _T:
        """A statistic of this corpus, computed once."""
        if statistic not in self._memory:
            self._memory[statistic] = statistic(self)
        return self._memory[statistic]  # type: ignore[no-any-return]

    def text_values(self) -> dict[str, Floats]:
        """The values of each text, by name: those of all properties that are means or ratios over texts."""
        return {
            known.text_name or known.name: known.per_text(self)
            for known in list_properties(alone=self.train is None and "train" in self.missing)
            if known.per_text is not None and known.undefined_reason(self) is None
        }


@dataclass(frozen=True, kw_only=True)
class CorpusProperty:
    """A property of a generated corpus, as it is declared.

    `needs` are in the order in which a missing one is named as the reason. `undefined_for` says why there is no value
    for test or train themselves. `backend` is what the value depends on, `{embeddings}` and the like standing for the
    signature of what is needed. `per_text` gives the values of the texts, under `text_name` if that is another name.
    `alone` marks what is listed where a corpus is described without train and test, and there only. `version` is raised
    when a value changes.
    """

    name: str
    about: str
    better: Literal["higher", "lower"] | None
    bounds: tuple[float, float]
    needs: tuple[Need, ...]
    compute: Callable[[MeasuredCorpus, float], PropertyValue]
    """The value and its interval at a level; called only where all needs are met."""
    backend: str
    undefined_for: Mapping[str, str] = field(default_factory=dict)
    no_interval: str | None = None
    per_text: Callable[[MeasuredCorpus], Floats] | None = None
    text_name: str | None = None
    alone: bool = False
    version: int = 1

    def undefined_reason(self, measured: MeasuredCorpus) -> str | None:
        """Why a corpus has no such value; None if it can be computed."""
        missing = (measured.missing[need] for need in self.needs if need in measured.missing)
        return next(missing, None) or self.undefined_for.get(measured.name)

    def of(self, measured: MeasuredCorpus, level: float) -> tuple[PropertyValue, str | None]:
        """The value, or the reason why there is none."""
        reason = self.undefined_reason(measured)
        value = PropertyValue() if reason else self.compute(measured, level)
        return value, reason or (_UNDEFINED if math.isnan(value.value) else None)

    def backend_of(self, signatures: Mapping[str, str]) -> str | None:
        """What the value depends on, given the signatures of what is needed; None where one was left out."""
        try:
            return self.backend.format_map(signatures)
        except KeyError:
            return None


_registry: dict[str, CorpusProperty] = {}


def register_property(declared: CorpusProperty) -> CorpusProperty:
    """Make a property known: `describe` has a row for it. A taken name is refused."""
    if declared.name in _registry:
        raise UnknownName(f"a property named {declared.name!r} is registered already")
    _registry[declared.name] = declared
    return declared


def declare(
    name: str,
    about: str,
    compute: Callable[[MeasuredCorpus, float], PropertyValue],
    *,
    better: Literal["higher", "lower"] | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    needs: tuple[Need, ...] = (),
    **others: Any,
) -> None:
    """Register a property, by itself a share that needs nothing but the texts; `others` are fields of its class."""
    about_it = {"name": name, "about": about, "better": better, "bounds": bounds, "needs": needs, **others}
    register_property(CorpusProperty(compute=compute, **about_it))


def list_properties(*, alone: bool | None = None) -> list[CorpusProperty]:
    """All properties, in the order of the table; `alone`: those of a corpus by itself, or next to train and test.

    >>> [known.name for known in list_properties() if "grammar" in known.needs]
    ['grammar']
    """
    _load()
    beside = {"train", "test"}
    chosen = (
        known
        for known in _registry.values()
        if alone is None or (not beside & set(known.needs) if alone else not known.alone)
    )
    return sorted(chosen, key=_place)


def _place(declared: CorpusProperty) -> int:
    compute = getattr(declared.compute, "func", declared.compute)
    family = getattr(compute, "__module__", "").removeprefix(f"{_ROOM}.")
    return _ORDER.index(family) if family in _ORDER else len(_ORDER)


@cache
def _load() -> None:
    for family in iter_modules(import_module(_ROOM).__path__):
        import_module(f"{_ROOM}.{family.name}")
