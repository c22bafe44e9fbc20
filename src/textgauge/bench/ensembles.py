"""Ensembles of the metrics of a run: a step of the run trains and keeps them, judging only reads them.

Two kinds: `task ensemble` (one for each data set of a task, a line or a forest with scikit-learn's defaults as the task
says) and `universal ensemble` (one model for all tasks and data sets). They are trained on some documents and scored on
the others. No document is in both: whole documents (or folds of them) are left out, and examples that contain a
left-out document of any data set are not learned from. Metrics on several embedders give one ensemble for each, and the
mean of them counts; so does the mean of the metrics themselves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.protocols.base import RESAMPLES, Protocol, Verdict
from textgauge.bench.protocols.task import Columns, Task
from textgauge.bench.store import Store
from textgauge.core.arrays import Floats, Masks, average_known
from textgauge.core.parallel import use_one_thread
from textgauge.core.progress import begin_step
from textgauge.metrics import PairMetric, get_metric
from textgauge.metrics.base import list_versions
from textgauge.stats.resampling import resample_sums

if TYPE_CHECKING:
    from textgauge.bench.results import Group

Kind = Literal["task", "universal"]

NAMES: dict[Kind, str] = {"task": "task ensemble", "universal": "universal ensemble"}
SEEDS = 100
_FOREST_SEEDS = 10  # splits of a forest
_UNIVERSAL_SEEDS = 5
_VERSION = 7
_LEFT_OUT = 0.2  # share of documents
_PAIRS = 3_000  # examples of one data set that a universal ensemble learns from
_PERMUTED = 2  # splits on which features are permuted: a forest takes its time to predict all pairs again


@dataclass(frozen=True)
class Contribution:
    """What one metric contributes to an ensemble on one data set."""

    ensemble: str
    task: str
    data: str
    metric: str
    share: float
    importance: float


class KeptEnsembles(NamedTuple):
    """The ensembles that a store holds: their verdicts by place and name, what metrics contribute, how many it lacks.

    A place is one data set of a task (`format_place`).
    """

    verdicts: dict[str, dict[str, tuple[Verdict, ...]]]
    contributions: list[Contribution]
    lacking: int


def train_ensembles(
    store: Store, groups: Sequence[Group], *, seeds: int = SEEDS, executor: Executor | None = None
) -> None:
    """Train the ensembles of tasks that the store lacks, here or by the executor, and keep them in it."""
    jobs = {name: job for name, job in _list_jobs(groups, seeds).items() if store.read_extra(name) is None}
    if executor is None:
        for name, job in jobs.items():
            store.write_extra(name, {"rows": train_job(*job, seeds)})
        return
    # The last job, which is the longest, is sent out first.
    sent = {executor.submit(train_job, *jobs[name], seeds): name for name in reversed(list(jobs))}
    for count, done in enumerate(as_completed(sent)):
        begin_step(_describe(*jobs[sent[done]]), count + 1, len(sent), "training ensembles")
        store.write_extra(sent[done], {"rows": done.result()})


def read_ensembles(store: Store, groups: Sequence[Group], *, seeds: int = SEEDS) -> KeptEnsembles:
    """Read the ensembles of tasks that the store holds; nothing is trained, nothing is written."""
    kept = [store.read_extra(name) for name in _list_jobs(groups, seeds)]
    tasks = _select_tasks(groups)
    found: dict[str, dict[str, tuple[Verdict, ...]]] = {}
    contributions = list[Contribution]()
    for row in (row for content in kept if content is not None for row in content["rows"]):
        item, name = tasks[row["place"]], NAMES[row["kind"]]
        value, draws = np.array(row["value"], dtype=np.float64), np.array(row["drawn"], dtype=np.float64).T
        verdicts = tuple(cast(Task, item.protocol).with_intervals(value, draws, row["units"], None))
        found.setdefault(row["place"], {})[name] = verdicts
        about = name, item.protocol.name, item.data
        contributions += [Contribution(*about, metric, *shares) for metric, shares in row["shares"].items()]
    return KeptEnsembles(found, contributions, kept.count(None))


def split_by_embedder(metrics: Sequence[str]) -> dict[str, list[str]]:
    """Return the metrics of one ensemble for each embedder: those that need none, and those on it.

    >>> split_by_embedder(["jaccard", "cosine", "cosine@wordllama"])
    {'minilm': ['jaccard', 'cosine'], 'wordllama': ['jaccard', 'cosine@wordllama']}
    """
    on = {key: metric.on if metric.needs == "embeddings" else "" for key, metric in _get_pair_metrics(metrics).items()}
    embedders = list(dict.fromkeys(filter(None, on.values()))) or [""]
    return {embedder: [metric for metric in metrics if on[metric] in ("", embedder)] for embedder in embedders}


def group_by_embedders(metrics: Sequence[str]) -> dict[str, list[str]]:
    """Return the metrics that are there on several embedders, under the name of their mean.

    >>> group_by_embedders(["jaccard", "cosine", "cosine@wordllama"])
    {'cosine, mean of 2 embedders': ['cosine', 'cosine@wordllama']}
    """
    alike: dict[str, list[str]] = {}
    for key, metric in _get_pair_metrics(metrics).items():
        if metric.needs == "embeddings":
            alike.setdefault(metric.with_input("").key, []).append(key)
    return {f"{key}, mean of {len(keys)} embedders": keys for key, keys in alike.items() if len(keys) > 1}


def average_verdicts(parts: Sequence[Sequence[Verdict]], protocol: Protocol) -> list[Verdict]:
    """Return the mean of the verdicts of several metrics on the same trials of a task."""
    task = cast(Task, protocol)
    none = Verdict("", np.nan, draws=(np.nan,) * RESAMPLES)
    rows = [{verdict.measure: verdict for verdict in part if verdict.draws} for part in parts]
    verdicts = [[row.get(measure.name, none) for measure in task.measures] for row in rows]
    value = np.mean([[verdict.value for verdict in row] for row in verdicts], axis=0)
    draws = np.mean([[verdict.draws for verdict in row] for row in verdicts], axis=0).T
    return list(task.with_intervals(value, draws, parts[0][0].units, None))


def _get_pair_metrics(keys: Iterable[str]) -> dict[str, PairMetric]:
    return {key: metric for key in keys if isinstance(metric := get_metric(key), PairMetric)}


def _select_tasks(groups: Sequence[Group]) -> dict[str, Group]:
    """Return groups that ensembles are trained on, sorted: no order of metrics or of runs changes a number."""
    chosen = [item for item in groups if item.protocol.ensembles and len(item.complete) > 1]
    # Another process trains on the observations alone, not on all that the store holds.
    return {format_place(item): replace(item, results=None) for item in sorted(chosen, key=format_place)}


def _list_jobs(groups: Sequence[Group], seeds: int) -> dict[str, tuple[Kind, list[Group]]]:
    """Return what is trained together: each data set of a task by itself, and everything for the universal ensemble.

    A job's name is a hash of everything that decides what an ensemble reaches.
    """
    usable = []
    for item in _select_tasks(groups).values():
        first = next(iter(item.complete.values()))
        if len(np.unique(cast(Task, item.protocol).groups(first.columns))) > 1:
            usable.append(item)
    jobs: list[tuple[Kind, list[Group]]] = [("task", [item]) for item in usable]
    if len({item.protocol.name for item in usable}) > 1:
        jobs.append(("universal", usable))
    named = {}
    for kind, members in jobs:
        decides = [
            [format_place(item), {key: _compute_digest(o.value.tobytes(), 8) for key, o in item.complete.items()}]
            for item in members
        ]
        text = json.dumps([_VERSION, kind, seeds, decides, list_versions("numpy", "scikit-learn")], sort_keys=True)
        named[_compute_digest(text.encode(), 16)] = (kind, members)
    return named


def format_place(item: Group) -> str:
    """Return what ensembles of one data set of a task are filed under."""
    return f"{item.protocol!r}|{item.fingerprint}|{item.seed}"


def _compute_digest(content: bytes, size: int) -> str:
    return hashlib.blake2b(content, digest_size=size).hexdigest()


def _describe(kind: Kind, members: Sequence[Group]) -> str:
    return f"{NAMES[kind]} of {', '.join(dict.fromkeys(item.protocol.name for item in members))}"


def train_job(kind: Kind, members: Sequence[Group], seeds: int) -> list[dict[str, Any]]:
    """Train what belongs together; return a row for each data set."""
    metrics = sorted(key for key in members[0].complete if all(key in other.complete for other in members))
    most = _UNIVERSAL_SEEDS if kind == "universal" else _FOREST_SEEDS
    linear = kind == "task" and cast(Task, members[0].protocol).model == "linear"
    runs = []
    for embedder, chosen in split_by_embedder(metrics).items():
        begin_step(f"{_describe(kind, members)} on {embedder or 'texts'}", kind="training ensembles")
        data = [
            TaskFeatures(
                cast(Task, item.protocol),
                item.data,
                item.fingerprint,
                np.column_stack([item.complete[metric].value for metric in chosen]),
                item.complete[chosen[0]].columns,
            )
            for item in members
        ]
        runs.append((chosen, score_ensemble(data, kind, seeds=seeds if linear else min(seeds, most))))
    return [_make_row(kind, item, [(chosen, parts[i]) for chosen, parts in runs]) for i, item in enumerate(members)]


def _make_row(kind: Kind, item: Group, runs: Sequence[tuple[list[str], EnsembleScore]]) -> dict[str, Any]:
    parts = [part for _, part in runs]
    shares: dict[str, list[tuple[float, float]]] = {}
    for chosen, part in runs:
        for metric, share, fallen in zip(chosen, part.shares.tolist(), part.importance.tolist(), strict=True):
            shares.setdefault(metric, []).append((share, fallen))
    return {
        "kind": kind,
        "place": format_place(item),
        "value": np.mean([part.value for part in parts], axis=0).tolist(),
        "drawn": np.mean([part.draws for part in parts], axis=0).T.tolist(),
        "units": parts[0].units,
        "shares": {metric: np.mean(pairs, axis=0).tolist() for metric, pairs in shares.items()},
    }


@dataclass(frozen=True, eq=False)
class TaskFeatures:
    """One data set of a task: what every metric gave on its trials, and what is known about them."""

    task: Task
    name: str
    fingerprint: str
    features: Floats
    columns: Columns


@dataclass(frozen=True, eq=False)
class EnsembleScore:
    """What an ensemble reaches on one data set: measures, their resamples, and what its features contribute.

    `shares` are |β| or mean decrease in impurity, as shares of 1 (NaN for models that have neither); `importance` is
    by how much the score falls when a feature is shuffled among the left-out trials.
    """

    value: Floats
    draws: Floats
    units: int
    shares: Floats
    importance: Floats


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A trained model: its answers, and the share of each feature in it, NaN where the model has none."""

    predict: Callable[[Floats], Floats]
    shares: Floats


