"""classifier and c2st against scikit-learn (libsvm, lbfgs) on the same split of the same rows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from textgauge.data import Comparison
from textgauge.metrics.corpus.classifiers import Classifier, ClassifierTwoSample, find_distinct_rows
from textgauge.metrics.numerics.held_out import Trial


def corpora(n, m, d=48, shift=1.0):
    rng = np.random.default_rng(5)
    mix = rng.standard_normal((12, d))
    rows = rng.standard_normal((n + m, 12)) @ mix + 2.0 * rng.standard_normal((n + m, d))
    rows[n:] += shift * mix[0]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return Comparison(rows[:n].astype(np.float32), rows[n:].astype(np.float32))


def by_scikit(metric, comparison, model):
    rows, place = find_distinct_rows(comparison.joint, "given")
    reference, candidate = np.split(place, [len(comparison.reference)])
    trial = Trial.split(reference, candidate, share=metric.share, seed=(metric.seed, 0))
    predicted = model.fit(rows[trial.train], trial.labels).predict(rows[trial.test])[trial.place]
    return trial.truth, (predicted > 0) ^ trial.swapped


@pytest.mark.parametrize(
    ("metric", "model"),
    [
        (Classifier(on="given"), SVC()),
        (Classifier(on="given", share=0.4, seed=3), SVC()),
        (ClassifierTwoSample(on="given"), make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
    ],
    ids=str,
)
@pytest.mark.parametrize("sizes", [(40, 60), (250, 200), (500, 500)], ids=str)  # small problems, and one large
def test_same_predictions_and_scores_as_scikit(metric, model, sizes):
    comparison = corpora(*sizes)
    truth, predicted = by_scikit(metric, comparison, model)
    (outcome,) = metric._judge_splits(comparison)
    assert (outcome.truth == truth).all()
    assert (outcome.predicted == predicted).all()
    values = metric.compute(comparison)
    assert values["value"] == values["accuracy"] == pytest.approx(accuracy_score(truth, predicted), abs=1e-12)
    assert values["balanced"] == pytest.approx(balanced_accuracy_score(truth, predicted), abs=1e-12)
    assert values["f1"] == pytest.approx(f1_score(truth, predicted), abs=1e-12)


def test_score_is_the_f1_of_the_candidate():
    comparison = corpora(300, 100)
    metric = Classifier(on="given", score="f1")
    truth, predicted = by_scikit(metric, comparison, SVC())
    assert metric.compute(comparison)["value"] == pytest.approx(f1_score(truth, predicted), abs=1e-12)
