"""`run`: put metrics to the test, by a protocol on your data or by a suite."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields
from typing import Any, TypeAlias

from textgauge.data.source import Source
from textgauge.errors import InputError
from textgauge.evaluate import Store
from textgauge.evaluate.compute import computed, warnings_of
from textgauge.evaluate.protocols import PROTOCOLS, PairSources, TaskSources
from textgauge.evaluate.rated import GROUPS
from textgauge.evaluate.run import Progress
from textgauge.evaluate.run_data import DataOptions, pairs_of, said, task_columns
from textgauge.evaluate.run_plans import plans_of
from textgauge.papers.programs import PROGRAMS
from textgauge.running.result import Run
from textgauge.running.words import told_in_python

Named: TypeAlias = "str | os.PathLike[str]"


def run(
    what: str,
    *,
    metrics: str | Sequence[Any] | None = None,
    a: Source | None = None,
    b: Source | None = None,
    pairs: Named | PairSources | None = None,
    left: str | Sequence[str] = "left",
    right: str | Sequence[str] = "right",
    rating: str | Sequence[str] | Sequence[float] | None = None,
    groups: Mapping[str, str] | None = None,
    only: str | None = None,
    limit: int | None = None,
    steps: Named | Sequence[Source] | int | None = None,
    reference: Source | None = None,
    rated: Named | TaskSources | None = None,
    comparisons: Named | TaskSources | None = None,
    documents: Named | TaskSources | None = None,
    labelled: Named | TaskSources | None = None,
    beir: Named | TaskSources | None = None,
    columns: Mapping[str, Any] | None = None,
    column: str | None = None,
    out: Named | None = None,
    seed: int = 0,
    jobs: int = 1,
    scheduler: str | None = None,
    on_progress: Progress = lambda *_: None,
    **parameters: Any,
) -> Run:
    """Run a protocol on data, or a suite, and keep every finished cell; the same as `textgauge run`.

    Data, by protocol: two corpora `a` and `b` (ksc, size, speed), as `compare` takes them; `pairs`, a table with its
    columns `left`, `right`, `rating` (one, or one per rater) and `groups` (those of set, system, item), a sample or a
    dataset, or texts and ratings themselves as `left`, `right`, `rating` (agreement, distributionality; `only` chooses
    rows, `limit` draws some); `steps` and `reference` (ifc); `rated`, `comparisons`, `documents`, `labelled`, `beir`
    with the `columns` of their table (tasks). A suite and `perturbation` bring theirs.

    `parameters` are those of the protocol, as `k=5`; of several values, as `k=(5, 7)`, each is run. `out` is a folder
    that keeps the run and goes on with an old one, of the command too; without it, cells live as long as the result.
    `jobs` are local processes (a script then needs its `if __name__ == "__main__"`), `scheduler` the address of a Dask
    scheduler; `on_progress` is told how many cells are done, how many there are, and what is being done.

    >>> words = [f"{colour} {animal} {i}" for i in range(12) for colour in ("red", "blue") for animal in ("cat", "dog")]
    >>> cards = [f"pay the {what} by card {i}" for i in range(24) for what in ("rent", "fee")]
    >>> found = run("ksc", a=words, b=cards, metrics="jsd@words,zipf@words", k=4, n=12, repetitions=2)
    >>> found.computed, found.leaderboard().rows[0].metric
    (4, 'jsd@words')
    """
    _check(what, seed, jobs, limit, groups or {})
    if what in PROTOCOLS and "steps" in {item.name for item in fields(PROTOCOLS[what])}:
        parameters, steps = {**parameters, "steps": steps}, None
    with told_in_python():
        others = said({"groups": groups or None, "only": only, "limit": limit})
        options = DataOptions(
            said({"a": a, "b": b, "steps": steps, "reference": reference, "column": column}),
            *pairs_of(pairs, left, right, rating, others),
            _tasks(rated=rated, comparisons=comparisons, documents=documents, labelled=labelled, beir=beir),
            task_columns(columns or {}),
        )
        asked = [metrics] if isinstance(metrics, str) else metrics
        plans = plans_of(what, asked, said(parameters), seed, options)
    doubts = warnings_of(plans)
    for text in doubts:
        warnings.warn(text, stacklevel=2)
    store = _temporary() if out is None else Store(out)
    report = computed(plans, store, jobs=jobs, scheduler=scheduler, progress=lambda: nullcontext(on_progress))
    for text in report.failures:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    return Run(store, report.found, report.computed, report.failures, tuple(doubts))


def _check(what: str, seed: int, jobs: int, limit: int | None, groups: Mapping[str, str]) -> None:
    if what in PROGRAMS:
        raise InputError(f"the suite {what} is no set of cells: run it by `textgauge run {what}`")
    for name, value, least in (("seed", seed, 0), ("jobs", jobs, 1), ("limit", limit, 2)):
        if value is not None and value < least:
            raise InputError(f"{name} is at least {least}, not {value}")
    unknown = [name for name in groups if name not in GROUPS]
    if unknown:
        raise InputError(f"no group {unknown[0]!r}; the groups are {', '.join(GROUPS)}")


def _tasks(**given: Named | TaskSources | None) -> dict[str, str | TaskSources]:
    return {name: data if isinstance(data, TaskSources) else os.fspath(data) for name, data in given.items() if data}


def _temporary() -> Store:
    """A store in a folder that goes when nobody holds the store any more."""
    store = Store(tempfile.mkdtemp(prefix="textgauge-"))
    weakref.finalize(store, shutil.rmtree, store.folder, ignore_errors=True)
    return store
