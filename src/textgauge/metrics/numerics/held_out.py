"""Splitting two corpora into training and held-out texts, and judging what a classifier says about the latter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Masks

Index = NDArray[np.intp]

_UNDECIDED = 1e-9  # a decision value this small is rounding: such a text counts half for either corpus


def hold_out(first: Index, second: Index, *, share: float, seed: Sequence[int]) -> tuple[Masks, Masks]:
    """Choose held-out rows of two corpora given as text numbers: `share` of each, all copies of a text on one side.

    Texts of both corpora are drawn first, then each corpus is filled up from its own. Where the copies of one text
    are too many for that, single rows are drawn, at the same places of both sorted corpora.
    """
    texts, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    sides = place[: len(first)], place[len(first) :]
    counts = np.stack([np.bincount(side, minlength=len(texts)) for side in sides])
    wanted = np.clip(np.rint(share * counts.sum(axis=1)), 1, counts.sum(axis=1) - 1)
    order = np.random.default_rng(seed).permutation(len(texts))
    both: Masks = np.all(counts > 0, axis=0)
    chosen = np.zeros(len(texts), dtype=bool)
    if both.any():
        chosen = _fill_up(order, both, counts, np.rint(share * counts[:, both].sum(axis=1)))
    for side in (0, 1):
        room = wanted[[side]] - counts[side, chosen].sum()
        chosen |= _fill_up(order, (counts[side] > 0) & ~both, counts[[side]], room)
    masks = chosen[sides[0]], chosen[sides[1]]
    if all(mask.any() and not mask.all() for mask in masks):
        return masks
    return _draw_single_rows(sides[0], int(wanted[0]), seed), _draw_single_rows(sides[1], int(wanted[1]), seed)


def _fill_up(order: Index, allowed: Masks, counts: Index, room: Floats) -> Masks:
    """Return the first of the allowed texts, in this order, whose copies fill the room; what never fits is passed."""
    fitting = order[(allowed & (counts <= room[:, None]).all(axis=0))[order]]
    filled = counts[:, fitting].cumsum(axis=1)
    chosen = np.zeros(len(allowed), dtype=bool)
    chosen[fitting[(filled <= room[:, None]).all(axis=0)]] = True
    return chosen


def _draw_single_rows(places: Index, wanted: int, seed: Sequence[int]) -> Masks:
    mask = np.zeros(len(places), dtype=bool)
    mask[np.argsort(places, kind="stable")[np.random.default_rng(seed).permutation(len(places))[:wanted]]] = True
    return mask


@dataclass(frozen=True)
class HeldOut:
    """Held-out texts: whether each is the candidate's, and the prediction: 1 candidate, 0 reference, ½ neither."""

    truth: Masks
    predicted: Floats

    @property
    def rates(self) -> Floats:
        """Shares of the reference's and of the candidate's texts that were predicted right."""
        reference, candidate = self.sizes
        hits = self.predicted @ self.truth
        return np.array([1.0 - (self.predicted.sum() - hits) / reference, hits / candidate])

    @property
    def sizes(self) -> Floats:
        """Number of held-out reference and candidate texts."""
        candidate = np.count_nonzero(self.truth)
        return np.array([len(self.truth) - candidate, candidate], dtype=np.float64)


@dataclass(frozen=True)
class TrainTest:
    """Which rows to train on, with labels −1 and 1, and which to decide about."""

    train: Index
    labels: Floats32
    test: Index


@dataclass(frozen=True)
class Trial(TrainTest):
    """One split: what to train on, and for each held-out text where its decision stands and whose it is."""

    place: Index
    truth: Masks
    swapped: bool

    @classmethod
    def split(cls, reference: Index, candidate: Index, *, share: float, seed: Sequence[int]) -> Trial:
        """Split two corpora, given as the numbers of their texts, the same way whichever is called the reference."""
        swapped = np.sort(reference).tolist() > np.sort(candidate).tolist()
        first, second = (candidate, reference) if swapped else (reference, candidate)
        held = np.concatenate(hold_out(first, second, share=share, seed=seed))
        texts, later = np.concatenate([first, second]), np.arange(len(held)) >= len(first)
        order = np.lexsort((later, texts))
        train, test = order[~held[order]], order[held[order]]
        distinct, place = np.unique(texts[test], return_inverse=True)
        labels = np.where(later[train], 1, -1).astype(np.float32)
        return cls(texts[train], labels, distinct, place, later[test] ^ swapped, swapped)

    def judge(self, decision: Floats) -> HeldOut:
        """Return what the decision values say about the held-out texts."""
        towards = -decision if self.swapped else decision
        predicted = np.where(np.abs(towards) <= _UNDECIDED, 0.5, towards > 0)
        return HeldOut(self.truth, predicted[self.place])


# By the shares of the reference's and of the candidate's texts that were predicted right, and how many these are. F1 is
# the candidate's.
SCORES: dict[str, Callable[[Floats, Floats], float]] = {
    "accuracy": lambda rates, sizes: float((rates * sizes).sum() / sizes.sum()),
    "balanced": lambda rates, sizes: float(rates.mean()),
    "f1": lambda rates, sizes: float(2.0 * rates[1] / (1.0 + rates[1] + (1.0 - rates[0]) * sizes[0] / sizes[1])),
}


def average_scores(outcomes: Sequence[HeldOut]) -> dict[str, float]:
    """Accuracy, balanced accuracy and F1, averaged over splits."""
    judged = [(outcome.rates, outcome.sizes) for outcome in outcomes]
    return {name: sum(score(*one) for one in judged) / len(judged) for name, score in SCORES.items()}