def fit_model(features: Floats, targets: Floats, weights: Floats, *, kind: str, seed: int) -> FittedModel:
    """Train a model; weights are relative, and the answers are similarities. Threads are the caller's affair.

    `linear` is least squares without intercept, `forest` the random forest of scikit-learn, whose answers are the
    probability of the upper class, `boosting` gradient boosting of squared errors.

    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> fit_model(X, X @ [0.25, 0.75], np.ones(3), kind="linear", seed=0).shares
    array([0.25, 0.75])
    """
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier

    weights = weights * len(weights) / weights.sum()
    if kind == "linear":
        root = np.sqrt(weights)
        beta = np.linalg.lstsq(features * root[:, None], targets * root, rcond=None)[0]
        total = np.abs(beta).sum()
        return FittedModel(lambda rows: np.asarray(rows @ beta), np.abs(beta) / total if total else np.abs(beta))
    if kind == "boosting":
        trees = HistGradientBoostingRegressor(
            max_iter=100, learning_rate=0.08, min_samples_leaf=20, l2_regularization=1.0, random_state=seed
        )
        trees.fit(features, targets, sample_weight=weights)
        return FittedModel(lambda rows: np.asarray(trees.predict(rows)), np.full(features.shape[1], np.nan))
    forest = RandomForestClassifier(random_state=seed)
    alike = bool(np.allclose(weights, 1.0))  # weights change what trees are grown from, even where all are 1
    forest.fit(features, targets > 0.5, sample_weight=None if alike else weights)
    classes = list(forest.classes_)
    if True not in classes:
        return FittedModel(lambda rows: np.zeros(len(rows)), forest.feature_importances_)
    upper = classes.index(True)
    return FittedModel(lambda rows: np.asarray(forest.predict_proba(rows)[:, upper]), forest.feature_importances_)


