"""How well a classifier separates two corpora on texts it has not seen: classifier, c2st."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.core.errors import ParameterError
from textgauge.data import GIVEN, Comparison, Corpus, Draws, Pool
from textgauge.metrics.base import DEFAULT_SEED, VALUE, Part, Range
from textgauge.metrics.corpus_metric import EmbeddingMetric, Interval, ManyValues, Values
from textgauge.metrics.numerics.held_out import SCORES, HeldOut, Index, TrainTest, Trial, average_scores
from textgauge.metrics.numerics.moments import squared_euclidean
from textgauge.metrics.registry import register
from textgauge.metrics.score import Contributions, Score, SideTerms
from textgauge.metrics.uncertainty import NullValues, compute_normal_reach, estimate_likely_range, exchange_labels

Rows = NDArray[np.floating[Any]]

_CHUNK = 256
_SHARED_ROWS = 4_096  # whose distances are computed once for all tasks: 64 MiB
_KERNEL_ROWS = 2_048  # training rows whose kernel is made at once: 32 MiB; libsvm computes that of more as it needs it
_NO_VARIANCE = 1e-13  # where all entries are equal, any gamma gives the same decisions
_FEWEST_RELABELLINGS = 999
_FORMULAS = {
    "accuracy": "held out and classified right: 1 / number of held-out texts, averaged over splits",
    "balanced": "held out and classified right: 1 / (2 × number of held-out texts of its corpus), averaged over splits",
    "f1": "a held-out candidate text classified right: 2 / (2·hits + false alarms + misses), averaged over splits",
}


def decide_svm(rows: Rows, tasks: Sequence[TrainTest]) -> list[Floats]:
    """Return decision values of scikit-learn's `SVC()` for the test rows of each task, positive for label 1.

    The kernel is made by matrix products. A row may be trained on more than once and with either label.
    """
    from sklearn.svm import SVC

    X = rows.astype(np.float64) / get_magnitude(rows)
    shared = len(X) <= _SHARED_ROWS and 2 * sum(len(task.train) ** 2 for task in tasks) > len(X) ** 2
    centred = X - X.mean(axis=0)  # distances are the same and keep their digits
    # Rounded so that a task has the same numbers whichever tasks share them.
    squares = squared_euclidean(centred, centred).astype(np.float32) if shared else None
    decisions: list[Floats] = []
    for task in tasks:
        train, test = X[task.train], X[task.test]
        if len(train) > _KERNEL_ROWS:
            decisions.append(SVC(random_state=0).fit(train, task.labels).decision_function(test))
            continue
        variance = train.var()
        gamma = 1.0 / (X.shape[1] * variance) if variance > _NO_VARIANCE else 1.0  # as scikit-learn's "scale"
        if squares is None:
            within, across = (
                squared_euclidean(centred[some], centred[task.train]).astype(np.float32)
                for some in (task.train, task.test)
            )
        else:
            within, across = squares[np.ix_(task.train, task.train)], squares[np.ix_(task.test, task.train)]
        model = SVC(kernel="precomputed", random_state=0).fit(np.exp(-gamma * within), task.labels)
        decisions.append(model.decision_function(np.exp(-gamma * across)))
    return decisions


def get_magnitude(rows: Rows) -> float:
    """Return the power of two at or below the largest entry: dividing by it is exact, and squares stay finite."""
    largest = float(np.abs(rows).max(initial=0.0))
    return float(np.ldexp(0.5, np.frexp(largest)[1])) if largest > 0 else 1.0


def decide_logistic(rows: Rows, tasks: Sequence[TrainTest]) -> list[Floats]:
    """Return decision values of logistic regression (L2, C = 1) on rows standardised by the training rows."""
    from sklearn.linear_model import LogisticRegression

    decisions: list[Floats] = []
    rows = rows.astype(np.float64) / get_magnitude(rows)
    for task in tasks:
        train, test = rows[task.train], rows[task.test]
        centre, spread = train.mean(axis=0), train.std(axis=0)
        spread[spread <= 1e-12 * np.abs(centre)] = 1.0
        model = LogisticRegression(max_iter=1000).fit((train - centre) / spread, task.labels)
        decisions.append(model.decision_function((test - centre) / spread))
    return decisions


def find_distinct_rows(joint: Corpus, embedder: str) -> tuple[Rows, Index]:
    """Return the different embedding rows in an order by content alone, and each text's place among them."""
    vectors = joint.embeddings(embedder)
    keys = Pool(embeddings=vectors).keys if embedder == GIVEN else joint.keys
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return vectors[first], place


