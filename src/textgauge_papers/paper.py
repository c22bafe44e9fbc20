"""What a reproduction is: plans to run, a ledger of claims, and rows that put published numbers next to ours."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from textgauge.bench import Plan, Program, Protocol, Results, Store
from textgauge.core import InputError, Row

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Request:
    """What a user wants of a reproduction; `params` are sizes and models that differ from the paper's usual ones."""

    variants: tuple[str, ...] = ("definition",)
    seed: int = 0
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper: its number, the kind of figure that draws it of a run, and what to see in it.

    `shows` are parts of a file's name; where there are some, only charts whose name has one of them are drawn.
    `metrics` are those in it, all by default.
    """

    number: str
    kind: str
    caption: str
    shows: tuple[str, ...] = ()
    metrics: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced: `rows` of its tables, and the `ledger` of its claims.

    Both are given results with the seed of the request alone. `fed` says that rows also hold the paper's own numbers
    fed through our formulas, which needs no data. Where there is a `program`, that of a request, not plans, makes what
    rows are read from; `also` computes into the store what plans cannot say. `draws` says which protocols the
    paper's figures have. `minutes` of processor time are what all of it took on one core. `params` are sizes
    and models that a request may change, with their usual values.
    """

    name: str
    tables: tuple[str, ...]
    variants: tuple[str, ...]
    plans: Callable[[Request], list[Plan]]
    rows: Callable[[Results, Request], list[Row]]
    ledger: Callable[[Results, Request], list[Row]]
    figures: tuple[PaperFigure, ...] = ()
    fed: bool = False
    program: Callable[[Request], Program] | None = None
    draws: Callable[[Protocol], bool] = lambda protocol: True
    also: Callable[[Store, Request], None] | None = None
    minutes: float = 0.0
    params: Mapping[str, int | str] = field(default_factory=dict)

    def read_params(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Return the usual values with those given in their place; names of no value here are left out."""
        read: dict[str, Any] = dict(self.params)
        for name, usual in self.params.items():
            if name in given:
                try:
                    read[name] = type(usual)(given[name])
                except ValueError:
                    raise InputError(f"{name} is a number, not {given[name]!r}") from None
                if isinstance(usual, int) and read[name] < 1:
                    raise InputError(f"{name} is at least 1, not {given[name]}")
        return read


def load_published(name: str) -> pl.DataFrame:
    """Return a published table, as shipped with the package."""
    import polars as pl

    return pl.read_csv(files("textgauge_papers").joinpath("published", f"{name}.csv").read_bytes())


def make_row(table: str, about: Mapping[str, Any], theirs: float, ours: float, source: str) -> Row:
    """Return one row: what the number is, the published one, ours, and where ours comes from."""
    row = {"table": table, **about, "published": theirs, "ours": ours}
    return row | {"difference": ours - theirs, "source": source}


_TIME = "time"


@contextlib.contextmanager
def measure_time(store: Store) -> Iterator[None]:
    """Add the processor time of what is computed inside to that of a store; reading what is there takes none."""
    before, start = _count_files(store), _read_clock()
    try:
        yield
    finally:
        if _count_files(store) != before:
            store.write_extra(_TIME, {"seconds": read_time(store) + _read_clock() - start})


def read_time(store: Store) -> float:
    """Return the processor time in seconds of everything that was computed under `measure_time`."""
    return float((store.read_extra(_TIME) or {}).get("seconds", 0.0))


def _count_files(store: Store) -> int:
    return sum(len(files) for _, _, files in os.walk(store.folder))


def _read_clock() -> float:
    """Return the CPU seconds of this process and of those it started that have ended."""
    return sum(os.times()[:4])
