"""Ensembles of pair metrics: trained on some documents of a task, scored on the others.

No document is in both: whole documents (or folds of them) are left out, and examples that contain a left-out document
of any data set are not learned from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.protocols.base import RESAMPLES
from textgauge.bench.protocols.models import DEFAULT_FOREST, Fitted, fit
from textgauge.bench.protocols.task import Columns, Examples, Keys, Task
from textgauge.core.arrays import Floats
from textgauge.core.parallel import one_thread

Kind = Literal["task", "tuned", "ranked", "boosting", "universal"]
RANKED: tuple[Kind, ...] = ("ranked", "boosting")  # that also see how far each similarity is behind the best

_TEST = 0.2  # share of documents left out
_PAIRS = 3_000  # examples of one data set that a universal ensemble learns from
_PERMUTED = 2  # splits on which features are permuted: a forest takes its time to predict all pairs again


@dataclass(frozen=True, eq=False)
class TaskFeatures:
    """One data set of a task: what every metric gave on its trials, and what is known about them."""

    task: Task
    name: str
    fingerprint: str
    features: Floats
    columns: Columns


@dataclass(frozen=True, eq=False)
class Ensembled:
    """What an ensemble reaches on one data set: measures, their resamples, and what its features contribute.

    `shares` are |β| or mean decrease in impurity, as shares of 1 (NaN for models that have neither); `importance` is
    by how much the score falls when a feature is shuffled among the left-out trials.
    """

    value: Floats
    drawn: Floats
    units: int
    shares: Floats
    importance: Floats


def splits(data: Sequence[TaskFeatures], seeds: int) -> Iterator[list[NDArray[np.bool_]]]:
    """Which trials of every data set are left out, split after split; a seed decides alone.

    Documents: a random fifth. Folds: one after the other, as many splits as there are folds.
    """
    groups = [item.task.groups(item.columns) for item in data]
    labels = [np.unique(group) for group in groups]
    if data and all(item.task.folded for item in data):
        seeds = min(len(found) for found in labels)
    for seed in range(seeds):
        yield [
            np.isin(group, _left_out(item, found, seed))
            for item, group, found in zip(data, groups, labels, strict=True)
        ]


def ensembled(
    data: Sequence[TaskFeatures], kind: Kind, *, seeds: int, permute: bool = True
) -> tuple[list[Ensembled], list[Fitted]]:
    """An ensemble of the given kind on all data sets together, and its models, one per split."""
    labels = [item.task.units(item.features[:, 0], item.columns).labels for item in data]
    sums: list[list[Floats]] = [[] for _ in data]
    drops: list[list[Floats]] = [[] for _ in data]
    models = []
    with one_thread():
        for seed, left_out in enumerate(splits(data, seeds)):
            model = _fitted(_training(data, left_out, kind, seed), data[0].task, kind, seed)
            models.append(model)
            for place, (item, out) in enumerate(zip(data, left_out, strict=True)):
                sums[place].append(_scored(item, out, model, kind, labels[place]))
                if permute and seed < _PERMUTED:
                    drops[place].append(_drops(item, out, model, kind, labels[place], sums[place][-1]))
    # A model with several inputs of each metric has as many shares of it.
    width = data[0].features.shape[1]
    shares = np.array([model.shares.reshape(-1, width).sum(axis=0) for model in models]).mean(axis=0)
    return [
        _summary(item.task, np.array(found), shares, np.array(fallen) if fallen else np.full((1, len(shares)), np.nan))
        for item, found, fallen in zip(data, sums, drops, strict=True)
    ], models


def _left_out(item: TaskFeatures, labels: NDArray[Any], seed: int) -> NDArray[Any]:
    if item.task.folded:
        return np.asarray(labels[[seed % len(labels)]])
    rng = np.random.default_rng([seed, int(item.fingerprint[:8], 16)])
    return np.asarray(rng.permutation(labels)[: max(1, round(_TEST * len(labels)))])


def _training(
    data: Sequence[TaskFeatures], left_out: Sequence[NDArray[np.bool_]], kind: Kind, seed: int
) -> tuple[Floats, Floats, Floats]:
    """Features, targets and weights; every task weighs the same, and so does every data set of a task."""
    unseen = _unseen(data, left_out)
    parts = [
        _examples(item, ~out & ~_contains(item, unseen), kind, seed) for item, out in zip(data, left_out, strict=True)
    ]
    sets = {name: sum(item.task.task == name for item in data) for name in {item.task.task for item in data}}
    weights = [
        np.full(len(part.targets), 1.0 / (sets[item.task.task] * max(len(part.targets), 1)))
        for item, part in zip(data, parts, strict=True)
    ]
    return (
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.targets for part in parts]),
        np.concatenate(weights),
    )


def _unseen(data: Sequence[TaskFeatures], left_out: Sequence[NDArray[np.bool_]]) -> Keys:
    """Documents that no example may contain."""
    keys = [item.task.documents(item.columns)[out].reshape(-1) for item, out in zip(data, left_out, strict=True)]
    return np.unique(np.concatenate(keys))


def _contains(item: TaskFeatures, unseen: Keys) -> NDArray[np.bool_]:
    return np.asarray(np.isin(item.task.documents(item.columns), unseen).any(axis=1))


def _examples(item: TaskFeatures, here: NDArray[np.bool_], kind: Kind, seed: int) -> Examples:
    features, columns = item.features[here], _where(item.columns, here)
    if kind in RANKED and item.task.ranked:
        return item.task.examples(item.task.ranked_inputs(features, columns), columns, seed)
    if kind == "tuned":
        return item.task.tuned_examples(features, columns, seed)
    if kind != "universal":
        return item.task.examples(features, columns, seed)
    found = item.task.pair_examples(features, columns, seed)
    rows = np.sort(np.random.default_rng([seed, 13]).permutation(len(found.targets))[:_PAIRS])
    return Examples(found.features[rows], found.targets[rows], found.trials[rows])


def _scored(
    item: TaskFeatures, out: NDArray[np.bool_], model: Fitted, kind: Kind, labels: NDArray[Any], by: int | None = None
) -> Floats:
    """Statistics of all units of a data set, zero but for those left out; `by` shuffles a feature first."""
    features, columns = item.features[out], _where(item.columns, out)
    if by is not None:
        features = features.copy()
        features[:, by] = np.random.default_rng([by, 14]).permutation(features[:, by])
    inputs = _inputs(item.task, features, columns, kind)
    answers = np.full(len(inputs), np.nan)
    known = np.isfinite(inputs).all(axis=1)
    answers[known] = model.predict(inputs[known])
    units = item.task.units(answers if kind == "universal" else item.task.values_of(answers, columns), columns)
    sums = np.zeros((len(labels), units.sums.shape[1]))
    sums[np.searchsorted(labels, units.labels)] = units.sums
    return sums


def _inputs(task: Task, features: Floats, columns: Columns, kind: Kind) -> Floats:
    if kind == "universal":
        return features
    return task.ranked_inputs(features, columns) if kind in RANKED else task.inputs(features, columns)


def _drops(
    item: TaskFeatures,
    out: NDArray[np.bool_],
    model: Fitted,
    kind: Kind,
    labels: NDArray[Any],
    sums: Floats,
) -> Floats:
    whole = item.task.of_sums(sums.sum(axis=0, keepdims=True))[0, 0]
    found = [_scored(item, out, model, kind, labels, by) for by in range(item.features.shape[1])]
    return np.array([whole - item.task.of_sums(part.sum(axis=0, keepdims=True))[0, 0] for part in found])


def _summary(task: Task, sums: Floats, shares: Floats, drops: Floats) -> Ensembled:
    """Means over splits, of the values and of their resamples; the units of all splits are resampled alike."""
    from textgauge.stats.resampling import resampled_sums

    count, units, width = sums.shape
    value = _mean_known(task.of_sums(sums.sum(axis=1)))
    flat = resampled_sums(sums.transpose(1, 0, 2).reshape(units, count * width), RESAMPLES, 0)
    drawn = task.of_sums(flat.reshape(RESAMPLES * count, width)).reshape(RESAMPLES, count, -1)
    return Ensembled(value, _mean_known(drawn.transpose(1, 0, 2)), units, shares, _mean_known(drops))


def _mean_known(values: Floats) -> Floats:
    """The mean over the first axis of what is a number; NaN where nothing is."""
    known = np.isfinite(values)
    means = np.where(known, values, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known.any(axis=0), means, np.nan)


def _where(columns: Columns, here: NDArray[np.bool_]) -> Mapping[str, NDArray[Any]]:
    return {name: column[here] for name, column in columns.items()}


def _fitted(training: tuple[Floats, Floats, Floats], task: Task, kind: Kind, seed: int) -> Fitted:
    model = "boosting" if kind in ("boosting", "universal") else task.model
    forest = {"task": DEFAULT_FOREST, "tuned": task.forest}.get(kind)
    return fit(*training, kind=model, seed=seed, forest=forest)
