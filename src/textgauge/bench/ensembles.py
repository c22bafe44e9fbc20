"""Ensembles of the metrics of a run: a step of the run trains and keeps them, judging only reads them.

Five kinds: `task ensemble` (one for each data set of a task, linear or a forest with scikit-learn's defaults as the
task says), `tuned ensemble` (with forests of settings chosen for the task), `ranked ensemble` (in clustering and
retrieval it also sees how far each similarity is behind the nearest text's or the query's best), `boosted ensemble`
(the ranked one by gradient boosting) and `universal ensemble` (one model for all tasks and data sets). Metrics on
several embedders give one ensemble for each, and the mean of them counts; so does the mean of the metrics themselves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.protocols.base import RESAMPLES, Protocol, Verdict
from textgauge.bench.protocols.task import Task
from textgauge.bench.store import Store
from textgauge.bench.task_ensembles import Ensembled, Kind, TaskFeatures, ensembled
from textgauge.core.progress import Stage
from textgauge.metrics import PairMetric, get_metric
from textgauge.metrics.base import versions

if TYPE_CHECKING:
    from textgauge.bench.results import Group

Step = Callable[[str], None]

NAMES: dict[Kind, str] = {
    "task": "task ensemble",
    "tuned": "tuned ensemble",
    "ranked": "ranked ensemble",
    "boosting": "boosted ensemble",
    "universal": "universal ensemble",
}
SEEDS = 100
_FOREST_SEEDS = 10  # splits of a forest
_BOOSTED_SEEDS = 5
_VERSION = 6


@dataclass(frozen=True)
class Contribution:
    """What one metric contributes to an ensemble on one data set."""

    ensemble: str
    task: str
    data: str
    metric: str
    share: float
    importance: float


@dataclass(frozen=True, eq=False)
class KeptEnsemble:
    """What one ensemble reaches on one data set of a task, and what goes into it."""

    name: str
    group: Group
    verdicts: tuple[Verdict, ...]
    shares: Mapping[str, tuple[float, float]]

    @property
    def contributions(self) -> list[Contribution]:
        """What each metric contributes."""
        about = (self.name, self.group.protocol.name, self.group.data)
        return [Contribution(*about, metric, share, fall) for metric, (share, fall) in self.shares.items()]


@dataclass(frozen=True, eq=False)
class KeptEnsembles:
    """The ensembles that a store holds, and how many it lacks of those that its tasks give."""

    found: tuple[KeptEnsemble, ...]
    lacking: int = 0

    @property
    def contributions(self) -> list[Contribution]:
        """What metrics contribute to all of them."""
        return [item for one in self.found for item in one.contributions]


def _silent(_: str) -> None:
    return None


def train_ensembles(
    store: Store,
    groups: Sequence[Group],
    *,
    seeds: int = SEEDS,
    on_step: Step = _silent,
    executor: Executor | None = None,
) -> None:
    """Train the ensembles of tasks that the store lacks, here or by the executor, and keep them in it."""
    jobs = _jobs(groups, seeds)
    wanted = {name: job for name, job in jobs.items() if _kept(store, name) is None}
    for name, found in _trained(wanted, seeds, on_step, executor):
        store.write_extra(name, {"rows": found})


def kept_ensembles(store: Store, groups: Sequence[Group], *, seeds: int = SEEDS) -> KeptEnsembles:
    """The ensembles of tasks that the store holds; nothing is trained, nothing is written."""
    kept = [_kept(store, name) for name in _jobs(groups, seeds)]
    rows = [row for found in kept for row in found or ()]
    tasks = _tasks(groups)
    made = tuple(_restored(row, tasks) for row in _with_copies(rows, tasks))
    return KeptEnsembles(made, sum(found is None for found in kept))


def _kept(store: Store, name: str) -> list[dict[str, Any]] | None:
    found = store.read_extra(name)
    return None if found is None else found["rows"]


def _tasks(groups: Sequence[Group]) -> dict[str, Group]:
    """Groups that ensembles are trained on, sorted: neither the order of metrics nor that of runs changes a number."""
    chosen = [item for item in groups if item.protocol.ensembles and len(item.complete) > 1]
    # Another process trains on the observations alone, not on all that the store holds.
    return {_place(item): replace(item, results=None) for item in sorted(chosen, key=_place)}


def embedder_sets(metrics: Sequence[str]) -> dict[str, list[str]]:
    """The metrics of one ensemble for each embedder: those that need none, and those on it.

    >>> embedder_sets(["jaccard", "cosine", "cosine@wordllama"])
    {'minilm': ['jaccard', 'cosine'], 'wordllama': ['jaccard', 'cosine@wordllama']}
    """
    on = {metric: found.on if found.needs == "embeddings" else "" for metric, found in _metrics(metrics).items()}
    embedders = list(dict.fromkeys(filter(None, on.values()))) or [""]
    return {embedder: [metric for metric in metrics if on[metric] in ("", embedder)] for embedder in embedders}


def means_over_embedders(metrics: Sequence[str]) -> dict[str, list[str]]:
    """Metrics that are there on several embedders, under the name of their mean.

    >>> means_over_embedders(["jaccard", "cosine", "cosine@wordllama"])
    {'cosine, mean of 2 embedders': ['cosine', 'cosine@wordllama']}
    """
    alike: dict[str, list[str]] = {}
    for key, metric in _metrics(metrics).items():
        if metric.needs == "embeddings":
            alike.setdefault(metric.with_input("").key, []).append(key)
    return {f"{key}, mean of {len(found)} embedders": found for key, found in alike.items() if len(found) > 1}


def mean_verdicts(parts: Sequence[Sequence[Verdict]], protocol: Protocol) -> list[Verdict]:
    """The mean of the verdicts of several metrics on the same trials of a task."""
    task = cast(Task, protocol)
    none = Verdict("", np.nan, draws=(np.nan,) * RESAMPLES)
    rows = [{verdict.measure: verdict for verdict in part if verdict.draws} for part in parts]
    found = [[row.get(measure.name, none) for measure in task.measures] for row in rows]
    value = np.mean([[verdict.value for verdict in row] for row in found], axis=0)
    drawn = np.mean([[verdict.draws for verdict in row] for row in found], axis=0).T
    return list(task.with_intervals(value, drawn, parts[0][0].units, None))


def _metrics(keys: Iterable[str]) -> dict[str, PairMetric]:
    return {key: metric for key in keys if isinstance(metric := get_metric(key), PairMetric)}


def _trained(
    jobs: Mapping[str, tuple[Kind, list[Group]]], seeds: int, on_step: Step, executor: Executor | None
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Rows of each job as they are made; the last job, which is the longest, is sent out first."""
    if executor is None:
        yield from ((name, _computed(*job, seeds, on_step)) for name, job in jobs.items())
        return
    sent = {executor.submit(_computed, *jobs[name], seeds): name for name in reversed(list(jobs))}
    for count, done in enumerate(as_completed(sent)):
        kind, members = jobs[sent[done]]
        on_step(Stage(f"{NAMES[kind]} of {_about(members)}", count + 1, len(sent), "training ensembles"))
        yield sent[done], done.result()