@dataclass(frozen=True, kw_only=True)
class HeldOutMetric(EmbeddingMetric):
    """Base of the metrics that train a classifier on one part of both corpora and test it on the other."""

    fitted = True
    libraries = ("scikit-learn",)
    parts = tuple(Part(name) for name in SCORES)
    value_at_identity = 0.5
    min_texts = 5  # a fifth of them is one text
    min_texts_interval = 30
    ranges = (Range("repeats", 1, 10_000),)

    score: ClassVar[str] = "accuracy"  # that is the value

    share: float = 0.5
    repeats: int = 1
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.share < 1.0:
            raise ParameterError(f"{self.name}: share={self.share:g} must lie between 0 and 1")

    @staticmethod
    def decide(rows: Rows, tasks: Sequence[TrainTest]) -> list[Floats]:
        """Return decision values for the test rows of each task, positive for label 1."""
        raise NotImplementedError

    def compute(self, comparison: Comparison) -> Values:
        return self._average(self._judge_splits(comparison))

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        rows, place = find_distinct_rows(joint, self.embedder)
        values = [one for chunk in draws.chunks(_CHUNK) for one in self._judge_draws(rows, place, chunk)]
        return {name: np.array([one[name] for one in values]) for name in (VALUE, *SCORES)}

    def interval_ends(self, comparison: Comparison, score: Score, *, level: float, seed: int) -> Interval:
        """Wilson's interval, with as many trials as give the score's variance."""
        shown = self.part or self.score
        reach = compute_normal_reach(level)
        return (*estimate_likely_range(self._judge_splits(comparison), shown, share=self.share, reach=reach), "Wilson")

    def null_values(self, comparison: Comparison, *, permutations: int, seed: int) -> NullValues:
        """Exact given the classifier of the only split: the labels of its held-out texts are exchanged.

        Several splits share texts, and texts of a group depend on each other, so that their labels cannot be exchanged
        one by one: then texts or groups are exchanged between the corpora, and the classifiers are trained again.
        Exchanging labels costs next to nothing, so it is done 999 times at least: a test adjusted beside many others
        needs small p-values.
        """
        if self.repeats > 1 or not comparison.units.are_texts:
            return super().null_values(comparison, permutations=permutations, seed=seed)
        (outcome,) = self._judge_splits(comparison)
        permutations = max(permutations, _FEWEST_RELABELLINGS)
        return exchange_labels(outcome, self.part or self.score, permutations=permutations, seed=seed)

    def explain(self, comparison: Comparison) -> Contributions:
        """Return what each text adds: one classified right its share of the score of the splits that held it out.

        A text no split held out adds NaN. `decision` is the mean decision value, positive towards the candidate; copies
        of a text in one corpus share what they add.
        """
        rows, place = find_distinct_rows(comparison.joint, self.embedder)
        n = len(comparison.reference)
        sides = place[:n], place[n:]
        trials = self._split_trials([sides])
        shown = self.part or self.score
        held, right, adds, towards = sums = np.zeros((4, 2, len(rows)))
        for trial, decision in zip(trials, self.decide(rows, trials), strict=True):
            outcome, own = trial.judge(decision), (-decision if trial.swapped else decision)[trial.place]
            is_right = np.where(outcome.truth, outcome.predicted, 1.0 - outcome.predicted)
            at = trial.truth.astype(np.intp), trial.test[trial.place]
            added = np.ones(len(own)), is_right, _compute_shares(outcome, is_right, shown), own
            for total, values in zip(sums, added, strict=True):
                np.add.at(total, at, values)
        terms = []
        for number, texts in enumerate(sides):
            copies, times = np.bincount(texts, minlength=len(rows))[texts], held[number][texts]
            counted = np.where(times > 0, times, np.nan)
            decision = towards[number][texts] / counted
            detail = {
                "held_out": times / copies,
                "classified_right": right[number][texts] / counted,
                "decision": decision,
            }
            share = np.where(times > 0, adds[number][texts] / (copies * len(trials)), np.nan)
            terms.append(SideTerms(share, detail, decision if number else -decision))
        return Contributions(self.part or VALUE, _FORMULAS[shown], terms[0], terms[1])

    def judge(self, rows: Rows, sides: Sequence[tuple[Index, Index]]) -> list[list[HeldOut]]:
        """Return the outcome of each split of each pair of corpora, given by the places of their texts in `rows`."""
        trials = self._split_trials(sides)
        decisions = self.decide(rows, trials) if trials else []
        outcomes = iter([trial.judge(decision) for trial, decision in zip(trials, decisions, strict=True)])
        return [list(islice(outcomes, self.repeats)) for _ in sides]

    def _split_trials(self, sides: Sequence[tuple[Index, Index]]) -> list[Trial]:
        seeds = [(self.seed, repeat) for repeat in range(self.repeats)]
        return [Trial.split(*side, share=self.share, seed=seed) for side in sides for seed in seeds]

    def _judge_draws(self, rows: Rows, place: Index, draws: Draws) -> list[Values]:
        sides = [(place[left], place[right]) for left, right in zip(draws.left, draws.right, strict=True)]
        defined = [min(map(len, side)) >= self.min_texts for side in sides]
        enough = [side for side, known in zip(sides, defined, strict=True) if known]
        outcomes = iter(self.judge(rows, enough))
        undefined = dict.fromkeys((VALUE, *SCORES), float("nan"))
        return [self._average(next(outcomes)) if known else undefined for known in defined]

    def _judge_splits(self, comparison: Comparison) -> list[HeldOut]:
        return comparison.derive(_judge_trials, replace(self, part=None))

    def _average(self, outcomes: Sequence[HeldOut]) -> Values:
        values = average_scores(outcomes)
        return {VALUE: values[self.score], **values}


