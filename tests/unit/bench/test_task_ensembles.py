"""Ensembles: what they are trained on and asked for, split by split; told by features that name their own trial."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from textgauge.bench import (
    Clustering,
    ComparedAlignment,
    RatedAlignment,
    Retrieval,
    Robustness,
    Sensitivity,
    TaskSources,
    ensembles,
)
from textgauge.bench.ensembles import FittedModel, TaskFeatures, fit_model, score_ensemble, split_trials
from textgauge.data import Documents

SAMPLES = {
    RatedAlignment(): "sample:articles",
    ComparedAlignment(): "sample:articles",
    Robustness(documents_drawn=25): "sample:articles",
    Sensitivity(documents_drawn=12): "sample:articles",
    Clustering(n=20, folds=3): "sample:intents",
    Retrieval(n=60, queries=20, folds=3): "sample:library",
}


@cache
def built_in(task):
    """A task on its sample: features are not needed yet."""
    return featured(task, task.data.read(SAMPLES[task]))


def featured(task, sources, features=None):
    batches = list(task.trials(sources, 0))
    columns = {name: np.concatenate([batch.columns[name] for batch in batches]) for name in batches[0].columns}
    n = sum(map(len, batches))
    features = np.zeros((n, 2)) if features is None else features
    return TaskFeatures(task, sources.name, sources.fingerprint, features, columns)


def telling(data, *, differences=False):
    """The same data sets with features that say where a trial is: number of the data set, number of the trial.

    Models of comparisons may see differences: then the first of two trials has zeros.
    """
    found = []
    for n, item in enumerate(data):
        numbers = np.column_stack([np.full(len(item.features), float(n)), np.arange(len(item.features))])
        counts = item.columns["second"] if differences and "second" in item.columns else np.ones(len(numbers))
        found.append(replace(item, features=numbers * counts[:, None]))
    return found


@pytest.fixture
def watched(monkeypatch):
    """What each model was trained on and asked: (features, targets, weights) and features, split by split."""
    seen = []

    def watching(features, targets, weights, **_):
        asked = []
        seen.append((features, targets, weights, asked))

        def predict(rows):
            asked.append(rows)
            return np.random.default_rng(0).random(len(rows))

        return FittedModel(predict, np.zeros(features.shape[1]))

    monkeypatch.setattr(ensembles, "fit_model", watching)
    return seen


def keys_of(data, rows):
    """Content keys of all documents that rows of features look at; the last two columns name a trial."""
    found = set()
    for number, item in enumerate(data):
        trials = rows[rows[:, -2] == number, -1].astype(int)
        found |= set(item.task.documents(item.columns)[trials].reshape(-1).tolist())
    return found


def check_no_leak(data, seen, splits_wanted):
    assert len(seen) == splits_wanted
    for features, _, _, asked in seen:
        trained, tested = keys_of(data, features), keys_of(data, np.concatenate(asked))
        assert trained
        assert tested
        assert not trained & tested


@pytest.mark.parametrize("task", SAMPLES, ids=lambda task: task.name)
def test_no_document_is_in_training_and_test_of_a_task(task, watched):
    data = telling([built_in(task)], differences=True)
    score_ensemble(data, "task", seeds=4, permute=False)
    check_no_leak(data, watched, 3 if task.folded else 4)


@pytest.mark.parametrize("task", [task for task in SAMPLES if task.folded], ids=lambda task: task.name)
def test_a_task_ensemble_learns_from_and_is_asked_with_similarities_alone(task, watched):
    (item,) = telling([built_in(task)])
    score_ensemble([item], "task", seeds=1, permute=False)
    for features, targets, _, asked in watched:
        trials = features[:, 1].astype(int)
        assert features.tolist() == item.features[trials].tolist()
        assert targets.tolist() == task.targets(item.columns)[trials].tolist()
        (rows,) = asked
        assert rows.tolist() == item.features[rows[:, 1].astype(int)].tolist()


def test_no_document_is_in_training_and_test_of_all_tasks_together(watched):
    data = telling([built_in(task) for task in SAMPLES])
    score_ensemble(data, "universal", seeds=4, permute=False)
    check_no_leak(data, watched, 4)


def test_every_document_of_the_samples_is_left_out_of_some_split_of_a_folded_task():
    for task in (task for task in SAMPLES if task.folded):
        item = built_in(task)
        out = [left_out for (left_out,) in split_trials([item], 1)]
        assert np.sum(out, axis=0).tolist() == [1] * len(item.features)


WORDS = ["sun", "moon", "tree", "river", "stone", "house", "road", "bird", "fish", "wind", "rain", "snow", "fire"]


def documents(name, seed, n=12, *, also=()):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, 30)) + f" {name} {i}." for i in range(n)]
    texts = (*texts, *also)
    summaries = tuple(" ".join(text.split()[:5]) for text in texts)
    return TaskSources(name, Documents(name, tuple(map(str, range(len(texts)))), texts, summaries))


@pytest.fixture(scope="module")
def sharing():
    """Three data sets of two tasks; all share four documents."""
    shared = documents("shared", 9, 4).data.texts
    return [
        featured(Robustness(), documents("first", 1, also=shared)),
        featured(Robustness(), documents("second", 2, 20, also=shared)),
        featured(Sensitivity(), documents("third", 3, also=shared)),
    ]


@pytest.mark.parametrize(("kind", "members"), [("task", 2), ("universal", 3)])
def test_a_document_of_two_data_sets_is_left_out_of_both(sharing, kind, members, watched):
    data = telling(sharing[:members])
    both = set.intersection(*({*item.columns["document"].tolist()} for item in data))
    assert len(both) == 4
    score_ensemble(data, kind, seeds=12, permute=False)
    check_no_leak(data, watched, 12)
    tested = set.union(*(keys_of(data, np.concatenate(asked)) for *_, asked in watched))
    assert both & tested


def test_splits_depend_on_seed_and_data_only(sharing):
    other = [replace(item, features=np.random.default_rng(3).random((len(item.features), 5))) for item in sharing]
    few, many = list(split_trials(sharing, 3)), list(split_trials(other, 6))
    for mine, others in zip(few, many, strict=False):
        assert all(np.array_equal(a, b) for a, b in zip(mine, others, strict=True))
    for number, item in enumerate(sharing):
        alone = [out for (out,) in split_trials([item], 6)]
        assert all(np.array_equal(out, both[number]) for out, both in zip(alone, many, strict=True))
    assert not np.array_equal(many[0][0], many[1][0])
    renamed = replace(sharing[0], fingerprint="0123456789abcdef")
    assert any(not np.array_equal(a, b[0]) for (a,), b in zip(split_trials([renamed], 6), many, strict=True))


@pytest.mark.parametrize(("kind", "members", "expected"), [("task", 2, [0.5, 0.5]), ("universal", 3, [0.5, 0.5, 1.0])])
def test_tasks_weigh_the_same_and_so_do_their_data_sets(sharing, kind, members, expected, watched):
    data = telling(sharing[:members])
    score_ensemble(data, kind, seeds=3, permute=False)
    for features, _, weights, _ in watched:
        sums = [weights[features[:, -2] == number].sum() for number in range(members)]
        assert sums == pytest.approx(expected)


def linear_axis(beta, *, rows=200, noise=0.0, seed=0):
    """Rated summaries whose overall score is a sum of similarities; 0 and 1 are among the scores."""
    rng = np.random.default_rng(seed)
    features = rng.random((rows, len(beta)))
    features[0], features[1] = 0.0, 1.0 / np.sum(beta)
    score = features @ np.array(beta) + noise * rng.normal(size=rows)
    columns = {"document": np.arange(rows).astype(np.uint64) // 2, "score_overall": score}
    return TaskFeatures(RatedAlignment(), "made", "00ff00ff", features, columns)


def test_a_linear_ensemble_finds_the_line_its_shares_and_what_matters():
    (found,) = score_ensemble([linear_axis([0.2, 0.8])], "task", seeds=10)
    # Scores are brought to [0, 1] by the range of what is learned from, which may lack the lowest.
    assert found.value[0] == pytest.approx(1.0, abs=1e-3)
    assert found.shares == pytest.approx([0.2, 0.8], abs=0.01)
    assert found.importance[1] > found.importance[0] > 0
    assert np.isnan(found.value[1:]).all()


@pytest.mark.parametrize("kind", ["task", "universal"])
def test_trials_without_a_value_are_neither_learned_from_nor_counted(kind):
    item = linear_axis([0.3, 0.7])
    features = item.features.copy()
    features[10:30, 1] = np.nan
    (found,) = score_ensemble([replace(item, features=features)], kind, seeds=4)
    assert found.value[0] > 0.8
    assert np.isfinite(found.draws[:, 0]).all()


def test_the_task_ensemble_has_the_forest_of_scikit_learn_and_five_inputs_of_comparisons():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 5)), rng.integers(0, 2, 80).astype(float)
    ours = fit_model(X, y, np.full(80, 0.3), kind="forest", seed=4)
    theirs = RandomForestClassifier(random_state=4).fit(X, y > 0.5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict_proba(X)[:, 1])
    assert ComparedAlignment().inputs(rng.normal(size=(8, 5)), {}).shape == (4, 5)