def _about(members: Sequence[Group]) -> str:
    return ", ".join(dict.fromkeys(item.protocol.name for item in members))


def _computed(kind: Kind, members: Sequence[Group], seeds: int, on_step: Step = _silent) -> list[dict[str, Any]]:
    metrics = sorted(key for key in members[0].complete if all(key in other.complete for other in members))
    runs = []
    for embedder, chosen in embedder_sets(metrics).items():
        on_step(f"{NAMES[kind]} of {_about(members)} on {embedder or 'texts'}")
        data = [_features(item, chosen) for item in members]
        count = _seeds(members, kind, seeds)
        runs.append((chosen, ensembled(data, kind, seeds=count, permute=kind != "boosting")[0]))
    return [_row(kind, item, [(chosen, parts[place]) for chosen, parts in runs]) for place, item in enumerate(members)]


def _jobs(groups: Sequence[Group], seeds: int) -> dict[str, tuple[Kind, list[Group]]]:
    """What is trained together: each data set of a task by itself, and everything for the universal ensemble."""
    usable = [item for item in _tasks(groups).values() if _several_folds(item)]
    jobs: list[tuple[Kind, list[Group]]] = [(kind, [item]) for item in usable for kind in _kinds(_task(item))]
    if len({item.protocol.name for item in usable}) > 1:
        jobs.append(("universal", usable))
    return {_name(kind, members, seeds): (kind, members) for kind, members in jobs}


