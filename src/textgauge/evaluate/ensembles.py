"""Ensembles of the metrics of a run: trained on what the store holds, scored like any metric, kept in the store.

Four kinds: `task ensemble` (one for each data set of a task, linear or forest as the task says), `ranked ensemble` (the
same, but in clustering and retrieval it also sees how far each similarity is behind the nearest text's or the query's
best), `boosted ensemble` (the ranked one by gradient boosting) and `universal ensemble` (one model for all tasks and
data sets). Metrics on several embedders give one ensemble for each, and the mean of them counts; so does the mean of
the metrics themselves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.evaluate.protocols.base import RESAMPLES, Verdict
from textgauge.evaluate.protocols.task import Task
from textgauge.evaluate.results import Judged, Read
from textgauge.evaluate.store import Store
from textgauge.evaluate.task_ensembles import Ensembled, Kind, TaskFeatures, ensembled
from textgauge.metrics import PairMetric, get_metric
from textgauge.metrics.base import versions

Step = Callable[[str], None]

NAMES: dict[Kind, str] = {
    "task": "task ensemble",
    "ranked": "ranked ensemble",
    "boosting": "boosted ensemble",
    "universal": "universal ensemble",
}
SEEDS = 100
_FOREST_SEEDS = 10  # splits of a forest
_BOOSTED_SEEDS = 5
_VERSION = 5


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
class Ensembles:
    """The verdicts of ensembles beside those of metrics, and what goes into them."""

    judged: tuple[Judged, ...]
    contributions: tuple[Contribution, ...]


def _silent(_: str) -> None:
    return None


def ensembles(
    store: Store,
    read: Sequence[Read],
    *,
    seeds: int = SEEDS,
    on_step: Step = _silent,
    executor: Executor | None = None,
) -> Ensembles:
    """All ensembles of the tasks of a store; each is computed once, here or by the executor, and kept in it."""
    # Sorted, so that neither the order of metrics nor that of runs changes a number.
    tasks = sorted((item for item in read if isinstance(item.protocol, Task) and len(item.complete) > 1), key=_place)
    jobs = {_name(kind, members, seeds): (kind, members) for kind, members in _jobs(tasks)}
    kept = {name: store.read_extra(name) for name in jobs}
    for name, found in _trained({name: jobs[name] for name in jobs if kept[name] is None}, seeds, on_step, executor):
        kept[name] = {"rows": found}
        store.write_extra(name, {"rows": found})
    rows = [row for name in jobs for row in (kept[name] or {})["rows"]]
    return _restored([*rows, *_as_ranked(rows, tasks)], tasks)


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


def mean_verdicts(parts: Sequence[Sequence[Verdict]], task: Task) -> list[Verdict]:
    """The mean of the verdicts of several metrics on the same trials."""
    none = Verdict("", np.nan, draws=(np.nan,) * RESAMPLES)
    rows = [{verdict.measure: verdict for verdict in part if verdict.draws} for part in parts]
    found = [[row.get(measure.name, none) for measure in task.measures] for row in rows]
    value = np.mean([[verdict.value for verdict in row] for row in found], axis=0)
    drawn = np.mean([[verdict.draws for verdict in row] for row in found], axis=0).T
    return list(task.with_intervals(value, drawn, parts[0][0].units, None))


def _metrics(keys: Iterable[str]) -> dict[str, PairMetric]:
    return {key: metric for key in keys if isinstance(metric := get_metric(key), PairMetric)}


def _trained(
    jobs: Mapping[str, tuple[Kind, list[Read]]], seeds: int, on_step: Step, executor: Executor | None
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Rows of each job as they are made; the last job, which is the longest, is sent out first."""
    if executor is None:
        yield from ((name, _computed(*job, seeds, on_step)) for name, job in jobs.items())
        return
    sent = {executor.submit(_computed, *jobs[name], seeds): name for name in reversed(list(jobs))}
    for count, done in enumerate(as_completed(sent)):
        kind, members = jobs[sent[done]]
        on_step(f"{NAMES[kind]} of {_about(members)} ({count + 1} of {len(sent)})")
        yield sent[done], done.result()


def _about(members: Sequence[Read]) -> str:
    return ", ".join(dict.fromkeys(item.protocol.name for item in members))


