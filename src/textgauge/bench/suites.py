"""Suites: named bundles of data, protocols and metrics; packages add theirs by the entry point `textgauge.suites`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol, TypeVar

from textgauge.bench.inputs import make_learned_steps, read_paraphrases, read_rated, read_two
from textgauge.bench.plan import Plan, make_plans, make_protocol_plans
from textgauge.bench.protocols import (
    Agreement,
    Distributionality,
    Ifc,
    Ksc,
    Size,
    Task,
    list_protocols,
    list_tasks,
)
from textgauge.bench.protocols.base import CORPUS_METRICS
from textgauge.bench.sources import Sources
from textgauge.core.errors import InputError, UnknownName
from textgauge.core.registry import Registry
from textgauge.core.show import Row

Metrics = str | Sequence[Any] | None
MakePlans = Callable[[Metrics, int], list[Plan]]
Made = TypeVar("Made", bound="MakePlans | type")

_FIRST_METRICS = "energy,mmd,fid,pr,dc,irpr,ahd,mauve,classifier,cbdf,jsd,zipf"
_FIRST_PAIR_METRICS = "cosine@minilm|wordllama,bertscore,chrf,bleu,rouge1,meteor,jaccard,levenshtein,wmd"
_SMALL: dict[str, dict[str, Any]] = {
    "robustness": {"documents_drawn": 60},
    "sensitivity": {"documents_drawn": 20},
    "clustering": {"n": 60, "folds": 4},
    "retrieval": {"folds": 4},
}


class Program(Protocol):
    """A suite that has no cells: a dataclass whose fields are its parameters, and which runs itself."""

    def run_rows(
        self, folder: Path, *, seed: int, on_step: Callable[[str], None], on_note: Callable[[str], None]
    ) -> list[Row]:
        """Run into a folder, resuming what is there, and give the table to print."""


@dataclass(frozen=True)
class Suite:
    """A suite by name: it makes plans, or is a program."""

    name: str
    about: str
    plans: MakePlans | None = None
    program: Callable[..., Program] | None = None

    def make_program(self, given: Mapping[str, Any]) -> Program:
        """Return the program with parameters as they are typed."""
        if self.program is None:
            raise InputError(f"the suite {self.name} makes plans, not a program")
        kinds: dict[str, Any] = {item.name: type(item.default) for item in fields(self.program)}  # type: ignore[arg-type]
        unknown = [key for key in given if key not in kinds]
        if unknown:
            raise UnknownName(f"{self.name} has no parameter {unknown[0]!r}; its parameters: {', '.join(kinds)}")
        values = {}
        for key, value in given.items():
            try:
                values[key] = kinds[key](value)
            except ValueError:
                raise InputError(f"{key} is a whole number, not {value!r}") from None
        return self.program(**values)


SUITES: Registry[Suite] = Registry(
    "suite", group="textgauge.suites", plug_in=lambda name, made: register_suite(name)(made)
)


def register_suite(name: str) -> Callable[[Made], Made]:
    """Add a suite: a function that makes plans, or the dataclass of a program; used as a decorator.

    The first line of its docstring says what it runs. A package names it under the entry point `textgauge.suites`.
    """

    def add(made: Made) -> Made:
        about = (made.__doc__ or "").splitlines()[0]
        SUITES[name] = Suite(name, about, program=made) if isinstance(made, type) else Suite(name, about, made)
        return made

    return add


def known_suites() -> Mapping[str, Suite]:
    """Return all suites by name, those of other packages included."""
    return SUITES


def find_suite(name: str) -> Suite | None:
    """Return the suite of that name, None if there is none; packages load only for names that no protocol has."""
    return None if name in list_protocols() else SUITES.get(name)


def make_suite_or_protocol_plans(
    what: str, metrics: Metrics, parameters: Mapping[str, Any], seed: int, given: Mapping[str, Any]
) -> list[Plan]:
    """Return the plans of a suite, or of a protocol on the data that `given` names."""
    suite = find_suite(what)
    if suite is None:
        known = list_protocols()
        families = {kind.family for kind in known.values() if kind.family}
        if what not in known and what not in families:
            raise UnknownName.among("suite or protocol", what, [*SUITES, *known, *families])
        return make_protocol_plans(what, metrics, parameters, seed, given)
    if suite.plans is None:
        raise InputError(f"the suite {what} has no results of single metrics: run it by `textgauge run {what}`")
    if parameters or given:
        raise InputError(f"the suite {what} sets its own data and parameters; name a protocol to set them yourself")
    return suite.plans(metrics, seed)


def make_task_plans(
    data: Mapping[type[Task], Sequence[str]],
    metrics: str | Sequence[Any],
    seed: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Plan]:
    """Return every task on its data sets, with `options` of tasks by name."""
    return [
        plan
        for kind, specs in data.items()
        for plan in make_plans(
            [kind(**(options or {}).get(kind.name, {}))], [kind.data.read(spec) for spec in specs], metrics, seed
        )
    ]


@register_suite("quick")
def quick(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Return a first look at everything on built-in data: mixtures, size, paraphrases, ratings, the five tasks."""
    if metrics is not None:
        raise InputError("the suite quick runs metrics of corpora and of pairs and names its own; name a protocol")
    size = Size(smallest=50, step=100, total=400, large=450, draws=3, repetitions=5)
    return [
        *make_plans([Ksc(n=50, repetitions=5), size], [_read_two_samples()], _FIRST_METRICS, seed),
        *make_plans([Distributionality()], [read_paraphrases("sample:banking")], _FIRST_METRICS, seed),
        *make_plans([Agreement()], [read_rated("sample:graded", limit=300)], _FIRST_PAIR_METRICS, seed),
        *usmb_quick(None, seed),
    ]


@register_suite("ksc-quick")
def ksc_quick(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Known-similarity corpora of two built-in corpora: about a minute."""
    return make_plans([Ksc(n=50, repetitions=5)], [_read_two_samples()], metrics or CORPUS_METRICS, seed)


@register_suite("distributionality-quick")
def distributionality_quick(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Distributionality on built-in paraphrases: about a minute."""
    data = [read_paraphrases("sample:banking")]
    return make_plans([Distributionality()], data, metrics or f"{CORPUS_METRICS},ahd", seed)


@register_suite("ifc-quick")
def ifc_quick(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Return a trigram model that learns more and more of built-in texts: about a minute."""
    return make_plans([Ifc()], [make_learned_steps()], metrics or f"{CORPUS_METRICS},mauve", seed)


@register_suite("usmb-quick")
def usmb_quick(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Return the five tasks on built-in data, with ensembles: about a minute."""
    return make_task_plans(
        {kind: kind.data.samples for kind in list_tasks()}, metrics or Task.default_metrics, seed, _SMALL
    )


def _read_two_samples() -> Sources:
    return read_two("sample:banking", "sample:travel")
