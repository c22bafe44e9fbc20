"""`recommend`: which metric to use on two corpora, on rated pairs, or for a task."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from textgauge.comparing import DEFAULT_METRICS
from textgauge.data.source import Source, source_name
from textgauge.errors import InputError, UnknownName
from textgauge.evaluate.protocols import PROTOCOLS, Agreement, PairSources, TaskSources
from textgauge.evaluate.recommend.answer import Recommendation
from textgauge.evaluate.recommend.budget import Clock, seconds_of
from textgauge.evaluate.recommend.corpora import recommend_corpora
from textgauge.evaluate.recommend.rated import recommend_pairs
from textgauge.evaluate.recommend.runs import Step
from textgauge.evaluate.recommend.tasks import recommend_task


def recommend(
    *,
    reference: Source | None = None,
    candidate: Source | None = None,
    pairs: str | os.PathLike[str] | PairSources | None = None,
    left: str = "left",
    right: str = "right",
    rating: str | Sequence[str] | None = None,
    task: str | None = None,
    data: str | os.PathLike[str] | TaskSources | PairSources | None = None,
    metrics: str | Sequence[Any] | None = None,
    budget: str | float = "2m",
    effect: float = 0.1,
    power: float = 0.8,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    on_step: Step = lambda _: None,
) -> Recommendation:
    """Which metric to use on these data: the best one, those that cannot be told from it, what they need and cost.

    Give two corpora (`reference`, `candidate`), or rated `pairs` (a table with its columns `left`, `right`, `rating`,
    a sample or a dataset), or the name of a `task` and its `data`. `budget` is the time it may take, as `90s` or `2m`;
    how far the experiments go depends on it, and with it the answer. The smallest sensible run may take 15 seconds,
    whatever the budget, and the answer says so. `effect` is the share of foreign texts that a
    test should detect, `power` how often. `out` is a folder that keeps the runs; without it they are not kept.

    >>> words = [f"{colour} {animal} {i}" for i in range(12) for colour in ("red", "blue") for animal in ("cat", "dog")]
    >>> cards = [f"pay the {what} by card {i}" for i in range(24) for what in ("rent", "fee")]
    >>> answer = recommend(reference=words, candidate=cards, metrics="jsd@words,zipf@words", budget="5s", effect=0.5)
    >>> answer.choice
    ('jsd@words',)
    """
    _check(effect, power)
    given = [reference is not None or candidate is not None, pairs is not None, task is not None]
    if sum(given) != 1:
        raise InputError("give two corpora (reference and candidate), or rated pairs, or a task with its data")
    common: dict[str, Any] = {"clock": Clock(seconds_of(budget)), "seed": seed, "out": out, "on_step": on_step}
    if task is not None:
        return _of_task(task, data, metrics, common)
    if pairs is not None:
        return _of_pairs(pairs, (left, right), rating, metrics, power, common)
    if reference is None or candidate is None:
        raise InputError("two corpora are needed: reference and candidate")
    names = (source_name(reference, "reference"), source_name(candidate, "candidate"))
    asked = metrics or DEFAULT_METRICS
    return recommend_corpora(reference, candidate, metrics=asked, effect=effect, power=power, names=names, **common)


def _check(effect: float, power: float) -> None:
    if not 0.0 < effect <= 1.0:
        raise InputError(f"the effect is a share of foreign texts above 0 and up to 1, not {effect}")
    if not 0.05 < power < 1.0:
        raise InputError(f"the power lies between 0.05, the level of the test, and 1, not {power}")


def _of_pairs(
    pairs: str | os.PathLike[str] | PairSources,
    sides: tuple[str, str],
    rating: str | Sequence[str] | None,
    metrics: str | Sequence[Any] | None,
    power: float,
    common: dict[str, Any],
) -> Recommendation:
    from textgauge.evaluate.rated import rated_sources
    from textgauge.evaluate.suites import QUICK_PAIR_METRICS

    if not isinstance(pairs, PairSources):
        ratings = [rating] if isinstance(rating, str) else list(rating or [])
        pairs = rated_sources(os.fspath(pairs), left=sides[0], right=sides[1], ratings=ratings, seed=common["seed"])
    return recommend_pairs(pairs, metrics=metrics or QUICK_PAIR_METRICS, power=power, **common)


def _of_task(
    task: str,
    data: str | os.PathLike[str] | TaskSources | PairSources | None,
    metrics: str | Sequence[Any] | None,
    common: dict[str, Any],
) -> Recommendation:
    from textgauge.evaluate.tasks import LOADERS, QUICK_TASK_METRICS, task_sources

    tasks = {kind.name: kind for kind in LOADERS}
    if task not in {**tasks, Agreement.name: Agreement}:
        raise UnknownName.among("task", task, [*tasks, Agreement.name])
    if data is None:
        raise InputError(f"the task {task} needs data: a path, a sample or a dataset's name")
    if task == Agreement.name:
        return _of_pairs(data, ("left", "right"), None, metrics, 0.8, common)  # type: ignore[arg-type]
    if not isinstance(data, TaskSources | PairSources):
        data = task_sources(tasks[task], os.fspath(data))
    return recommend_task(PROTOCOLS[task](), data, metrics=metrics or QUICK_TASK_METRICS, **common)