def split_trials(data: Sequence[TaskFeatures], seeds: int) -> Iterator[list[Masks]]:
    """Yield which trials of every data set are left out, split after split; a seed decides alone.

    Documents: a random fifth. Folds: one after the other, as many splits as there are folds.
    """
    groups = [item.task.groups(item.columns) for item in data]
    labels = [np.unique(group) for group in groups]
    if data and all(item.task.folded for item in data):
        seeds = min(map(len, labels))
    for seed in range(seeds):
        left_out = []
        for item, group, of in zip(data, groups, labels, strict=True):
            rng = np.random.default_rng([seed, int(item.fingerprint[:8], 16)])
            drawn = rng.permutation(of)[: max(1, round(_LEFT_OUT * len(of)))]
            left_out.append(np.isin(group, of[[seed % len(of)]] if item.task.folded else drawn))
        yield left_out


def score_ensemble(
    data: Sequence[TaskFeatures], kind: Kind, *, seeds: int, permute: bool = True
) -> list[EnsembleScore]:
    """Train an ensemble of the given kind on all data sets together, and score it on what was left out."""
    labels = [item.task.units(item.features[:, 0], item.columns).labels for item in data]
    sums: list[list[Floats]] = [[] for _ in data]
    drops: list[list[Floats]] = [[] for _ in data]
    model_kind = "boosting" if kind == "universal" else data[0].task.model
    shares = []
    with use_one_thread():
        for seed, left_out in enumerate(split_trials(data, seeds)):
            model = fit_model(*_collect_examples(data, left_out, kind, seed), kind=model_kind, seed=seed)
            shares.append(model.shares)
            for place, (item, out) in enumerate(zip(data, left_out, strict=True)):
                sums[place].append(_score(item, out, model, kind, labels[place]))
                if permute and seed < _PERMUTED:  # by how much the score falls when each feature is shuffled
                    features = range(item.features.shape[1])
                    shuffled = [_score(item, out, model, kind, labels[place], by) for by in features]
                    scores = item.task.of_sums(np.array([sums[place][-1], *shuffled]).sum(axis=1))[:, 0]
                    drops[place].append(scores[0] - scores[1:])
    found, mean = [], np.mean(shares, axis=0)
    for item, own, falls in zip(data, sums, drops, strict=True):
        # Values and their resamples are means over splits; the units of all splits are resampled alike.
        splits = np.array(own)
        count, units, width = splits.shape
        value = average_known(item.task.of_sums(splits.sum(axis=1)), axis=0)
        flat = resample_sums(splits.transpose(1, 0, 2).reshape(units, count * width), RESAMPLES, 0)
        draws = item.task.of_sums(flat.reshape(RESAMPLES * count, width)).reshape(RESAMPLES, count, -1)
        importance = average_known(np.array(falls or [np.full(len(mean), np.nan)]), axis=0)
        found.append(EnsembleScore(value, average_known(draws, axis=1), units, mean, importance))
    return found