def _kinds(task: Task) -> Iterator[Kind]:
    """The ensembles that differ in a task: no forest, nothing to tune."""
    yield "task"
    if task.model == "forest":
        yield "tuned"
    if task.ranked:
        yield "ranked"
    yield "boosting"


def _with_copies(rows: Sequence[Mapping[str, Any]], tasks: Mapping[str, Group]) -> list[Mapping[str, Any]]:
    """The rows, and copies for tasks in which two kinds are the same, so that each kind has a score in every task."""
    found = list(rows)
    for kind, same in (("tuned", "task"), ("ranked", "tuned"), ("ranked", "task")):
        there = {row["place"] for row in found if row["kind"] == kind}
        alike = {place for place, item in tasks.items() if kind not in list(_kinds(_task(item)))} - there
        if there:
            found += [{**row, "kind": kind} for row in found if row["kind"] == same and row["place"] in alike]
    return found


def _several_folds(item: Group) -> bool:
    first = next(iter(item.complete.values()))
    return len(np.unique(_task(item).groups(first.columns))) > 1


def _seeds(members: Sequence[Group], kind: Kind, seeds: int) -> int:
    if kind in ("boosting", "universal"):
        return min(seeds, _BOOSTED_SEEDS)
    return seeds if _task(members[0]).model == "linear" else min(seeds, _FOREST_SEEDS)


def _features(item: Group, metrics: Sequence[str]) -> TaskFeatures:
    values = np.column_stack([item.complete[metric].value for metric in metrics])
    columns = item.complete[metrics[0]].columns
    return TaskFeatures(_task(item), item.data, item.fingerprint, values, columns)


def _task(item: Group) -> Task:
    return cast(Task, item.protocol)  # that ensembles are trained on


def _row(kind: Kind, item: Group, runs: Sequence[tuple[list[str], Ensembled]]) -> dict[str, Any]:
    parts = [part for _, part in runs]
    shares: dict[str, list[tuple[float, float]]] = {}
    for chosen, part in runs:
        for metric, share, fallen in zip(chosen, part.shares.tolist(), part.importance.tolist(), strict=True):
            shares.setdefault(metric, []).append((share, fallen))
    return {
        "kind": kind,
        "place": _place(item),
        "value": np.mean([part.value for part in parts], axis=0).tolist(),
        "drawn": np.mean([part.drawn for part in parts], axis=0).T.tolist(),
        "units": parts[0].units,
        "shares": {metric: np.mean(pairs, axis=0).tolist() for metric, pairs in shares.items()},
    }


def _restored(row: Mapping[str, Any], tasks: Mapping[str, Group]) -> KeptEnsemble:
    item = tasks[row["place"]]
    value, drawn = np.array(row["value"], dtype=np.float64), np.array(row["drawn"], dtype=np.float64).T
    verdicts = tuple(_task(item).with_intervals(value, drawn, row["units"], None))
    return KeptEnsemble(NAMES[row["kind"]], item, verdicts, {name: (s, f) for name, (s, f) in row["shares"].items()})


def _place(item: Group) -> str:
    return f"{item.protocol!r}|{item.fingerprint}|{item.seed}"


def _name(kind: Kind, members: Sequence[Group], seeds: int) -> str:
    """A hash of everything that decides what an ensemble reaches."""
    decides = [[_place(item), {key: _digest(found.value) for key, found in item.complete.items()}] for item in members]
    text = json.dumps([_VERSION, kind, seeds, decides, versions("numpy", "scikit-learn")], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _digest(values: NDArray[np.float64]) -> str:
    return hashlib.blake2b(np.ascontiguousarray(values).tobytes(), digest_size=8).hexdigest()
