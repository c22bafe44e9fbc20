"""What each held-out text adds to the score of a classifier: classifier, c2st."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from textgauge.comparing.contributions.terms import Contributions, Floats, SideTerms
from textgauge.data import Comparison
from textgauge.metrics.base import VALUE
from textgauge.metrics.corpus.classifiers import HeldOutMetric, distinct_rows
from textgauge.numerics.held_out import HeldOut, Trial
from textgauge.numerics.svm import Index

_FORMULAS = {
    "accuracy": "held out and told right: 1 / number of held-out texts, averaged over splits",
    "balanced": "held out and told right: 1 / (2 × number of held-out texts of its corpus), averaged over splits",
    "f1": "a held-out candidate text told right: 2 / (2·hits + false alarms + misses), averaged over splits",
}


def of_classifier(metric: HeldOutMetric, comparison: Comparison) -> Contributions:
    """Held-out scores: a text told right adds its share of the score of the splits that held it out.

    A text no split held out adds NaN. `decision` is the mean decision value, positive towards the candidate; copies of
    a text in one corpus share what they add.
    """
    rows, place = distinct_rows(comparison.joint, metric.embedder)
    n = len(comparison.reference)
    sides = place[:n], place[n:]
    seeds = [(metric.seed, repeat) for repeat in range(metric.repeats)]
    trials = [Trial.split(*sides, share=metric.share, seed=seed) for seed in seeds]
    found = metric.decide(rows, [trial.task for trial in trials], None)
    shown = metric.part or metric.judged_by
    tally = _Tally(len(rows), _SHARES[shown])
    for trial, decision in zip(trials, found, strict=True):
        tally.add(trial, decision)
    reference, candidate = (tally.side(number, side) for number, side in enumerate(sides))
    return Contributions(metric.part or VALUE, _FORMULAS[shown], reference, candidate)


class _Tally:
    """Sums over splits, for the different texts of both corpora."""

    def __init__(self, texts: int, share: Callable[[HeldOut], Floats]) -> None:
        self._share, self._splits = share, 0
        self._held, self._right, self._adds, self._decision = np.zeros((4, 2, texts))

    def add(self, trial: Trial, decision: Floats) -> None:
        """Take one split: its held-out texts are those it asked about."""
        outcome = trial.judged(decision)
        at = trial.truth.astype(np.intp), trial.task.test[trial.asked]
        towards = (-decision if trial.turned else decision)[trial.asked]
        for sums, values in (
            (self._held, np.ones(len(towards))),
            (self._right, _right(outcome)),
            (self._adds, self._share(outcome)),
            (self._decision, towards),
        ):
            np.add.at(sums, at, values)
        self._splits += 1

    def side(self, number: int, place: Index) -> SideTerms:
        """What the texts of one corpus add."""
        copies = np.bincount(place, minlength=self._held.shape[1])[place]
        held = self._held[number][place]
        adds, right, decision = (sums[number][place] for sums in (self._adds, self._right, self._decision))
        seen = held > 0
        decision = np.divide(decision, held, out=np.full(len(held), np.nan), where=seen)
        told_right = np.divide(right, held, out=np.full(len(held), np.nan), where=seen)
        detail = {"held_out": held / copies, "told_right": told_right, "decision": decision}
        own_way = decision if number else -decision
        return SideTerms(np.where(seen, adds / (copies * self._splits), np.nan), detail, own_way)


def _accuracy(outcome: HeldOut) -> Floats:
    return _right(outcome) / len(outcome.truth)


def _balanced(outcome: HeldOut) -> Floats:
    return _right(outcome) / (2.0 * outcome.sizes[outcome.truth.astype(np.intp)])


def _f1(outcome: HeldOut) -> Floats:
    hits = np.where(outcome.truth, outcome.predicted, 0.0)
    called = outcome.predicted.sum() + outcome.sizes[1]
    return np.asarray(2.0 * hits / called)


def _right(outcome: HeldOut) -> Floats:
    return np.where(outcome.truth, outcome.predicted, 1.0 - outcome.predicted)


_SHARES: dict[str, Callable[[HeldOut], Floats]] = {"accuracy": _accuracy, "balanced": _balanced, "f1": _f1}