def _collect_examples(
    data: Sequence[TaskFeatures], left_out: Sequence[Masks], kind: Kind, seed: int
) -> tuple[Floats, Floats, Floats]:
    """Return features, targets and weights; every task weighs the same, and so does every data set of a task."""
    documents = [item.task.documents(item.columns) for item in data]
    unseen = np.unique(np.concatenate([of[out].reshape(-1) for of, out in zip(documents, left_out, strict=True)]))
    parts = []
    for item, of, out in zip(data, documents, left_out, strict=True):
        here = ~out & ~np.isin(of, unseen).any(axis=1)
        features, columns = item.features[here], _select(item.columns, here)
        if kind == "task":
            parts.append(item.task.examples(features, columns, seed))
        else:
            every = item.task.pair_examples(features, columns, seed)
            parts.append(every.sample([(np.arange(len(every.targets)), _PAIRS)], [seed, 13]))
    tasks = [item.task.family or item.task.name for item in data]
    weights = [
        np.full(len(part.targets), 1.0 / (tasks.count(task) * max(len(part.targets), 1)))
        for task, part in zip(tasks, parts, strict=True)
    ]
    features, targets = (np.concatenate([getattr(part, name) for part in parts]) for name in ("features", "targets"))
    return features, targets, np.concatenate(weights)


def _score(
    item: TaskFeatures, out: Masks, model: FittedModel, kind: Kind, labels: NDArray[Any], shuffled: int | None = None
) -> Floats:
    """Return statistics of all units of a data set, zero but for those left out; `shuffled` is a feature to shuffle."""
    features, columns = item.features[out], _select(item.columns, out)
    if shuffled is not None:
        features = features.copy()
        features[:, shuffled] = np.random.default_rng([shuffled, 14]).permutation(features[:, shuffled])
    inputs = features if kind == "universal" else item.task.inputs(features, columns)
    answers = np.full(len(inputs), np.nan)
    known = np.isfinite(inputs).all(axis=1)
    answers[known] = model.predict(inputs[known])
    units = item.task.units(answers if kind == "universal" else item.task.values_of(answers, columns), columns)
    sums = np.zeros((len(labels), units.sums.shape[1]))
    sums[np.searchsorted(labels, units.labels)] = units.sums
    return sums


def _select(columns: Columns, here: Masks) -> Mapping[str, NDArray[Any]]:
    return {name: column[here] for name, column in columns.items()}