def _computed(kind: Kind, members: Sequence[Read], seeds: int, on_step: Step = _silent) -> list[dict[str, Any]]:
    metrics = sorted(key for key in members[0].complete if all(key in other.complete for other in members))
    runs = []
    for embedder, chosen in embedder_sets(metrics).items():
        on_step(f"{NAMES[kind]} of {_about(members)} on {embedder or 'texts'}")
        data = [_features(item, chosen) for item in members]
        count = _seeds(members, kind, seeds)
        runs.append((chosen, ensembled(data, kind, seeds=count, permute=kind != "boosting")[0]))
    return [_row(kind, item, [(chosen, parts[place]) for chosen, parts in runs]) for place, item in enumerate(members)]


def _jobs(tasks: Sequence[Read]) -> list[tuple[Kind, list[Read]]]:
    """What is trained together: each data set of a task by itself, and everything for the universal ensemble."""
    usable = [item for item in tasks if _several_folds(item)]
    kinds: tuple[Kind, ...] = ("task", "ranked", "boosting")
    jobs: list[tuple[Kind, list[Read]]] = [
        (kind, [item]) for item in usable for kind in kinds if kind != "ranked" or _task(item).ranked
    ]
    return [*jobs, ("universal", usable)] if len({item.protocol.name for item in usable}) > 1 else jobs


def _as_ranked(rows: Sequence[Mapping[str, Any]], tasks: Sequence[Read]) -> list[dict[str, Any]]:
    """Task ensembles of tasks in which a ranked one sees nothing else, so that it too has a score in every task."""
    alike = {_place(item) for item in tasks if not _task(item).ranked}
    if all(row["kind"] != "ranked" for row in rows):
        return []
    return [{**row, "kind": "ranked"} for row in rows if row["kind"] == "task" and row["place"] in alike]


def _several_folds(item: Read) -> bool:
    first = next(iter(item.complete.values()))
    return len(np.unique(_task(item).groups(first.columns))) > 1


def _seeds(members: Sequence[Read], kind: Kind, seeds: int) -> int:
    if kind in ("boosting", "universal"):
        return min(seeds, _BOOSTED_SEEDS)
    return seeds if _task(members[0]).model == "linear" else min(seeds, _FOREST_SEEDS)


def _features(item: Read, metrics: Sequence[str]) -> TaskFeatures:
    values = np.column_stack([item.complete[metric].value for metric in metrics])
    columns = item.complete[metrics[0]].columns
    return TaskFeatures(_task(item), item.data, item.fingerprint, values, columns)


def _task(item: Read) -> Task:
    assert isinstance(item.protocol, Task)  # noqa: S101, chosen so
    return item.protocol


def _row(kind: Kind, item: Read, runs: Sequence[tuple[list[str], Ensembled]]) -> dict[str, Any]:
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


def _restored(rows: Sequence[Mapping[str, Any]], tasks: Sequence[Read]) -> Ensembles:
    by_place = {_place(item): item for item in tasks}
    judged, contributions = [], []
    for row in rows:
        item, name = by_place[row["place"]], NAMES[row["kind"]]
        value, drawn = np.array(row["value"], dtype=np.float64), np.array(row["drawn"], dtype=np.float64).T
        verdicts = tuple(_task(item).with_intervals(value, drawn, row["units"], None))
        judged.append(Judged(item.data, item.protocol, item.seed, name, verdicts, 0, item.fingerprint))
        contributions += [
            Contribution(name, item.protocol.name, item.data, metric, share, fallen)
            for metric, (share, fallen) in row["shares"].items()
        ]
    return Ensembles(tuple(judged), tuple(contributions))


def _place(item: Read) -> str:
    return f"{item.protocol!r}|{item.fingerprint}|{item.seed}"


def _name(kind: Kind, members: Sequence[Read], seeds: int) -> str:
    """A hash of everything that decides what an ensemble reaches."""
    decides = [[_place(item), {key: _digest(found.value) for key, found in item.complete.items()}] for item in members]
    text = json.dumps([_VERSION, kind, seeds, decides, versions("numpy", "scikit-learn")], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _digest(values: NDArray[np.float64]) -> str:
    return hashlib.blake2b(np.ascontiguousarray(values).tobytes(), digest_size=8).hexdigest()