def _judge_trials(comparison: Comparison, metric: HeldOutMetric) -> list[HeldOut]:
    rows, place = find_distinct_rows(comparison.joint, metric.embedder)
    n = len(comparison.reference)
    return metric.judge(rows, [(place[:n], place[n:])])[0]


@register
class Classifier(HeldOutMetric):
    """Held-out accuracy of a support vector machine that separates the corpora: ½ is chance, 1 a clean separation.

    SVC with an RBF kernel (C = 1, gamma = 1 / (d · variance of the training entries)), trained on 80 % of both corpora
    and tested on the other 20 %, `repeats` times. All copies of a text, also across corpora, are on one side of a
    split, so that no held-out text was seen in training and identical corpora score exactly ½; a text on the
    decision boundary counts half. With unequal sizes accuracy is ruled by the larger corpus: see `balanced`.
    `score=f1` is the authors' code, F1 of the candidate, and not symmetric.
    Undefined with fewer than 5 texts in a corpus. Source: Kour et al. 2022.
    """

    name, label, source = "classifier", "Classifier accuracy", "Kour et al. 2022"
    min_texts_interval = 100
    most_unequal = 1.2  # beyond, every text of close corpora is taken for the larger one's: accuracy has no spread

    score: Literal["accuracy", "f1"] = "accuracy"  # type: ignore[misc]
    share: float = 0.2

    decide = staticmethod(decide_svm)

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether exchanging the corpora leaves the value: not for F1, which is the candidate's."""
        return (self.part or self.score) != "f1"


@register
class ClassifierTwoSample(HeldOutMetric):
    """Classifier two-sample test: held-out accuracy of logistic regression; ½ is chance, 1 a clean separation.

    Embeddings standardised by the training rows, L2 penalty with C = 1, trained on half of both corpora and tested
    on the other half; copies of a text stay together as in `classifier`. The p-value permutes held-out labels.
    Undefined with fewer than 5 texts in a corpus. Source: Lopez-Paz and Oquab 2017.
    """

    name, label, source = "c2st", "Classifier accuracy (C2ST)", "Lopez-Paz and Oquab 2017"
    most_unequal = 2.0  # at 4 the interval holds the expected value in 89 % of samples
    decide = staticmethod(decide_logistic)


def _compute_shares(outcome: HeldOut, right: Floats, name: str) -> Floats:
    """Return what each held-out text adds to a score."""
    if name == "f1":
        return np.asarray(2.0 * right * outcome.truth / (outcome.predicted.sum() + outcome.sizes[1]))
    return right / (2.0 * outcome.sizes[outcome.truth.astype(np.intp)] if name == "balanced" else len(right))
