"""Why the forest of USMB loses on retrieval: other models on the same features and folds, beside single metrics.

python -m benchmarks.forests RUN            needs TEXTGAUGE_DATA; about a minute of one processor; RUN is resumed
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from textgauge.bench import Group, Results, Retrieval, Store, make_plans, run
from textgauge.bench.ensembles import FittedModel, TaskFeatures, _collect_examples, _score, split_trials
from textgauge.core.arrays import Floats
from textgauge_papers.usmb import TASK_DATA, TASK_METRICS

MODELS: dict[str, Callable[[], object]] = {
    "forest": lambda: RandomForestClassifier(random_state=0),
    "forest, 20 a leaf": lambda: RandomForestClassifier(min_samples_leaf=20, random_state=0),
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
}


def score(group: Group, make: Callable[[], object], keys: list[str]) -> tuple[float, int]:
    """What a model of these metrics reaches on the folds left out, and from how many ideal documents it learned."""
    task = Retrieval()
    columns = group.complete[keys[0]].columns
    features = np.column_stack([group.complete[key].value for key in keys])
    item = TaskFeatures(task, group.data, group.fingerprint, features, columns)
    labels, sums, ideal = task.units(features[:, 0], columns).labels, [], []
    for seed, out in enumerate(split_trials([item], 10)):
        rows, targets, _ = _collect_examples([item], out, "task", seed)
        model: object = make().fit(rows, targets > 0.5)  # type: ignore[attr-defined]
        ideal.append(int((targets > 0.5).sum()))

        def predict(some: Floats, model: object = model) -> Floats:
            return np.asarray(model.predict_proba(some)[:, 1])  # type: ignore[attr-defined]

        sums.append(_score(item, out[0], FittedModel(predict, np.zeros(len(keys))), "task", labels))
    return float(np.nanmean(task.of_sums(np.array(sums).sum(axis=1))[:, 0])), min(ideal)


def main(folder: str) -> None:
    """Print the table of the page of further measurements."""
    store, sources = Store(Path(folder)), [Retrieval.data.read(name) for name in TASK_DATA[Retrieval]]
    run(make_plans([Retrieval()], sources, TASK_METRICS, 0), store)
    print(f"| corpus | ideal | cosine | {' | '.join(MODELS)} | forest of cosine alone |")
    print(f"|{'---|' * (len(MODELS) + 4)}")
    for group in Results(store).groups():
        keys = sorted(group.complete)
        cosine = next(key for key in keys if key.startswith("cosine"))
        found = [score(group, make, keys) for make in MODELS.values()]
        found.append(score(group, MODELS["forest"], [cosine]))
        values = [group.verdicts[cosine]["retrieval"].value, *(value for value, _ in found)]
        print(f"| {group.data} | {found[0][1]} | {' | '.join(f'{value:.3f}' for value in values)} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
